"""Finds a place in an ascending column. Needs no GIL."""

from __future__ import annotations

import cython


def first_after(
    column: cython.const[cython.ulonglong][::1],
    low: cython.Py_ssize_t,
    high: cython.Py_ssize_t,
    value: cython.ulonglong,
) -> cython.Py_ssize_t:
    """The first of the ascending items ``low:high`` of a column that is greater than a value; ``high`` where none is."""
    middle: cython.Py_ssize_t
    while low < high:
        middle = (low + high) >> 1
        if column[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low
