"""GSYM's string and file tables: which names and files are used, in which order they stand, and back from offsets to ids."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

import cython

from uploader.errors import MalformedGsym

STRINGS_BUDGET_FACTOR = 4
"""Decoded strings may be so many times longer than the string table: shared tails, not bombs."""


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def _count(column: cython.uint[::1], size: cython.Py_ssize_t, counts: cython.ulonglong[::1]) -> cython.int:
    item: cython.Py_ssize_t
    for item in range(size):
        counts[column[item]] += 1
    return 0


def count_uses(columns: Iterable[array[int]], size: int) -> array[int]:
    """How often each id below ``size`` occurs in the columns. Releases the GIL."""
    counts = array("Q", [0]) * size
    seen: cython.ulonglong[::1] = counts
    for column in columns:
        ids: cython.uint[::1] = column
        length: cython.Py_ssize_t = len(column)
        with cython.nogil:
            _count(ids, length, seen)
    return counts


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def _first_uses(
    column: cython.uint[::1],
    size: cython.Py_ssize_t,
    seen: cython.uchar[::1],
    order: cython.uint[::1],
    count: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    item: cython.Py_ssize_t
    for item in range(size):
        if seen[column[item]] == 0:
            seen[column[item]] = 1
            order[count] = column[item]
            count += 1
    return count


def first_uses(columns: Iterable[array[int]], size: int) -> array[int]:
    """The ids below ``size`` that occur in the columns, each once, in the order of their first use. Releases the GIL."""
    order = array("I", [0]) * size
    ids_in_order: cython.uint[::1] = order
    seen: cython.uchar[::1] = bytearray(size)
    count: cython.Py_ssize_t = 0
    for column in columns:
        ids: cython.uint[::1] = column
        length: cython.Py_ssize_t = len(column)
        with cython.nogil:
            count = _first_uses(ids, length, seen, ids_in_order, count)
    return order[:count]


class StringTable:
    """A string table being built: begins with the empty string; every string stands once, in the order of its first `add`."""

    def __init__(self) -> None:
        self._offsets: dict[bytes, int] = {b"": 0}
        self._end_bytes = 1

    def add(self, strings: Sequence[bytes]) -> array[int]:
        """Takes the strings in and gives the offset of each."""
        known = self._offsets
        offsets = array("Q", [0]) * len(strings)
        if not strings:
            return offsets
        out: cython.ulonglong[::1] = offsets
        at: cython.ulonglong = self._end_bytes
        index: cython.Py_ssize_t
        for index, string in enumerate(strings):
            place = known.get(string)
            if place is None:
                place = known[string] = at
                at += len(string) + 1
            out[index] = place
        self._end_bytes = at
        return offsets

    def to_bytes(self) -> bytes:
        """The table as it stands in the file."""
        return b"\0".join([*self._offsets, b""])


def place_names(strings: StringTable, names: Sequence[bytes], used: Sequence[int]) -> array[int]:
    """Takes the names that are used into a string table; gives the offset of each name of all, 0 for those that are not used."""
    offsets = array("Q", [0]) * len(names)
    places = strings.add([names[name] for name in used])
    if not places:
        return offsets
    out: cython.ulonglong[::1] = offsets
    place: cython.ulonglong[::1] = places
    index: cython.Py_ssize_t
    for index, name in enumerate(used):
        out[name] = place[index]
    return offsets


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
