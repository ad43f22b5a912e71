"""GSYM line tables, as `line_table_encoder` and others write them: opcode streams to the rows of pieces.

Source: LLVM ``llvm/DebugInfo/GSYM/LineTable.h``.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import resized
from uploader.gsym.layout import (
    LINE_ADVANCE_ADDRESS,
    LINE_ADVANCE_LINE,
    LINE_FIRST_SPECIAL,
    LINE_SET_FILE,
    Data,
)
from uploader.gsym.reader import REASONS as READER_REASONS
from uploader.gsym.reader import GsymReader
from uploader.symbols.columns import SymbolTable

OP_SET_FILE = cython.declare(cython.int, LINE_SET_FILE)
OP_ADVANCE_ADDRESS = cython.declare(cython.int, LINE_ADVANCE_ADDRESS)
OP_ADVANCE_LINE = cython.declare(cython.int, LINE_ADVANCE_LINE)
OP_FIRST_SPECIAL = cython.declare(cython.int, LINE_FIRST_SPECIAL)
MAX_ITEMS = cython.declare(cython.Py_ssize_t, 0xFFFFFFFF)
MAX_FIRST_LINE = cython.declare(cython.ulonglong, 0xFFFFFFFF)
MAX_LINE = cython.declare(cython.longlong, 0xFFFFFFFF)

REASONS = (
    *READER_REASONS,
    "has no range of line deltas",
    "leaves the lines that 32 bits can hold",
    "leaves its function",
    "doesn't begin at its function's start",
    "has a row that doesn't advance",
    "names a file that isn't there",
    "has bytes after its end",
    "repeats a row",
)
CUT_OFF = cython.declare(cython.int, 0)
TOO_LARGE = cython.declare(cython.int, 1)
NO_RANGE = cython.declare(cython.int, 2)
BAD_LINE = cython.declare(cython.int, 3)
OUTSIDE = cython.declare(cython.int, 4)
LATE = cython.declare(cython.int, 5)
NO_ADVANCE = cython.declare(cython.int, 6)
BAD_FILE = cython.declare(cython.int, 7)
TRAILING = cython.declare(cython.int, 8)
REPEATED = cython.declare(cython.int, 9)


@cython.final
@cython.cclass
class _Decoder(GsymReader):
    row_first: cython.uint[::1]
    row_address: cython.ulonglong[::1]
    row_file: cython.uint[::1]
    row_line: cython.uint[::1]
    columns: list  # type: ignore[type-arg]  # Cython takes the bare builtin as an attribute's type
    capacity: cython.Py_ssize_t
    count: cython.Py_ssize_t
    files: cython.ulonglong
    strict: cython.bint

    def __init__(self, data: Data, row_first: array[int], files: int, strict: bool, capacity: int) -> None:
        GsymReader.__init__(self, data, "a line table", REASONS, True)
        self.row_first = row_first
        self.files = files
        self.strict = strict
        self.capacity = 0
        self.count = 0
        self.columns = [array("Q"), array("I"), array("I")]
        self.reserve(capacity)

    @cython.cfunc
    @cython.exceptval(-1)
    def reserve(self, rows: cython.Py_ssize_t) -> cython.int:
        """Makes room for so many rows more."""
        capacity: cython.Py_ssize_t = max(self.count + rows, self.count + self.count // 2)
        self.columns = [resized(column, self.count, capacity) for column in self.columns]
        self.row_address = self.columns[0]
        self.row_file = self.columns[1]
        self.row_line = self.columns[2]
        self.capacity = capacity
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    @cython.cdivision(True)
    def rows(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        """Reads one line table of the piece ``start`` to ``end``."""
        if self.count + (self.end - self.at) > self.capacity:
            with cython.gil:
                self.reserve(self.end - self.at)
        row_address: cython.ulonglong[::1] = self.row_address
        row_file: cython.uint[::1] = self.row_file
        row_line: cython.uint[::1] = self.row_line
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
        first: cython.Py_ssize_t = self.count
        count: cython.Py_ssize_t = self.count
        op: cython.int
        advance: cython.ulonglong
        while True:
            if self.at >= self.end:
                self.fail(CUT_OFF)
            op = self.data[self.at]
            self.at += 1
            if op >= OP_FIRST_SPECIAL:
                op -= OP_FIRST_SPECIAL
                line += low + op % span
                advance = op // span
            elif op == OP_ADVANCE_ADDRESS:
                advance = self.uleb()
            elif op == OP_ADVANCE_LINE:
                line += self.sleb()
                if line < 0 or line > MAX_LINE:
                    self.fail(BAD_LINE)
                continue
            elif op == OP_SET_FILE:
                file = self.uleb()
                if file >= self.files or (self.strict and file == 0):
                    self.fail(BAD_FILE)
                continue
            else:
                break
            if line < 0 or line > MAX_LINE:
                self.fail(BAD_LINE)
            if advance > end - address:
                self.fail(OUTSIDE)
            address += advance
            if self.strict:
                if address >= end:
                    self.fail(OUTSIDE)
                if count == first:
                    if address != start:
                        self.fail(LATE)
                    if file >= self.files:
                        self.fail(BAD_FILE)
                elif advance == 0:
                    self.fail(NO_ADVANCE)
                elif row_file[count - 1] == file and row_line[count - 1] == line:
                    self.fail(REPEATED)
            row_address[count] = address
            row_file[count] = file
            row_line[count] = line
            count += 1
        if self.at != self.end and self.strict:
            self.fail(TRAILING)
        self.count = count
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def pieces(
        self,
        starts: cython.ulonglong[::1],
        ends: cython.ulonglong[::1],
        payload_begin: cython.ulonglong[::1],
        payload_end: cython.ulonglong[::1],
        count: cython.Py_ssize_t,
    ) -> cython.int:
        piece: cython.Py_ssize_t
        for piece in range(count):
            if payload_begin[piece] != payload_end[piece]:
                self.at = payload_begin[piece]
                self.end = payload_end[piece]
                self.rows(starts[piece], ends[piece])
            if self.count > MAX_ITEMS:
                self.fail(TOO_LARGE)
            self.row_first[piece + 1] = self.count
        return 0

    def run(
        self, starts: array[int], ends: array[int], payload_begin: array[int], payload_end: array[int]
    ) -> list[array[int]]:
        begin: cython.ulonglong[::1] = starts
        until: cython.ulonglong[::1] = ends
        payload_from: cython.ulonglong[::1] = payload_begin
        payload_to: cython.ulonglong[::1] = payload_end
        count: cython.Py_ssize_t = len(starts)
        with cython.nogil:
            self.pieces(begin, until, payload_from, payload_to, count)
        return [column[: self.count] for column in self.columns]


def decode_line_tables(
    data: Data,
    table: SymbolTable,
    payload_begin: array[int],
    payload_end: array[int],
    *,
    file_count: int,
    strict: bool,
) -> None:
    """Fills the row columns of ``table``, whose pieces are there, from their line tables in ``data``.

    ``payload_begin`` and ``payload_end`` are byte offsets, checked by the caller; an empty payload means no line table.
    Strict holds the rows to the invariants of `SymbolTable`; otherwise rows stay as they are (several at one address, a
    first row after the start, file 0), and only have to lie before the piece's end. Raises `MalformedGsym`. Releases the GIL.
    """
    table.row_first = array("I", [0]) * (len(table) + 1)
    payload_bytes = sum(payload_end) - sum(payload_begin)
    decoder = _Decoder(data, table.row_first, file_count, strict, payload_bytes // 3)
    table.row_address, table.row_file, table.row_line = decoder.run(table.start, table.end, payload_begin, payload_end)
