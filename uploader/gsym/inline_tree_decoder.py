"""GSYM inline trees, as `inline_tree_encoder` writes them: nested nodes to the inlined calls of pieces.

Source: LLVM ``llvm/DebugInfo/GSYM/InlineInfo.h``.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import grown, taken, zeros_each
from uploader.core.search import first_after
from uploader.errors import MalformedGsym
from uploader.gsym.layout import MAX_INLINE_DEPTH, MAX_UINT32, MAX_UINT64, Data, Header
from uploader.gsym.payload_reader import PayloadReader, Payloads, numbers_of
from uploader.symbols.columns import SymbolTable
from uploader.symbols.table_columns import GrowingTable

MAX_ITEMS = MAX_UINT32
MAX_CALL_LINE = MAX_UINT32
RANGE_MIN_BYTES = 2

REASONS = (
    "has a root that is not its function",
    "nests too deeply",
    "has a node outside its parent",
    "has ranges out of order",
    "names a file that isn't there",
    "has bytes after its end",
    "has a flag that is neither 0 nor 1",
)
CUT_OFF, TOO_LARGE = 0, 1
BAD_ROOT, TOO_DEEP, OUTSIDE, DISORDER, BAD_FILE, TRAILING, BAD_FLAG = numbers_of(REASONS)


class _Decoder(PayloadReader):
    def __init__(self, data: Data, header: Header, strict: bool) -> None:
        PayloadReader.__init__(self, data, header, "an inline tree", REASONS, strict)
        self.made = GrowingTable()
        self.name_offset, self.run_end = zeros_each("QQ", 0)
        self.name_room = self.run_room = 0
        self.parent = array("I", [0]) * (MAX_INLINE_DEPTH + 2)
        self.last_end = array("Q", [0]) * (MAX_INLINE_DEPTH + 2)
        self.name_bytes = header.offset_size_bytes

    def check_inside(self, node: cython.Py_ssize_t, parent: cython.Py_ssize_t) -> cython.int:
        """Holds a node's ranges to those of its parent; neighbouring ranges of the parent count as one."""
        low: cython.Py_ssize_t
        item: cython.Py_ssize_t
        begin: cython.ulonglong
        parent_first: cython.Py_ssize_t = self.made.range_first[parent]
        parent_last: cython.Py_ssize_t = self.made.range_first[parent + 1]
        for item in range(self.made.range_first[node], self.made.ranges):
            begin = self.made.range_start[item]
            low = first_after(self.made.range_start, parent_first + 1, parent_last, begin) - 1
            if (
                begin < self.made.range_start[low]
                or begin >= self.made.range_end[low]
                or self.made.range_end[item] > self.run_end[low]
            ):
                self.fail(OUTSIDE)
        return 0

    def read_ranges(
        self, count: cython.ulonglong, base: cython.ulonglong, start: cython.ulonglong, end: cython.ulonglong
    ) -> cython.int:
        """Reads a node's ranges; strict, they ascend and lie in ``start`` to ``end``."""
        most: cython.ulonglong = (self.end - self.at) // RANGE_MIN_BYTES
        if count > most:
            self.fail(CUT_OFF)
        item: cython.Py_ssize_t
        begin: cython.ulonglong
        size: cython.ulonglong
        wanted: cython.Py_ssize_t = count
        first: cython.Py_ssize_t = self.made.ranges
        for item in range(first, first + wanted):
            begin = self.uleb()
            if begin > MAX_UINT64 - base:
                self.fail(TOO_LARGE)
            begin += base
            size = self.uleb()
            if size > MAX_UINT64 - begin:
                self.fail(TOO_LARGE)
            if self.strict:
                if size == 0 or (item > first and begin < self.made.range_end[item - 1]):
                    self.fail(DISORDER)
                if begin < start or begin + size > end:
                    self.fail(OUTSIDE)
            self.made.put_range(begin, begin + size)
        if self.made.ranges > MAX_ITEMS:
            self.fail(TOO_LARGE)
        return self.find_runs(first)

    def find_runs(self, first: cython.Py_ssize_t) -> cython.int:
        """Sets, of each range from ``first`` on, where the last of those ends that follow it without a gap."""
        item: cython.Py_ssize_t = self.made.ranges - 1
        if self.run_room < self.made.range_room:
            with cython.gil:
                self._give_runs_room(self.made.range_room)
        self.run_end[item] = self.made.range_end[item]
        while item > first:
            item -= 1
            if self.made.range_end[item] == self.made.range_start[item + 1]:
                self.run_end[item] = self.run_end[item + 1]
            else:
                self.run_end[item] = self.made.range_end[item]
        return 0

    def read_flag(self) -> cython.int:
        flag: cython.ulonglong = self.fixed(1)
        if self.strict and flag > 1:
            self.fail(BAD_FLAG)
        return 1 if flag else 0

    def read_call(self) -> cython.int:
        """Reads a node's name, call file and call line."""
        self.name = self.fixed(self.name_bytes)
        file: cython.ulonglong = self.uleb()
        line: cython.ulonglong = self.uleb()
        if file >= self.files:
            self.fail(BAD_FILE)
        if line > MAX_CALL_LINE:
            self.fail(TOO_LARGE)
        self.call_file = file
        self.call_line = line
        return 0

    def read_root(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.bint:
        """Reads the root, which is the function itself, and keeps nothing of it but its begin; tells whether it has children."""
        first_range: cython.Py_ssize_t = self.made.ranges
        count: cython.ulonglong = self.uleb()
        if count == 0:
            self.fail(BAD_ROOT)
        self.read_ranges(count, start, start, end)
        self.base = self.made.range_start[first_range]
        if self.strict and (count != 1 or self.base != start or self.made.range_end[first_range] != end):
            self.fail(BAD_ROOT)
        self.made.ranges = first_range
        has_children: cython.bint = self.read_flag()
        self.read_call()
        if self.strict and (self.call_file != 0 or self.call_line != 0):
            self.fail(BAD_ROOT)
        return has_children

    def read_node(
        self, count: cython.ulonglong, depth: cython.Py_ssize_t, start: cython.ulonglong, end: cython.ulonglong
    ) -> cython.bint:
        """Reads a node of so many ranges; tells whether it has children."""
        node: cython.Py_ssize_t = self.made.nodes
        first_range: cython.Py_ssize_t = self.made.ranges
        parent: cython.Py_ssize_t
        if node >= MAX_ITEMS:
            self.fail(TOO_LARGE)
        if depth == 1:
            self.read_ranges(count, self.base, start, end)
        else:
            parent = self.parent[depth - 1]
            self.read_ranges(count, self.made.range_start[self.made.range_first[parent]], start, end)
            if self.strict:
                self.check_inside(node, parent)
        has_children: cython.bint = self.read_flag()
        self.read_call()
        self.made.put_node(depth, 0, self.call_file, self.call_line)
        if self.name_room < self.made.node_room:
            with cython.gil:
                self._give_names_room(self.made.node_room)
        self.name_offset[node] = self.name
        if self.made.range_start[first_range] < self.last_end[depth]:
            self.ordered = False
        self.last_end[depth] = self.made.range_end[self.made.ranges - 1]
        self.parent[depth] = node
        return has_children

    def payload(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.Py_ssize_t:
        """Reads one tree."""
        first: cython.Py_ssize_t = self.made.nodes
        depth: cython.Py_ssize_t = 1 if self.read_root(start, end) else 0
        deepest: cython.Py_ssize_t = 1
        count: cython.ulonglong
        self.last_end[1] = 0
        self.ordered = True
        while depth > 0:
            count = self.uleb()
            if count == 0:
                depth -= 1
            elif self.read_node(count, depth, start, end):
                if depth >= MAX_INLINE_DEPTH:
                    self.fail(TOO_DEEP)
                depth += 1
                if depth > deepest:
                    deepest = depth
                    self.last_end[depth] = 0
        if self.strict:
            if self.at != self.end:
                self.fail(TRAILING)
            if not self.ordered:
                with cython.gil:
                    self._check_disjoint(first)
        return self.made.nodes

    def _check_disjoint(self, first: int) -> None:
        """Holds the ranges of one tree to what makes siblings disjoint: no two of one depth overlap."""
        made = self.made
        spans = sorted(
            (made.node_depth[node], made.range_start[item], made.range_end[item])
            for node in range(first, made.nodes)
            for item in range(made.range_first[node], made.range_first[node + 1])
        )
        for before, after in zip(spans, spans[1:], strict=False):
            if before[0] == after[0] and before[2] > after[1]:
                raise MalformedGsym(f"inlined calls overlap at address {after[1]:#x}")

    def _give_names_room(self, items: int) -> None:
        self.name_offset = grown(self.name_offset, items)
        self.name_room = len(self.name_offset)

    def _give_runs_room(self, items: int) -> None:
        self.run_end = grown(self.run_end, items)
        self.run_room = len(self.run_end)

    def fill(self, table: SymbolTable) -> array[int]:
        """Gives a table the nodes and ranges of all pieces; returns the offsets of the nodes' names."""
        made = self.made
        table.node_depth = taken(made.node_depth, made.nodes)
        table.node_call_file = taken(made.node_call_file, made.nodes)
        table.node_call_line = taken(made.node_call_line, made.nodes)
        table.range_first = taken(made.range_first, made.nodes + 1)
        table.range_start = taken(made.range_start, made.ranges)
        table.range_end = taken(made.range_end, made.ranges)
        return taken(self.name_offset, made.nodes)


def decode_inline_trees(
    data: Data, header: Header, table: SymbolTable, payloads: Payloads, *, strict: bool
) -> array[int]:
    """Fills the node and range columns of ``table``, whose pieces are there, from their inline trees in ``data``.

    The places of ``payloads`` were checked by the caller; an empty one means no inline tree. The
    nodes' names are given back as string offsets, unchecked; ``node_name`` stays empty. Strict holds the nodes to the
    invariants of `SymbolTable`; otherwise their ranges stay as they are. Raises `MalformedGsym`. Releases the GIL.
    """
    decoder = _Decoder(data, header, strict)
    table.node_first = decoder.read(table, payloads)
    return decoder.fill(table)
