"""Which ids columns hold, and how often."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import cython

from uploader.core.columns import NONE


def tally(columns: Iterable[array[int]], size: int) -> tuple[array[int], array[int]]:
    """How often each id below ``size`` occurs in the columns, and those that do, in the order of their first use.

    ``NONE`` is no id, and there is no other from ``size`` on. Releases the GIL.
    """
    counts = array("Q", [0]) * size
    order = array("I", [0]) * size
    seen: cython.ulonglong[::1] = counts
    found: cython.uint[::1] = order
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for column in columns:
        ids: cython.uint[::1] = column
        length: cython.Py_ssize_t = len(column)
        with cython.nogil:
            for i in range(length):
                if ids[i] != NONE:
                    if seen[ids[i]] == 0:
                        found[count] = ids[i]
                        count += 1
                    seen[ids[i]] += 1
    return counts, order[:count]


def first_uses(columns: Iterable[array[int]], size: int) -> array[int]:
    """The ids that `tally` finds, each once, in the order of their first use."""
    return tally(columns, size)[1]


def used_ids(columns: Iterable[array[int]], size: int) -> array[int]:
    """The ids that `tally` finds, each once, ascending."""
    counts, ids = tally(columns, size)
    seen: cython.ulonglong[::1] = counts
    out: cython.uint[::1] = ids
    total: cython.Py_ssize_t = size
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(total):
            if seen[i] != 0:
                out[count] = i
                count += 1
    return ids
