"""Puts indexes in the order of two columns, by merging runs: what is sorted here comes nearly sorted."""

from __future__ import annotations

import cython


def order_by(
    major: cython.const[cython.ulonglong][::1],
    minor: cython.const[cython.ulonglong][::1],
    order: cython.uint[::1],
    spare: cython.uint[::1],
    count: cython.Py_ssize_t,
) -> cython.int:
    """Sorts the first ``count`` indexes in ``order`` by their ``major``, then by their ``minor``; equal ones stay as they stand.

    What is in order costs little. Needs no GIL; ``spare`` is as long, and its items are overwritten.
    """
    i: cython.Py_ssize_t
    width: cython.Py_ssize_t = 1
    left: cython.Py_ssize_t
    right: cython.Py_ssize_t
    end: cython.Py_ssize_t
    at: cython.Py_ssize_t
    while width < count:
        i = 0
        while i + width < count:
            end = min(i + 2 * width, count)
            if _before(major, minor, order[i + width], order[i + width - 1]):
                left = i
                right = i + width
                for at in range(i, end):
                    if right >= end or (left < i + width and not _before(major, minor, order[right], order[left])):
                        spare[at] = order[left]
                        left += 1
                    else:
                        spare[at] = order[right]
                        right += 1
                for at in range(i, end):
                    order[at] = spare[at]
            i += 2 * width
        width *= 2
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1, check=True)
def _before(
    major: cython.const[cython.ulonglong][::1],
    minor: cython.const[cython.ulonglong][::1],
    one: cython.uint,
    other: cython.uint,
) -> cython.bint:
    if major[one] != major[other]:
        return major[one] < major[other]
    return minor[one] < minor[other]
