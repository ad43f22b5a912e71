"""The memory that one conversion may take: a limit of its process that the system keeps, whatever a hostile file asks for."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from typing import TypeVar

from uploader.pipeline.artifact import Artifact
from uploader.pipeline.memory import peak_bytes

Result = TypeVar("Result")

ROOM_BYTES = 128 << 20
"""What is allowed beyond any estimate: stacks of threads, and columns of which only a part will be used."""

ROOM_FACTOR = 2
"""How much more than expected a file may take that is larger than the run's bound: it is converted, with nothing beside it."""


def allowed_bytes(artifact: Artifact, max_memory_bytes: int) -> int:
    """What converting the artifact may take: all that the run may, or what its sections make one expect where that is more."""
    return max(max_memory_bytes, ROOM_FACTOR * peak_bytes(artifact)) + ROOM_BYTES


def within(allowed_bytes: int, function: Callable[..., Result], /, *arguments: object, **named: object) -> Result:
    """Calls the function, which may take so much memory beside what this process has, and raises what `wants_memory` knows beyond it.

    What is limited is memory that is written to: files that are mapped and the room that allocators reserve are no memory taken.
    """
    if sys.platform != "linux":
        return function(*arguments, **named)
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = _in_use_bytes() + allowed_bytes
    limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    try:
        return function(*arguments, **named)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def wants_memory(error: BaseException) -> bool:
    """Whether there was not enough memory: for values, for what the system was asked for, for a thread's stack or a module's code."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if isinstance(error, ImportError):
        # The words of glibc's and musl's loaders: "cannot map zero-fill pages", "failed to map segment", "cannot allocate memory".
        return any(word in str(error).lower() for word in (" map ", "allocate memory"))
    if isinstance(error, RuntimeError):
        return "start new thread" in str(error)
    return isinstance(error, MemoryError)


def _in_use_bytes() -> int:
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            name, _, rest = line.partition(":")
            if name == "VmData":
                return int(rest.split()[0]) * 1024
    return 0
