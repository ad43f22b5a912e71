"""Joins the columns of a walk with those of units and line tables."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import cython

NONE = 0xFFFFFFFF


def gather(index: memoryview, values: memoryview) -> array[int]:
    """``values[i]`` for every ``i`` of ``index``, both columns of 32-bit items."""
    n: cython.Py_ssize_t = len(index)
    result = array("I", bytes(4 * n))
    if n == 0:
        return result
    out: cython.uint[::1] = result
    at: cython.uint[::1] = index
    source: cython.uint[::1] = values
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            out[i] = source[at[i]]
    return result


def slots_of(file: memoryview, unit: memoryview, first: array[int], count: array[int], base: array[int]) -> array[int]:
    """File slots for a column of file indexes as DWARF counts them in the line table of each item's unit; ``NONE`` where there is no such file."""
    n: cython.Py_ssize_t = len(file)
    result = array("I", bytes(4 * n))
    if n == 0:
        return result
    out: cython.uint[::1] = result
    raw: cython.uint[::1] = file
    of: cython.uint[::1] = unit
    first_slot: cython.uint[::1] = first
    files: cython.uint[::1] = count
    file_base: cython.uint[::1] = base
    i: cython.Py_ssize_t
    u: cython.uint
    none: cython.uint = 0xFFFFFFFF
    with cython.nogil:
        for i in range(n):
            u = of[i]
            if raw[i] < file_base[u] or raw[i] - file_base[u] >= files[u]:
                out[i] = none
            else:
                out[i] = first_slot[u] + raw[i] - file_base[u]
    return result


def spans(group: memoryview, groups: int) -> tuple[array[int], array[int]] | None:
    """(first, end) of the run of items of each group, or None where the items of a group don't lie together."""
    n: cython.Py_ssize_t = len(group)
    first_column = array("I", bytes(4 * groups))
    end_column = array("I", bytes(4 * groups))
    if n == 0 or groups == 0:
        return first_column, end_column
    first: cython.uint[::1] = first_column
    end: cython.uint[::1] = end_column
    of: cython.uint[::1] = group
    i: cython.Py_ssize_t
    together: cython.bint = True
    with cython.nogil:
        for i in range(n):
            if i > 0 and of[i] < of[i - 1]:
                together = False
                break
            if i == 0 or of[i] != of[i - 1]:
                first[of[i]] = cython.cast(cython.uint, i)
            end[of[i]] = cython.cast(cython.uint, i + 1)
    return (first_column, end_column) if together else None


def grouped(columns: Mapping[str, memoryview], by: str) -> dict[str, memoryview]:
    """The columns with the items of a group brought together, in their old order within it."""
    group = columns[by]
    order = sorted(range(len(group)), key=group.__getitem__)
    return {name: memoryview(array(column.format, map(column.__getitem__, order))) for name, column in columns.items()}
