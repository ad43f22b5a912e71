"""GSYM's string table: in which order names stand, and back from offsets to ids."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import cython

from uploader.errors import MalformedGsym

STRINGS_BUDGET_FACTOR = 4
"""Decoded strings may be so many times longer than the string table: shared tails, not bombs."""


class StringTable:
    """A string table being built: the empty string, names in their order, and then what else is added; every string once."""

    def __init__(self, names: Sequence[bytes], used: array[int], *, ascending: bool = False) -> None:
        """Takes in the names that ``used`` has the ids of; ``ascending`` says that these give them in their order."""
        if not ascending:
            used = array("I", sorted(used, key=names.__getitem__))
        self.name_offset = array("Q", [0]) * len(names)
        """The offset of each of ``names``, 0 for one that is not used."""
        self._texts: list[bytes] = []
        self._starts = array("Q", [0]) * len(used)
        self._others: dict[bytes, int] = {b"": 0}
        self.size_bytes = 1
        """The size of the whole table."""
        if used:
            self._place([names[name] for name in used], used)

    def _place(self, texts: list[bytes], used: array[int]) -> None:
        out: cython.ulonglong[::1] = self.name_offset
        starts: cython.ulonglong[::1] = self._starts
        ids: cython.uint[::1] = used
        at: cython.ulonglong = 1
        start: cython.ulonglong = 0
        count: cython.Py_ssize_t = 0
        index: cython.Py_ssize_t
        placed = self._texts
        before = b""
        for index in range(len(texts)):
            text: bytes = texts[index]
            if text != before:
                start = at
                starts[count] = start
                count += 1
                at += len(text) + 1
                placed.append(text)
                before = text
            out[ids[index]] = start
        self.size_bytes = at

    def add(self, string: bytes) -> int:
        """Takes a string in and gives its offset."""
        place = self._others.get(string)
        if place is None:
            index = bisect_left(self._texts, string)
            if index < len(self._texts) and self._texts[index] == string:
                return self._starts[index]
            place = self._others[string] = self.size_bytes
            self.size_bytes += len(string) + 1
        return place

    def to_bytes(self) -> bytes:
        """The table as it stands in the file."""
        others = iter(self._others)
        return b"\0".join([next(others), *self._texts, *others, b""])


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def _number(
    offsets: cython.ulonglong[::1],
    size: cython.Py_ssize_t,
    ids: cython.uint[::1],
    seen: cython.uint[::1],
    order: cython.ulonglong[::1],
    count: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    item: cython.Py_ssize_t
    offset: cython.ulonglong
    end: cython.ulonglong = seen.shape[0] if cython.compiled else len(seen)
    for item in range(size):
        offset = offsets[item]
        if offset == 0 or offset >= end:
            return -2
        if seen[offset] == 0:
            order[count] = offset
            count += 1
            seen[offset] = count
        ids[item] = seen[offset]
    return count


def number_offsets(columns: Sequence[array[int]], size_bytes: int) -> tuple[list[array[int]], array[int]]:
    """Turns columns of string offsets into columns of ids, and gives the offset of each id; id 0 is the empty string.

    Ids go by first use. Raises `MalformedGsym` for the offset 0 and for offsets at or past ``size_bytes``. Releases the GIL.
    """
    total = sum(map(len, columns))
    order = array("Q", [0]) * (min(total, size_bytes) + 1)
    offset_of: cython.ulonglong[::1] = order
    seen: cython.uint[::1] = array("I", [0]) * size_bytes
    count: cython.Py_ssize_t = 0
    numbered = []
    for column in columns:
        ids = array("I", [0]) * len(column)
        offsets: cython.ulonglong[::1] = column
        out: cython.uint[::1] = ids
        length: cython.Py_ssize_t = len(column)
        with cython.nogil:
            count = _number(offsets, length, out, seen, offset_of, count)
        if count < 0:
            raise MalformedGsym("a name lies outside the string table")
        numbered.append(ids)
    return numbered, array("Q", [0]) + order[:count]


def read_strings(table: bytes, offsets: Iterable[int]) -> list[bytes]:
    """The strings at ``offsets`` of a string table. Raises `MalformedGsym` for one outside of it or that doesn't end.

    All of them together may be only a few times as long as the table, so that no small table makes much of little.
    """
    budget_bytes = STRINGS_BUDGET_FACTOR * len(table) + 1024
    strings = []
    for offset in offsets:
        end = table.find(b"\0", offset) if offset < len(table) else -1
        if end < 0:
            raise MalformedGsym("a string lies outside the string table, or doesn't end in it")
        budget_bytes -= end - offset
        if budget_bytes < 0:
            raise MalformedGsym("the strings take far more room than the string table has")
        strings.append(table[offset:end])
    return strings
