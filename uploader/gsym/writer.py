"""Writes the numbers of GSYM, which `reader` reads: LEB128 (DWARF 5 §7.6) and fixed sizes, into memory that grows.

Part of the core: compiled or not, the same bytes.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import grown, zeros
from uploader.symbols.columns import SymbolTable
from uploader.symbols.table_columns import TableColumns
from uploader.values import frozen

NUMBER_MAX_BYTES = 10
"""The longest LEB128 of 64 bits."""


@frozen
class NameForm:
    """How a file refers to names."""

    offset: array[int]
    """Where each name of the table stands in the string table."""
    size_bytes: int
    """So many bytes an offset has."""
    little_endian: bool


class GsymWriter:
    """A place in a buffer. Whoever writes a number has reserved its bytes before: `NUMBER_MAX_BYTES` are enough for any."""

    def __init__(self, room_bytes: int, little: bool) -> None:
        self.out = zeros("B", room_bytes)
        self.capacity = room_bytes
        self.at = 0
        self.little = little

    def reserve(self, size_bytes: cython.Py_ssize_t) -> cython.int:
        """Makes room for so many bytes more."""
        if self.at + size_bytes <= self.capacity:
            return 0
        with cython.gil:
            self._grow(size_bytes)
        return 0

    def _grow(self, size_bytes: int) -> None:
        self.out = grown(self.out, self.capacity + size_bytes)
        self.capacity = len(self.out)

    def uleb(self, value: cython.ulonglong) -> cython.int:
        """An unsigned LEB128."""
        at: cython.Py_ssize_t = self.at
        while value >= 0x80:
            self.out[at] = (value & 0x7F) | 0x80
            at += 1
            value >>= 7
        self.out[at] = value
        self.at = at + 1
        return 0

    def sleb(self, value: cython.longlong) -> cython.int:
        """A signed LEB128."""
        at: cython.Py_ssize_t = self.at
        while value > 63 or value < -64:
            self.out[at] = (value & 0x7F) | 0x80
            at += 1
            value >>= 7
        self.out[at] = value & 0x7F
        self.at = at + 1
        return 0

    def fixed(self, value: cython.ulonglong, size_bytes: cython.int) -> cython.int:
        """An unsigned number of so many bytes in the file's byte order."""
        index: cython.int
        for index in range(size_bytes):
            if self.little:
                self.out[self.at + index] = (value >> (8 * index)) & 0xFF
            else:
                self.out[self.at + index] = (value >> (8 * (size_bytes - 1 - index))) & 0xFF
        self.at += size_bytes
        return 0


class PayloadWriter(GsymWriter):
    """Writes data of one kind for piece after piece of a table, end to end. Each kind has a `payload` of its own."""

    def __init__(self, table: SymbolTable, room_bytes: int, little: bool) -> None:
        GsymWriter.__init__(self, room_bytes, little)
        self.table = TableColumns(table)

    def payload(self, piece: cython.Py_ssize_t) -> cython.int:
        """Writes what one piece has; nothing where it has none."""
        with cython.gil:
            raise NotImplementedError(piece)
        return 0

    def payloads(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Writes what the pieces ``first:last`` have, and where that of each ends."""
        piece: cython.Py_ssize_t
        for piece in range(first, last):
            self.payload(piece)
            self.ends[piece - first] = self.at
        return 0

    def write(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> tuple[memoryview, array[int]]:
        """The data of the pieces ``first:last``, and where that of each ends; the buffer may be longer. Releases the GIL."""
        ends = array("Q", [0]) * (last - first)
        self.ends = ends
        with cython.nogil:
            self.payloads(first, last)
        return memoryview(self.out), ends


class NamingWriter(PayloadWriter):
    """Writes data that names functions."""

    def __init__(self, table: SymbolTable, room_bytes: int, names: NameForm) -> None:
        PayloadWriter.__init__(self, table, room_bytes, names.little_endian)
        self.name_offset = names.offset
        self.name_bytes = names.size_bytes

    def name(self, number: cython.uint) -> cython.int:
        """One of the table's names, by its offset."""
        return self.fixed(self.name_offset[number], self.name_bytes)
