"""How much memory there is to work in, and how much of it a file is expected to take."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from uploader.pipeline.artifact import Artifact
from uploader.pipeline.schedule import Schedule
from uploader.progress import Progress
from uploader.words import printable, size

SHARE = 0.75
"""The share of what there is that a run takes by itself: other steps of a build want some, and estimates are no more than that."""

LEAST_BYTES = 256 << 20
"""The least bound that is set by itself: with less, no file would run beside another, and no build would end either."""

TOLD = 3
"""How many files that are larger than the bound are told by name."""

BASE_BYTES = 48 << 20
"""The memory that any file takes, however small: mostly the interpreter that works on it."""

FACTOR = 2
"""The memory that a file takes beyond that, as a multiple of the size of its debug information and symbols once inflated.

Measured: 1.3 for librados2 (278 MB inflated) and the largest of ceph-osd (630 MB), 1.7 for vmlinux (223 MB), 1.5 for libc6 (10 MB).
"""


def available_bytes(root: str = "/") -> int | None:
    """The memory that this process may still take: what the machine has to give, or a container's limit (cgroup v1 and v2) leaves.

    None where the system does not tell. ``root`` is where ``proc`` and ``sys`` are.
    """
    found = [number for number in (_machine(root), *_groups(root)) if number is not None]
    return min(found) if found else None


def default_bytes() -> int | None:
    """The bound of a run that sets none; None where it is unknown what there is."""
    available = available_bytes()
    return None if available is None else max(int(available * SHARE), LEAST_BYTES)


def peak_bytes(artifact: Artifact) -> int:
    """The memory that converting the artifact is expected to take, by the sizes that the headers of its files declare."""
    return BASE_BYTES + int(FACTOR * sum(file.inflated_size_bytes for file in artifact.inputs))


def bounded_schedule(
    artifacts: Sequence[Artifact],
    *,
    jobs: int,
    max_memory_bytes: int | None,
    progress: Progress,
    ordered: bool = False,
) -> Schedule:
    """The schedule of a run; notes tell of artifacts that are expected to take more than the bound even alone.

    With None the bound is a share of what there is.
    """
    bound = default_bytes() if max_memory_bytes is None else max_memory_bytes
    schedule = Schedule(artifacts, jobs=jobs, max_memory_bytes=bound, peak_bytes=peak_bytes, ordered=ordered)
    too_large = schedule.too_large()
    for artifact, needed in too_large[:TOLD]:
        progress.note(
            f"{printable(artifact.path)} may take {size(needed)} of memory, more than the {size(bound or 0)} allowed: "
            "it is converted with nothing beside it"
        )
    if len(too_large) > TOLD:
        progress.note(f"and so are {len(too_large) - TOLD:,} more files")
    return schedule


def _machine(root: str) -> int | None:
    for line in _lines(os.path.join(root, "proc/meminfo")):
        name, _, rest = line.partition(":")
        if name == "MemAvailable":
            return int(rest.split()[0]) * 1024
    return None


def _groups(root: str) -> Iterator[int | None]:
    """The memory that each control group has left of its limit: those that this process is in, and those above them."""
    for line in _lines(os.path.join(root, "proc/self/cgroup")):
        number, controllers, path = line.split(":", 2)
        if number == "0":
            base, limit, used, freeable = "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"
        elif "memory" in controllers.split(","):
            base, limit, used, freeable = (
                "sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            )
        else:
            continue
        folder = path.strip("/")
        while True:
            # Within a container the path may be that of the machine, which isn't there: then the root is the container's own.
            yield _left(os.path.join(root, base, folder), limit, used, freeable)
            if not folder:
                break
            folder = os.path.dirname(folder)


def _left(folder: str, limit: str, used: str, freeable: str) -> int | None:
    limit_bytes, used_bytes = (_number(os.path.join(folder, name)) for name in (limit, used))
    if limit_bytes is None or used_bytes is None:
        return None
    # The page cache of files counts as used, but makes room.
    for line in _lines(os.path.join(folder, "memory.stat")):
        name, _, value = line.partition(" ")
        if name == freeable:
            used_bytes -= int(value)
    return max(limit_bytes - max(used_bytes, 0), 0)


def _number(path: str) -> int | None:
    """The number in a file; None where there is none, as in ``max``."""
    text = "".join(_lines(path))
    return int(text) if text.isdigit() else None


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []
