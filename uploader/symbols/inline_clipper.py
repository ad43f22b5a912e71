"""Clips a function's inlines to a part of it: each to its parent's ranges, and of siblings that overlap the later one speaks.

That is what LLVM's symbolizer answers. Part of the core: compiled or not, the same results.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import zeros
from uploader.core.search import first_after
from uploader.symbols.ordering import order_by
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.siblings import part_siblings
from uploader.symbols.source_view import SourceView
from uploader.symbols.table_columns import GrowingTable

MAX_DEPTH = 1024
TOO_DEEP = MAX_DEPTH
NOTHING_DROPPED = 0xFFFFFFFF

RANGES_FACTOR = 8
RANGES_MORE = 4096
"""A part has no more ranges than so many times those of its function's inlines, and these: parents in pieces cut their children up."""

MAX_NODES_TO_PART = 4096
"""Parting siblings that overlap takes time that grows with their square; no compiler writes so many."""


class InlineClipper:
    """Puts inlines into the piece of a table that is open."""

    def __init__(self, source: SourceView, made: GrowingTable) -> None:
        self.source = source
        self.made = made
        self.lost = self.hidden = self.cut = 0
        self.level_first = array("q", [0]) * (MAX_DEPTH + 2)
        self.level_last = array("q", [0]) * (MAX_DEPTH + 2)
        self.level_place = array("q", [0]) * (MAX_DEPTH + 2)
        self.level_claimed = array("Q", [0]) * (MAX_DEPTH + 2)
        self._give_order_room(made.range_room)

    def _give_order_room(self, items: int) -> None:
        self.order, self.spare, self.order_depth = zeros("I", items), zeros("I", items), zeros("Q", items)
        self.order_room = items

    def put(
        self, start: cython.ulonglong, end: cython.ulonglong, first: cython.Py_ssize_t, last: cython.Py_ssize_t
    ) -> cython.int:
        """Puts the source's nodes ``first:last`` clipped to the part; what is then empty goes with all below it."""
        i: cython.Py_ssize_t
        before: cython.Py_ssize_t
        depth: cython.uint
        dropped: cython.uint = NOTHING_DROPPED
        suspect: cython.bint = False
        room: cython.Py_ssize_t = self.made.ranges + RANGES_MORE
        if first < last:
            room += RANGES_FACTOR * (
                cython.cast(cython.Py_ssize_t, self.source.node_range[last]) - self.source.node_range[first]
            )
        self.level_claimed[1] = 0
        for i in range(first, last):
            depth = self.source.node_depth[i]
            if depth > dropped:
                continue
            dropped = NOTHING_DROPPED
            if depth >= TOO_DEEP or self.source.node_name[i] == 0:
                dropped = depth
                continue
            if self.made.ranges >= room:
                dropped = depth
                self.lost += 1
                continue
            before = self.made.ranges
            self._put_ranges(i, depth - 1, start, end, room)
            if self.made.ranges == before:
                dropped = depth
                continue
            if not self._claim(depth, before):
                suspect = True
            self.made.put_node(
                depth, self.source.node_name[i], self.source.node_call_file[i], self.source.node_call_line[i]
            )
        if suspect and self._overlapping():
            with cython.gil:
                self._part_siblings()
        return 0

    def _put_ranges(
        self,
        node: cython.Py_ssize_t,
        parent: cython.uint,
        start: cython.ulonglong,
        end: cython.ulonglong,
        room: cython.Py_ssize_t,
    ) -> cython.int:
        """Puts a node's ranges clipped to those of its parent, whose depth is given: that of 0 is the part itself."""
        k: cython.Py_ssize_t
        for k in range(self.source.node_range[node], self.source.node_range[node + 1]):
            if parent == 0:
                self._put_clipped(self.source.node_range_start[k], self.source.node_range_end[k], start, end)
            else:
                self._put_inside(self.source.node_range_start[k], self.source.node_range_end[k], parent, room)
        return 0

    def _claim(self, depth: cython.uint, first: cython.Py_ssize_t) -> cython.bint:
        """Makes the ranges from ``first`` on those of the node of a depth; tells whether they begin behind its siblings' end."""
        last: cython.Py_ssize_t = self.made.ranges
        behind: cython.bint = self.made.range_start[first] >= self.level_claimed[depth]
        self.level_first[depth] = first
        self.level_last[depth] = last
        if self.made.range_end[last - 1] > self.level_claimed[depth]:
            self.level_claimed[depth] = self.made.range_end[last - 1]
        self.level_claimed[depth + 1] = 0
        return behind

    def _put_inside(
        self, start: cython.ulonglong, end: cython.ulonglong, parent: cython.uint, room: cython.Py_ssize_t
    ) -> cython.int:
        """Puts what of a range lies in the ranges of the last node of a depth, while there are fewer than ``room``."""
        last: cython.Py_ssize_t = self.level_last[parent]
        low: cython.Py_ssize_t = first_after(self.made.range_end, self.level_first[parent], last, start)
        while low < last and self.made.range_start[low] < end and self.made.ranges < room:
            self._put_clipped(start, end, self.made.range_start[low], self.made.range_end[low])
            low += 1
        return 0

    def _put_clipped(
        self, start: cython.ulonglong, end: cython.ulonglong, low: cython.ulonglong, high: cython.ulonglong
    ) -> cython.int:
        if start < low:
            start = low
        if end > high:
            end = high
        if start < end:
            self.made.put_range(start, end)
        return 0

    def _overlapping(self) -> cython.bint:
        """Whether ranges of one depth overlap in the piece that is open: in the order of depth and start, neighbours do."""
        first: cython.Py_ssize_t = self.made.node_first[self.made.pieces]
        base: cython.Py_ssize_t = self.made.range_first[first]
        n: cython.Py_ssize_t = self.made.ranges - base
        k: cython.Py_ssize_t
        if n > self.order_room:
            with cython.gil:
                self._give_order_room(2 * n)
        self._group_by_depth(first, base)
        order_by(self.order_depth, self.made.range_start[base : base + n], self.order, self.spare, n)
        for k in range(1, n):
            if (
                self.order_depth[self.order[k]] == self.order_depth[self.order[k - 1]]
                and self.made.range_start[base + self.order[k]] < self.made.range_end[base + self.order[k - 1]]
            ):
                return True
        return False

    def _group_by_depth(self, first: cython.Py_ssize_t, base: cython.Py_ssize_t) -> cython.int:
        """Orders the ranges from ``base`` on by the depth of their nodes, those from ``first`` on, and else leaves them as they lie."""
        node: cython.Py_ssize_t
        k: cython.Py_ssize_t
        depth: cython.uint
        deepest: cython.uint = 0
        place: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t
        for node in range(first, self.made.nodes):
            depth = self.made.node_depth[node]
            deepest = max(deepest, depth)
            self.level_place[depth] += self.made.range_first[node + 1] - self.made.range_first[node]
        for depth in range(1, deepest + 1):
            size = self.level_place[depth]
            self.level_place[depth] = place
            place += size
        for node in range(first, self.made.nodes):
            depth = self.made.node_depth[node]
            for k in range(self.made.range_first[node], self.made.range_first[node + 1]):
                self.order_depth[k - base] = depth
                self.order[self.level_place[depth]] = k - base
                self.level_place[depth] += 1
        for depth in range(1, deepest + 1):
            self.level_place[depth] = 0
        return 0

    def _part_siblings(self) -> None:
        """Rewrites the nodes of the piece that is open where siblings overlap."""
        made = self.made
        first = made.node_first[made.pieces]
        if made.nodes - first > MAX_NODES_TO_PART:
            self.lost += made.nodes - first
            self._take_back(first)
            return
        nodes = [
            (
                made.node_depth[i],
                [(made.range_start[k], made.range_end[k]) for k in range(made.range_first[i], made.range_first[i + 1])],
                (made.node_name[i], made.node_call_file[i], made.node_call_line[i]),
            )
            for i in range(first, made.nodes)
        ]
        parted = part_siblings([(depth, ranges) for depth, ranges, _ in nodes])
        if parted is None:
            return
        self._take_back(first)
        for (depth, whole, (name, call_file, call_line)), ranges in zip(nodes, parted, strict=True):
            if not ranges:
                self.hidden += len(whole)
            else:
                self.cut += len(set(whole).difference(ranges))
                for start, end in ranges:
                    made.put_range(start, end)
                made.put_node(depth, name, call_file, call_line)

    def _take_back(self, node: int) -> None:
        """Takes a node out again, and all behind it."""
        self.made.ranges = self.made.range_first[node]
        self.made.nodes = node

    def range_counts(self) -> RangeCounts:
        """Ranges of inlined calls that others spoke for, or that would have taken endless cutting."""
        return RangeCounts(dropped=self.hidden + self.lost, cut=self.cut)
