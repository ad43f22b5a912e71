"""Joins inlines that stem from one call site.

Compilers split an inlined call into several DIEs (loop unrolling, jump threading, partial inlining). Siblings with the same function, call
file and call line answer every address alike, so one node with the ranges of all of them says the same in fewer bytes.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import first_of
from uploader.symbols.columns import SymbolTable
from uploader.symbols.shaper import MAX_DEPTH
from uploader.symbols.touching import join_touching


@cython.final
@cython.cclass
class SiteJoiner:
    """Rewrites the node and range columns of one table where they are, piece after piece: what is written never passes what was read."""

    depth: cython.uint[::1]
    name: cython.uint[::1]
    call_file: cython.uint[::1]
    call_line: cython.uint[::1]
    range_first: cython.uint[::1]
    range_start: cython.ulonglong[::1]
    range_end: cython.ulonglong[::1]
    nodes: cython.Py_ssize_t
    ranges: cython.Py_ssize_t

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
    old_depth: cython.uint[::1]
    old_name: cython.uint[::1]
    old_call_file: cython.uint[::1]
    old_call_line: cython.uint[::1]
    old_first: cython.uint[::1]
    old_start: cython.ulonglong[::1]
    old_end: cython.ulonglong[::1]

    def __init__(self, table: SymbolTable) -> None:
        self.depth = table.node_depth
        self.name = table.node_name
        self.call_file = table.node_call_file
        self.call_line = table.node_call_line
        self.range_first = table.range_first
        self.range_start = table.range_start
        self.range_end = table.range_end
        self.nodes = 0
        self.ranges = 0
        self.room = 0
        self.slots = 0
        self._make_room(256)
        self.old_start = array("Q", [0]) * 256
        self.old_end = array("Q", [0]) * 256
        self.path = array("I", [0]) * (MAX_DEPTH + 2)

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
        self.old_depth = array("I", [0]) * nodes
        self.old_name = array("I", [0]) * nodes
        self.old_call_file = array("I", [0]) * nodes
        self.old_call_line = array("I", [0]) * nodes
        self.old_first = array("I", [0]) * (nodes + 1)

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
                out[i + 1] = self.nodes
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
                self.next_node[self.last_node[site]] = i - first + 1
            else:
                sites += 1
                site = sites
                self.slot_piece[at] = stamp
                self.slot_site[at] = site
                self.site_node[site] = i
                self.site_parent[site] = parent
                self.first_child[site] = 0
                self.next_child[site] = 0
                if self.first_child[parent] == 0:
                    self.first_child[parent] = site
                else:
                    self.next_child[self.last_child[parent]] = site
                self.last_child[parent] = site
            self.last_node[site] = i - first + 1
            self.next_node[i - first + 1] = 0
            self.path[self.depth[i]] = site
        if sites == last - first:
            for i in range(first, last):
                self._move(i)
            return 0
        self._set_aside(first, last)
        site = self.first_child[0]
        while site:
            i = self.site_node[site] - first
            self._begin(i)
            at = i + 1
            while at:
                self._put_all(at - 1)
                at = self.next_node[at]
            self._finish(self.range_first[self.nodes])
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
    def _move(self, node: cython.Py_ssize_t) -> cython.int:
        """Puts a node as it is."""
        n: cython.Py_ssize_t = self.nodes
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.range_first[node]
        last: cython.Py_ssize_t = self.range_first[node + 1]
        self.depth[n] = self.depth[node]
        self.name[n] = self.name[node]
        self.call_file[n] = self.call_file[node]
        self.call_line[n] = self.call_line[node]
        self.range_first[n] = self.ranges
        for k in range(first, last):
            self.range_start[self.ranges] = self.range_start[k]
            self.range_end[self.ranges] = self.range_end[k]
            self.ranges += 1
        self._finish(self.range_first[n])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _set_aside(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Copies the nodes of a piece and their ranges to where nothing is written."""
        i: cython.Py_ssize_t
        base: cython.Py_ssize_t = self.range_first[first]
        count: cython.Py_ssize_t = self.range_first[last] - base
        if count > self.old_start.shape[0] if cython.compiled else count > len(self.old_start):
            with cython.gil:
                self.old_start = array("Q", [0]) * (2 * count)
                self.old_end = array("Q", [0]) * (2 * count)
        for i in range(first, last):
            self.old_depth[i - first] = self.depth[i]
            self.old_name[i - first] = self.name[i]
            self.old_call_file[i - first] = self.call_file[i]
            self.old_call_line[i - first] = self.call_line[i]
            self.old_first[i - first] = self.range_first[i] - base
        self.old_first[last - first] = count
        for i in range(count):
            self.old_start[i] = self.range_start[base + i]
            self.old_end[i] = self.range_end[base + i]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _begin(self, old: cython.Py_ssize_t) -> cython.int:
        """Puts a node that is like one set aside, its ranges still to come."""
        n: cython.Py_ssize_t = self.nodes
        self.depth[n] = self.old_depth[old]
        self.name[n] = self.old_name[old]
        self.call_file[n] = self.old_call_file[old]
        self.call_line[n] = self.old_call_line[old]
        self.range_first[n] = self.ranges
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _put_all(self, old: cython.Py_ssize_t) -> cython.int:
        """Puts the ranges of a node that was set aside."""
        k: cython.Py_ssize_t
        for k in range(self.old_first[old], self.old_first[old + 1]):
            self.range_start[self.ranges] = self.old_start[k]
            self.range_end[self.ranges] = self.old_end[k]
            self.ranges += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _finish(self, first: cython.Py_ssize_t) -> cython.int:
        """Closes the node that was begun: its ranges from ``first`` on are sorted, and those that touch become one."""
        self.ranges = join_touching(self.range_start, self.range_end, first, self.ranges)
        self.nodes += 1
        return 0

    def cut(self, table: SymbolTable) -> None:
        """Ends the columns where what was written ends."""
        self.range_first[self.nodes] = self.ranges
        table.node_depth = first_of(table.node_depth, self.nodes)
        table.node_name = first_of(table.node_name, self.nodes)
        table.node_call_file = first_of(table.node_call_file, self.nodes)
        table.node_call_line = first_of(table.node_call_line, self.nodes)
        table.range_first = first_of(table.range_first, self.nodes + 1)
        table.range_start = first_of(table.range_start, self.ranges)
        table.range_end = first_of(table.range_end, self.ranges)


def join_call_sites(table: SymbolTable) -> None:
    """Joins, throughout a table, sibling inlines of one function, call file and call line. No answer to any address changes.

    The table's columns are rewritten where they are, and end earlier.
    """
    if len(table.node_depth):
        joiner = SiteJoiner(table)
        table.node_first = joiner.run(table.node_first)
        joiner.cut(table)
