"""All functions of Go's pc-line table with their rows and inlined calls, as columns (Go's ``runtime/symtab.go``, ``runtime/runtime2.go``).

A record of a function leads to tables of pcs and values: one for its files, one for its lines, and others by number, one of which says
to which inlined call a pc belongs.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.core.numbers import NumberReader
from uploader.core.search import first_after
from uploader.errors import MalformedGoTable
from uploader.sources.dwarf.code_ranges import CodeRanges
from uploader.sources.go.find import FoundTable
from uploader.sources.go.function_names import FunctionNames
from uploader.sources.go.inline_trees import InlineTrees
from uploader.sources.go.rows import FunctionRows
from uploader.symbols.columns import NameTable, SymbolTable
from uploader.symbols.spoken_for import SpokenFor
from uploader.symbols.table_columns import GrowingTable

MAX_FUNCTION_BYTES = cython.declare(cython.ulonglong, 0xFFFFFFFF)
RUNS_NUMBER = cython.declare(cython.longlong, 2)
"""PCDATA_InlTreeIndex."""
TREE_NUMBER = cython.declare(cython.longlong, 3)
"""FUNCDATA_InlTree."""

FILES_AT = cython.declare(cython.longlong, 16)
LINES_AT = cython.declare(cython.longlong, 20)
COUNT_AT = cython.declare(cython.longlong, 24)
UNIT_AT = cython.declare(cython.longlong, 28)
"""Where a record has its tables, how many more there are, and its unit's files: from behind the entry."""

MOST_STEPS = 1 << 16
STEPS_PER_BYTE = 1
"""How many steps all tables of pcs and values may take, and how many more for each byte of the whole. The linker keeps equal ones once,
and real tables take a tenth of that."""


