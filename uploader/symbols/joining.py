"""Puts columns end to end, and moves what indexes into them."""

from __future__ import annotations

from array import array

import cython


def extend(column: array[int], more: memoryview | array[int]) -> None:
    """Appends a column of the same item type."""
    column.frombytes(memoryview(more).cast("B"))


def extend_shifted(column: array[int], more: memoryview | array[int], by: int) -> None:
    """Appends a column of 32-bit items with ``by`` added to each."""
    begin: cython.Py_ssize_t = len(column)
    extend(column, more)
    end: cython.Py_ssize_t = len(column)
    if by == 0 or begin == end:
        return
    item: cython.uint[::1] = column
    amount: cython.uint = by
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(begin, end):
            item[i] += amount
