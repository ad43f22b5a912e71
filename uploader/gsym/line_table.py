"""GSYM line tables: the rows of pieces to opcode streams, and back.

Source: LLVM ``llvm/DebugInfo/GSYM/LineTable.h``. A stream begins with ``SLEB min_delta; SLEB max_delta; ULEB first_line``;
its state begins at the piece's start, file 1 and the first line.
"""

from __future__ import annotations

from array import array

import cython

from uploader.errors import MalformedGsym
from uploader.gsym.layout import Data
from uploader.symbols.columns import SymbolTable, grown, zeros

OP_END = cython.declare(cython.int, 0)
OP_SET_FILE = cython.declare(cython.int, 1)
OP_ADVANCE_ADDRESS = cython.declare(cython.int, 2)
OP_ADVANCE_LINE = cython.declare(cython.int, 3)
OP_FIRST_SPECIAL = cython.declare(cython.int, 4)

LAST_SPECIAL = cython.declare(cython.longlong, 251)
MAX_SPECIAL_ADVANCE = cython.declare(cython.ulonglong, 251)
"""The last special opcode, counted from the first one, and the longest way that one can go."""

WINDOW_LOW = cython.declare(cython.longlong, -2)
WINDOW_WIDTH = cython.declare(cython.longlong, 8)
"""The line deltas that special opcodes serve, in every table: those from two lines back to five on.

LLVM takes another window for each table. With one for all, the same step is the same byte everywhere, so that zstd makes a GSYM file of C,
C++, Go or Rust 1 to 3 % smaller than with a window that is chosen; uncompressed none of them takes 0.2 % more than with the best of four.
"""

ROW_MAX_BYTES = cython.declare(cython.int, 32)
MAX_ITEMS = cython.declare(cython.Py_ssize_t, 0xFFFFFFFF)
MAX_FIRST_LINE = cython.declare(cython.ulonglong, 0xFFFFFFFF)
MAX_LINE = cython.declare(cython.longlong, 0xFFFFFFFF)
MAX_LINE_STEP = cython.declare(cython.longlong, 0x1FFFFFFFF)

