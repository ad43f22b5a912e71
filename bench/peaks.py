"""What a process and everything that it starts hold in memory at once, and how to keep this process out of such a figure."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

PROC = Path("/proc")
INTERVAL_SECONDS = 0.02
LARGE_BYTES = 8 << 20
PAGE_BYTES = 4096

Result = TypeVar("Result")


class TreePeak:
    """Watches a process and its descendants while the block runs; ``peak_bytes`` is the most that they held at once.

    That is the sum of their proportional set sizes (memory that several share counts once), sampled. It is 0 where never more than
    one of them was large: then the kernel's own peak of the largest process is the better figure, and sampling costs next to nothing.
    """

    def __init__(self, pid: int) -> None:
        self.peak_bytes = 0
        self._pid = pid
        self._in_tree = {pid: True}
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(INTERVAL_SECONDS):
            large = [pid for pid in self._descendants() if _resident_bytes(pid) > LARGE_BYTES]
            if len(large) > 1:
                self.peak_bytes = max(self.peak_bytes, sum(map(_proportional_bytes, large)))

    def _descendants(self) -> list[int]:
        """The tree's processes. Whose child a process is, is read once, when it is first seen."""
        alive = sorted(int(name) for name in os.listdir(PROC) if name.isdecimal())
        for pid in alive:
            if pid not in self._in_tree:
                self._in_tree[pid] = self._in_tree.get(_parent(pid), False)
        return [pid for pid in alive if self._in_tree[pid]]


def _read(pid: int, name: str) -> str:
    try:
        return (PROC / str(pid) / name).read_text(errors="replace")
    except OSError:
        return ""


def _parent(pid: int) -> int:
    after_name = _read(pid, "stat").rpartition(")")[2].split()
    return int(after_name[1]) if len(after_name) > 1 else 0


def _resident_bytes(pid: int) -> int:
    fields = _read(pid, "statm").split()
    return int(fields[1]) * PAGE_BYTES if len(fields) > 1 else 0


def _proportional_bytes(pid: int) -> int:
    for line in _read(pid, "smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def aside(function: Callable[..., Result], *arguments: object) -> Result:
    """``function(*arguments)`` in a process of its own: Linux charges a process for the peak of the one that started it."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
