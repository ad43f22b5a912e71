"""Puts columns end to end, and moves what indexes into them."""

from __future__ import annotations

from array import array

import cython

from uploader.symbols.columns import taken


def extend(column: array[int], more: memoryview | array[int]) -> None:
    """Appends a column of the same item type."""
    column.frombytes(memoryview(more).cast("B"))


def shifted(column: memoryview | array[int], by: int) -> array[int]:
    """A column of 32-bit items with ``by`` added to each."""
    result = taken(column, len(column))
    if by and len(result):
        item: cython.uint[::1] = result
        amount: cython.uint = by
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = len(result)
        for i in range(n):
            item[i] += amount
    return result
