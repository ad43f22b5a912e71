"""Compact relocations, ``SHT_CREL``, as LLVM proposes them for the gABI (clang ``-Wa,--crel``).

A table is a ULEB128 of eight times the count, plus 4 where entries state addends, plus the shift of all offsets; then the entries, each
told by what changes from the one before. Part of the core: compiled or not, the same results.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import cython

from uploader.errors import MalformedElf

SHT_CREL = 0x40000014

POSITION = cython.declare(cython.Py_ssize_t, 0)
SHIFT = cython.declare(cython.Py_ssize_t, 1)
OFFSET = cython.declare(cython.Py_ssize_t, 2)
SYMBOL = cython.declare(cython.Py_ssize_t, 3)
TYPE = cython.declare(cython.Py_ssize_t, 4)
ADDEND = cython.declare(cython.Py_ssize_t, 5)
"""Where `decode` keeps what it knows of the entry before."""


@dataclass(slots=True, kw_only=True)
class CrelTable:
    """One table, decoded some entries at a time: `chunks` may be gone through once."""

    data: bytes | memoryview
    is_64: bool
    entries_at_a_time: int
    has_addends: bool = field(init=False)
    """Whether the entries state their addends, as SHT_RELA does; else these stand in the section, as with SHT_REL."""
    _count: int = field(init=False)
    _state: array[int] = field(init=False)

    def __post_init__(self) -> None:
        header, at = _header(self.data)
        self.has_addends = bool(header & 4)
        self._count = header >> 3
        # Each entry takes a byte at least, whatever the header claims.
        if self._count > len(self.data) - at:
            raise MalformedElf(f"a table of {len(self.data)} bytes claims {self._count} compact relocations")
        self._state = array("Q", [at, header & 3, 0, 0, 0, 0])

    def chunks(self) -> Iterator[array[int]]:
        """The entries as the words that SHT_RELA or SHT_REL would have in a file of this class. Raises `MalformedElf` where cut off."""
        left = self._count
        while left > 0:
            count = min(left, self.entries_at_a_time)
            words = array("Q", bytes(8 * count * (3 if self.has_addends else 2)))
            try:
                decode(self.data, words, count, self.has_addends, self.is_64, self._state)
            except IndexError:
                raise MalformedElf("a table of compact relocations is cut off") from None
            yield words
            left -= count


def _header(data: bytes | memoryview) -> tuple[int, int]:
    """(value, offset behind it) of the ULEB128 that a table begins with."""
    value = 0
    for at, byte in enumerate(data[:10]):
        value |= (byte & 0x7F) << (7 * at)
        if byte < 0x80:
            return value, at + 1
    raise MalformedElf("a table of compact relocations is cut off")


def decode(
    data: bytes | memoryview, words: array[int], entries: int, has_addends: bool, is_64: bool, state: array[int]
) -> None:
    """Decodes the next entries into ``words``; ``state`` moves on.

    Raises `IndexError` where the table ends before them.
    """
    source: cython.const[cython.uchar][::1] = data
    out: cython.ulonglong[::1] = words
    now: cython.ulonglong[::1] = state
    n: cython.Py_ssize_t = entries
    addends: cython.bint = has_addends
    wide: cython.bint = is_64
    with cython.nogil:
        _decode(source, out, n, addends, wide, now)


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def _decode(
    data: cython.const[cython.uchar][::1],
    out: cython.ulonglong[::1],
    n: cython.Py_ssize_t,
    addends: cython.bint,
    wide: cython.bint,
    now: cython.ulonglong[::1],
) -> cython.int:
    shift: cython.int = cython.cast(cython.int, now[SHIFT])
    flag_bits: cython.int = 3 if addends else 2
    step: cython.Py_ssize_t = 3 if addends else 2
    low_32: cython.ulonglong = 0xFFFFFFFF
    top: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    flags: cython.ulonglong
    change: cython.ulonglong
    for i in range(n):
        flags = data[cython.cast(cython.Py_ssize_t, now[POSITION])]
        now[POSITION] += 1
        change = (flags & 0x7F) >> flag_bits
        if flags >= 0x80:
            # The offset's higher bits stand right above those in the first byte.
            change |= _leb(data, now, 7 - flag_bits, False)
        now[OFFSET] = _sum(now[OFFSET], change, top)
        for k in range(flag_bits):
            if (flags >> k) & 1:
                now[SYMBOL + k] = _sum(now[SYMBOL + k], _leb(data, now, 0, True), top)
        out[step * i] = (now[OFFSET] << shift) & top
        out[step * i + 1] = (now[SYMBOL] & low_32) << 32 | (now[TYPE] & low_32)
        if not wide:
            out[step * i] &= low_32
            out[step * i + 1] = (now[SYMBOL] & 0xFFFFFF) << 8 | (now[TYPE] & 0xFF)
        if addends:
            out[step * i + 2] = now[ADDEND] if wide else now[ADDEND] & low_32
    return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
def _leb(
    data: cython.const[cython.uchar][::1], now: cython.ulonglong[::1], shift: cython.int, signed: cython.bint
) -> cython.ulonglong:
    """The LEB128 at the position, moved up by ``shift`` bits; leaves the position behind it."""
    result: cython.ulonglong = 0
    top: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    byte: cython.ulonglong = 0x80
    while byte >= 0x80:
        byte = data[cython.cast(cython.Py_ssize_t, now[POSITION])]
        now[POSITION] += 1
        if shift < 64:
            result |= ((byte & 0x7F) << shift) & top
            shift += 7
    if signed and byte & 0x40 and shift < 64:
        result |= (top << shift) & top
    return result


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum(one: cython.ulonglong, other: cython.ulonglong, top: cython.ulonglong) -> cython.ulonglong:
    """The sum modulo 2^64."""
    return one + other if other <= top - one else other - (top - one) - 1
