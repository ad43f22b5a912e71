"""Puts columns end to end, and moves what indexes into them."""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import first_of, whole_of, zeros


class Growing:
    """A column that others are appended to, in memory that is laid out for what is likely to come."""

    def __init__(self, typecode: str, *items: int, room: int = 0) -> None:
        self._items = zeros(typecode, max(room, len(items)))
        self._items[: len(items)] = memoryview(array(typecode, items))
        self._count = len(items)

    @classmethod
    def onto(cls, column: memoryview | array[int]) -> Growing:
        """One that begins with a column that `first_of` gave, and goes on in the same memory."""
        growing = cls(memoryview(column).format)
        growing._items = whole_of(column)
        growing._count = len(column)
        return growing

    def __len__(self) -> int:
        return self._count

    def extend(self, more: memoryview | array[int], done: float = 1.0) -> None:
        """Appends a column of the same item type; ``done`` is which part of all that will be appended is there then, as far as is known."""
        begin = self._count
        self._count += len(more)
        if self._count > len(self._items):
            # What is reserved and not used takes no memory; what is moved is written twice.
            grown = zeros(self._items.format, int(1.25 * self._count / max(done, 0.05)) + 64)
            grown[:begin] = self._items[:begin]
            self._items = grown
        self._items[begin : self._count] = memoryview(more)

    def extend_shifted(self, more: memoryview | array[int], by: int, done: float = 1.0) -> None:
        """Appends a column of 32-bit items with ``by`` added to each."""
        begin = self._count
        self.extend(more, done)
        if by:
            _shift(self._items, begin, self._count, by)

    @property
    def items(self) -> array[int]:
        """What is there now."""
        return first_of(self._items, self._count)


def _shift(column: memoryview, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, by: cython.uint) -> None:
    if begin == end:
        return
    item: cython.uint[::1] = column
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(begin, end):
            item[i] += by
