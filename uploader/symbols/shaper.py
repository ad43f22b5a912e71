"""Cuts the lines and inlines of pieces out of their source, piece after piece, in columns.

Rows are clamped to the piece's start; where the line table is silent for a part of a piece, the piece is cut there, so that no row is
stretched over a gap. Inlines are clipped to their parents, and of siblings that overlap the later one speaks, as in LLVM's symbolizer.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import first_of, grown, zeros
from uploader.symbols.columns import SourceColumns, SymbolTable
from uploader.symbols.merge import Plan
from uploader.symbols.ordering import order_by
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.siblings import part_siblings

MAX_DEPTH = 1024

MAX_NODES_TO_PART = 4096
"""Parting siblings that overlap takes time that grows with their square; no compiler writes so many."""


@cython.final
@cython.cclass
class Shaper:
    """Builds the columns of one `SymbolTable`, piece after piece, in order."""

    decl_file: cython.uint[::1]
    decl_line: cython.uint[::1]
    function_node: cython.uint[::1]
    function_node_end: cython.uint[::1]
    source_depth: cython.uint[::1]
    source_name: cython.uint[::1]
    source_call_file: cython.uint[::1]
    source_call_line: cython.uint[::1]
    source_range: cython.uint[::1]
    source_start: cython.ulonglong[::1]
    source_end: cython.ulonglong[::1]
    table_first: cython.uint[::1]
    source_address: cython.ulonglong[::1]
    source_file: cython.uint[::1]
    source_line: cython.uint[::1]

    lost: cython.Py_ssize_t
    hidden: cython.Py_ssize_t
    cut: cython.Py_ssize_t
    pieces: cython.Py_ssize_t
    start: cython.ulonglong[::1]
    end: cython.ulonglong[::1]
    name: cython.uint[::1]
    origin: cython.uint[::1]
    row_first: cython.uint[::1]
    node_first: cython.uint[::1]
    rows: cython.Py_ssize_t
    row_address: cython.ulonglong[::1]
    row_file: cython.uint[::1]
    row_line: cython.uint[::1]
    nodes: cython.Py_ssize_t
    node_depth: cython.uint[::1]
    node_name: cython.uint[::1]
    node_call_file: cython.uint[::1]
    node_call_line: cython.uint[::1]
    range_first: cython.uint[::1]
    ranges: cython.Py_ssize_t
    range_start: cython.ulonglong[::1]
    range_end: cython.ulonglong[::1]

    order: cython.uint[::1]
    spare: cython.uint[::1]
    order_depth: cython.ulonglong[::1]
    level_first: cython.Py_ssize_t[::1]
    level_last: cython.Py_ssize_t[::1]
    level_claimed: cython.ulonglong[::1]
    level_place: cython.Py_ssize_t[::1]

    def __init__(self, source: SourceColumns, *, share: float = 1.0) -> None:
        """``share`` is about how much of the source will be asked for, from 0 to 1."""
        self.decl_file = _some(source.function_decl_file)
        self.decl_line = _some(source.function_decl_line)
        self.function_node = _some(source.function_node)
        self.function_node_end = _some(source.function_node_end)
        self.source_depth = _some(source.node_depth)
        self.source_name = _some(source.node_name)
        self.source_call_file = _some(source.node_call_file)
        self.source_call_line = _some(source.node_call_line)
        self.source_range = _some(source.node_range)
        self.source_start = _some(source.node_range_start)
        self.source_end = _some(source.node_range_end)
        self.table_first = _some(source.table_first)
        self.source_address = _some(source.row_address)
        self.source_file = _some(source.row_file)
        self.source_line = _some(source.row_line)
        self.lost = 0
        self.hidden = 0
        self.cut = 0
        self.pieces = 0
        # Room for what is likely, so that columns seldom grow: room that is not used takes no memory. Columns of one kind of item
        # have the same room, with one item more than is used.
        pieces = 64 + int(1.5 * share * len(source.range_start))
        rows = 64 + int(1.25 * share * len(source.row_address))
        nodes = 64 + int(1.25 * share * len(source.node_depth))
        ranges = 64 + int(1.5 * share * len(source.node_range_start))
        self.start = zeros("Q", pieces)
        self.end = zeros("Q", pieces)
        self.name = zeros("I", pieces)
        self.origin = zeros("I", pieces)
        self.row_first = zeros("I", pieces)
        self.node_first = zeros("I", pieces)
        self.rows = 0
        self.row_address = zeros("Q", rows)
        self.row_file = zeros("I", rows)
        self.row_line = zeros("I", rows)
        self.nodes = 0
        self.node_depth = zeros("I", nodes)
        self.node_name = zeros("I", nodes)
        self.node_call_file = zeros("I", nodes)
        self.node_call_line = zeros("I", nodes)
        self.range_first = zeros("I", nodes)
        self.ranges = 0
        self.range_start = zeros("Q", ranges)
        self.range_end = zeros("Q", ranges)
        self.order = zeros("I", ranges)
        self.spare = zeros("I", ranges)
        self.order_depth = zeros("Q", ranges)
        self.level_first = array("q", [0]) * (MAX_DEPTH + 2)
        self.level_last = array("q", [0]) * (MAX_DEPTH + 2)
        self.level_claimed = array("Q", [0]) * (MAX_DEPTH + 2)
        self.level_place = array("q", [0]) * (MAX_DEPTH + 2)

    def run(self, plan: Plan, first: int, last: int) -> None:
        """Shapes the plan's pieces ``first:last``."""
        begin: cython.Py_ssize_t = first
        stop: cython.Py_ssize_t = last
        if begin >= stop:
            return
        start: cython.ulonglong[::1] = plan.start
        end: cython.ulonglong[::1] = plan.end
        name: cython.uint[::1] = plan.name
        function: cython.uint[::1] = plan.function
        table: cython.uint[::1] = plan.table
        early: cython.uint[::1] = plan.early
        i: cython.Py_ssize_t
        with cython.nogil:
            for i in range(begin, stop):
                self._piece(i, start[i], end[i], name[i], function[i], table[i], early[i])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _piece(
        self,
        plan_index: cython.Py_ssize_t,
        start: cython.ulonglong,
        end: cython.ulonglong,
        name: cython.uint,
        function: cython.uint,
        table: cython.uint,
        early: cython.uint,
    ) -> cython.int:
        """Cuts one piece into parts that have lines throughout and parts that have none.

        Its first ``early`` bytes belong to the part behind them, with a row of line 0.
        """
        none: cython.uint = 0xFFFFFFFF
        row: cython.Py_ssize_t = -1
        last: cython.Py_ssize_t = 0
        lined: cython.bint
        part: cython.ulonglong = start
        stop: cython.ulonglong
        parts: cython.int = 0
        if table != none:
            last = self.table_first[table + 1]
            row = self._row_before(self.table_first[table], last, start)
        while part < end:
            self._open(plan_index, part, name)
            stop = end
            lined = False
            if table != none:
                lined = row >= self.table_first[table] and row < last and self.source_file[row] != none
                if lined:
                    row = self._lines(row, last, part, end)
                else:
                    row = self._next_lined(row, last)
                    if part == start and early != 0 and row < last and self.source_address[row] <= start + early:
                        lined = True
                        self._put_row(start, self.source_file[row], 0)
                        row = self._lines(row, last, self.source_address[row], end)
                if row < last and self.source_address[row] < end:
                    stop = self.source_address[row]
            if function != none:
                if (
                    not lined
                    and part == start
                    and stop == end
                    and self.decl_line[function] != 0
                    and self.decl_file[function] != none
                ):
                    self._put_row(start, self.decl_file[function], self.decl_line[function])
                # Each part looks at all of the function's inlines: in a file made to be slow there is no end of parts.
                parts += 1
                if parts <= 256 or self.function_node_end[function] - self.function_node[function] <= 256:
                    self._inlines(part, stop, self.function_node[function], self.function_node_end[function])
                else:
                    self.lost += 1
                if self.rows == cython.cast(cython.Py_ssize_t, self.row_first[self.pieces]):
                    self._keep_inlines_visible(part, function)
            self.end[self.pieces] = stop
            self.pieces += 1
            part = stop
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _keep_inlines_visible(self, start: cython.ulonglong, function: cython.uint) -> cython.int:
        """Puts a row of line 0 for a part with inlines and no line: readers show no inlines where there is no row at all."""
        none: cython.uint = 0xFFFFFFFF
        first: cython.Py_ssize_t = self.node_first[self.pieces]
        file: cython.uint = self.decl_file[function]
        if first < self.nodes:
            if file == none:
                file = self.node_call_file[first]
            if file != none:
                self._put_row(start, file, 0)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-2)
    def _row_before(
        self, first: cython.Py_ssize_t, last: cython.Py_ssize_t, address: cython.ulonglong
    ) -> cython.Py_ssize_t:
        """The last row of ``first:last`` that is not behind an address, or ``first - 1``."""
        low: cython.Py_ssize_t = first
        high: cython.Py_ssize_t = last
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.source_address[middle] <= address:
                low = middle + 1
            else:
                high = middle
        return low - 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _next_lined(self, row: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The first row behind ``row`` that knows a file."""
        none: cython.uint = 0xFFFFFFFF
        row += 1
        while row < last and self.source_file[row] == none:
            row += 1
        return row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _lines(
        self, row: cython.Py_ssize_t, last: cython.Py_ssize_t, start: cython.ulonglong, end: cython.ulonglong
    ) -> cython.Py_ssize_t:
        """Puts the rows from ``row`` on, the first at ``start``; gives the row that ends the run: a gap, or one behind ``end``."""
        none: cython.uint = 0xFFFFFFFF
        file: cython.uint = self.source_file[row]
        line: cython.uint = self.source_line[row]
        self._put_row(start, file, line)
        row += 1
        while row < last and self.source_address[row] < end and self.source_file[row] != none:
            if self.source_file[row] != file or self.source_line[row] != line:
                file = self.source_file[row]
                line = self.source_line[row]
                self._put_row(self.source_address[row], file, line)
            row += 1
        return row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _inlines(
        self, start: cython.ulonglong, end: cython.ulonglong, first: cython.Py_ssize_t, last: cython.Py_ssize_t
    ) -> cython.int:
        """Puts the nodes ``first:last`` clipped to the part, each to its parent's ranges; what is then empty goes with all below it."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        before: cython.Py_ssize_t
        depth: cython.uint
        parent: cython.uint
        dropped: cython.uint = 0xFFFFFFFF
        suspect: cython.bint = False
        room: cython.Py_ssize_t = self.ranges + 4096
        if first < last:
            room += 8 * (cython.cast(cython.Py_ssize_t, self.source_range[last]) - self.source_range[first])
        self.level_claimed[1] = 0
        for i in range(first, last):
            depth = self.source_depth[i]
            if depth > dropped:
                continue
            dropped = 0xFFFFFFFF
            if depth >= 1024 or self.source_name[i] == 0:
                dropped = depth
                continue
            if self.ranges >= room:
                dropped = depth
                self.lost += 1
                continue
            parent = depth - 1
            before = self.ranges
            for k in range(self.source_range[i], self.source_range[i + 1]):
                if parent == 0:
                    self._put_clipped(self.source_start[k], self.source_end[k], start, end)
                else:
                    self._put_inside(
                        self.source_start[k],
                        self.source_end[k],
                        self.level_first[parent],
                        self.level_last[parent],
                        room,
                    )
            if self.ranges == before:
                dropped = depth
                continue
            self.level_first[depth] = before
            self.level_last[depth] = self.ranges
            if self.range_start[before] < self.level_claimed[depth]:
                suspect = True
            if self.range_end[self.ranges - 1] > self.level_claimed[depth]:
                self.level_claimed[depth] = self.range_end[self.ranges - 1]
            self.level_claimed[depth + 1] = 0
            self._put_node(depth, self.source_name[i], self.source_call_file[i], self.source_call_line[i], before)
        if suspect and self._overlapping():
            with cython.gil:
                self._part_siblings()
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _overlapping(self) -> cython.bint:
        """Whether ranges of one depth overlap in the piece that is open: in the order of depth and start, neighbours do."""
        first: cython.Py_ssize_t = self.node_first[self.pieces]
        base: cython.Py_ssize_t = self.range_first[first]
        n: cython.Py_ssize_t = self.ranges - base
        k: cython.Py_ssize_t
        if n > self.order.shape[0] if cython.compiled else n > len(self.order):
            with cython.gil:
                self.order = zeros("I", 2 * n)
                self.spare = zeros("I", 2 * n)
                self.order_depth = zeros("Q", 2 * n)
        self._group_by_depth(first, base)
        order_by(self.order_depth, self.range_start[base : base + n], self.order, self.spare, n)
        for k in range(1, n):
            if (
                self.order_depth[self.order[k]] == self.order_depth[self.order[k - 1]]
                and self.range_start[base + self.order[k]] < self.range_end[base + self.order[k - 1]]
            ):
                return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _group_by_depth(self, first: cython.Py_ssize_t, base: cython.Py_ssize_t) -> cython.int:
        """Orders the ranges from ``base`` on by the depth of their nodes, those from ``first`` on, and else leaves them as they lie."""
        node: cython.Py_ssize_t
        k: cython.Py_ssize_t
        depth: cython.uint
        deepest: cython.uint = 0
        place: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t
        for node in range(first, self.nodes):
            depth = self.node_depth[node]
            deepest = max(deepest, depth)
            self.level_place[depth] += self.range_first[node + 1] - self.range_first[node]
        for depth in range(1, deepest + 1):
            size = self.level_place[depth]
            self.level_place[depth] = place
            place += size
        for node in range(first, self.nodes):
            depth = self.node_depth[node]
            for k in range(self.range_first[node], self.range_first[node + 1]):
                self.order_depth[k - base] = depth
                self.order[self.level_place[depth]] = k - base
                self.level_place[depth] += 1
        for depth in range(1, deepest + 1):
            self.level_place[depth] = 0
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _put_inside(
        self,
        start: cython.ulonglong,
        end: cython.ulonglong,
        first: cython.Py_ssize_t,
        last: cython.Py_ssize_t,
        room: cython.Py_ssize_t,
    ) -> cython.int:
        """Puts what of a range lies in the ranges ``first:last`` already put, while there are fewer than ``room``."""
        low: cython.Py_ssize_t = first
        high: cython.Py_ssize_t = last
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.range_end[middle] <= start:
                low = middle + 1
            else:
                high = middle
        while low < last and self.range_start[low] < end and self.ranges < room:
            self._put_clipped(start, end, self.range_start[low], self.range_end[low])
            low += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _put_clipped(
        self, start: cython.ulonglong, end: cython.ulonglong, low: cython.ulonglong, high: cython.ulonglong
    ) -> cython.int:
        if start < low:
            start = low
        if end > high:
            end = high
        if start >= end:
            return 0
        n: cython.Py_ssize_t = self.ranges
        if n >= self.range_start.shape[0] if cython.compiled else n >= len(self.range_start):
            with cython.gil:
                self.range_start = grown(self.range_start, n + 1)
                self.range_end = grown(self.range_end, n + 1)
        self.range_start[n] = start
        self.range_end[n] = end
        self.ranges = n + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _put_node(
        self,
        depth: cython.uint,
        name: cython.uint,
        call_file: cython.uint,
        call_line: cython.uint,
        first_range: cython.Py_ssize_t,
    ) -> cython.int:
        n: cython.Py_ssize_t = self.nodes
        if n + 1 >= self.range_first.shape[0] if cython.compiled else n + 1 >= len(self.range_first):
            with cython.gil:
                self.node_depth = grown(self.node_depth, n + 2)
                self.node_name = grown(self.node_name, n + 2)
                self.node_call_file = grown(self.node_call_file, n + 2)
                self.node_call_line = grown(self.node_call_line, n + 2)
                self.range_first = grown(self.range_first, n + 2)
        self.node_depth[n] = depth
        self.node_name[n] = name
        self.node_call_file[n] = call_file
        self.node_call_line[n] = call_line
        self.range_first[n] = first_range
        self.nodes = n + 1
        self.range_first[n + 1] = self.ranges
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _put_row(self, address: cython.ulonglong, file: cython.uint, line: cython.uint) -> cython.int:
        n: cython.Py_ssize_t = self.rows
        if n >= self.row_address.shape[0] if cython.compiled else n >= len(self.row_address):
            with cython.gil:
                self.row_address = grown(self.row_address, n + 1)
                self.row_file = grown(self.row_file, n + 1)
                self.row_line = grown(self.row_line, n + 1)
        self.row_address[n] = address
        self.row_file[n] = file
        self.row_line[n] = line
        self.rows = n + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _open(self, plan_index: cython.Py_ssize_t, start: cython.ulonglong, name: cython.uint) -> cython.int:
        n: cython.Py_ssize_t = self.pieces
        if n + 1 >= self.start.shape[0] if cython.compiled else n + 1 >= len(self.start):
            with cython.gil:
                self.start = grown(self.start, n + 2)
                self.end = grown(self.end, n + 2)
                self.name = grown(self.name, n + 2)
                self.origin = grown(self.origin, n + 2)
                self.row_first = grown(self.row_first, n + 2)
                self.node_first = grown(self.node_first, n + 2)
        self.start[n] = start
        self.name[n] = name
        self.origin[n] = plan_index
        self.row_first[n] = self.rows
        self.node_first[n] = self.nodes
        return 0

    def _part_siblings(self) -> None:
        """Rewrites the nodes of the piece that is open where siblings overlap."""
        first = self.node_first[self.pieces]
        if self.nodes - first > MAX_NODES_TO_PART:
            self.lost += self.nodes - first
            self.ranges = self.range_first[first]
            self.nodes = first
            return
        nodes = [
            (
                self.node_depth[i],
                [(self.range_start[k], self.range_end[k]) for k in range(self.range_first[i], self.range_first[i + 1])],
                (self.node_name[i], self.node_call_file[i], self.node_call_line[i]),
            )
            for i in range(first, self.nodes)
        ]
        parted = part_siblings([(depth, ranges) for depth, ranges, _ in nodes])
        if parted is None:
            return
        self.ranges = self.range_first[first]
        self.nodes = first
        for (depth, whole, (name, call_file, call_line)), ranges in zip(nodes, parted, strict=True):
            if not ranges:
                self.hidden += len(whole)
            else:
                self.cut += len(set(whole).difference(ranges))
                before = self.ranges
                for start, end in ranges:
                    self._put_clipped(start, end, start, end)
                self._put_node(depth, name, call_file, call_line, before)

    def lost_count(self) -> int:
        """At how many places inlines were left out."""
        return self.lost

    def range_counts(self) -> RangeCounts:
        """Ranges of inlined calls that others spoke for, or that would have taken endless cutting."""
        return RangeCounts(dropped=self.hidden + self.lost, cut=self.cut)

    def table(self) -> SymbolTable:
        """What was shaped, in the shaper's own memory: its files are still slots, and it has no names."""
        self.row_first[self.pieces] = self.rows
        self.node_first[self.pieces] = self.nodes
        self.range_first[self.nodes] = self.ranges
        return SymbolTable(
            start=first_of(self.start, self.pieces),
            end=first_of(self.end, self.pieces),
            name=first_of(self.name, self.pieces),
            row_first=first_of(self.row_first, self.pieces + 1),
            row_address=first_of(self.row_address, self.rows),
            row_file=first_of(self.row_file, self.rows),
            row_line=first_of(self.row_line, self.rows),
            node_first=first_of(self.node_first, self.pieces + 1),
            node_depth=first_of(self.node_depth, self.nodes),
            node_name=first_of(self.node_name, self.nodes),
            node_call_file=first_of(self.node_call_file, self.nodes),
            node_call_line=first_of(self.node_call_line, self.nodes),
            range_first=first_of(self.range_first, self.nodes + 1),
            range_start=first_of(self.range_start, self.ranges),
            range_end=first_of(self.range_end, self.ranges),
        )

    def origins(self) -> array[int]:
        """For each piece of the table the index of the plan's piece that it was cut from."""
        return first_of(self.origin, self.pieces)


def _some(column: array[int]) -> array[int]:
    """The column, or one zero item where it is empty: a typed memoryview needs a byte to point at."""
    return column if len(column) else array(memoryview(column).format, [0])
