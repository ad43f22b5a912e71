"""Does what relocation entries say to the bytes of a section. Part of the core: compiled or not, the same results."""

from __future__ import annotations

from array import array
from typing import Final

import cython

from uploader.objects.elf import relocation_types
from uploader.objects.elf.symbol_values import SymbolValues

LAYOUT_32: Final = 0
LAYOUT_64: Final = 1
LAYOUT_MIPS_LITTLE: Final = 2
LAYOUT_MIPS_BIG: Final = 3
"""How ``r_info`` holds symbol and type: 64-bit MIPS has ways of its own, in which only the first of three types counts."""

NARROW = cython.declare(cython.int, LAYOUT_32)
MIPS_LITTLE = cython.declare(cython.int, LAYOUT_MIPS_LITTLE)
MIPS_BIG = cython.declare(cython.int, LAYOUT_MIPS_BIG)


LOW_6_BITS = cython.declare(cython.ulonglong, 0x3F)
HIGH_2_BITS = cython.declare(cython.ulonglong, 0xC0)
LOW_32_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFF)
ALL_ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)


@cython.final
@cython.cclass
class Patcher:
    """Applies the entries of one table to one section. What can't be applied is counted and left alone."""

    data: cython.uchar[::1]
    size_bytes: cython.ulonglong
    symbol_value: cython.ulonglong[::1]
    symbol_defined: cython.uchar[::1]
    operations: cython.const[cython.uchar][::1]
    layout: cython.int
    has_addends: cython.bint
    address_bytes: cython.int
    little_endian: cython.bint
    tombstone: cython.ulonglong

    def __init__(
        self,
        target: bytearray,
        symbols: SymbolValues,
        operations: bytes,
        *,
        layout: int,
        has_addends: bool,
        address_bytes: int,
        little_endian: bool,
        tombstone: int,
    ) -> None:
        """``operations`` says what each type does (`relocation_types.operations_of`).

        What refers to an undefined symbol by a whole address gets the ``tombstone``: a linker dropped the code that it meant.
        """
        self.data = target
        self.size_bytes = len(target)
        self.symbol_value = symbols.value or array("Q", [0])
        self.symbol_defined = symbols.defined or array("B", [0])
        self.operations = operations
        self.layout = layout
        self.has_addends = has_addends
        self.address_bytes = address_bytes
        self.little_endian = little_endian
        self.tombstone = tombstone

    def apply(self, words: array[int]) -> int:
        """Applies entries, given as words of 64 bits; gives how many can't be applied."""
        word: cython.ulonglong[::1] = words
        operations: cython.const[cython.uchar][::1] = self.operations
        symbol_value: cython.ulonglong[::1] = self.symbol_value
        symbols: cython.ulonglong = len(symbol_value)
        size_bytes: cython.ulonglong = self.size_bytes
        layout: cython.int = self.layout
        has_addends: cython.bint = self.has_addends
        step: cython.Py_ssize_t = 3 if has_addends else 2
        n: cython.Py_ssize_t = len(words) // step
        lost: cython.Py_ssize_t = 0
        i: cython.Py_ssize_t
        offset: cython.ulonglong
        symbol: cython.ulonglong
        kind: cython.ulonglong
        value: cython.ulonglong
        operation: cython.int
        with cython.nogil:
            for i in range(n):
                offset = word[step * i]
                symbol = _symbol_of(layout, word[step * i + 1])
                kind = _type_of(layout, word[step * i + 1])
                operation = (
                    operations[cython.cast(cython.Py_ssize_t, kind)]
                    if kind < relocation_types.MOST_TYPES
                    else relocation_types.UNKNOWN
                )
                if operation == relocation_types.NOTHING:
                    continue
                if (
                    operation == relocation_types.UNKNOWN
                    or symbol >= symbols
                    or offset >= size_bytes
                    or size_bytes - offset < cython.cast(cython.ulonglong, operation & relocation_types.WIDTH_BITS)
                ):
                    lost += 1
                    continue
                value = symbol_value[cython.cast(cython.Py_ssize_t, symbol)]
                if has_addends:
                    value = _sum(value, word[step * i + 2])
                self._change(
                    cython.cast(cython.Py_ssize_t, offset), operation, cython.cast(cython.Py_ssize_t, symbol), value
                )
        return lost

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _change(
        self, at: cython.Py_ssize_t, operation: cython.int, symbol: cython.Py_ssize_t, value: cython.ulonglong
    ) -> cython.int:
        """Does an operation at a place; ``value`` is the symbol's, with the entry's addend if there is one."""
        width: cython.int = operation & relocation_types.WIDTH_BITS
        action: cython.int = operation & relocation_types.ACTION_BITS
        stored: cython.ulonglong
        if action == relocation_types.STORE:
            if width == self.address_bytes and self.symbol_defined[symbol] == 0:
                value = self.tombstone
            elif not self.has_addends:
                value = _sum(value, self._stored(at, width))
            return self._store(at, width, value)
        if action == relocation_types.STORE_LEB:
            return self._store_leb(at, value)
        if action == relocation_types.SUB_LEB:
            return self._store_leb(at, _difference(self._leb(at), value))
        stored = self._stored(at, width)
        if action == relocation_types.ADD:
            value = _sum(stored, value)
        elif action == relocation_types.SUB:
            value = _difference(stored, value)
        elif action == relocation_types.ADD_6:
            value = (stored & HIGH_2_BITS) | (_sum(stored, value) & LOW_6_BITS)
        elif action == relocation_types.SUB_6:
            value = (stored & HIGH_2_BITS) | (_difference(stored, value) & LOW_6_BITS)
        else:
            value = (stored & HIGH_2_BITS) | (value & LOW_6_BITS)
        return self._store(at, width, value)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _stored(self, at: cython.Py_ssize_t, width: cython.int) -> cython.ulonglong:
        """What stands there now."""
        stored: cython.ulonglong = 0
        k: cython.int
        for k in range(width):
            stored = (stored << 8) | self.data[at + (width - 1 - k if self.little_endian else k)]
        return stored

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _leb(self, at: cython.Py_ssize_t) -> cython.ulonglong:
        """The unsigned LEB128 in place, as far as the section reaches: `_store_leb` writes no further, either."""
        result: cython.ulonglong = 0
        byte: cython.ulonglong = 0x80
        shift: cython.int = 0
        size: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.size_bytes)
        while at < size and shift < 64 and byte >= 0x80:
            byte = self.data[at]
            at += 1
            result |= ((byte & 0x7F) << shift) & ALL_ONES
            shift += 7
        return result

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _store(self, at: cython.Py_ssize_t, width: cython.int, value: cython.ulonglong) -> cython.int:
        k: cython.int
        for k in range(width):
            self.data[at + (k if self.little_endian else width - 1 - k)] = (value >> (8 * k)) & 0xFF
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _store_leb(self, at: cython.Py_ssize_t, value: cython.ulonglong) -> cython.int:
        """Stores an unsigned LEB128 in as many bytes as one takes there now; what doesn't fit is cut off."""
        size: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.size_bytes)
        more: cython.bint = True
        while more and at < size:
            more = self.data[at] >= 0x80
            self.data[at] = (value & 0x7F) | (0x80 if more else 0)
            value >>= 7
            at += 1
        return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _symbol_of(layout: cython.int, info: cython.ulonglong) -> cython.ulonglong:
    """The symbol that ``r_info`` names."""
    if layout == NARROW:
        return info >> 8
    return info & LOW_32_BITS if layout == MIPS_LITTLE else info >> 32


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _type_of(layout: cython.int, info: cython.ulonglong) -> cython.ulonglong:
    """The relocation's type in ``r_info``."""
    if layout == MIPS_LITTLE:
        return info >> 56
    return info & 0xFF if layout == NARROW or layout == MIPS_BIG else info & LOW_32_BITS


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum(one: cython.ulonglong, other: cython.ulonglong) -> cython.ulonglong:
    """The sum modulo 2 to the 64."""
    return one + other if other <= ALL_ONES - one else other - (ALL_ONES - one) - 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _difference(one: cython.ulonglong, other: cython.ulonglong) -> cython.ulonglong:
    """The difference modulo 2 to the 64."""
    return one - other if other <= one else ALL_ONES - (other - one) + 1
