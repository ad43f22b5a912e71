"""Files and lines of one function of Go's table: a row wherever either changes (Go's ``runtime/symtab.go``, pcvalue)."""

from __future__ import annotations

import cython

from uploader.core.numbers import NumberReader
from uploader.core.search import first_after
from uploader.sources.dwarf.tables import RowTable
from uploader.sources.go.layouts import Header

NONE = cython.declare(cython.uint, 0xFFFFFFFF)
MAX_LINE = cython.declare(cython.longlong, 0x7FFFFFFF)
MAX_UNITS = cython.declare(cython.ulonglong, 0xFFFFFFFF)
"""The longest run of pcs, in the machine's units: Go's linker writes 32 bits."""
HALF_BITS = cython.declare(cython.ulonglong, 0x7FFFFFFF)


class FunctionRows(NumberReader):
    """Reads the rows of one function after the other. ``steps`` counts what has been read in all."""

    def __init__(self, data: memoryview, header: Header) -> None:
        super().__init__(data, little_endian=header.little_endian)
        self.rows = RowTable()
        self.quantum = header.quantum
        self.values_at = header.values_at
        self.slots = header.file_slots
        self.unit = 0
        self.size = 0
        self.steps = 0

    def read(
        self,
        unit: cython.ulonglong,
        file_table: cython.ulonglong,
        line_table: cython.ulonglong,
        most: cython.ulonglong,
    ) -> cython.int:
        """Reads the rows of a function whose files count from ``unit``; ``size`` is then where its lines end, at ``most`` at the latest.

        Raises `IndexError` where a table is cut off, or has numbers that are none of Go's.
        """
        file_at: cython.longlong = self.values_at + cython.cast(cython.longlong, file_table)
        line_at: cython.longlong = self.values_at + cython.cast(cython.longlong, line_table)
        file: cython.longlong = -1
        line: cython.longlong = -1
        file_end: cython.ulonglong = 0
        line_end: cython.ulonglong = 0
        pc: cython.ulonglong = 0
        change: cython.ulonglong
        self.unit = unit
        self.size = 0
        self.rows.count = 0
        if file_table == 0 or line_table == 0 or file_at >= self.data_size or line_at >= self.data_size:
            return 0
        while pc < most:
            if pc >= line_end:
                change = self.short_uleb(line_at)
                if change == 0 and line_end > 0:
                    break
                line += change_of(change)
                line_end += self.length(self.position)
                line_at = self.position
                self.steps += 1
                if line_end <= pc:
                    # The assembler's instructions without bytes leave lines without code.
                    continue
            while pc >= file_end and file_at >= 0:
                change = self.short_uleb(file_at)
                if change == 0 and file_end > 0:
                    file_at = -1
                    break
                file += change_of(change)
                file_end += self.length(self.position)
                file_at = self.position
                self.steps += 1
            self._put(pc, self.slot(file) if file_at >= 0 else NONE, line)
            pc = line_end if file_at < 0 or line_end < file_end else file_end
        self.size = min(most, pc)
        return 0

    def length(self, p: cython.longlong) -> cython.ulonglong:
        """So many bytes of code stand behind the number at ``p``; ``position`` is left behind it."""
        units: cython.ulonglong = self.short_uleb(p)
        if units > MAX_UNITS:
            raise IndexError
        return units * self.quantum

    def slot(self, file: cython.longlong) -> cython.uint:
        """The slot of a file that the function numbers; ``NONE`` where there is none."""
        if file < 0:
            return NONE
        number: cython.ulonglong = self.unit + cython.cast(cython.ulonglong, file)
        return cython.cast(cython.uint, number) if number < self.slots else NONE

    def at(self, pc: cython.ulonglong) -> cython.Py_ssize_t:
        """The row that speaks for a pc of the function; -1 where none does."""
        return first_after(self.rows.address, 0, self.rows.count, pc) - 1

    def _put(self, pc: cython.ulonglong, file: cython.uint, line: cython.longlong) -> cython.int:
        """Puts a row, unless it says what the one before says."""
        known: cython.uint = cython.cast(cython.uint, line) if 0 < line <= MAX_LINE else 0
        n: cython.Py_ssize_t = self.rows.count
        if n > 0 and self.rows.file[n - 1] == file and self.rows.line[n - 1] == known:
            return 0
        return self.rows.put(pc, file, known)


def change_of(change: cython.ulonglong) -> cython.longlong:
    """A change of value as tables keep it: the sign in the lowest bit, the others turned over where it is set; 32 bits count."""
    half: cython.longlong = cython.cast(cython.longlong, (change >> 1) & HALF_BITS)
    return -half - 1 if change & 1 else half
