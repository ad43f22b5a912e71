"""Reads numbers of flat data: LEB128 (DWARF 5 §7.6) and fixed sizes, in the byte order of the file.

Numbers are taken into 64 bits: padding of a LEB128 is legal, its bits beyond the 64th are dropped, and of a wider fixed number the low
bits count. A number that runs past the end raises `IndexError`. Part of the core: compiled or not, the same results.
"""

from __future__ import annotations

import cython

TOP_BIT = cython.declare(cython.int, 63)
ALL_ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
MOST_BYTES = cython.declare(cython.int, 8)
MOST_LEB128_BYTES = cython.declare(cython.int, 10)


class NumberReader:
    """Some data, and the ``position`` behind the LEB128 that was read last. Belongs to one thread."""

    def __init__(self, data: bytes | bytearray | memoryview, *, little_endian: bool = True) -> None:
        self.data = data
        self.data_size = len(data)
        self.little_endian = little_endian
        self.position = 0

    def read_uleb(self, at: int) -> tuple[int, int]:
        """(value, offset behind it) of the unsigned LEB128 at ``at``."""
        value = self.uleb(at)
        return value, self.position

    def uleb(self, p: cython.longlong) -> cython.ulonglong:
        """The unsigned LEB128 at ``p``; ``position`` is left behind it."""
        byte: cython.ulonglong = self.data[p]
        p += 1
        if byte < 0x80:
            self.position = p
            return byte
        result: cython.ulonglong = byte & 0x7F
        shift: cython.int = 7
        while True:
            byte = self.data[p]
            p += 1
            if shift < TOP_BIT:
                result |= (byte & 0x7F) << shift
                shift += 7
            elif shift == TOP_BIT:
                result |= (byte & 1) << shift
                shift += 1
            if byte < 0x80:
                break
        self.position = p
        return result

    def short_uleb(self, p: cython.longlong) -> cython.ulonglong:
        """As `uleb`, of a number without padding: one of more bytes than 64 bits take raises `IndexError`, before they are read."""
        i: cython.int
        for i in range(MOST_LEB128_BYTES):
            if self.data[p + i] < 0x80:
                return self.uleb(p)
        raise IndexError

    def sleb(self, p: cython.longlong) -> cython.ulonglong:
        """The signed LEB128 at ``p`` modulo 2 to the 64; ``position`` is left behind it."""
        result: cython.ulonglong = self.data[p]
        if result < 0x80:
            self.position = p + 1
            return result if result < 0x40 else result | (ALL_ONES - 0x7F)
        result = self.uleb(p)
        bits: cython.longlong = 7 * (self.position - p)
        if bits <= TOP_BIT and self.data[self.position - 1] & 0x40:
            result |= (ALL_ONES << bits) & ALL_ONES
        return result

    def fixed(self, p: cython.longlong, size_bytes: cython.int) -> cython.ulonglong:
        """The unsigned number of so many bytes at ``p``."""
        result: cython.ulonglong = 0
        i: cython.int
        if size_bytes > MOST_BYTES:
            p = p if self.little_endian else p + size_bytes - MOST_BYTES
            size_bytes = MOST_BYTES
        if not self.little_endian:
            for i in range(size_bytes):
                result = (result << 8) | self.data[p + i]
        elif size_bytes == 4:
            # Loops of a length that is known are none once compiled.
            for i in range(3, -1, -1):
                result = (result << 8) | self.data[p + i]
        elif size_bytes == 8:
            for i in range(7, -1, -1):
                result = (result << 8) | self.data[p + i]
        else:
            for i in range(size_bytes - 1, -1, -1):
                result = (result << 8) | self.data[p + i]
        return result
