"""Lets functions that say the same share one record: a record counts from its function's start, so that equal ones are equal bytes.

Copies of one static function in many units have the same size, name, lines and inlines. GSYM's table of addresses has an offset for
each function and does not ask that they differ (LLVM ``llvm/DebugInfo/GSYM/GsymReader.h``).
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.core.columns import zeros
from uploader.gsym.layout import MAX_UINT32, SHARED_SLACK_BYTES

MAX_LOOKS = 8
"""With how many earlier records one is compared: those of one length, size and name are nearly always equal."""

KEY_BYTES = 8
LENGTH_BITS = 0xFFFFFF
FNV_PRIME = 0x01000193
FOLD_SHIFT = 15
"""The words that a record begins with are mixed as in FNV-1a, and its upper bits folded into those that pick a slot."""


class _Shelf:
    """Records kept so far, end to end."""

    def __init__(self, out: memoryview, records: int) -> None:
        size = 4
        while size < 2 * records:
            size *= 2
        self.out = out
        self.at = 0
        self.saved = 0
        self.count = 0
        self.mask = size - 1
        self.heads = array("I", [0]) * size
        self.chain = array("I", [0]) * (records + 1)
        self.begin = array("Q", [0]) * (records + 1)
        self.length = array("Q", [0]) * (records + 1)

    def put(self, records: memoryview, places: array[int]) -> array[int]:
        """Takes in a slice; gives where each of its records is now."""
        count: cython.Py_ssize_t = len(places)
        result = array("Q", [0]) * count
        if count == 0:
            return result
        data: cython.const[cython.uchar][::1] = records
        place: cython.ulonglong[::1] = places
        where: cython.ulonglong[::1] = result
        end: cython.ulonglong = len(records)
        i: cython.Py_ssize_t
        with cython.nogil:
            for i in range(count):
                where[i] = self._put(data, place[i], place[i + 1] if i + 1 < count else end)
        return result

    def end(self) -> int:
        """The size of all that is kept."""
        return self.at

    def _put(
        self, data: cython.const[cython.uchar][::1], begin: cython.ulonglong, end: cython.ulonglong
    ) -> cython.ulonglong:
        """Where an equal record is, or this one from now on."""
        length: cython.ulonglong = end - begin
        slot: cython.ulonglong = self._key(data, begin, length) & self.mask
        known: cython.Py_ssize_t = self.heads[slot]
        looks: cython.int = 0
        while known and looks < MAX_LOOKS:
            if self.length[known] == length and self._equal(data, begin, self.begin[known], length):
                if self.saved + length > cython.cast(cython.ulonglong, self.at) + SHARED_SLACK_BYTES:
                    break
                self.saved += length
                return self.begin[known]
            known = self.chain[known]
            looks += 1
        self.count += 1
        self.chain[self.count] = self.heads[slot]
        self.heads[slot] = self.count
        self.begin[self.count] = self.at
        self.length[self.count] = length
        self.out[self.at : self.at + length] = data[begin:end]
        self.at += length
        return self.begin[self.count]

    def _key(
        self, data: cython.const[cython.uchar][::1], begin: cython.ulonglong, length: cython.ulonglong
    ) -> cython.ulonglong:
        """Mixes the length with a record's first words, its function's size and name."""
        key: cython.ulonglong = length & LENGTH_BITS
        i: cython.ulonglong
        for i in range(min(KEY_BYTES, length)):
            key = ((key ^ data[begin + i]) * FNV_PRIME) & MAX_UINT32
        return key ^ (key >> FOLD_SHIFT)

    def _equal(
        self,
        data: cython.const[cython.uchar][::1],
        begin: cython.ulonglong,
        kept: cython.ulonglong,
        length: cython.ulonglong,
    ) -> cython.bint:
        i: cython.ulonglong = 0
        if not cython.compiled:
            return data[begin : begin + length] == self.out[kept : kept + length]
        while i < length and data[begin + i] == self.out[kept + i]:
            i += 1
        return i == length


def share_records(slices: Sequence[tuple[memoryview, array[int]]]) -> tuple[memoryview, array[int]]:
    """All records end to end, equal ones once, and the offset of each function's, from (records, offset of each in them).

    The order is that of the functions.
    """
    out = zeros("B", sum(len(records) for records, _ in slices))
    shelf = _Shelf(out, sum(len(places) for _, places in slices))
    offsets = array("Q")
    for records, places in slices:
        offsets.extend(shelf.put(records, places))
    return out[: shelf.end()], offsets
