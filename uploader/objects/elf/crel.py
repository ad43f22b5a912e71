"""Compact relocations, ``SHT_CREL``, as LLVM proposes them for the gABI (clang ``-Wa,--crel``).

A table is a ULEB128 of eight times the count, plus 4 where entries state addends, plus the shift of all offsets; then the entries, each
told by what changes from the one before. Part of the core: compiled or not, the same results.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import cython

from uploader.core.numbers import NumberReader
from uploader.errors import MalformedElf

SHT_CREL = 0x40000014
CUT_OFF = "a table of compact relocations is cut off"

ALL_ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
LOW_32_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFF)


class CrelTable:
    """One table, decoded some entries at a time: `chunks` may be gone through once."""

    def __init__(self, *, data: bytes | memoryview, is_64: bool, entries_at_a_time: int) -> None:
        """Raises `MalformedElf` where the table can't hold what it claims."""
        self._reader = EntryReader(data, is_64=is_64)
        self._entries_at_a_time = entries_at_a_time
        try:
            header, at = self._reader.read_uleb(0)
        except IndexError:
            raise MalformedElf(CUT_OFF) from None
        self._count = header >> 3
        self.has_addends = bool(header & 4)
        """Whether the entries state their addends, as SHT_RELA does; else these stand in the section, as with SHT_REL."""
        # Each entry takes a byte at least, whatever the header claims.
        if self._count > len(data) - at:
            raise MalformedElf(f"a table of {len(data)} bytes claims {self._count} compact relocations")
        self._reader.begin(at, header & 3, self.has_addends)

    def chunks(self) -> Iterator[array[int]]:
        """The entries as the words that SHT_RELA or SHT_REL would have in a file of this class. Raises `MalformedElf` where cut off."""
        left = self._count
        while left > 0:
            count = min(left, self._entries_at_a_time)
            words = array("Q", bytes(8 * count * (3 if self.has_addends else 2)))
            try:
                self._reader.decode(words, count)
            except IndexError:
                raise MalformedElf(CUT_OFF) from None
            yield words
            left -= count


@cython.final
@cython.cclass
class EntryReader(NumberReader):
    """Decodes the entries of one table in their order, and keeps what the next one is told by."""

    at: cython.longlong
    is_64: cython.bint
    has_addends: cython.bint
    shift: cython.int
    offset: cython.ulonglong
    symbol: cython.ulonglong
    kind: cython.ulonglong
    addend: cython.ulonglong

    def __init__(self, data: bytes | memoryview, *, is_64: bool) -> None:
        super().__init__(data)
        self.is_64 = is_64
        self.begin(0, 0, False)

    def begin(self, at: int, shift: int, has_addends: bool) -> None:
        """Sets where the first entry lies, and what the header says of all of them."""
        self.at = at
        self.shift = shift
        self.has_addends = has_addends
        self.offset = 0
        self.symbol = 0
        self.kind = 0
        self.addend = 0

    def decode(self, words: array[int], count: int) -> None:
        """Decodes the next entries into ``words``. Raises `IndexError` where the table ends before them."""
        out: cython.ulonglong[::1] = words
        n: cython.Py_ssize_t = count
        step: cython.Py_ssize_t = 3 if self.has_addends else 2
        i: cython.Py_ssize_t
        with cython.nogil:
            for i in range(n):
                self._next()
                if self.is_64:
                    out[step * i] = (self.offset << self.shift) & ALL_ONES
                    out[step * i + 1] = (self.symbol & LOW_32_BITS) << 32 | (self.kind & LOW_32_BITS)
                else:
                    out[step * i] = (self.offset << self.shift) & LOW_32_BITS
                    out[step * i + 1] = (self.symbol & 0xFFFFFF) << 8 | (self.kind & 0xFF)
                if step == 3:
                    out[step * i + 2] = self.addend if self.is_64 else self.addend & LOW_32_BITS

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _next(self) -> cython.int:
        """Takes in what changes with the next entry."""
        flag_bits: cython.int = 3 if self.has_addends else 2
        flags: cython.ulonglong = self.data[self.at]
        change: cython.ulonglong = (flags & 0x7F) >> flag_bits
        self.at += 1
        if flags >= 0x80:
            # The offset's higher bits stand right above those in the first byte.
            change |= (self.uleb(self.at) << (7 - flag_bits)) & ALL_ONES
            self.at = self.position
        self.offset = _sum(self.offset, change)
        if flags & 1:
            self.symbol = _sum(self.symbol, self._change())
        if flags & 2:
            self.kind = _sum(self.kind, self._change())
        if self.has_addends and flags & 4:
            self.addend = _sum(self.addend, self._change())
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _change(self) -> cython.ulonglong:
        """The signed number that comes next, modulo 2 to the 64."""
        change: cython.ulonglong = self.sleb(self.at)
        self.at = self.position
        return change


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum(one: cython.ulonglong, other: cython.ulonglong) -> cython.ulonglong:
    """The sum modulo 2 to the 64."""
    return one + other if other <= ALL_ONES - one else other - (ALL_ONES - one) - 1
