"""Inlined calls of one function of Go's table (Go's ``runtime/symtabinl.go``).

A table of pcs and values says to which entry of the function's inline tree a pc belongs: to the innermost call. An entry leads to its
caller by a pc of the function, at which the call stands (from Go 1.20 on), or by the caller's number.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.numbers import NumberReader
from uploader.core.search import first_after
from uploader.sources.go.function_names import FunctionNames
from uploader.sources.go.layouts import Header
from uploader.sources.go.rows import FunctionRows, change_of
from uploader.sources.go.tables import CallTable, PieceTable, RunTable
from uploader.symbols.table_columns import GrowingTable

NO_CALL = cython.declare(cython.int, -1)
NO_FILE = cython.declare(cython.uint, 0xFFFFFFFF)
MAX_INDEX = cython.declare(cython.longlong, 0xFFFFFF)
MAX_DEPTH = cython.declare(cython.int, 200)
"""Go's compiler inlines some dozens of calls into one another; what goes deeper goes round."""
NO_PARENT = cython.declare(cython.ulonglong, 0x8000)
"""From here on a caller's 16-bit number is negative: the function itself."""


STEPS_PER_BYTE = 2
"""How many times calls may be given code for each byte of the table, all functions together."""


class InlineTrees(NumberReader):
    """Puts the inlined calls of one function after the other into a table. ``lost`` counts those that could not be read."""

    def __init__(
        self,
        data: memoryview,
        header: Header,
        trees: memoryview,
        *,
        rows: FunctionRows,
        names: FunctionNames,
        table: GrowingTable,
    ) -> None:
        """``trees`` are the bytes from where trees are counted; ``rows`` has the rows of the function that is read."""
        super().__init__(data, little_endian=header.little_endian)
        self.trees = NumberReader(trees, little_endian=header.little_endian)
        self.rows = rows
        self.names = names
        self.table = table
        self.by_pc = header.layout.callers_by_pc
        self.entry_bytes = header.layout.inline_bytes
        self.values_at = header.values_at
        self.tree = 0
        self.size = 0
        self.steps = self.lost = 0
        self.most_steps = STEPS_PER_BYTE * len(data)
        self.runs, self.calls, self.pieces = RunTable(), CallTable(), PieceTable()
        self.number_of = array("i", [-1]) * 64
        self.chain = array("i", [0]) * 200

    def put(
        self, entry: cython.ulonglong, size: cython.ulonglong, runs: cython.ulonglong, tree: cython.ulonglong
    ) -> cython.int:
        """Puts the calls of the function at ``entry`` in preorder; ``runs`` and ``tree`` are where its tables begin."""
        i: cython.Py_ssize_t
        start: cython.ulonglong = 0
        if runs == 0 or tree >= cython.cast(cython.ulonglong, self.trees.data_size):
            return 0
        self.tree = cython.cast(cython.longlong, tree)
        self.size = size
        self.runs.count = self.calls.count = self.pieces.count = 0
        try:
            self._read_runs(runs)
            for i in range(self.runs.count):
                if self.runs.call[i] >= 0 and self.runs.end[i] > start:
                    self._mark(start, self.runs.end[i], self.runs.call[i])
                start = self.runs.end[i]
            self._put_calls(entry)
        except IndexError:
            self.lost += 1
        for i in range(self.calls.count):
            self.number_of[self.calls.index[i]] = NO_CALL
        return 0

    def _read_runs(self, table: cython.ulonglong) -> cython.int:
        p: cython.longlong = self.values_at + cython.cast(cython.longlong, table)
        value: cython.longlong = -1
        pc: cython.ulonglong = 0
        change: cython.ulonglong
        call: cython.int
        while pc < self.size:
            change = self.short_uleb(p)
            if change == 0 and pc > 0:
                break
            value += change_of(change)
            pc += self.rows.length(self.position)
            p = self.rows.position
            self.steps += 1
            call = cython.cast(cython.int, value) if 0 <= value <= MAX_INDEX else NO_CALL
            self.runs.put(pc if pc < self.size else self.size, call)  # noqa: FURB136  # the C of it is one comparison
        return 0

    def _mark(self, start: cython.ulonglong, end: cython.ulonglong, index: cython.int) -> cython.int:
        """Gives a run of pcs to a call and to all that it is inlined into."""
        depth: cython.int = 0
        number: cython.int
        parent: cython.int = NO_CALL
        while index >= 0:
            number = self._number(index) if depth < MAX_DEPTH else NO_CALL
            if number < 0:
                self.lost += 1
                return 0
            self.chain[depth] = number
            depth += 1
            index = self._parent(index)
            self.steps += 1
            if self.steps > self.most_steps:
                raise IndexError
        while depth > 0:
            depth -= 1
            number = self.chain[depth]
            if self.calls.parent[number] < NO_CALL:
                self._adopt(number, parent)
            self._extend(number, start, end)
            parent = number
        return 0

    def _number(self, index: cython.int) -> cython.int:
        """The number of an entry among the calls that were met, a new one where it is new; -1 where the tree has no such entry."""
        size: cython.Py_ssize_t = len(self.number_of)
        if self.tree + (cython.cast(cython.longlong, index) + 1) * self.entry_bytes > self.trees.data_size:
            return NO_CALL
        if index >= size:
            bigger = array("i", [-1]) * max(2 * size, index + 1)
            memoryview(bigger)[:size] = memoryview(self.number_of)
            self.number_of = bigger
        if self.number_of[index] >= 0:
            return self.number_of[index]
        self.number_of[index] = self.calls.put(index)
        return self.number_of[index]

    def _parent(self, index: cython.int) -> cython.int:
        """The entry that a call is inlined into; -1 for the function itself."""
        at: cython.longlong = self.tree + index * self.entry_bytes
        pc: cython.ulonglong
        found: cython.int
        run: cython.Py_ssize_t
        if not self.by_pc:
            pc = self.trees.fixed(at, 2)
            return NO_CALL if pc >= NO_PARENT else cython.cast(cython.int, pc)
        pc = self.trees.fixed(at + 8, 4)
        run = first_after(self.runs.end, 0, self.runs.count, pc)
        found = self.runs.call[run] if run < self.runs.count else NO_CALL
        if found >= 0:
            at = self.tree + found * self.entry_bytes
            # No call is made from its own code: Go's compiler writes pc 0 where it has lost the caller's.
            if at + self.entry_bytes <= self.trees.data_size and self.trees.fixed(at + 8, 4) == pc:
                return NO_CALL
        return found

    def _adopt(self, number: cython.int, parent: cython.int) -> cython.int:
        """Puts a call behind the others of its caller."""
        self.calls.parent[number] = parent
        if parent < 0:
            return 0
        if self.calls.last_child[parent] < 0:
            self.calls.child[parent] = number
        else:
            self.calls.sibling[self.calls.last_child[parent]] = number
        self.calls.last_child[parent] = number
        return 0

    def _extend(self, number: cython.int, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        """Adds a run of pcs, behind all that it has, to a call."""
        last: cython.int = self.calls.last_piece[number]
        if last >= 0 and self.pieces.end[last] == start:
            self.pieces.end[last] = end
            return 0
        piece: cython.int = self.pieces.put(start, end)
        if last >= 0:
            self.pieces.following[last] = piece
        else:
            self.calls.piece[number] = piece
        self.calls.last_piece[number] = piece
        return 0

    def _put_calls(self, entry: cython.ulonglong) -> cython.int:
        """Puts all calls of the function, callers before what is inlined into them."""
        i: cython.Py_ssize_t
        number: cython.int
        depth: cython.uint
        for i in range(self.calls.count):
            if self.calls.parent[i] != NO_CALL:
                continue
            number = cython.cast(cython.int, i)
            depth = 1
            while number >= 0:
                self._put_call(entry, number, depth)
                if self.calls.child[number] >= 0:
                    number = self.calls.child[number]
                    depth += 1
                    continue
                while number >= 0 and self.calls.sibling[number] < 0:
                    number = self.calls.parent[number]
                    depth -= 1
                if number >= 0:
                    number = self.calls.sibling[number]
        return 0

    def _put_call(self, entry: cython.ulonglong, number: cython.int, depth: cython.uint) -> cython.int:
        piece: cython.int = self.calls.piece[number]
        at: cython.longlong = self.tree + self.calls.index[number] * self.entry_bytes
        file: cython.uint = NO_FILE
        line: cython.uint = 0
        row: cython.Py_ssize_t
        while piece >= 0:
            self.table.put_range(entry + self.pieces.start[piece], entry + self.pieces.end[piece])
            piece = self.pieces.following[piece]
        if self.by_pc:
            row = self.rows.at(self.trees.fixed(at + 8, 4))
            if row >= 0:
                file = self.rows.rows.file[row]
                line = self.rows.rows.line[row]
            self.table.put_node(depth, self.names.number(self.trees.fixed(at + 4, 4)), file, line)
        else:
            file = self.rows.slot(cython.cast(cython.longlong, self.trees.fixed(at + 4, 4)))
            line = cython.cast(cython.uint, self.trees.fixed(at + 8, 4))
            self.table.put_node(depth, self.names.number(self.trees.fixed(at + 12, 4)), file, line)
        return 0
