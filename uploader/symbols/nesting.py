"""Ranges that nest and overlap, cut into disjoint pieces: where several hold an address, the one that starts latest has it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.core.columns import first_of, zeros, zeros_each
from uploader.symbols.ordering import order_by
from uploader.values import frozen

LAST_ADDRESS = 0xFFFFFFFFFFFFFFFF


@frozen
class Pieces:
    """Disjoint pieces of ranges, ascending, and the index of the range that each is a piece of."""

    start: array[int]
    end: array[int]
    of: array[int]


class PieceColumns:
    """Views of the columns of pieces, and how many of them there are."""

    def __init__(self, pieces: Pieces, count: int) -> None:
        self.start, self.end, self.of = pieces.start, pieces.end, pieces.of
        self.count = count

    def put(self, start: cython.ulonglong, end: cython.ulonglong, of: cython.uint) -> cython.int:
        """Puts another piece, for which there is room."""
        self.start[self.count] = start
        self.end[self.count] = end
        self.of[self.count] = of
        self.count += 1
        return 0


class _Ranges:
    """Ranges to be put in order by their start, of those with one start the longer first."""

    def __init__(self, start: Sequence[int], end: Sequence[int]) -> None:
        self.start = start
        self.end = end
        self.count = len(start)
        self.backward, self.order, self.spare = zeros_each("QII", self.count)

    def _sort(self) -> cython.int:
        i: cython.Py_ssize_t
        for i in range(self.count):
            self.backward[i] = LAST_ADDRESS - self.end[i]
            self.order[i] = i
        return order_by(self.start, self.backward, self.order, self.spare, self.count)

    def _drop_repeats(self, worth: cython.const[cython.uchar][::1]) -> cython.Py_ssize_t:
        """Of ranges with one start and one end keeps that of most worth, the first of equals."""
        kept: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        for i in range(self.count):
            this: cython.uint = self.order[i]
            if kept > 0:
                last: cython.uint = self.order[kept - 1]
                if self.start[this] == self.start[last] and self.end[this] == self.end[last]:
                    if worth[this] > worth[last]:
                        self.order[kept - 1] = this
                    continue
            self.order[kept] = this
            kept += 1
        return kept

    def run(self, worth: Sequence[int]) -> array[int]:
        kept: cython.Py_ssize_t
        of_each: cython.const[cython.uchar][::1] = worth
        with cython.nogil:
            self._sort()
            kept = self._drop_repeats(of_each)
        return first_of(self.order, kept)


def outermost_first(start: array[int], end: array[int], worth: Sequence[int] | None = None) -> array[int]:
    """The indexes of distinct ranges, ascending by start, of those with one start the longer first.

    Of ranges that are the same, the one of most ``worth`` (a column of bytes) stands for all, the first of equals. Releases the GIL.
    """
    if not len(start):
        return array("I")
    return _Ranges(start, end).run(worth if worth is not None else bytes(len(start)))


def cut(start: array[int], end: array[int], order: array[int] | None = None) -> Pieces:
    """The pieces of ranges that come in the order of `outermost_first`: by ``order``, or as they lie. Releases the GIL."""
    if not len(start):
        return Pieces(start=array("Q"), end=array("Q"), of=array("I"))
    by = order if order is not None else array("I", range(len(start)))
    starts, ends, owners = zeros_each("QQI", 2 * len(by) + 1)
    made = PieceColumns(Pieces(start=starts, end=ends, of=owners), 0)
    _cut(start, end, by, made)
    return Pieces(start=first_of(starts, made.count), end=first_of(ends, made.count), of=first_of(owners, made.count))


def hidden(start: array[int], end: array[int], order: array[int], pieces: Pieces) -> tuple[int, int]:
    """How many of the ranges that `cut` was given have no piece, and how many pieces of a part only. Releases the GIL."""
    if not len(order):
        return 0, 0
    starts: cython.const[cython.ulonglong][::1] = start
    ends: cython.const[cython.ulonglong][::1] = end
    which: cython.const[cython.uint][::1] = order
    shown: cython.ulonglong[::1] = zeros("Q", len(start))
    cut_to: PieceColumns = PieceColumns(pieces, len(pieces.of))
    ranges: cython.Py_ssize_t = len(order)
    whole: cython.Py_ssize_t = 0
    part: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(cut_to.count):
            shown[cut_to.of[i]] += cut_to.end[i] - cut_to.start[i]
        for i in range(ranges):
            if shown[which[i]] == 0:
                whole += 1
            elif shown[which[i]] < ends[which[i]] - starts[which[i]]:
                part += 1
    return whole, part


def _cut(start_column: array[int], end_column: array[int], order_column: array[int], made: PieceColumns) -> None:
    start: cython.const[cython.ulonglong][::1] = start_column
    end: cython.const[cython.ulonglong][::1] = end_column
    order: cython.const[cython.uint][::1] = order_column
    opened: cython.uint[::1] = zeros("I", len(order_column) + 1)
    n: cython.Py_ssize_t = len(order_column)
    depth: cython.Py_ssize_t = 0
    cursor: cython.ulonglong = 0
    inner: cython.uint
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n + 1):
            while depth > 0 and (i == n or end[opened[depth - 1]] <= start[order[i]]):
                inner = opened[depth - 1]
                depth -= 1
                if cursor < end[inner]:
                    made.put(cursor, end[inner], inner)
                    cursor = end[inner]
            if i == n:
                break
            if depth > 0 and cursor < start[order[i]]:
                made.put(cursor, start[order[i]], opened[depth - 1])
            cursor = start[order[i]]
            opened[depth] = order[i]
            depth += 1
