"""Which file goes next, and with how many threads.

All cores are to stay busy on one large file as on thousands of small ones, and the files under way are to fit into memory together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from uploader.pipeline.artifact import Artifact

WORTH_THREADS_BYTES = 256 * 1024
"""A smaller file is read before more threads would be there."""


def threads_for(artifact: Artifact, total_size_bytes: int, jobs: int) -> int:
    """How many threads may work on one artifact: all of them where it is large, and more than a worker's share of the whole."""
    return jobs if artifact.size_bytes >= WORTH_THREADS_BYTES and artifact.size_bytes * jobs > total_size_bytes else 1


class Schedule:
    """Hands artifacts to workers, those that take longest first: begun last, one of them would be waited for while others are idle.

    At most ``jobs`` are under way, and no more than ``max_memory_bytes`` hold together by what ``peak_bytes`` expects of each. What
    does not fit beside the others waits while smaller ones pass it; what is larger than the bound runs alone. May be called from
    any thread.
    """

    def __init__(
        self,
        artifacts: Sequence[Artifact],
        *,
        jobs: int,
        max_memory_bytes: int | None = None,
        peak_bytes: Callable[[Artifact], int] = lambda _: 0,
        ordered: bool = False,
    ) -> None:
        """``ordered`` artifacts go in the order in which they are given."""
        self._waiting = list(artifacts) if ordered else sorted(artifacts, key=lambda artifact: -artifact.size_bytes)
        self._jobs = jobs
        self.max_memory_bytes = max_memory_bytes
        self._peak_bytes = {id(artifact): peak_bytes(artifact) for artifact in artifacts}
        self._running: dict[int, int] = {}
        self._stopped = False
        self._changed = threading.Condition()

    def too_large(self) -> list[tuple[Artifact, int]]:
        """The artifacts that are expected to take more than the bound even alone, and how much."""
        return [
            (artifact, self._peak_bytes[id(artifact)])
            for artifact in self._waiting
            if self.max_memory_bytes is not None and self._peak_bytes[id(artifact)] > self.max_memory_bytes
        ]

    def take(self) -> Artifact | None:
        """The next artifact, as soon as there is room for one; None when all are taken or `stop` was called."""
        with self._changed:
            while self._waiting and not self._stopped:
                artifact = self.take_now()
                if artifact is not None:
                    return artifact
                self._changed.wait()
            return None

    def take_now(self) -> Artifact | None:
        """The first artifact for which there is room now; None where there is none."""
        with self._changed:
            if len(self._running) >= self._jobs:
                return None
            free = None if self.max_memory_bytes is None else self.max_memory_bytes - sum(self._running.values())
            for index, artifact in enumerate(self._waiting):
                needed = self._peak_bytes[id(artifact)]
                if not self._running or free is None or needed <= free:
                    self._running[id(artifact)] = needed
                    return self._waiting.pop(index)
            return None

    def done(self, artifact: Artifact) -> None:
        """Gives back the room that ``artifact`` took. Once is enough; more is no harm."""
        with self._changed:
            self._running.pop(id(artifact), None)
            self._changed.notify_all()

    def stop(self) -> None:
        """Lets nothing more begin, and wakes who waits."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
