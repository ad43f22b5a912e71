"""GSYM inline trees, as `inline_tree_encoder` writes them: nested nodes to the inlined calls of pieces.

Source: LLVM ``llvm/DebugInfo/GSYM/InlineInfo.h``.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import resized
from uploader.errors import MalformedGsym
from uploader.gsym.layout import MAX_INLINE_DEPTH, Data
from uploader.gsym.reader import REASONS as READER_REASONS
from uploader.gsym.reader import GsymReader
from uploader.symbols.columns import SymbolTable

DEPTH_LIMIT = cython.declare(cython.Py_ssize_t, MAX_INLINE_DEPTH)
MAX_ITEMS = cython.declare(cython.Py_ssize_t, 0xFFFFFFFF)
MAX_CALL_LINE = cython.declare(cython.ulonglong, 0xFFFFFFFF)

REASONS = (
    *READER_REASONS,
    "has a root that is not its function",
    "nests too deeply",
    "has a node outside its parent",
    "has ranges out of order",
    "names a file that isn't there",
    "has bytes after its end",
    "has a flag that is neither 0 nor 1",
)
CUT_OFF = cython.declare(cython.int, 0)
TOO_LARGE = cython.declare(cython.int, 1)
BAD_ROOT = cython.declare(cython.int, 2)
TOO_DEEP = cython.declare(cython.int, 3)
OUTSIDE = cython.declare(cython.int, 4)
DISORDER = cython.declare(cython.int, 5)
BAD_FILE = cython.declare(cython.int, 6)
TRAILING = cython.declare(cython.int, 7)
BAD_FLAG = cython.declare(cython.int, 8)


@cython.final
@cython.cclass
class _Decoder(GsymReader):
    node_first: cython.uint[::1]
    node_depth: cython.uint[::1]
    node_name: cython.ulonglong[::1]
    node_call_file: cython.uint[::1]
    node_call_line: cython.uint[::1]
    range_first: cython.uint[::1]
    range_start: cython.ulonglong[::1]
    range_end: cython.ulonglong[::1]
    run_end: cython.ulonglong[::1]
    parent: cython.uint[::1]
    last_end: cython.ulonglong[::1]
    node_columns: list  # type: ignore[type-arg]  # Cython takes the bare builtin as an attribute's type
    range_columns: list  # type: ignore[type-arg]  # Cython takes the bare builtin as an attribute's type
    node_capacity: cython.Py_ssize_t
    range_capacity: cython.Py_ssize_t
    nodes: cython.Py_ssize_t
    ranges: cython.Py_ssize_t
    files: cython.ulonglong
    name_bytes: cython.int
    strict: cython.bint

    def __init__(
        self, data: Data, node_first: array[int], files: int, name_bytes: int, little: bool, strict: bool
    ) -> None:
        GsymReader.__init__(self, data, "an inline tree", REASONS, little)
        self.node_first = node_first
        self.files = files
        self.name_bytes = name_bytes
        self.strict = strict
        self.node_columns = [array("I"), array("Q"), array("I"), array("I"), array("I")]
        self.range_columns = [array("Q"), array("Q"), array("Q")]
        self.parent = array("I", [0]) * (MAX_INLINE_DEPTH + 2)
        self.last_end = array("Q", [0]) * (MAX_INLINE_DEPTH + 2)
        self.node_capacity = 0
        self.range_capacity = 0
        self.nodes = 0
        self.ranges = 0
        self.grow_nodes(16)
        self.grow_ranges(16)
        self.range_first[0] = 0

    @cython.cfunc
    @cython.exceptval(-1)
    def grow_nodes(self, more: cython.Py_ssize_t) -> cython.int:
        capacity: cython.Py_ssize_t = self.nodes + self.nodes // 2 + more
        self.node_columns = [resized(column, self.nodes + 1, capacity + 1) for column in self.node_columns]
        self.node_depth = self.node_columns[0]
        self.node_name = self.node_columns[1]
        self.node_call_file = self.node_columns[2]
        self.node_call_line = self.node_columns[3]
        self.range_first = self.node_columns[4]
        self.node_capacity = capacity
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def grow_ranges(self, more: cython.Py_ssize_t) -> cython.int:
        capacity: cython.Py_ssize_t = self.ranges + self.ranges // 2 + more
        self.range_columns = [resized(column, self.ranges, capacity) for column in self.range_columns]
        self.range_start = self.range_columns[0]
        self.range_end = self.range_columns[1]
        self.run_end = self.range_columns[2]
        self.range_capacity = capacity
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def check_inside(self, node: cython.Py_ssize_t, parent: cython.Py_ssize_t) -> cython.int:
        """Holds a node's ranges to those of its parent; neighbouring ranges of the parent count as one."""
        low: cython.Py_ssize_t
        high: cython.Py_ssize_t
        middle: cython.Py_ssize_t
        item: cython.Py_ssize_t
        begin: cython.ulonglong
        parent_first: cython.Py_ssize_t = self.range_first[parent]
        for item in range(self.range_first[node], self.ranges):
            begin = self.range_start[item]
            low = parent_first
            high = self.range_first[parent + 1]
            while high - low > 1:
                middle = (low + high) // 2
                if self.range_start[middle] <= begin:
                    low = middle
                else:
                    high = middle
            if (
                begin < self.range_start[low]
                or begin >= self.range_end[low]
                or self.range_end[item] > self.run_end[low]
            ):
                self.fail(OUTSIDE)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def read_ranges(
        self, count: cython.ulonglong, base: cython.ulonglong, start: cython.ulonglong, end: cython.ulonglong
    ) -> cython.int:
        """Reads a node's ranges; strict, they ascend and lie in ``start`` to ``end``."""
        most: cython.ulonglong = (self.end - self.at) // 2
        if count > most:
            self.fail(CUT_OFF)
        wanted: cython.Py_ssize_t = count
        if self.ranges + wanted > self.range_capacity:
            with cython.gil:
                self.grow_ranges(wanted)
        first: cython.Py_ssize_t = self.ranges
        item: cython.Py_ssize_t
        begin: cython.ulonglong
        size: cython.ulonglong
        limit: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
        for item in range(first, first + wanted):
            begin = self.uleb()
            if begin > limit - base:
                self.fail(TOO_LARGE)
            begin += base
            size = self.uleb()
            if size > limit - begin:
                self.fail(TOO_LARGE)
            if self.strict:
                if size == 0 or (item > first and begin < self.range_end[item - 1]):
                    self.fail(DISORDER)
                if begin < start or begin + size > end:
                    self.fail(OUTSIDE)
            self.range_start[item] = begin
            self.range_end[item] = begin + size
            self.run_end[item] = begin + size
        self.ranges += wanted
        if self.ranges > MAX_ITEMS:
            self.fail(TOO_LARGE)
        item = first + wanted - 1
        while item > first:
            item -= 1
            if self.range_end[item] == self.range_start[item + 1]:
                self.run_end[item] = self.run_end[item + 1]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def read_flag(self) -> cython.int:
        flag: cython.ulonglong = self.fixed(1)
        if self.strict and flag > 1:
            self.fail(BAD_FLAG)
        return 1 if flag else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def read_call(self, node: cython.Py_ssize_t) -> cython.int:
        """Reads a node's name, call file and call line."""
        self.node_name[node] = self.fixed(self.name_bytes)
        file: cython.ulonglong = self.uleb()
        line: cython.ulonglong = self.uleb()
        if file >= self.files:
            self.fail(BAD_FILE)
        if line > MAX_CALL_LINE:
            self.fail(TOO_LARGE)
        self.node_call_file[node] = file
        self.node_call_line[node] = line
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def tree(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        """Reads one tree of the piece ``start`` to ``end``. The root takes the next node's place and is then overwritten."""
        first: cython.Py_ssize_t = self.nodes
        first_range: cython.Py_ssize_t = self.ranges
        count: cython.ulonglong = self.uleb()
        if count == 0:
            self.fail(BAD_ROOT)
        self.read_ranges(count, start, start, end)
        if self.strict and (count != 1 or self.range_start[first_range] != start or self.range_end[first_range] != end):
            self.fail(BAD_ROOT)
        base: cython.ulonglong = self.range_start[first_range]
        self.ranges = first_range
        has_children: cython.int = self.read_flag()
        if self.nodes >= self.node_capacity:
            with cython.gil:
                self.grow_nodes(16)
        self.read_call(first)
        if self.strict and (self.node_call_file[first] != 0 or self.node_call_line[first] != 0):
            self.fail(BAD_ROOT)
        depth: cython.Py_ssize_t = has_children
        deepest: cython.Py_ssize_t = 1
        self.last_end[1] = 0
        ordered: cython.bint = True
        node: cython.Py_ssize_t
        parent: cython.Py_ssize_t
        while depth > 0:
            count = self.uleb()
            if count == 0:
                depth -= 1
                continue
            if self.nodes >= self.node_capacity:
                with cython.gil:
                    self.grow_nodes(16)
            if self.nodes >= MAX_ITEMS:
                self.fail(TOO_LARGE)
            node = self.nodes
            first_range = self.ranges
            if depth == 1:
                self.read_ranges(count, base, start, end)
            else:
                parent = self.parent[depth - 1]
                self.read_ranges(count, self.range_start[self.range_first[parent]], start, end)
                if self.strict:
                    self.check_inside(node, parent)
            self.range_first[node + 1] = self.ranges
            has_children = self.read_flag()
            self.read_call(node)
            self.node_depth[node] = depth
            self.nodes += 1
            if self.range_start[first_range] < self.last_end[depth]:
                ordered = False
            self.last_end[depth] = self.range_end[self.ranges - 1]
            self.parent[depth] = node
            if has_children:
                if depth >= DEPTH_LIMIT:
                    self.fail(TOO_DEEP)
                depth += 1
                if depth > deepest:
                    deepest = depth
                    self.last_end[depth] = 0
        if self.strict:
            if self.at != self.end:
                self.fail(TRAILING)
            if not ordered:
                self.check_disjoint(first)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def check_disjoint(self, first: cython.Py_ssize_t) -> cython.int:
        """Holds the ranges of one tree to what makes siblings disjoint: no two of one depth overlap."""
        with cython.gil:
            _check_disjoint(first, self.nodes, self.node_columns, self.range_columns)
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
                self.tree(starts[piece], ends[piece])
            self.node_first[piece + 1] = self.nodes
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
        nodes = [column[: self.nodes] for column in self.node_columns[:4]]
        ranges = [column[: self.ranges] for column in self.range_columns[:2]]
        return [*nodes, self.node_columns[4][: self.nodes + 1], *ranges]


def _check_disjoint(first: int, last: int, node_columns: list[array[int]], range_columns: list[array[int]]) -> None:
    depths, range_first = node_columns[0], node_columns[4]
    starts, ends = range_columns[0], range_columns[1]
    spans = sorted(
        (depths[node], starts[item], ends[item])
        for node in range(first, last)
        for item in range(range_first[node], range_first[node + 1])
    )
    for before, after in zip(spans, spans[1:], strict=False):
        if before[0] == after[0] and before[2] > after[1]:
            raise MalformedGsym(f"inlined calls overlap at address {after[1]:#x}")


def decode_inline_trees(
    data: Data,
    table: SymbolTable,
    payload_begin: array[int],
    payload_end: array[int],
    *,
    file_count: int,
    name_bytes: int,
    little_endian: bool,
    strict: bool,
) -> array[int]:
    """Fills the node and range columns of ``table``, whose pieces are there, from their inline trees in ``data``.

    ``payload_begin`` and ``payload_end`` are byte offsets, checked by the caller; an empty payload means no inline tree. The
    nodes' names are given back as string offsets, unchecked; ``node_name`` stays empty. Strict holds the nodes to the
    invariants of `SymbolTable`; otherwise their ranges stay as they are. Raises `MalformedGsym`. Releases the GIL.
    """
    table.node_first = array("I", [0]) * (len(table) + 1)
    decoder = _Decoder(data, table.node_first, file_count, name_bytes, little_endian, strict)
    (
        table.node_depth,
        name_offsets,
        table.node_call_file,
        table.node_call_line,
        table.range_first,
        table.range_start,
        table.range_end,
    ) = decoder.run(table.start, table.end, payload_begin, payload_end)
    return name_offsets
