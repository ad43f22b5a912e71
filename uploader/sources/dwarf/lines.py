"""Line number tables, `.debug_line` (DWARF 2 to 5, §6.2): each program run once, into columns.

The rows of one table ascend by address. A row holds until the next; one whose file is ``NO_FILE`` says that nothing is known from there on
(the end of a sequence, or a file index that means nothing). Of several rows at one address the last counts, and a row that repeats the
file and line before it is left out: neither can ever be seen.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import grown, zeros
from uploader.core.numbers import NumberReader
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.code_ranges import CodeRanges
from uploader.sources.dwarf.line_header import LineHeader

NO_FILE = 0xFFFFFFFF

LNS_COPY = cython.declare(cython.int, constants.LNS_COPY)
LNS_ADVANCE_PC = cython.declare(cython.int, constants.LNS_ADVANCE_PC)
LNS_ADVANCE_LINE = cython.declare(cython.int, constants.LNS_ADVANCE_LINE)
LNS_SET_FILE = cython.declare(cython.int, constants.LNS_SET_FILE)
LNS_SET_COLUMN = cython.declare(cython.int, constants.LNS_SET_COLUMN)
LNS_NEGATE_STMT = cython.declare(cython.int, constants.LNS_NEGATE_STMT)
LNS_SET_BASIC_BLOCK = cython.declare(cython.int, constants.LNS_SET_BASIC_BLOCK)
LNS_CONST_ADD_PC = cython.declare(cython.int, constants.LNS_CONST_ADD_PC)
LNS_FIXED_ADVANCE_PC = cython.declare(cython.int, constants.LNS_FIXED_ADVANCE_PC)
LNS_SET_PROLOGUE_END = cython.declare(cython.int, constants.LNS_SET_PROLOGUE_END)
LNS_SET_EPILOGUE_BEGIN = cython.declare(cython.int, constants.LNS_SET_EPILOGUE_BEGIN)
LNS_SET_ISA = cython.declare(cython.int, constants.LNS_SET_ISA)
LNE_END_SEQUENCE = cython.declare(cython.int, constants.LNE_END_SEQUENCE)
LNE_SET_ADDRESS = cython.declare(cython.int, constants.LNE_SET_ADDRESS)
LNE_DEFINE_FILE = cython.declare(cython.int, constants.LNE_DEFINE_FILE)
EXTENDED = cython.declare(cython.int, 0)
LAST_OPCODE = cython.declare(cython.int, 255)
ALL_ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
LOW_32_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFF)
NOWHERE = cython.declare(cython.uint, NO_FILE)


@cython.final
@cython.cclass
class LineReader(NumberReader):
    """The rows of the tables read so far: those of table ``t`` are ``table_first[t]:table_first[t + 1]``.

    ``row_file`` is a file's slot: what ``read`` was given as the table's first, plus the file's place in the table.
    """

    code: CodeRanges
    budget: cython.longlong

    count: cython.Py_ssize_t
    row_address: cython.ulonglong[::1]
    row_file: cython.uint[::1]
    row_line: cython.uint[::1]
    sequence_start: list[int]
    sequence_end: list[int]
    sequence_table: list[int]
    table_first: list[int]

    scratch_count: cython.Py_ssize_t
    scratch_address: cython.ulonglong[::1]
    scratch_file: cython.uint[::1]
    scratch_line: cython.uint[::1]
    sequence_count: cython.Py_ssize_t
    bounds: cython.ulonglong[::1]

    sequence_first: cython.Py_ssize_t
    pending: cython.bint
    pending_address: cython.ulonglong
    pending_file: cython.uint
    pending_line: cython.uint
    begun: cython.bint
    dead: cython.bint
    begin_address: cython.ulonglong
    file_base: cython.ulonglong
    file_count: cython.ulonglong
    first_slot: cython.uint
    defined: list[int]

    def __init__(self, data: bytes | memoryview, executable: list[tuple[int, int]], *, little_endian: bool) -> None:
        super().__init__(data, little_endian=little_endian)
        self.code = CodeRanges(executable)
        self.budget = 4 * len(data) + 65536
        self.count = 0
        # Seldom more are kept; room that is not used takes no memory.
        rows = 64 + len(data) // 8
        self.row_address = zeros("Q", rows)
        self.row_file = zeros("I", rows)
        self.row_line = zeros("I", rows)
        self.sequence_start = []
        self.sequence_end = []
        self.sequence_table = []
        self.table_first = [0]
        self.scratch_count = 0
        self.scratch_address = array("Q", [0]) * 4096
        self.scratch_file = array("I", [0]) * 4096
        self.scratch_line = array("I", [0]) * 4096
        self.sequence_count = 0
        self.bounds = array("Q", [0]) * 3 * 64
        self.sequence_first = 0
        self.pending = False
        self.pending_address = 0
        self.pending_file = 0
        self.pending_line = 0
        self.begun = False
        self.dead = False
        self.begin_address = 0
        self.file_base = 0
        self.file_count = 0
        self.first_slot = 0
        self.defined = []

    def defined_files(self) -> list[int]:
        """Where the files are described that the last table's program added to its header's (DW_LNE_define_file)."""
        return self.defined

    def read(self, header: LineHeader, first_slot: int) -> str | None:
        """Runs one table's program and appends its rows as the next table; gives what was wrong with it, if anything.

        Sequences that ended before the damage count.
        """
        self.scratch_count = 0
        self.sequence_count = 0
        self.file_base = 0 if header.version >= 5 else 1
        self.file_count = header.file_count
        self.first_slot = first_slot
        self.defined = []
        trouble: str | None = None
        start: cython.longlong = header.program_offset
        end: cython.longlong = header.end
        self.budget -= end - start
        if self.budget < 0:
            trouble = f"line table at 0x{header.offset:x}: too many overlapping tables to be true"
        else:
            address_size: cython.int = header.address_size
            minimum: cython.ulonglong = header.minimum_instruction_length
            operations: cython.ulonglong = header.maximum_operations
            line_base: cython.longlong = header.line_base
            line_range: cython.longlong = header.line_range
            opcode_base: cython.int = header.opcode_base
            lengths: cython.const[cython.uchar][::1] = header.opcode_lengths
            problem: cython.int = 0
            try:
                with cython.nogil:
                    problem = self._run(
                        start, end, address_size, minimum, operations, line_base, line_range, opcode_base, lengths
                    )
            except IndexError:
                problem = 1
            if problem:
                trouble = (
                    f"line table at 0x{header.offset:x}: the program is cut off at 0x{self.position:x}, "
                    f"{max(end - self.position, 0)} of its {end - start} bytes are lost"
                )
        self._finish_table()
        return trouble

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _run(
        self,
        p: cython.longlong,
        end: cython.longlong,
        address_size: cython.int,
        minimum: cython.ulonglong,
        operations: cython.ulonglong,
        line_base: cython.longlong,
        line_range: cython.longlong,
        opcode_base: cython.int,
        lengths: cython.const[cython.uchar][::1],
    ) -> cython.int:
        """The state machine (DWARF 5 §6.2.5). Gives 0, or 1 where the program is cut off."""
        data: cython.const[cython.uchar][::1] = self.data
        mask: cython.ulonglong = ALL_ONES >> (64 - 8 * address_size)
        address: cython.ulonglong = 0
        operation: cython.ulonglong = 0
        file: cython.ulonglong = 1
        line: cython.ulonglong = 1
        opcode: cython.int
        adjusted: cython.longlong
        advance: cython.ulonglong
        delta: cython.longlong
        length: cython.ulonglong
        inner: cython.int
        i: cython.int
        next_op: cython.longlong
        value: cython.ulonglong
        self._begin()
        while p < end:
            self.position = p
            opcode = data[p]
            p += 1
            if opcode >= opcode_base:
                adjusted = opcode - opcode_base
                if line_range == 0:
                    return 1
                advance = adjusted // line_range
                if operations == 1:
                    address = (address + minimum * advance) & mask
                else:
                    address = (address + minimum * ((operation + advance) // operations)) & mask
                    operation = (operation + advance) % operations
                delta = line_base + adjusted % line_range
                if delta >= 0:
                    value = delta
                    line = (line + value) & LOW_32_BITS
                else:
                    value = -delta
                    line = (line - value) & LOW_32_BITS
                self._row(address, file, line)
            elif opcode == EXTENDED:
                length = self._short(p)
                p = self.position
                if length == 0:
                    continue
                if length > cython.cast(cython.ulonglong, end - p):
                    return 1
                next_op = p + cython.cast(cython.longlong, length)
                inner = data[p]
                if inner == LNE_END_SEQUENCE:
                    self._end_sequence(address)
                    address = 0
                    operation = 0
                    file = 1
                    line = 1
                    self._begin()
                elif inner == LNE_SET_ADDRESS:
                    if length > 9 or length < 2:
                        return 1
                    value = 0
                    for i in range(cython.cast(cython.int, length) - 1):
                        value = (value << 8) | data[next_op - 1 - i if self.little_endian else p + 1 + i]
                    value = value & mask
                    if value >= mask - 1 or (self.begun and value < self.pending_address):
                        self._cut()
                    address = value
                    operation = 0
                elif inner == LNE_DEFINE_FILE:
                    with cython.gil:
                        self.defined.append(p + 1)
                    self.file_count += 1
                p = next_op
            elif opcode == LNS_COPY:
                self._row(address, file, line)
            elif opcode == LNS_ADVANCE_PC:
                advance = self._short(p)
                p = self.position
                if operations == 1:
                    address = (address + minimum * advance) & mask
                else:
                    advance = (operation + advance) & ALL_ONES
                    address = (address + minimum * (advance // operations)) & mask
                    operation = advance % operations
            elif opcode == LNS_ADVANCE_LINE:
                value = self.sleb(p)
                p = self.position
                line = (line + value) & LOW_32_BITS
            elif opcode == LNS_SET_FILE:
                file = self._short(p)
                p = self.position
            elif opcode == LNS_SET_COLUMN or opcode == LNS_SET_ISA:
                self._short(p)
                p = self.position
            elif (
                opcode == LNS_NEGATE_STMT
                or opcode == LNS_SET_BASIC_BLOCK
                or opcode == LNS_SET_PROLOGUE_END
                or opcode == LNS_SET_EPILOGUE_BEGIN
            ):
                pass
            elif opcode == LNS_CONST_ADD_PC:
                if line_range == 0:
                    return 1
                advance = (LAST_OPCODE - opcode_base) // line_range
                if operations == 1:
                    address = (address + minimum * advance) & mask
                else:
                    address = (address + minimum * ((operation + advance) // operations)) & mask
                    operation = (operation + advance) % operations
            elif opcode == LNS_FIXED_ADVANCE_PC:
                if p + 2 > end:
                    return 1
                if self.little_endian:
                    advance = data[p] | (cython.cast(cython.ulonglong, data[p + 1]) << 8)
                else:
                    advance = data[p + 1] | (cython.cast(cython.ulonglong, data[p]) << 8)
                p += 2
                address = (address + advance) & mask
                operation = 0
            else:
                for _ in range(lengths[opcode - 1]):
                    self._short(p)
                    p = self.position
        if p > end:
            return 1
        if self.begun:
            self._cut()
            self._end_sequence(self.pending_address)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _short(self, p: cython.longlong) -> cython.ulonglong:
        """The unsigned LEB128 at ``p``, without a call where it is one byte, as most are; ``position`` is left behind it."""
        byte: cython.ulonglong = self.data[p]
        if byte >= 0x80:
            return self.uleb(p)
        self.position = p + 1
        return byte

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _begin(self) -> cython.int:
        self.sequence_first = self.scratch_count
        self.pending = False
        self.begun = False
        self.dead = False
        self.pending_address = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _cut(self) -> cython.int:
        """From here to the sequence's end nothing can be trusted; what came before holds up to its last row."""
        if self.begun and not self.dead:
            self._end_sequence(self.pending_address)
        self.dead = True
        self.pending = False
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _row(self, address: cython.ulonglong, file: cython.ulonglong, line: cython.ulonglong) -> cython.int:
        if self.dead:
            return 0
        if not self.begun:
            if address >= self.code.end_at(address):
                self.dead = True
                return 0
            self.begun = True
            self.begin_address = address
        elif address != self.pending_address:
            if address < self.pending_address:
                return self._cut()
            self._flush()
        self.pending = True
        self.pending_address = address
        if file < self.file_base or file - self.file_base >= self.file_count:
            self.pending_file = NOWHERE
            self.pending_line = 0
        else:
            self.pending_file = self.first_slot + file - self.file_base
            self.pending_line = line
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _flush(self) -> cython.int:
        n: cython.Py_ssize_t = self.scratch_count
        self.pending = False
        if (
            n > self.sequence_first
            and self.scratch_file[n - 1] == self.pending_file
            and self.scratch_line[n - 1] == self.pending_line
        ):
            return 0
        return self._push(self.pending_address, self.pending_file, self.pending_line)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _push(self, address: cython.ulonglong, file: cython.uint, line: cython.uint) -> cython.int:
        n: cython.Py_ssize_t = self.scratch_count
        if n >= self.scratch_address.shape[0] if cython.compiled else n >= len(self.scratch_address):
            with cython.gil:
                self.scratch_address = grown(self.scratch_address, n + 1)
                self.scratch_file = grown(self.scratch_file, n + 1)
                self.scratch_line = grown(self.scratch_line, n + 1)
        self.scratch_address[n] = address
        self.scratch_file[n] = file
        self.scratch_line[n] = line
        self.scratch_count = n + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _end_sequence(self, address: cython.ulonglong) -> cython.int:
        """Closes the sequence at ``address``; one without a byte of code leaves no trace."""
        if self.begun and not self.dead:
            if self.pending and self.pending_address < address:
                self._flush()
            self.pending = False
            if self.begin_address < address and self.scratch_count > self.sequence_first:
                self._push(address, NOWHERE, 0)
                n: cython.Py_ssize_t = self.sequence_count
                if 3 * n + 3 > self.bounds.shape[0] if cython.compiled else 3 * n + 3 > len(self.bounds):
                    with cython.gil:
                        self.bounds = grown(self.bounds, 3 * n + 3)
                self.bounds[3 * n] = self.begin_address
                self.bounds[3 * n + 1] = self.sequence_first
                self.bounds[3 * n + 2] = self.scratch_count
                self.sequence_count = n + 1
            else:
                self.scratch_count = self.sequence_first
        self.begun = False
        return 0

    def _finish_table(self) -> None:
        """Appends the scratch rows in the order of their sequences' starts; where sequences overlap, the later start wins."""
        n: cython.Py_ssize_t
        table: int = len(self.table_first) - 1
        order = sorted(range(self.sequence_count), key=self._start_of)
        needed = self.count + self.scratch_count
        if needed > len(self.row_address):
            self.row_address = grown(self.row_address, needed)
            self.row_file = grown(self.row_file, needed)
            self.row_line = grown(self.row_line, needed)
        floor: cython.Py_ssize_t = self.count
        start: cython.ulonglong
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        for n in order:
            start = self.bounds[3 * n]
            first = self.bounds[3 * n + 1]
            last = self.bounds[3 * n + 2]
            with cython.nogil:
                self._append(floor, start, first, last)
            self.sequence_start.append(start)
            self.sequence_end.append(self.scratch_address[last - 1])
            self.sequence_table.append(table)
        self.table_first.append(self.count)

    def _start_of(self, index: int) -> int:
        return self.bounds[3 * index]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _append(
        self, floor: cython.Py_ssize_t, start: cython.ulonglong, first: cython.Py_ssize_t, last: cython.Py_ssize_t
    ) -> cython.int:
        at: cython.Py_ssize_t = self.count
        i: cython.Py_ssize_t
        while at > floor and self.row_address[at - 1] >= start:
            at -= 1
        for i in range(first, last):
            self.row_address[at] = self.scratch_address[i]
            self.row_file[at] = self.scratch_file[i]
            self.row_line[at] = self.scratch_line[i]
            at += 1
        self.count = at
        return 0

    def rows(self) -> tuple[memoryview, memoryview, memoryview]:
        """(address, file, line) columns of all tables, cut to their length."""
        n = self.count
        return memoryview(self.row_address)[:n], memoryview(self.row_file)[:n], memoryview(self.row_line)[:n]

    def tables(self) -> list[int]:
        """The first row of each table, and the count of all rows."""
        return self.table_first

    def sequences(self) -> tuple[list[int], list[int], list[int]]:
        """(start, end, table) of every sequence that was kept."""
        return self.sequence_start, self.sequence_end, self.sequence_table


__all__ = ["NO_FILE", "LineReader"]
