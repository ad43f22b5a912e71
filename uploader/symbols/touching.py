"""Puts ranges in order and joins those that touch or overlap."""

from __future__ import annotations

import cython

MANY = 32
"""From here on ranges are sorted by a heap: fewer, and they come nearly sorted, are each put in place."""


def join_touching(
    start: cython.ulonglong[::1], end: cython.ulonglong[::1], first: cython.Py_ssize_t, last: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """Rewrites the ranges ``first:last`` of two columns: ascending, disjoint, with gaps between them. Gives where they end now.

    Needs no GIL and no memory.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    if first >= last:
        return first
    for i in range(first + 1, last):
        if start[i] < start[i - 1]:
            _sort(start, end, first, last)
            break
    j = first
    for i in range(first + 1, last):
        if start[i] <= end[j]:
            if end[i] > end[j]:
                end[j] = end[i]
        else:
            j += 1
            start[j] = start[i]
            end[j] = end[i]
    return j + 1


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def _sort(
    start: cython.ulonglong[::1], end: cython.ulonglong[::1], first: cython.Py_ssize_t, last: cython.Py_ssize_t
) -> cython.int:
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    low: cython.ulonglong
    high: cython.ulonglong
    n: cython.Py_ssize_t = last - first
    if n < MANY:
        for i in range(first + 1, last):
            low = start[i]
            high = end[i]
            j = i
            while j > first and start[j - 1] > low:
                start[j] = start[j - 1]
                end[j] = end[j - 1]
                j -= 1
            start[j] = low
            end[j] = high
        return 0
    i = n >> 1
    while i > 0:
        i -= 1
        _sift(start, end, first, i, n)
    i = n - 1
    while i > 0:
        low = start[first]
        high = end[first]
        start[first] = start[first + i]
        end[first] = end[first + i]
        start[first + i] = low
        end[first + i] = high
        _sift(start, end, first, 0, i)
        i -= 1
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def _sift(
    start: cython.ulonglong[::1],
    end: cython.ulonglong[::1],
    first: cython.Py_ssize_t,
    root: cython.Py_ssize_t,
    n: cython.Py_ssize_t,
) -> cython.int:
    """Lets the range at ``root`` of a heap of ``n`` sink to where it belongs."""
    low: cython.ulonglong = start[first + root]
    high: cython.ulonglong = end[first + root]
    child: cython.Py_ssize_t = 2 * root + 1
    while child < n:
        if child + 1 < n and start[first + child] < start[first + child + 1]:
            child += 1
        if low >= start[first + child]:
            break
        start[first + root] = start[first + child]
        end[first + root] = end[first + child]
        root = child
        child = 2 * root + 1
    start[first + root] = low
    end[first + root] = high
    return 0
