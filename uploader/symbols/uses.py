"""Which ids columns hold, and how often."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import cython

from uploader.core.columns import NONE

NOBODY = cython.declare(cython.uint, NONE)


def count_uses(columns: Iterable[array[int]], size: int) -> array[int]:
    """How often each id below ``size`` occurs in the columns, which hold no other. Releases the GIL."""
    counts = array("Q", [0]) * size
    seen: cython.ulonglong[::1] = counts
    i: cython.Py_ssize_t
    for column in columns:
        ids: cython.uint[::1] = column
        length: cython.Py_ssize_t = len(column)
        with cython.nogil:
            for i in range(length):
                seen[ids[i]] += 1
    return counts


def used_ids(columns: Iterable[array[int]], size: int) -> array[int]:
    """The ids below ``size`` that occur in the columns, each once, ascending. Releases the GIL."""
    ids = array("I", [0]) * size
    out: cython.uint[::1] = ids
    seen: cython.ulonglong[::1] = count_uses(columns, size)
    total: cython.Py_ssize_t = size
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(total):
            if seen[i] != 0:
                out[count] = i
                count += 1
    return ids[:count]


def first_uses(columns: Iterable[array[int]], size: int) -> array[int]:
    """The ids below ``size`` that occur in the columns, each once, in the order of their first use; ``NONE`` is no id.

    Releases the GIL.
    """
    order = array("I", [0]) * size
    found: cython.uint[::1] = order
    seen: cython.uchar[::1] = bytearray(size)
    count: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for column in columns:
        ids: cython.uint[::1] = column
        length: cython.Py_ssize_t = len(column)
        with cython.nogil:
            for i in range(length):
                if ids[i] != NOBODY and seen[ids[i]] == 0:
                    seen[ids[i]] = 1
                    found[count] = ids[i]
                    count += 1
    return order[:count]
