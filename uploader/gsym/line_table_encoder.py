"""GSYM line tables: the rows of pieces to opcode streams.

Source: LLVM ``llvm/DebugInfo/GSYM/LineTable.h``. A stream begins with ``SLEB min_delta; SLEB max_delta; ULEB first_line``;
its state begins at the piece's start, file 1 and the first line.
"""

from __future__ import annotations

from array import array

import cython

from uploader.gsym.layout import (
    LINE_ADVANCE_ADDRESS,
    LINE_ADVANCE_LINE,
    LINE_END,
    LINE_FIRST_SPECIAL,
    LINE_SET_FILE,
)
from uploader.gsym.writer import PayloadWriter
from uploader.symbols.columns import SymbolTable

LAST_SPECIAL = 251
MAX_SPECIAL_ADVANCE = 251
"""The last special opcode, counted from the first one, and the longest way that one can go."""

WINDOW_LOW = -2
WINDOW_WIDTH = 8
"""The line deltas that special opcodes serve, in every table: those from two lines back to five on.

LLVM takes another window for each table. With one for all, the same step is the same byte everywhere, so that zstd makes a GSYM file of C,
C++, Go or Rust 1 to 3 % smaller than with a window that is chosen; uncompressed none of them takes 0.2 % more than with the best of four.
"""

ROW_MAX_BYTES = 32


class _Encoder(PayloadWriter):
    def __init__(self, table: SymbolTable, file_number: array[int], room_bytes: int) -> None:
        PayloadWriter.__init__(self, table, room_bytes, True)
        self.file_number = file_number

    def put_row(self, delta: cython.longlong, advance: cython.ulonglong) -> cython.int:
        """A row so many lines and bytes behind the last one: where one opcode can't do both, the line goes first."""
        distance: cython.longlong = LAST_SPECIAL + 1
        if advance <= MAX_SPECIAL_ADVANCE:
            distance = advance
            distance *= WINDOW_WIDTH
        if (
            not (0 <= delta - WINDOW_LOW < WINDOW_WIDTH and delta - WINDOW_LOW + distance <= LAST_SPECIAL)
            and delta != 0
        ):
            self.out[self.at] = LINE_ADVANCE_LINE
            self.at += 1
            self.sleb(delta)
            delta = 0
        if delta - WINDOW_LOW + distance <= LAST_SPECIAL:
            self.out[self.at] = LINE_FIRST_SPECIAL + delta - WINDOW_LOW + distance
            self.at += 1
        else:
            self.out[self.at] = LINE_ADVANCE_ADDRESS
            self.at += 1
            self.uleb(advance)
        return 0

    def payload(self, piece: cython.Py_ssize_t) -> cython.int:
        """The opcode stream of a piece."""
        first: cython.Py_ssize_t = self.table.row_first[piece]
        last: cython.Py_ssize_t = self.table.row_first[piece + 1]
        if first == last:
            return 0
        self.reserve(ROW_MAX_BYTES)
        row_line: cython.uint[::1] = self.table.row_line
        row_file: cython.uint[::1] = self.table.row_file
        row_address: cython.ulonglong[::1] = self.table.row_address
        file_number: cython.uint[::1] = self.file_number
        address: cython.ulonglong = self.table.start[piece]
        line: cython.longlong = row_line[first]
        file: cython.uint = 1
        self.sleb(WINDOW_LOW)
        self.sleb(WINDOW_LOW + WINDOW_WIDTH - 1)
        self.uleb(row_line[first])
        row: cython.Py_ssize_t
        for row in range(first, last):
            if self.at + ROW_MAX_BYTES > self.capacity:
                self.reserve(ROW_MAX_BYTES)
            row_number: cython.uint = file_number[row_file[row]]
            if row_number != file:
                file = row_number
                self.out[self.at] = LINE_SET_FILE
                self.at += 1
                self.uleb(file)
            next_line: cython.longlong = row_line[row]
            self.put_row(next_line - line, row_address[row] - address)
            line = next_line
            address = row_address[row]
        self.reserve(1)
        self.out[self.at] = LINE_END
        self.at += 1
        return 0


def encode_line_tables(
    table: SymbolTable, first: int, last: int, file_number: array[int]
) -> tuple[memoryview, array[int]]:
    """The opcode streams of pieces ``first`` to ``last`` (excluded), one after the other, and where each one ends.

    A piece without rows gets no bytes. ``file_number`` gives each entry of ``table.files`` its number in the GSYM file.
    The buffer may be longer than the last end. Releases the GIL; ``table`` is only read.
    """
    rows = table.row_first[last] - table.row_first[first]
    return _Encoder(table, file_number, 1024 + 3 * rows).write(first, last)
