"""GSYM line tables, as `line_table_encoder` and others write them: opcode streams to the rows of pieces.

Source: LLVM ``llvm/DebugInfo/GSYM/LineTable.h``.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import taken
from uploader.gsym.layout import (
    LINE_ADVANCE_ADDRESS,
    LINE_ADVANCE_LINE,
    LINE_FIRST_SPECIAL,
    LINE_SET_FILE,
    MAX_UINT32,
    Data,
    Header,
)
from uploader.gsym.payload_reader import PayloadReader, Payloads, numbers_of
from uploader.symbols.columns import SymbolTable
from uploader.symbols.table_columns import GrowingTable

MAX_FIRST_LINE = MAX_UINT32
MAX_LINE = MAX_UINT32

BYTES_A_ROW = 3
"""About so many a row takes."""

REASONS = (
    "has no range of line deltas",
    "leaves the lines that 32 bits can hold",
    "leaves its function",
    "doesn't begin at its function's start",
    "has a row that doesn't advance",
    "names a file that isn't there",
    "has bytes after its end",
    "repeats a row",
)
CUT_OFF = 0
NO_RANGE, BAD_LINE, OUTSIDE, LATE, NO_ADVANCE, BAD_FILE, TRAILING, REPEATED = numbers_of(REASONS)


class _Decoder(PayloadReader):
    def __init__(self, data: Data, header: Header, strict: bool, rows: int) -> None:
        PayloadReader.__init__(self, data, header, "a line table", REASONS, strict)
        self.made = GrowingTable(rows=rows)

    @cython.cdivision(True)
    def payload(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.Py_ssize_t:
        """Reads one line table."""
        low: cython.longlong = self.sleb()
        high: cython.longlong = self.sleb()
        span: cython.longlong = high - low + 1
        if span < 1:
            self.fail(NO_RANGE)
        address: cython.ulonglong = start
        file: cython.ulonglong = 1
        first_line: cython.ulonglong = self.uleb()
        if first_line > MAX_FIRST_LINE:
            self.fail(BAD_LINE)
        line: cython.longlong = first_line
        first: cython.Py_ssize_t = self.made.rows
        op: cython.int
        advance: cython.ulonglong
        while True:
            if self.at >= self.end:
                self.fail(CUT_OFF)
            op = self.data[self.at]
            self.at += 1
            if op >= LINE_FIRST_SPECIAL:
                op -= LINE_FIRST_SPECIAL
                line += low + op % span
                advance = op // span
            elif op == LINE_ADVANCE_ADDRESS:
                advance = self.uleb()
            elif op == LINE_ADVANCE_LINE:
                line += self.sleb()
                self.check_line(line)
                continue
            elif op == LINE_SET_FILE:
                file = self.uleb()
                if file >= self.files or (self.strict and file == 0):
                    self.fail(BAD_FILE)
                continue
            else:
                break
            self.check_line(line)
            if advance > end - address:
                self.fail(OUTSIDE)
            address += advance
            if self.strict:
                if address >= end:
                    self.fail(OUTSIDE)
                self.check_row(first, advance, file, line)
            self.made.put_row(address, file, line)
        if self.at != self.end and self.strict:
            self.fail(TRAILING)
        return self.made.rows

    def check_line(self, line: cython.longlong) -> cython.int:
        if line < 0 or line > MAX_LINE:
            self.fail(BAD_LINE)
        return 0

    def check_row(
        self, first: cython.Py_ssize_t, advance: cython.ulonglong, file: cython.ulonglong, line: cython.longlong
    ) -> cython.int:
        """Holds a row to the invariants of `SymbolTable`, ``first`` being the number of its piece's first one."""
        last: cython.Py_ssize_t = self.made.rows - 1
        if last < first:
            if advance != 0:
                self.fail(LATE)
            if file >= self.files:
                self.fail(BAD_FILE)
        elif advance == 0:
            self.fail(NO_ADVANCE)
        elif self.made.row_file[last] == file and self.made.row_line[last] == line:
            self.fail(REPEATED)
        return 0

    def rows(self) -> tuple[array[int], array[int], array[int]]:
        """The addresses, files and lines of all rows."""
        made = self.made
        return taken(made.row_address, made.rows), taken(made.row_file, made.rows), taken(made.row_line, made.rows)


def decode_line_tables(data: Data, header: Header, table: SymbolTable, payloads: Payloads, *, strict: bool) -> None:
    """Fills the row columns of ``table``, whose pieces are there, from their line tables in ``data``.

    The places of ``payloads`` were checked by the caller; an empty one means no line table.
    Strict holds the rows to the invariants of `SymbolTable`; otherwise rows stay as they are (several at one address, a
    first row after the start, file 0), and only have to lie before the piece's end. Raises `MalformedGsym`. Releases the GIL.
    """
    payload_bytes = sum(payloads.end) - sum(payloads.begin)
    decoder = _Decoder(data, header, strict, payload_bytes // BYTES_A_ROW)
    table.row_first = decoder.read(table, payloads)
    table.row_address, table.row_file, table.row_line = decoder.rows()