class FunctionReader(NumberReader):
    """Reads all functions of one table: each is a piece of a table, whose origin is the line of the declaration."""

    def __init__(
        self,
        found: FoundTable,
        *,
        names: NameTable,
        executable: Sequence[tuple[int, int]],
        spoken_for: SpokenFor | None,
    ) -> None:
        """``executable`` is where code lies; functions elsewhere, and those ``spoken_for``, are left out."""
        header = found.header
        super().__init__(found.data, little_endian=header.little_endian)
        layout = header.layout
        count = header.function_count
        self.table = GrowingTable(pieces=count, rows=16 * count, nodes=2 * count, ranges=3 * count)
        self.names = FunctionNames(bytes(found.data[header.names_at : header.names_end]), names)
        self.rows = FunctionRows(found.data, header)
        self.has_trees = found.trees is not None
        trees = found.trees if found.trees is not None else memoryview(b"\0")
        self.inlines = InlineTrees(found.data, header, trees, rows=self.rows, names=self.names, table=self.table)
        self.trees_base = found.trees_base
        self.relative = layout.relative
        self.unit_files = layout.unit_files
        self.garbled = header.garbled
        self.entry_bytes = header.entry_bytes
        self.pointer_bytes = header.pointer_bytes
        self.functions_at = header.functions_at
        self.records_at = header.records_at
        self.tables_at = layout.tables_at
        self.start_line_at = layout.start_line_at
        self.part_entry = array("Q", [entry for entry, _ in found.code])
        self.part_address = array("Q", [address for _, address in found.code])
        self.steps_left = MOST_STEPS + STEPS_PER_BYTE * len(found.data)
        self.lost = 0
        self.code = CodeRanges(executable)
        self.spoken = CodeRanges(list(zip(spoken_for.start, spoken_for.end, strict=True)) if spoken_for else [])

    def read(self, count: int) -> None:
        """Reads so many functions. What is damaged costs that function or its inlined calls, and is counted. Raises `MalformedGoTable`."""
        number: cython.Py_ssize_t
        for number in range(count):
            try:
                self._function(number)
            except IndexError:
                self.lost += 1
            if self.rows.steps + self.inlines.steps > self.steps_left:
                raise MalformedGoTable("has tables that overlap beyond measure")

    def built(self) -> SymbolTable:
        """All functions as a table: each is one piece, its inlined calls are its nodes."""
        return self.table.table()

    def losses(self) -> tuple[int, int]:
        """How many functions, and how many inlined calls, could not be read."""
        return self.lost, self.inlines.lost

    def _function(self, number: cython.Py_ssize_t) -> cython.int:
        at: cython.longlong = self.functions_at + 2 * number * self.entry_bytes
        entry: cython.ulonglong = self.fixed(at, self.entry_bytes)
        record: cython.ulonglong = self.fixed(at + self.entry_bytes, self.entry_bytes)
        following: cython.ulonglong = self.fixed(at + 2 * self.entry_bytes, self.entry_bytes)
        part: cython.Py_ssize_t = first_after(self.part_entry, 0, len(self.part_entry), entry) - 1
        start: cython.ulonglong = self.part_address[part] + (entry - self.part_entry[part])
        room: cython.ulonglong = self.code.end_at(start)
        if start >= room:
            raise IndexError
        room -= start
        if start < self.spoken.end_at(start):
            return 0
        if following <= entry or following - entry > MAX_FUNCTION_BYTES:
            raise IndexError
        if record >= cython.cast(cython.ulonglong, self.data_size):
            raise IndexError
        p: cython.longlong = self.records_at + cython.cast(cython.longlong, record)
        if self.fixed(p, self.entry_bytes) != entry and not self.garbled:
            raise IndexError
        p += self.entry_bytes
        name: cython.uint = self.names.number(self.fixed(p, 4))
        unit: cython.ulonglong = self.fixed(p + UNIT_AT, 4) if self.unit_files else 0
        line: cython.uint = 0
        if self.start_line_at >= 0:
            line = cython.cast(cython.uint, self.fixed(p + self.start_line_at, 4))
        # No function goes on beyond the code that it begins in.
        size: cython.ulonglong = min(following - entry, room)
        self.rows.read(unit, self.fixed(p + FILES_AT, 4), self.fixed(p + LINES_AT, 4), size)
        self._put(p, start, self.rows.size if self.rows.size > 0 else size, name, line)
        return 0

    def _put(
        self,
        p: cython.longlong,
        start: cython.ulonglong,
        size: cython.ulonglong,
        name: cython.uint,
        line: cython.uint,
    ) -> cython.int:
        """Puts the function whose record goes on at ``p``, and whose rows were read."""
        i: cython.Py_ssize_t
        self.table.open_piece(line, start, name)
        for i in range(self.rows.rows.count):
            self.table.put_row(start + self.rows.rows.address[i], self.rows.rows.file[i], self.rows.rows.line[i])
        if self.has_trees:
            try:
                self._inlined(p, start, size)
            except IndexError:
                self.inlines.lost += 1
        self.table.close_piece(start + size)
        return 0

    def _inlined(self, p: cython.longlong, start: cython.ulonglong, size: cython.ulonglong) -> cython.int:
        """Puts the inlined calls, where the record refers to a tree."""
        more: cython.ulonglong = self.fixed(p + COUNT_AT, 4)
        tables: cython.longlong = p + self.tables_at
        references: cython.ulonglong = self.data[tables - 1]
        at: cython.longlong
        tree: cython.ulonglong
        if more <= cython.cast(cython.ulonglong, RUNS_NUMBER) or references <= cython.cast(
            cython.ulonglong, TREE_NUMBER
        ):
            return 0
        at = tables + 4 * cython.cast(cython.longlong, more)
        if self.relative:
            tree = self.fixed(at + 4 * TREE_NUMBER, 4)
        else:
            at = (at + self.pointer_bytes - 1) // self.pointer_bytes * self.pointer_bytes
            tree = self.fixed(at + self.pointer_bytes * TREE_NUMBER, self.pointer_bytes)
            if tree < self.trees_base:
                return 0
            tree -= self.trees_base
        return self.inlines.put(start, size, self.fixed(tables + 4 * RUNS_NUMBER, 4), tree)
