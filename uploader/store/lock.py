"""An advisory lock on a file, held against every other thread and process; the system frees it when its holder dies."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _acquire(descriptor: int) -> None:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                return
            except OSError:
                # LK_LOCK gives up after ten tries of a second each.
                continue

else:
    import fcntl

    def _acquire(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds the lock file ``path`` (made where it is missing) for the length of the block; waits for it. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        _acquire(descriptor)
        yield
    finally:
        os.close(descriptor)