REASONS = (
    "is cut off",
    "holds a number that is too large",
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
class _Encoder:
    start: cython.ulonglong[::1]
    row_first: cython.uint[::1]
    row_address: cython.ulonglong[::1]
    row_file: cython.uint[::1]
    row_line: cython.uint[::1]
    file_number: cython.uint[::1]
    ends: cython.ulonglong[::1]
    out: cython.uchar[::1]
    capacity: cython.Py_ssize_t
    at: cython.Py_ssize_t

    def __init__(self, table: SymbolTable, file_number: array[int], ends: array[int], capacity: int) -> None:
        self.start = table.start
        self.row_first = table.row_first
        self.row_address = table.row_address
        self.row_file = table.row_file
        self.row_line = table.row_line
        self.file_number = file_number
        self.ends = ends
        self.out = zeros("B", capacity)
        self.capacity = capacity
        self.at = 0

    @cython.cfunc
    @cython.exceptval(-1)
    def grow(self) -> cython.int:
        self.out = grown(self.out, self.capacity + ROW_MAX_BYTES)
        self.capacity = len(self.out)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_uleb(self, value: cython.ulonglong) -> cython.int:
        at: cython.Py_ssize_t = self.at
        while value >= 0x80:
            self.out[at] = (value & 0x7F) | 0x80
            at += 1
            value >>= 7
        self.out[at] = value
        self.at = at + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_sleb(self, value: cython.longlong) -> cython.int:
        at: cython.Py_ssize_t = self.at
        while value > 63 or value < -64:
            self.out[at] = (value & 0x7F) | 0x80
            at += 1
            value >>= 7
        self.out[at] = value & 0x7F
        self.at = at + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
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
            self.out[self.at] = OP_ADVANCE_LINE
            self.at += 1
            self.put_sleb(delta)
            delta = 0
        if delta - WINDOW_LOW + distance <= LAST_SPECIAL:
            self.out[self.at] = OP_FIRST_SPECIAL + delta - WINDOW_LOW + distance
            self.at += 1
        else:
            self.out[self.at] = OP_ADVANCE_ADDRESS
            self.at += 1
            self.put_uleb(advance)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_rows(self, piece: cython.Py_ssize_t) -> cython.int:
        first: cython.Py_ssize_t = self.row_first[piece]
        last: cython.Py_ssize_t = self.row_first[piece + 1]
        if first == last:
            return 0
        if self.at + ROW_MAX_BYTES > self.capacity:
            with cython.gil:
                self.grow()
        row_line: cython.uint[::1] = self.row_line
        row_file: cython.uint[::1] = self.row_file
        row_address: cython.ulonglong[::1] = self.row_address
        file_number: cython.uint[::1] = self.file_number
        address: cython.ulonglong = self.start[piece]
        line: cython.longlong = row_line[first]
        file: cython.uint = 1
        self.put_sleb(WINDOW_LOW)
        self.put_sleb(WINDOW_LOW + WINDOW_WIDTH - 1)
        self.put_uleb(row_line[first])
        row: cython.Py_ssize_t
        for row in range(first, last):
            if self.at + ROW_MAX_BYTES > self.capacity:
                with cython.gil:
                    self.grow()
            row_number: cython.uint = file_number[row_file[row]]
            if row_number != file:
                file = row_number
                self.out[self.at] = OP_SET_FILE
                self.at += 1
                self.put_uleb(file)
            next_line: cython.longlong = row_line[row]
            self.put_row(next_line - line, row_address[row] - address)
            line = next_line
            address = row_address[row]
        if self.at >= self.capacity:
            with cython.gil:
                self.grow()
        self.out[self.at] = OP_END
        self.at += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_pieces(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        piece: cython.Py_ssize_t
        for piece in range(first, last):
            self.put_rows(piece)
            self.ends[piece - first] = self.at
        return 0

    def run(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> memoryview:
        with cython.nogil:
            self.put_pieces(first, last)
        return memoryview(self.out)


def encode_line_tables(
    table: SymbolTable, first: int, last: int, file_number: array[int]
) -> tuple[memoryview, array[int]]:
    """The opcode streams of pieces ``first`` to ``last`` (excluded), one after the other, and where each one ends.

    A piece without rows gets no bytes. ``file_number`` gives each entry of ``table.files`` its number in the GSYM file.
    The buffer may be longer than the last end. Releases the GIL; ``table`` is only read.
    """
    ends = array("Q", [0]) * (last - first)
    rows = table.row_first[last] - table.row_first[first]
    return _Encoder(table, file_number, ends, 1024 + 3 * rows).run(first, last), ends


@cython.final
@cython.cclass
class _Decoder:
    data: cython.const[cython.uchar][::1]
    row_first: cython.uint[::1]
    row_address: cython.ulonglong[::1]
    row_file: cython.uint[::1]
    row_line: cython.uint[::1]
    columns: list  # type: ignore[type-arg]  # Cython takes the bare builtin as an attribute's type
    capacity: cython.Py_ssize_t
    count: cython.Py_ssize_t
    at: cython.Py_ssize_t
    end: cython.Py_ssize_t
    files: cython.ulonglong
    strict: cython.bint

    def __init__(self, data: Data, row_first: array[int], files: int, strict: bool, capacity: int) -> None:
        self.data = data
        self.row_first = row_first
        self.files = files
        self.strict = strict
        self.capacity = 0
        self.count = 0
        self.at = 0
        self.end = 0
        self.columns = [array("Q"), array("I"), array("I")]
        self.reserve(capacity)

    @cython.cfunc
    @cython.exceptval(-1)
    def reserve(self, rows: cython.Py_ssize_t) -> cython.int:
        """Makes room for so many rows more."""
        capacity: cython.Py_ssize_t = max(self.count + rows, self.count + self.count // 2)
        self.columns = [_resized(column, self.count, capacity) for column in self.columns]
        self.row_address = self.columns[0]
        self.row_file = self.columns[1]
        self.row_line = self.columns[2]
        self.capacity = capacity
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def fail(self, reason: cython.int) -> cython.int:
        with cython.gil:
            raise MalformedGsym(f"a line table {REASONS[reason]} (at byte {self.at} of the file)")
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def uleb(self) -> cython.ulonglong:
        value: cython.ulonglong = 0
        byte: cython.ulonglong
        shift: cython.int = 0
        while True:
            if self.at >= self.end:
                self.fail(CUT_OFF)
            byte = self.data[self.at]
            self.at += 1
            if shift == 63 and byte > 1:
                self.fail(TOO_LARGE)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def sleb(self) -> cython.longlong:
        value: cython.longlong = 0
        byte: cython.longlong
        one: cython.longlong = 1
        shift: cython.int = 0
        while True:
            if self.at >= self.end:
                self.fail(CUT_OFF)
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift > 49:
                self.fail(TOO_LARGE)
        if byte & 0x40:
            value -= one << shift
        if value > MAX_LINE_STEP or value < -MAX_LINE_STEP:
            self.fail(TOO_LARGE)
        return value

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


def _resized(column: array[int], used: int, capacity: int) -> array[int]:
    bigger = array(column.typecode, bytes(column.itemsize * capacity))
    bigger[:used] = column[:used]
    return bigger


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
