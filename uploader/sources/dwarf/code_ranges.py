"""Where code lies in a file: what of functions, rows and ranges counts is decided by it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.core.search import first_after


class CodeRanges:
    """The executable ranges of a file, which ascend and don't touch."""

    def __init__(self, executable: Sequence[tuple[int, int]]) -> None:
        # Without any there is one without a byte: a typed memoryview needs an item to point at.
        self.start = array("Q", [start for start, _ in executable] or [0])
        self.end = array("Q", [end for _, end in executable] or [0])
        self.count = len(executable)

    def end_at(self, address: cython.ulonglong) -> cython.ulonglong:
        """Where the last range ends that doesn't begin behind an address; 0 where all do."""
        behind: cython.Py_ssize_t = first_after(self.start, 0, self.count, address)
        return self.end[behind - 1] if behind > 0 else 0
