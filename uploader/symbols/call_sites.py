"""Joins inlines that stem from one call site.

Compilers split an inlined call into several DIEs (loop unrolling, jump threading, partial inlining). Siblings with the same function, call
file and call line answer every address alike, so one node with the ranges of all of them says the same in fewer bytes.
"""

from __future__ import annotations

from array import array

import cython

from uploader.symbols.columns import SymbolTable, taken, zeros


@cython.final
@cython.cclass
class SiteJoiner:
    """Rewrites the node and range columns of one table, piece after piece."""

    depth: cython.uint[::1]
    name: cython.uint[::1]
    call_file: cython.uint[::1]
    call_line: cython.uint[::1]
    range_first: cython.uint[::1]
    range_start: cython.ulonglong[::1]
    range_end: cython.ulonglong[::1]

    nodes: cython.Py_ssize_t
    out_depth: cython.uint[::1]
    out_name: cython.uint[::1]
    out_call_file: cython.uint[::1]
    out_call_line: cython.uint[::1]
    out_first: cython.uint[::1]
    ranges: cython.Py_ssize_t
    out_start: cython.ulonglong[::1]
    out_end: cython.ulonglong[::1]

    room: cython.Py_ssize_t
    slots: cython.Py_ssize_t
    slot_site: cython.uint[::1]
    slot_piece: cython.uint[::1]
    site_node: cython.uint[::1]
    site_parent: cython.uint[::1]
    first_child: cython.uint[::1]
    last_child: cython.uint[::1]
    next_child: cython.uint[::1]
    last_node: cython.uint[::1]
    next_node: cython.uint[::1]
    path: cython.uint[::1]

    def __init__(self, table: SymbolTable) -> None:
        self.depth = table.node_depth
        self.name = table.node_name
        self.call_file = table.node_call_file
        self.call_line = table.node_call_line
        self.range_first = table.range_first
        self.range_start = table.range_start
        self.range_end = table.range_end
        nodes = len(table.node_depth)
        self.nodes = 0
        self.out_depth = zeros("I", nodes)
        self.out_name = zeros("I", nodes)
        self.out_call_file = zeros("I", nodes)
        self.out_call_line = zeros("I", nodes)
        self.out_first = zeros("I", (nodes + 1))
        self.ranges = 0
        self.out_start = zeros("Q", len(table.range_start))
        self.out_end = zeros("Q", len(table.range_start))
        self.room = 0
        self.slots = 0
        self._make_room(256)
        self.path = array("I", [0]) * (max(table.node_depth, default=0) + 2)

    def _make_room(self, nodes: int) -> None:
        self.room = nodes
        self.slots = 4
        while self.slots < 2 * nodes:
            self.slots *= 2
        self.slot_site = array("I", [0]) * self.slots
        self.slot_piece = array("I", [0]) * self.slots
        self.site_node = array("I", [0]) * (nodes + 1)
        self.site_parent = array("I", [0]) * (nodes + 1)
        self.first_child = array("I", [0]) * (nodes + 1)
        self.last_child = array("I", [0]) * (nodes + 1)
        self.next_child = array("I", [0]) * (nodes + 1)
        self.last_node = array("I", [0]) * (nodes + 1)
        self.next_node = array("I", [0]) * (nodes + 1)

    def run(self, node_first: array[int]) -> array[int]:
        """Joins the sites of every piece; gives the new first node of each."""
        pieces: cython.Py_ssize_t = len(node_first) - 1
        result = array("I", [0]) * (pieces + 1)
        out: cython.uint[::1] = result
        first: cython.uint[::1] = node_first
        i: cython.Py_ssize_t
        with cython.nogil:
            for i in range(pieces):
                if first[i] < first[i + 1]:
                    self._piece(i, first[i], first[i + 1])
                out[i + 1] = cython.cast(cython.uint, self.nodes)
        return result

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _piece(self, piece: cython.Py_ssize_t, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        sites: cython.uint = 0
        site: cython.uint
        parent: cython.uint
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        stamp: cython.uint = cython.cast(cython.uint, piece + 1)
        if last - first > self.room:
            with cython.gil:
                self._make_room(2 * (last - first))
        self.first_child[0] = 0
        self.path[0] = 0
        for i in range(first, last):
            parent = self.path[self.depth[i] - 1]
            at = self._place(stamp, parent, i)
            if self.slot_piece[at] == stamp:
                site = self.slot_site[at]
                self.next_node[self.last_node[site]] = cython.cast(cython.uint, i - first + 1)
            else:
                sites += 1
                site = sites
                self.slot_piece[at] = stamp
                self.slot_site[at] = site
                self.site_node[site] = cython.cast(cython.uint, i)
                self.site_parent[site] = parent
                self.first_child[site] = 0
                self.next_child[site] = 0
                if self.first_child[parent] == 0:
                    self.first_child[parent] = site
                else:
                    self.next_child[self.last_child[parent]] = site
                self.last_child[parent] = site
            self.last_node[site] = cython.cast(cython.uint, i - first + 1)
            self.next_node[i - first + 1] = 0
            self.path[self.depth[i]] = site
        if sites == last - first:
            for i in range(first, last):
                self._begin(i)
                for at in range(self.range_first[i], self.range_first[i + 1]):
                    self._put(self.range_start[at], self.range_end[at])
                self._finish(self.out_first[self.nodes])
            return 0
        site = self.first_child[0]
        while site:
            i = self.site_node[site]
            self._begin(i)
            at = i - first + 1
            while at:
                self._put_all(first + at - 1)
                at = self.next_node[at]
            self._finish(self.out_first[self.nodes])
            if self.first_child[site]:
                site = self.first_child[site]
                continue
            while site and self.next_child[site] == 0:
                site = self.site_parent[site]
            if site:
                site = self.next_child[site]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _place(self, stamp: cython.uint, parent: cython.uint, node: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The slot of a node's call site, or the free one where it belongs."""
        mask: cython.ulonglong = self.slots - 1
        key: cython.ulonglong = self.name[node]
        key = (key * 31 + self.call_line[node]) * 31 + self.call_file[node]
        key = (key & 0xFFFFFFF) * 31 + parent
        scatter: cython.ulonglong = 0x9E3779B1
        at: cython.ulonglong = (((key & 0xFFFFFFF) * scatter) >> 12) & mask
        other: cython.Py_ssize_t
        while self.slot_piece[at] == stamp:
            other = self.site_node[self.slot_site[at]]
            if (
                self.site_parent[self.slot_site[at]] == parent
                and self.name[other] == self.name[node]
                and self.call_line[other] == self.call_line[node]
                and self.call_file[other] == self.call_file[node]
            ):
                break
            at = (at + 1) & mask
        return cython.cast(cython.Py_ssize_t, at)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _begin(self, node: cython.Py_ssize_t) -> cython.int:
        """Puts a node that is like ``node``, its ranges still to come."""
        n: cython.Py_ssize_t = self.nodes
        self.out_depth[n] = self.depth[node]
        self.out_name[n] = self.name[node]
        self.out_call_file[n] = self.call_file[node]
        self.out_call_line[n] = self.call_line[node]
        self.out_first[n] = cython.cast(cython.uint, self.ranges)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _put_all(self, node: cython.Py_ssize_t) -> cython.int:
        k: cython.Py_ssize_t
        for k in range(self.range_first[node], self.range_first[node + 1]):
            self._put(self.range_start[k], self.range_end[k])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _put(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        self.out_start[self.ranges] = start
        self.out_end[self.ranges] = end
        self.ranges += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _finish(self, first: cython.Py_ssize_t) -> cython.int:
        """Closes the node that was begun: its ranges from ``first`` on are sorted, and those that touch become one."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        start: cython.ulonglong
        end: cython.ulonglong
        last: cython.Py_ssize_t = self.ranges
        for i in range(first + 1, last):
            if self.out_start[i] < self.out_start[i - 1]:
                with cython.gil:
                    self._sort(first, last)
                break
        j = first
        for i in range(first + 1, last):
            start = self.out_start[i]
            end = self.out_end[i]
            if start <= self.out_end[j]:
                if end > self.out_end[j]:
                    self.out_end[j] = end
            else:
                j += 1
                self.out_start[j] = start
                self.out_end[j] = end
        self.ranges = j + 1
        self.nodes += 1
        self.out_first[self.nodes] = cython.cast(cython.uint, self.ranges)
        return 0

    def _sort(self, first: int, last: int) -> None:
        pairs = sorted((self.out_start[i], self.out_end[i]) for i in range(first, last))
        for i, (start, end) in enumerate(pairs, first):
            self.out_start[i] = start
            self.out_end[i] = end

    def write(self, table: SymbolTable, node_first: array[int]) -> None:
        """Puts the new columns in the place of the old."""
        table.node_first = node_first
        table.node_depth = taken(self.out_depth, self.nodes)
        table.node_name = taken(self.out_name, self.nodes)
        table.node_call_file = taken(self.out_call_file, self.nodes)
        table.node_call_line = taken(self.out_call_line, self.nodes)
        table.range_first = taken(self.out_first, self.nodes + 1)
        table.range_start = taken(self.out_start, self.ranges)
        table.range_end = taken(self.out_end, self.ranges)


def join_call_sites(table: SymbolTable) -> None:
    """Joins, throughout a table, sibling inlines of one function, call file and call line. No answer to any address changes."""
    if len(table.node_depth):
        joiner = SiteJoiner(table)
        joiner.write(table, joiner.run(table.node_first))
