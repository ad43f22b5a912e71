"""Joins inlines that stem from one call site.

Compilers split an inlined call into several DIEs (loop unrolling, jump threading, partial inlining). Siblings with the same function, call
file and call line answer every address alike, so one node with the ranges of all of them says the same in fewer bytes.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import first_of, zeros_each
from uploader.symbols.columns import SymbolTable
from uploader.symbols.inline_clipper import MAX_DEPTH
from uploader.symbols.table_columns import GrowingTable, TableColumns
from uploader.symbols.touching import join_touching

LIKELY_NODES = 256
"""More nodes of one piece are seldom."""

HASH_FACTOR = 31
HASH_BITS = 0xFFFFFFF
HASH_SCATTER = 0x9E3779B1
HASH_SHIFT = 12
"""Fields are mixed in 28 bits, so that nothing overflows, and scattered by the golden ratio (Knuth, TAOCP 3, 6.4)."""


class SiteJoiner:
    """Rewrites the node and range columns of one table where they are, piece after piece: what is written never passes what was read.

    Sites of a piece are numbered from 1; 0 is the function itself.
    """

    def __init__(self, table: SymbolTable) -> None:
        self.table = TableColumns(table)
        self.nodes = 0
        self.ranges = 0
        self.aside = GrowingTable(nodes=LIKELY_NODES, ranges=LIKELY_NODES)
        self._make_room(LIKELY_NODES)
        self.path = array("I", [0]) * (MAX_DEPTH + 2)

    def _make_room(self, nodes: int) -> None:
        self.room = nodes
        self.slots = 4
        while self.slots < 2 * nodes:
            self.slots *= 2
        self.slot_site, self.slot_piece = zeros_each("II", self.slots)
        self.site_node, self.site_parent = zeros_each("II", nodes + 1)
        self.first_child, self.last_child, self.next_child = zeros_each("III", nodes + 1)
        self.last_node, self.next_node = zeros_each("II", nodes + 1)

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

    def _piece(self, piece: cython.Py_ssize_t, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Joins the sites of the piece whose nodes are ``first:last``."""
        i: cython.Py_ssize_t
        if last - first > self.room:
            with cython.gil:
                self._make_room(2 * (last - first))
        if self._find_sites(cython.cast(cython.uint, piece + 1), first, last) == last - first:
            for i in range(first, last):
                self._move(i)
        else:
            self._set_aside(first, last)
            self._put_sites(first)
        return 0

    def _find_sites(self, stamp: cython.uint, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Puts the nodes ``first:last`` to their call sites, and these to their parents; gives how many sites there are."""
        sites: cython.uint = 0
        site: cython.uint
        parent: cython.uint
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        self.first_child[0] = 0
        self.path[0] = 0
        for i in range(first, last):
            parent = self.path[self.table.node_depth[i] - 1]
            at = self._place(stamp, parent, i)
            if self.slot_piece[at] == stamp:
                site = self.slot_site[at]
                self.next_node[self.last_node[site]] = i - first + 1
            else:
                sites += 1
                site = sites
                self.slot_piece[at] = stamp
                self.slot_site[at] = site
                self._begin_site(site, parent, i)
            self.last_node[site] = i - first + 1
            self.next_node[i - first + 1] = 0
            self.path[self.table.node_depth[i]] = site
        return sites

    def _begin_site(self, site: cython.uint, parent: cython.uint, node: cython.Py_ssize_t) -> cython.int:
        """Makes a site the last child of its parent; ``node`` is its first node."""
        self.site_node[site] = node
        self.site_parent[site] = parent
        self.first_child[site] = 0
        self.next_child[site] = 0
        if self.first_child[parent] == 0:
            self.first_child[parent] = site
        else:
            self.next_child[self.last_child[parent]] = site
        self.last_child[parent] = site
        return 0

    def _put_sites(self, first: cython.Py_ssize_t) -> cython.int:
        """Puts a node for each site, in preorder, with the ranges of all its nodes; ``first`` is the first that was set aside."""
        site: cython.uint = self.first_child[0]
        node: cython.Py_ssize_t
        while site:
            self._begin(self.aside, self.site_node[site] - first)
            node = self.site_node[site] - first + 1
            while node:
                self._put_ranges(self.aside, self.aside.range_first[node - 1], self.aside.range_first[node])
                node = self.next_node[node]
            self._finish()
            if self.first_child[site]:
                site = self.first_child[site]
                continue
            while site and self.next_child[site] == 0:
                site = self.site_parent[site]
            if site:
                site = self.next_child[site]
        return 0

    def _place(self, stamp: cython.uint, parent: cython.uint, node: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The slot of a node's call site, or the free one where it belongs."""
        mask: cython.ulonglong = self.slots - 1
        key: cython.ulonglong = self.table.node_name[node]
        key = (key * HASH_FACTOR + self.table.node_call_line[node]) * HASH_FACTOR + self.table.node_call_file[node]
        key = (key & HASH_BITS) * HASH_FACTOR + parent
        at: cython.ulonglong = (((key & HASH_BITS) * HASH_SCATTER) >> HASH_SHIFT) & mask
        other: cython.Py_ssize_t
        while self.slot_piece[at] == stamp:
            other = self.site_node[self.slot_site[at]]
            if (
                self.site_parent[self.slot_site[at]] == parent
                and self.table.node_name[other] == self.table.node_name[node]
                and self.table.node_call_line[other] == self.table.node_call_line[node]
                and self.table.node_call_file[other] == self.table.node_call_file[node]
            ):
                break
            at = (at + 1) & mask
        return cython.cast(cython.Py_ssize_t, at)

    def _move(self, node: cython.Py_ssize_t) -> cython.int:
        """Puts a node as it is."""
        first: cython.Py_ssize_t = self.table.range_first[node]
        last: cython.Py_ssize_t = self.table.range_first[node + 1]
        self._begin(self.table, node)
        self._put_ranges(self.table, first, last)
        return self._finish()

    def _set_aside(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Copies the nodes of a piece and their ranges to where nothing is written."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self.aside.nodes = 0
        self.aside.ranges = 0
        for i in range(first, last):
            for k in range(self.table.range_first[i], self.table.range_first[i + 1]):
                self.aside.put_range(self.table.range_start[k], self.table.range_end[k])
            self.aside.put_node(
                self.table.node_depth[i],
                self.table.node_name[i],
                self.table.node_call_file[i],
                self.table.node_call_line[i],
            )
        return 0

    def _begin(self, columns: TableColumns, node: cython.Py_ssize_t) -> cython.int:
        """Puts a node that is like one of ``columns``, its ranges still to come."""
        n: cython.Py_ssize_t = self.nodes
        self.table.node_depth[n] = columns.node_depth[node]
        self.table.node_name[n] = columns.node_name[node]
        self.table.node_call_file[n] = columns.node_call_file[node]
        self.table.node_call_line[n] = columns.node_call_line[node]
        self.table.range_first[n] = self.ranges
        return 0

    def _put_ranges(self, columns: TableColumns, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Puts the ranges ``first:last`` of ``columns``."""
        k: cython.Py_ssize_t
        for k in range(first, last):
            self.table.range_start[self.ranges] = columns.range_start[k]
            self.table.range_end[self.ranges] = columns.range_end[k]
            self.ranges += 1
        return 0

    def _finish(self) -> cython.int:
        """Closes the node that was begun: its ranges are sorted, and those that touch become one."""
        first: cython.Py_ssize_t = self.table.range_first[self.nodes]
        self.ranges = join_touching(self.table.range_start, self.table.range_end, first, self.ranges)
        self.nodes += 1
        return 0

    def cut(self, table: SymbolTable) -> None:
        """Ends the columns where what was written ends."""
        self.table.range_first[self.nodes] = self.ranges
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
