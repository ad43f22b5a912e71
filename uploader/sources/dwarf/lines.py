"""Runs the programs of line number tables, `.debug_line` (DWARF 2 to 5, §6.2), each once."""

from __future__ import annotations

import cython

from uploader.core.numbers import NumberReader
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.line_header import LineHeader
from uploader.sources.dwarf.line_rows import LineRows

EXTENDED = cython.declare(cython.int, 0)
LAST_OPCODE = cython.declare(cython.ulonglong, 255)
ALL_ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
LOW_32_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFF)


@cython.final
@cython.cclass
class LineReader(NumberReader):
    """Appends what programs say to ``rows``, and keeps what their headers say while they run."""

    rows: LineRows
    budget: cython.longlong
    defined: list[int]

    top: cython.ulonglong
    minimum: cython.ulonglong
    operations: cython.ulonglong
    line_base: cython.ulonglong
    line_range: cython.ulonglong
    opcode_base: cython.ulonglong
    lengths: cython.const[cython.uchar][::1]

    operation: cython.ulonglong
    extended: cython.int
    address: cython.ulonglong

    def __init__(self, data: bytes | memoryview, rows: LineRows, *, little_endian: bool) -> None:
        super().__init__(data, little_endian=little_endian)
        self.rows = rows
        self.budget = 4 * len(data) + 65536
        self.defined = []
        self.extended = EXTENDED
        self.address = 0

    def defined_files(self) -> list[int]:
        """Where the files are described that the last table's program added to its header's (DW_LNE_define_file)."""
        return self.defined

    def read(self, header: LineHeader, first_slot: int) -> str | None:
        """Runs one table's program and appends its rows as the next table; gives what was wrong with it, if anything.

        Sequences that ended before the damage count.
        """
        self.rows.begin_table(first_slot, 0 if header.version >= 5 else 1, header.file_count)
        self.defined = []
        self.position = header.program_offset
        start: cython.longlong = header.program_offset
        end: cython.longlong = header.end
        whole: cython.bint = False
        trouble: str | None = None
        self.budget -= end - start
        if self.budget < 0:
            trouble = f"line table at 0x{header.offset:x}: too many overlapping tables to be true"
        else:
            self._take_in(header)
            try:
                with cython.nogil:
                    whole = self._run(start, end)
            except IndexError:
                whole = False
            if not whole:
                trouble = (
                    f"line table at 0x{header.offset:x}: the program is cut off at 0x{self.position:x}, "
                    f"{max(end - self.position, 0)} of its {end - start} bytes are lost"
                )
        self.rows.end_table()
        return trouble

    def _take_in(self, header: LineHeader) -> None:
        self.top = (1 << 8 * header.address_size) - 1
        self.minimum = header.minimum_instruction_length
        self.operations = header.maximum_operations
        self.line_base = header.line_base % (1 << 32)
        self.line_range = header.line_range
        self.opcode_base = header.opcode_base
        self.lengths = header.opcode_lengths
        self.operation = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _run(self, p: cython.longlong, end: cython.longlong) -> cython.bint:
        """The state machine (DWARF 5 §6.2.5). False where the program is cut off.

        Opcodes are asked for in the order of their frequency, all in one place that has the state in variables.
        """
        opcode_base: cython.int = cython.cast(cython.int, self.opcode_base)
        address: cython.ulonglong = 0
        file: cython.ulonglong = 1
        line: cython.ulonglong = 1
        opcode: cython.int
        adjusted: cython.ulonglong
        while p < end:
            self.position = p
            opcode = self.data[p]
            p += 1
            if opcode >= opcode_base:
                if self.line_range == 0:
                    return False
                adjusted = opcode - opcode_base
                address = self._advanced(address, adjusted // self.line_range)
                line = (line + self.line_base + adjusted % self.line_range) & LOW_32_BITS
                self.rows.row(address, file, line)
            elif opcode == constants.LNS_SET_COLUMN:
                self._short(p)
                p = self.position
            elif opcode == constants.LNS_ADVANCE_LINE:
                line = (line + self.sleb(p)) & LOW_32_BITS
                p = self.position
            elif opcode == EXTENDED:
                p = self._extended(p, end, address)
                if p < 0:
                    return False
                if self.extended == constants.LNE_END_SEQUENCE:
                    address = 0
                    file = 1
                    line = 1
                elif self.extended == constants.LNE_SET_ADDRESS:
                    address = self.address
            elif opcode == constants.LNS_COPY:
                self.rows.row(address, file, line)
            elif opcode == constants.LNS_NEGATE_STMT or opcode == constants.LNS_SET_BASIC_BLOCK:
                pass
            elif opcode == constants.LNS_CONST_ADD_PC:
                if self.line_range == 0:
                    return False
                address = self._advanced(address, (LAST_OPCODE - self.opcode_base) // self.line_range)
            elif opcode == constants.LNS_ADVANCE_PC:
                address = self._advanced(address, self._short(p))
                p = self.position
            elif opcode == constants.LNS_SET_FILE:
                file = self._short(p)
                p = self.position
            elif opcode == constants.LNS_SET_PROLOGUE_END or opcode == constants.LNS_SET_EPILOGUE_BEGIN:
                pass
            elif opcode == constants.LNS_FIXED_ADVANCE_PC:
                if p + 2 > end:
                    return False
                address = (address + self.fixed(p, 2)) & self.top
                self.operation = 0
                p += 2
            else:
                for _ in range(1 if opcode == constants.LNS_SET_ISA else self.lengths[opcode - 1]):
                    self._short(p)
                    p = self.position
        if p > end:
            return False
        self.rows.give_up()
        return True

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _advanced(self, address: cython.ulonglong, advance: cython.ulonglong) -> cython.ulonglong:
        """The address so many operations on."""
        if self.operations != 1:
            advance = (self.operation + advance) & ALL_ONES
            self.operation = advance % self.operations
            advance = advance // self.operations
        return (address + self.minimum * advance) & self.top

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-2)
    def _extended(self, p: cython.longlong, end: cython.longlong, address: cython.ulonglong) -> cython.longlong:
        """Runs the extended opcode whose length is at ``p``; gives the offset behind it, -1 where it is cut off.

        ``extended`` is left at the opcode, and ``address`` at the address that it sets.
        """
        length: cython.ulonglong = self._short(p)
        p = self.position
        self.extended = EXTENDED
        if length == 0:
            return p
        if length > cython.cast(cython.ulonglong, end - p):
            return -1
        self.extended = self.data[p]
        if self.extended == constants.LNE_END_SEQUENCE:
            self.rows.end(address)
            self.rows.begin()
            self.operation = 0
        elif self.extended == constants.LNE_SET_ADDRESS:
            if length > 9 or length < 2:
                return -1
            self.address = self.fixed(p + 1, cython.cast(cython.int, length) - 1) & self.top
            self.rows.move(self.address, self.top)
            self.operation = 0
        elif self.extended == constants.LNE_DEFINE_FILE:
            with cython.gil:
                self.defined.append(p + 1)
            self.rows.file_count += 1
        return p + cython.cast(cython.longlong, length)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _short(self, p: cython.longlong) -> cython.ulonglong:
        """The unsigned LEB128 at ``p``, without a call where it is one byte, as most are; ``position`` is left behind it."""
        byte: cython.ulonglong = self.data[p]
        if byte >= 0x80:
            return self.uleb(p)
        self.position = p + 1
        return byte
