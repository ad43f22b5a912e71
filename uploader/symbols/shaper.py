"""Cuts the lines and inlines of pieces out of their source, piece after piece, in columns.

Rows are clamped to the piece's start; where the line table is silent for a part of a piece, the piece is cut there, so that no row is
stretched over a gap. Inlines are clipped by `InlineClipper`.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import NONE
from uploader.core.search import first_after
from uploader.symbols.columns import SourceColumns, SymbolTable
from uploader.symbols.inline_clipper import InlineClipper
from uploader.symbols.piece_plan import PiecePlan, PlanColumns
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.source_view import SourceView
from uploader.symbols.table_columns import GrowingTable

MAX_PIECES_WITH_INLINES = 256
"""A function with more inlines than that has them cut out of no more pieces, and a piece's out of no more parts: each cut looks at
all of them, and in a file made to be slow there is no end of cuts."""


MANY = MAX_PIECES_WITH_INLINES

ROOM_AT_LEAST = 64


class Shaper:
    """Builds the columns of one `SymbolTable`, piece after piece, in order."""

    def __init__(self, source: SourceColumns, *, share: float = 1.0) -> None:
        """``share`` is about how much of the source will be asked for, from 0 to 1."""
        # Room for what is likely, so that columns seldom grow.
        self.made = GrowingTable(
            pieces=ROOM_AT_LEAST + int(1.5 * share * len(source.range_start)),
            rows=ROOM_AT_LEAST + int(1.25 * share * len(source.row_address)),
            nodes=ROOM_AT_LEAST + int(1.25 * share * len(source.node_depth)),
            ranges=ROOM_AT_LEAST + int(1.5 * share * len(source.node_range_start)),
        )
        self.source = SourceView(source)
        self.inlines = InlineClipper(self.source, self.made)

    def run(self, plan: PiecePlan, first: int, last: int) -> None:
        """Shapes the plan's pieces ``first:last``."""
        begin: cython.Py_ssize_t = first
        stop: cython.Py_ssize_t = last
        if begin >= stop:
            return
        columns: PlanColumns = PlanColumns(plan, len(plan.start))
        i: cython.Py_ssize_t
        with cython.nogil:
            for i in range(begin, stop):
                self._piece(columns, i)

    def _piece(self, plan: PlanColumns, index: cython.Py_ssize_t) -> cython.int:
        """Cuts one piece into parts that have lines throughout and parts that have none.

        Its first ``early`` bytes belong to the part behind them, with a row of line 0.
        """
        start: cython.ulonglong = plan.start[index]
        end: cython.ulonglong = plan.end[index]
        function: cython.uint = plan.function[index]
        table: cython.uint = plan.table[index]
        first: cython.Py_ssize_t = 0
        last: cython.Py_ssize_t = 0
        row: cython.Py_ssize_t = -1
        part: cython.ulonglong = start
        stop: cython.ulonglong
        parts: cython.uint = 0
        if table != NONE:
            first = self.source.table_first[table]
            last = self.source.table_first[table + 1]
            row = first_after(self.source.row_address, first, last, start) - 1
        while part < end:
            self.made.open_piece(index, part, plan.name[index])
            stop = end
            if table != NONE:
                row = self._put_lines(row, first, last, part, end, plan.early[index] if part == start else 0)
                if row < last and self.source.row_address[row] < end:
                    stop = self.source.row_address[row]
            if function != NONE:
                if part == start and stop == end and self._has_no_row():
                    self._put_declaration(start, function)
                parts += 1
                self._put_inlines(part, stop, function, parts)
                if self._has_no_row():
                    self._keep_inlines_visible(part, function)
            self.made.close_piece(stop)
            part = stop
        return 0

    def _has_no_row(self) -> cython.bint:
        """Whether no row was put for the part that is open."""
        first: cython.Py_ssize_t = self.made.row_first[self.made.pieces]
        return self.made.rows == first

    def _put_lines(
        self,
        row: cython.Py_ssize_t,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        start: cython.ulonglong,
        end: cython.ulonglong,
        early: cython.uint,
    ) -> cython.Py_ssize_t:
        """Puts the rows of a part from ``row`` on, if that knows a file; gives the row where another part begins.

        ``first:last`` are the rows of the table; those of a part may begin ``early`` bytes behind its start.
        """
        if first <= row < last and self.source.row_file[row] != NONE:
            return self._put_run(row, last, start, end)
        row = self._next_lined(row, last)
        if early != 0 and row < last and self.source.row_address[row] <= start + early:
            self.made.put_row(start, self.source.row_file[row], 0)
            return self._put_run(row, last, self.source.row_address[row], end)
        return row

    def _put_run(
        self, row: cython.Py_ssize_t, last: cython.Py_ssize_t, start: cython.ulonglong, end: cython.ulonglong
    ) -> cython.Py_ssize_t:
        """Puts the rows from ``row`` on, the first at ``start``; gives the row that ends the run: a gap, or one behind ``end``."""
        file: cython.uint = self.source.row_file[row]
        line: cython.uint = self.source.row_line[row]
        self.made.put_row(start, file, line)
        row += 1
        while row < last and self.source.row_address[row] < end and self.source.row_file[row] != NONE:
            if self.source.row_file[row] != file or self.source.row_line[row] != line:
                file = self.source.row_file[row]
                line = self.source.row_line[row]
                self.made.put_row(self.source.row_address[row], file, line)
            row += 1
        return row

    def _next_lined(self, row: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The first row behind ``row`` that knows a file."""
        row += 1
        while row < last and self.source.row_file[row] == NONE:
            row += 1
        return row

    def _put_declaration(self, start: cython.ulonglong, function: cython.uint) -> cython.int:
        """Puts a row with the line where a function is declared, where that is known."""
        file: cython.uint = self.source.function_decl_file[function]
        line: cython.uint = self.source.function_decl_line[function]
        if line != 0 and file != NONE:
            self.made.put_row(start, file, line)
        return 0

    def _put_inlines(
        self, start: cython.ulonglong, end: cython.ulonglong, function: cython.uint, parts: cython.uint
    ) -> cython.int:
        """Puts the inlines of a function in a part of it, ``parts`` being how many there are up to this one."""
        first: cython.uint = self.source.function_node[function]
        last: cython.uint = self.source.function_node_end[function]
        if parts <= MANY or last - first <= MANY:
            self.inlines.put(start, end, first, last)
        else:
            self.inlines.lost += 1
        return 0

    def _keep_inlines_visible(self, start: cython.ulonglong, function: cython.uint) -> cython.int:
        """Puts a row of line 0 for a part with inlines and no line: readers show no inlines where there is no row at all."""
        first: cython.Py_ssize_t = self.made.node_first[self.made.pieces]
        file: cython.uint = self.source.function_decl_file[function]
        if first < self.made.nodes:
            if file == NONE:
                file = self.made.node_call_file[first]
            if file != NONE:
                self.made.put_row(start, file, 0)
        return 0

    def lost_count(self) -> int:
        """At how many places inlines were left out."""
        return self.inlines.lost

    def range_counts(self) -> RangeCounts:
        """What became of the inlines' ranges."""
        return self.inlines.range_counts()

    def table(self) -> SymbolTable:
        """What was shaped, in the shaper's own memory: its files are still slots, and it has no names."""
        return self.made.table()

    def origins(self) -> array[int]:
        """For each piece of the table the index of the plan's piece that it was cut from."""
        return self.made.origins()
