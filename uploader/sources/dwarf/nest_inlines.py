"""Makes inlined calls hold what is inlined into them: a call is widened by code of its own calls that it doesn't claim itself.

In the tree of DIEs the code of a call belongs to all calls and the function around it, whatever ranges these state. gcc states none for a
call whose code lies at several places where the form for that is not allowed (strict DWARF 2); Go's linker misplaces some.
A function's own ranges are the bound: what lies outside of them is another function's, or nobody's.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.core.search import first_after
from uploader.sources.dwarf.tables import RangeTable
from uploader.symbols.touching import join_touching

MAX_DEPTH = 16384
NOTHING = cython.declare(cython.Py_ssize_t, -1)


@cython.final
@cython.cclass
class InlineNester:
    """Nests the inlined calls of one batch after another, and counts what it meets.

    A function whose calls nest already costs one look at each range. The rest is bounded by a multiple of the ranges of the function's
    calls; where that isn't enough, its calls stay as they are.
    """

    lowest: cython.ulonglong
    dropped: cython.Py_ssize_t
    cut: cython.Py_ssize_t
    widened: cython.Py_ssize_t

    bound_start: cython.ulonglong[::1]
    bound_end: cython.ulonglong[::1]
    depth: cython.uint[::1]
    first: cython.uint[::1]
    start: cython.ulonglong[::1]
    end: cython.ulonglong[::1]

    level: cython.Py_ssize_t[::1]
    sibling: cython.Py_ssize_t[::1]
    held_first: cython.Py_ssize_t[::1]
    held_last: cython.Py_ssize_t[::1]
    held: RangeTable
    new_first: cython.uint[::1]
    new: RangeTable

    def __init__(self, executable: Sequence[tuple[int, int]]) -> None:
        """What begins below the executable ranges (which ascend) is code that a linker dropped, and no loss."""
        self.lowest = executable[0][0] if executable else 0
        self.dropped = 0
        self.cut = 0
        self.widened = 0
        self.level = array("q", [0]) * (MAX_DEPTH + 2)
        self.sibling = array("q", [0])
        self.held_first = array("q", [0])
        self.held_last = array("q", [0])
        self.held = RangeTable()
        self.new = RangeTable()

    def nest(
        self,
        functions: tuple[memoryview, memoryview, memoryview],
        spans: tuple[array[int], array[int]],
        depth: cython.uint[::1],
        nodes: tuple[array[int], memoryview, memoryview],
    ) -> tuple[array[int], memoryview, memoryview]:
        """(first, start, end): new ranges for nodes, or those given where they nest.

        ``functions`` and ``nodes`` are such triples, too; ``spans`` has the first node of each function and the one behind its last.
        The counts begin anew.
        """
        self.dropped = self.cut = self.widened = 0
        if not len(depth):
            return nodes
        function_first: cython.uint[::1] = functions[0]
        node: cython.uint[::1] = spans[0]
        node_end: cython.uint[::1] = spans[1]
        self.bound_start, self.bound_end = functions[1], functions[2]
        self.depth = depth
        self.first, self.start, self.end = nodes
        n: cython.Py_ssize_t = len(spans[0])
        count: cython.Py_ssize_t = len(depth)
        loose_column = bytearray(n)
        loose: cython.uchar[::1] = loose_column
        f: cython.Py_ssize_t
        some: cython.bint = False
        with cython.nogil:
            for f in range(n):
                if node[f] < node_end[f] and not self._fits(
                    node[f], node_end[f], function_first[f], function_first[f + 1]
                ):
                    loose[f] = 1
                    some = True
        if not some:
            return nodes
        self._lay_out(len(depth), len(nodes[1]), max(map(int.__sub__, spans[1], spans[0])))
        with cython.nogil:
            for f in range(n):
                if loose[f]:
                    self._renew(node[f], node_end[f], function_first[f], function_first[f + 1])
                else:
                    self._copy(node[f], node_end[f])
            self.new_first[count] = self.new.count
        return array("I", memoryview(self.new_first)), *self.new.columns()

    def figures(self) -> tuple[int, int, int]:
        """How many ranges of the last batch were dropped, were cut, and have widened what they are inlined into."""
        return self.dropped, self.cut, self.widened

    def _lay_out(self, nodes: int, ranges: int, most: int) -> None:
        self.new = RangeTable(64 + 2 * ranges)
        self.new_first = array("I", [0]) * (nodes + 1)
        if len(memoryview(self.sibling)) < most:
            self.sibling = array("q", [0]) * most
            self.held_first = array("q", [0]) * most
            self.held_last = array("q", [0]) * most

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _fits(
        self,
        node: cython.Py_ssize_t,
        node_end: cython.Py_ssize_t,
        bound: cython.Py_ssize_t,
        bound_end: cython.Py_ssize_t,
    ) -> cython.bint:
        """Whether each node lies in its parent. Of a function without ranges nothing is asked."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        parent: cython.Py_ssize_t
        depth: cython.uint
        if bound == bound_end:
            return True
        for i in range(node, node_end):
            depth = self.depth[i]
            self.level[depth] = i
            if depth == 1:
                for k in range(self.first[i], self.first[i + 1]):
                    if not _inside(self.bound_start, self.bound_end, bound, bound_end, self.start[k], self.end[k]):
                        return False
            else:
                parent = self.level[depth - 1]
                for k in range(self.first[i], self.first[i + 1]):
                    if not _inside(
                        self.start, self.end, self.first[parent], self.first[parent + 1], self.start[k], self.end[k]
                    ):
                        return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _renew(
        self,
        node: cython.Py_ssize_t,
        node_end: cython.Py_ssize_t,
        bound: cython.Py_ssize_t,
        bound_end: cython.Py_ssize_t,
    ) -> cython.int:
        """Puts a function's nodes widened, or as they are where that takes too much."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        child: cython.Py_ssize_t
        depth: cython.uint
        own: cython.Py_ssize_t
        own_end: cython.Py_ssize_t
        room: cython.Py_ssize_t = self.first[node_end]
        room = 4096 + 8 * (room - self.first[node])
        before: cython.Py_ssize_t = self.widened
        self._count(node, node_end, bound, bound_end)
        self.held.count = 0
        i = node_end
        while i > node and self.held.count <= room:
            i -= 1
            depth = self.depth[i]
            self.sibling[i - node] = self.level[depth]
            child = self.level[depth + 1]
            self.level[depth] = i - node
            self.level[depth + 1] = NOTHING
            own = self.held.count
            self.held_first[i - node] = own
            for k in range(self.first[i], self.first[i + 1]):
                self._hold_common(self.start[k], self.end[k], bound, bound_end, room)
            own_end = self.held.count
            while child != NOTHING and self.held.count <= room:
                for k in range(self.held_first[child], self.held_last[child]):
                    if not _inside(self.held.start, self.held.end, own, own_end, self.held.start[k], self.held.end[k]):
                        self.held.put(self.held.start[k], self.held.end[k])
                child = self.sibling[child]
            if self.held.count > own_end:
                self.held.count = join_touching(self.held.start, self.held.end, own, self.held.count)
            self.held_last[i - node] = self.held.count
        if self.held.count > room:
            self.dropped += self.widened - before
            self.widened = before
            return self._copy(node, node_end)
        for i in range(node, node_end):
            self.new_first[i] = self.new.count
            for k in range(self.held_first[i - node], self.held_last[i - node]):
                self.new.put(self.held.start[k], self.held.end[k])
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _count(
        self,
        node: cython.Py_ssize_t,
        node_end: cython.Py_ssize_t,
        bound: cython.Py_ssize_t,
        bound_end: cython.Py_ssize_t,
    ) -> cython.int:
        """Counts what becomes of each range, and forgets which node was the last of each depth."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        near: cython.Py_ssize_t
        parent: cython.Py_ssize_t
        depth: cython.uint
        deepest: cython.uint = 0
        for i in range(node, node_end):
            depth = self.depth[i]
            deepest = max(deepest, depth)
            self.level[depth] = i
            for k in range(self.first[i], self.first[i + 1]):
                near = first_after(self.bound_end, bound, bound_end, self.start[k])
                if near == bound_end or self.bound_start[near] >= self.end[k]:
                    self.dropped += self.start[k] >= self.lowest
                    continue
                self.cut += self.start[k] < self.bound_start[near] or self.end[k] > self.bound_end[near]
                if depth > 1:
                    parent = self.level[depth - 1]
                    self.widened += not _inside(
                        self.start, self.end, self.first[parent], self.first[parent + 1], self.start[k], self.end[k]
                    )
        for depth in range(deepest + 2):
            self.level[depth] = NOTHING
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _hold_common(
        self,
        start: cython.ulonglong,
        end: cython.ulonglong,
        bound: cython.Py_ssize_t,
        bound_end: cython.Py_ssize_t,
        room: cython.Py_ssize_t,
    ) -> cython.int:
        """Holds what of a range lies in the function, while there is room."""
        at: cython.Py_ssize_t = first_after(self.bound_end, bound, bound_end, start)
        while at < bound_end and self.bound_start[at] < end and self.held.count <= room:
            self.held.put(max(start, self.bound_start[at]), min(end, self.bound_end[at]))
            at += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _copy(self, node: cython.Py_ssize_t, node_end: cython.Py_ssize_t) -> cython.int:
        """Puts nodes as they are."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for i in range(node, node_end):
            self.new_first[i] = self.new.count
            for k in range(self.first[i], self.first[i + 1]):
                self.new.put(self.start[k], self.end[k])
        return 0


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def _inside(
    starts: cython.ulonglong[::1],
    ends: cython.ulonglong[::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    start: cython.ulonglong,
    end: cython.ulonglong,
) -> cython.bint:
    """Whether one of the ascending, disjoint ranges ``first:last`` has all of a range."""
    if first < last and starts[first] <= start and end <= ends[first]:
        return True
    at: cython.Py_ssize_t = first_after(ends, first, last, start)
    return at < last and starts[at] <= start and end <= ends[at]
