"""Which file goes first, and with how many threads, so that all cores stay busy on one large file as on thousands of small ones."""

from __future__ import annotations

from collections.abc import Sequence

from uploader.pipeline.artifact import Artifact


def largest_first(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The artifacts, those that take longest first: begun last, one of them would be waited for while other workers are idle."""
    return sorted(artifacts, key=lambda artifact: -artifact.size_bytes)


def threads_for(artifact: Artifact, total_size_bytes: int, jobs: int) -> int:
    """How many threads may work on one artifact: all of them where it is more than a worker's share of the whole, else one."""
    return jobs if artifact.size_bytes * jobs > total_size_bytes else 1
