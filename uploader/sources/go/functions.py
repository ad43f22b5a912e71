"""Functions of Go's pc-line table with their rows and inlined calls, as columns (Go's ``runtime/symtab.go``, ``cmd/internal/obj/pcln.go``).

A table of pcs and values is a run of (change of value, change of pc) pairs. A function has one for its files, one for its lines, and one
that says to which entry of its inline tree a pc belongs. An entry of the tree leads to its caller by a pc of the function (from Go 1.20
on) or by number: the runs of the third table are the innermost calls, and all others follow from them.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import grown, zeros
from uploader.core.numbers import NumberReader
from uploader.core.search import first_after
from uploader.errors import MalformedGoTable
from uploader.sources.go.layouts import Header
from uploader.symbols.columns import NameTable, SymbolTable
from uploader.symbols.spoken_for import SpokenFor
from uploader.symbols.table_columns import GrowingTable

NONE = cython.declare(cython.uint, 0xFFFFFFFF)
NO_CALL = cython.declare(cython.int, -1)
INLINE_INDEX = cython.declare(cython.longlong, 2)
"""PCDATA_InlTreeIndex."""
INLINE_TREE = cython.declare(cython.longlong, 3)
"""FUNCDATA_InlTree."""
MAX_DEPTH = cython.declare(cython.int, 1000)
"""Go's compiler inlines some dozens of calls into one another; what goes deeper goes round."""
MAX_FUNCTION_BYTES = cython.declare(cython.ulonglong, 0xFFFFFFFF)
STEPS_PER_BYTE = 64
"""How many steps all tables of pcs and values may take for each byte of the whole: the linker keeps equal ones once."""


@cython.final
@cython.cclass
class FunctionReader(NumberReader):
    """Reads all functions of one table into ``table``: pieces are functions, their origin is the line of the declaration."""

    table: GrowingTable
    names: NameTable
    name_numbers: dict[int, int]
    all_names: bytes

    entry_bytes: cython.int
    relative: cython.bint
    by_pc: cython.bint
    quantum: cython.ulonglong
    text_start: cython.ulonglong
    functions_at: cython.longlong
    values_at: cython.longlong
    fixed_bytes: cython.longlong
    start_line_at: cython.longlong
    pointer_bytes: cython.int
    unit_files: cython.bint
    unit_slots: cython.ulonglong

    trees: NumberReader
    tree_entry_bytes: cython.longlong
    trees_base: cython.ulonglong
    has_trees: cython.bint

    spoken: cython.Py_ssize_t
    spoken_start: cython.ulonglong[::1]
    spoken_end: cython.ulonglong[::1]

    budget: cython.longlong
    entry: cython.ulonglong
    unit: cython.ulonglong
    tree: cython.longlong
    size: cython.ulonglong

    rows: cython.Py_ssize_t
    row_pc: cython.ulonglong[::1]
    row_file: cython.uint[::1]
    row_line: cython.uint[::1]

    runs: cython.Py_ssize_t
    run_end: cython.ulonglong[::1]
    run_call: cython.int[::1]

    calls: cython.Py_ssize_t
    call_index: cython.int[::1]
    call_parent: cython.int[::1]
    call_child: cython.int[::1]
    call_last: cython.int[::1]
    call_next: cython.int[::1]
    call_range: cython.int[::1]
    call_range_last: cython.int[::1]
    slot_of: cython.int[::1]
    chain: cython.int[::1]

    pieces: cython.Py_ssize_t
    piece_start: cython.ulonglong[::1]
    piece_end: cython.ulonglong[::1]
    piece_next: cython.int[::1]

    lost_calls: cython.longlong
    lost_functions: cython.longlong

    def __init__(
        self,
        data: memoryview,
        header: Header,
        *,
        text_start: int,
        names: NameTable,
        spoken_for: SpokenFor,
        trees: memoryview | None,
        trees_base: int,
    ) -> None:
        """``trees`` are the bytes that inline trees lie in, at ``trees_base``, from which they are counted; None where that isn't known."""
        super().__init__(data, little_endian=header.little_endian)
        layout = header.layout
        count = header.function_count
        self.table = GrowingTable(pieces=count, rows=16 * count, nodes=2 * count, ranges=3 * count)
        self.names = names
        self.name_numbers = {}
        names_end = header.units_at if layout.unit_files else len(data)
        self.all_names = bytes(data[header.names_at : names_end])
        self.entry_bytes = header.entry_bytes
        self.relative = layout.relative
        self.by_pc = layout.start_line_at >= 0
        self.quantum = header.quantum
        self.text_start = text_start
        self.functions_at = header.functions_at
        self.values_at = header.values_at
        self.fixed_bytes = layout.fixed_bytes
        self.start_line_at = layout.start_line_at
        self.pointer_bytes = header.pointer_bytes
        self.unit_files = layout.unit_files
        self.unit_slots = (
            (header.units_end - header.units_at) // 4
            if layout.unit_files
            else (header.files_end - header.files_at) // 4
        )
        self.has_trees = trees is not None
        self.trees = NumberReader(trees if trees is not None else b"\0", little_endian=header.little_endian)
        self.tree_entry_bytes = layout.inline_bytes
        self.trees_base = trees_base
        # A typed memoryview needs an item to point at.
        self.spoken_start = spoken_for.start or array("Q", [0])
        self.spoken_end = spoken_for.end or array("Q", [0])
        self.spoken = len(spoken_for)
        self.budget = STEPS_PER_BYTE * len(data)
        self.entry = self.unit = self.size = 0
        self.tree = -1
        self.rows = self.runs = self.calls = self.pieces = 0
        self.row_pc, self.row_file, self.row_line = zeros("Q", 64), zeros("I", 64), zeros("I", 64)
        self.run_end, self.run_call = zeros("Q", 64), zeros("i", 64)
        self.call_index, self.call_parent, self.call_child = zeros("i", 64), zeros("i", 64), zeros("i", 64)
        self.call_last, self.call_next, self.call_range = zeros("i", 64), zeros("i", 64), zeros("i", 64)
        self.call_range_last = zeros("i", 64)
        self.slot_of = array("i", [-1]) * 64
        self.chain = zeros("i", 1001)
        self.piece_start, self.piece_end, self.piece_next = zeros("Q", 64), zeros("Q", 64), zeros("i", 64)
        self.lost_calls = self.lost_functions = 0

    def read(self, count: int) -> None:
        """Reads so many functions. What is damaged costs that function or its inlined calls, and is counted. Raises `MalformedGoTable`."""
        number: cython.Py_ssize_t
        for number in range(count):
            try:
                self._function(number)
            except IndexError:
                self.lost_functions += 1
            if self.budget < 0:
                raise MalformedGoTable("has tables that overlap beyond measure")

    def built(self) -> SymbolTable:
        """All functions as a table: each is one piece, its inlined calls are its nodes."""
        return self.table.table()

    def lost(self) -> tuple[int, int]:
        """How many functions, and how many inlined calls, could not be read."""
        return self.lost_functions, self.lost_calls

    @cython.cfunc
    @cython.exceptval(-1)
    def _function(self, number: cython.Py_ssize_t) -> cython.int:
        at: cython.longlong = self.functions_at + 2 * number * self.entry_bytes
        entry: cython.ulonglong = self.fixed(at, self.entry_bytes)
        record: cython.ulonglong = self.fixed(at + self.entry_bytes, self.entry_bytes)
        following: cython.ulonglong = self.fixed(at + 2 * self.entry_bytes, self.entry_bytes)
        if (
            following <= entry
            or following - entry > MAX_FUNCTION_BYTES
            or record >= cython.cast(cython.ulonglong, self.data_size)
        ):
            self.lost_functions += 1
            return 0
        self.entry = self.text_start + entry if self.relative else entry
        spoken: cython.Py_ssize_t = first_after(self.spoken_start, 0, self.spoken, self.entry)
        if spoken > 0 and self.entry < self.spoken_end[spoken - 1]:
            return 0
        p: cython.longlong = (self.functions_at if self.unit_files else 0) + cython.cast(cython.longlong, record)
        if self.fixed(p, self.entry_bytes) != entry:
            self.lost_functions += 1
            return 0
        p += self.entry_bytes
        name: cython.uint = self._name(self.fixed(p, 4))
        file_table: cython.ulonglong = self.fixed(p + 16, 4)
        line_table: cython.ulonglong = self.fixed(p + 20, 4)
        self.unit = self.fixed(p + 28, 4) if self.unit_files else 0
        start_line: cython.uint = 0
        if self.start_line_at >= 0:
            start_line = cython.cast(cython.uint, self.fixed(p + self.start_line_at, 4))
        self.size = 0
        self.rows = 0
        self._rows(file_table, line_table, following - entry)
        if self.size == 0:
            self.size = following - entry
        self.table.open_piece(start_line, self.entry, name)
        i: cython.Py_ssize_t
        for i in range(self.rows):
            self.table.put_row(self.entry + self.row_pc[i], self.row_file[i], self.row_line[i])
        if self.has_trees:
            try:
                self._inlined(p)
            except IndexError:
                self.lost_calls += 1
            self._forget_calls()
        self.table.close_piece(self.entry + self.size)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _rows(self, file_table: cython.ulonglong, line_table: cython.ulonglong, most: cython.ulonglong) -> cython.int:
        """One row wherever file or line changes, until the function's end."""
        file_at: cython.longlong = self.values_at + cython.cast(cython.longlong, file_table)
        line_at: cython.longlong = self.values_at + cython.cast(cython.longlong, line_table)
        if file_table == 0 or line_table == 0 or file_at >= self.data_size or line_at >= self.data_size:
            return 0
        file: cython.longlong = -1
        line: cython.longlong = -1
        file_end: cython.ulonglong = 0
        line_end: cython.ulonglong = 0
        pc: cython.ulonglong = 0
        slot: cython.ulonglong
        change: cython.ulonglong
        row_file: cython.uint
        row_line: cython.uint
        n: cython.Py_ssize_t = 0
        while pc < most:
            if pc >= line_end:
                change = self.uleb(line_at)
                if change == 0 and line_end > 0:
                    break
                line += _signed(change)
                line_at = self.position
                line_end += self.uleb(line_at) * self.quantum
                line_at = self.position
                self.budget -= 1
                if line_end <= pc:
                    break
            while pc >= file_end and file_at >= 0:
                change = self.uleb(file_at)
                if change == 0 and file_end > 0:
                    file_at = -1
                    break
                file += _signed(change)
                file_at = self.position
                file_end += self.uleb(file_at) * self.quantum
                file_at = self.position
                self.budget -= 1
                if file_end > 0xFFFFFFFFFF:
                    return 0
            slot = self._slot(file)
            row_file = cython.cast(cython.uint, slot) if file_at >= 0 and file >= 0 else NONE
            row_line = cython.cast(cython.uint, line) if 0 < line <= 0x7FFFFFFF else 0
            if n == 0 or self.row_file[n - 1] != row_file or self.row_line[n - 1] != row_line:
                if n >= self.row_pc.shape[0] if cython.compiled else n >= len(self.row_pc):
                    self.row_pc = grown(self.row_pc, n + 1)
                    self.row_file = grown(self.row_file, n + 1)
                    self.row_line = grown(self.row_line, n + 1)
                self.row_pc[n] = pc
                self.row_file[n] = row_file
                self.row_line[n] = row_line
                n += 1
            pc = line_end if file_at < 0 or line_end < file_end else file_end
        self.size = min(most, pc)
        self.rows = n
        return 0

    @cython.cfunc
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _slot(self, file: cython.longlong) -> cython.ulonglong:
        """The slot of a file that a function's table numbers; ``NONE`` where there is none."""
        slot: cython.ulonglong = self.unit + cython.cast(cython.ulonglong, max(file, 0))
        return slot if file >= 0 and slot < self.unit_slots else NONE

    @cython.cfunc
    @cython.exceptval(0xFFFFFFFF, check=True)
    def _name(self, offset: cython.ulonglong) -> cython.uint:
        key = offset
        number = self.name_numbers.get(key)
        if number is None:
            end = self.all_names.find(b"\0", key) if key < len(self.all_names) else -1
            number = self.names.intern(self.all_names[key:end] if end > key else b"")
            self.name_numbers[key] = number
        return number

    @cython.cfunc
    @cython.exceptval(-1)
    def _inlined(self, p: cython.longlong) -> cython.int:
        """Puts the inlined calls of the function whose record goes on at ``p``, in preorder."""
        pcdata: cython.ulonglong = self.fixed(p + 24, 4)
        tables: cython.longlong = p + self.fixed_bytes
        funcdata: cython.ulonglong = self.data[tables - 1]
        if pcdata <= cython.cast(cython.ulonglong, INLINE_INDEX) or funcdata <= cython.cast(
            cython.ulonglong, INLINE_TREE
        ):
            return 0
        if pcdata > cython.cast(cython.ulonglong, self.data_size):
            return 0
        calls: cython.ulonglong = self.fixed(tables + 4 * INLINE_INDEX, 4)
        data_at: cython.longlong = tables + 4 * cython.cast(cython.longlong, pcdata)
        tree: cython.ulonglong
        if self.relative:
            tree = self.fixed(data_at + 4 * INLINE_TREE, 4)
            if tree == NONE:
                return 0
        else:
            data_at = (data_at + self.pointer_bytes - 1) // self.pointer_bytes * self.pointer_bytes
            tree = self.fixed(data_at + self.pointer_bytes * INLINE_TREE, self.pointer_bytes)
            if tree < self.trees_base:
                return 0
            tree -= self.trees_base
        if calls == 0 or tree >= cython.cast(cython.ulonglong, self.trees.data_size):
            return 0
        self.tree = cython.cast(cython.longlong, tree)
        self.runs = 0
        self._runs(calls)
        self.pieces = 0
        i: cython.Py_ssize_t
        start: cython.ulonglong = 0
        for i in range(self.runs):
            if self.run_call[i] >= 0:
                self._mark(start, self.run_end[i], self.run_call[i])
            start = self.run_end[i]
        self._put_calls()
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _forget_calls(self) -> cython.int:
        i: cython.Py_ssize_t
        for i in range(self.calls):
            self.slot_of[self.call_index[i]] = NO_CALL
        self.calls = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _runs(self, table: cython.ulonglong) -> cython.int:
        """The runs of pcs that belong to one entry of the inline tree."""
        p: cython.longlong = self.values_at + cython.cast(cython.longlong, table)
        value: cython.longlong = -1
        pc: cython.ulonglong = 0
        change: cython.ulonglong
        n: cython.Py_ssize_t = 0
        if p >= self.data_size:
            return 0
        while pc < self.size:
            change = self.uleb(p)
            if change == 0 and n > 0:
                break
            value += _signed(change)
            p = self.position
            pc += self.uleb(p) * self.quantum
            p = self.position
            self.budget -= 1
            if n >= self.run_end.shape[0] if cython.compiled else n >= len(self.run_end):
                self.run_end = grown(self.run_end, n + 1)
                self.run_call = grown(self.run_call, n + 1)
            self.run_end[n] = min(self.size, pc)
            self.run_call[n] = cython.cast(cython.int, value) if 0 <= value <= 0xFFFFFF else NO_CALL
            n += 1
        self.runs = n
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _mark(self, start: cython.ulonglong, end: cython.ulonglong, index: cython.int) -> cython.int:
        """Gives a run of pcs to a call and to all that it is inlined into."""
        depth: cython.int = 0
        slot: cython.int
        while index >= 0:
            if depth >= MAX_DEPTH:
                self.lost_calls += 1
                return 0
            slot = self._call(index)
            if slot < 0:
                self.lost_calls += 1
                return 0
            self.chain[depth] = slot
            depth += 1
            index = self._parent(index)
            self.budget -= 1
        i: cython.int
        parent: cython.int = NO_CALL
        for i in range(depth - 1, -1, -1):
            slot = self.chain[i]
            if self.call_range[slot] < 0 and self.call_parent[slot] == -2:
                self._adopt(slot, parent)
            self._extend(slot, start, end)
            parent = slot
        return 0

    @cython.cfunc
    @cython.exceptval(-2)
    def _call(self, index: cython.int) -> cython.int:
        """The slot of a call in this function's columns, a new one where it is met first; -1 where the tree has no such entry."""
        slot: cython.int
        n: cython.Py_ssize_t
        size: cython.Py_ssize_t = self.slot_of.shape[0] if cython.compiled else len(self.slot_of)
        if self.tree + (cython.cast(cython.longlong, index) + 1) * self.tree_entry_bytes > self.trees.data_size:
            return NO_CALL
        if index >= size:
            bigger = array("i", [-1]) * max(2 * size, index + 1)
            memoryview(bigger)[:size] = memoryview(self.slot_of)
            self.slot_of = bigger
        slot = self.slot_of[index]
        if slot >= 0:
            return slot
        n = self.calls
        if n >= self.call_index.shape[0] if cython.compiled else n >= len(self.call_index):
            self.call_index = grown(self.call_index, n + 1)
            self.call_parent = grown(self.call_parent, n + 1)
            self.call_child = grown(self.call_child, n + 1)
            self.call_last = grown(self.call_last, n + 1)
            self.call_next = grown(self.call_next, n + 1)
            self.call_range = grown(self.call_range, n + 1)
            self.call_range_last = grown(self.call_range_last, n + 1)
        self.call_index[n] = index
        self.call_parent[n] = -2
        self.call_child[n] = self.call_last[n] = self.call_next[n] = NO_CALL
        self.call_range[n] = self.call_range_last[n] = NO_CALL
        self.slot_of[index] = cython.cast(cython.int, n)
        self.calls = n + 1
        return cython.cast(cython.int, n)

    @cython.cfunc
    @cython.exceptval(-2)
    def _parent(self, index: cython.int) -> cython.int:
        """The entry that a call is inlined into; -1 for the function itself."""
        at: cython.longlong = self.tree + index * self.tree_entry_bytes
        parent: cython.longlong
        if not self.by_pc:
            parent = cython.cast(cython.longlong, self.trees.fixed(at, 2))
            return NO_CALL if parent >= 0x8000 else cython.cast(cython.int, parent)
        pc: cython.ulonglong = self.trees.fixed(at + 8, 4)
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.runs
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.run_end[middle] <= pc:
                low = middle + 1
            else:
                high = middle
        found: cython.int = self.run_call[low] if low < self.runs else NO_CALL
        if found >= 0:
            at = self.tree + found * self.tree_entry_bytes
            # No call is made from its own code: Go's compiler writes pc 0 where it has lost the caller's.
            if at + self.tree_entry_bytes <= self.trees.data_size and self.trees.fixed(at + 8, 4) == pc:
                return NO_CALL
        return found

    @cython.cfunc
    @cython.exceptval(-1)
    def _adopt(self, slot: cython.int, parent: cython.int) -> cython.int:
        """Puts a call behind the others of its caller."""
        self.call_parent[slot] = parent
        if parent < 0:
            return 0
        if self.call_last[parent] < 0:
            self.call_child[parent] = slot
        else:
            self.call_next[self.call_last[parent]] = slot
        self.call_last[parent] = slot
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _extend(self, slot: cython.int, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        """Adds a run of pcs, behind all that it has, to a call."""
        last: cython.int = self.call_range_last[slot]
        n: cython.Py_ssize_t = self.pieces
        if last >= 0 and self.piece_end[last] == start:
            self.piece_end[last] = end
            return 0
        if n >= self.piece_start.shape[0] if cython.compiled else n >= len(self.piece_start):
            self.piece_start = grown(self.piece_start, n + 1)
            self.piece_end = grown(self.piece_end, n + 1)
            self.piece_next = grown(self.piece_next, n + 1)
        self.piece_start[n] = start
        self.piece_end[n] = end
        self.piece_next[n] = NO_CALL
        if last >= 0:
            self.piece_next[last] = cython.cast(cython.int, n)
        else:
            self.call_range[slot] = cython.cast(cython.int, n)
        self.call_range_last[slot] = cython.cast(cython.int, n)
        self.pieces = n + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _put_calls(self) -> cython.int:
        """Puts all calls of the function, callers before what is inlined into them."""
        i: cython.Py_ssize_t
        slot: cython.int
        depth: cython.uint
        for i in range(self.calls):
            if self.call_parent[i] != NO_CALL:
                continue
            slot = cython.cast(cython.int, i)
            depth = 1
            while slot >= 0:
                self._put_call(slot, depth)
                if self.call_child[slot] >= 0:
                    slot = self.call_child[slot]
                    depth += 1
                    continue
                while slot >= 0 and self.call_next[slot] < 0:
                    slot = self.call_parent[slot]
                    depth -= 1
                if slot >= 0:
                    slot = self.call_next[slot]
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _put_call(self, slot: cython.int, depth: cython.uint) -> cython.int:
        piece: cython.int = self.call_range[slot]
        while piece >= 0:
            self.table.put_range(self.entry + self.piece_start[piece], self.entry + self.piece_end[piece])
            piece = self.piece_next[piece]
        at: cython.longlong = self.tree + self.call_index[slot] * self.tree_entry_bytes
        file: cython.uint = NONE
        line: cython.uint = 0
        row: cython.Py_ssize_t
        if self.by_pc:
            row = self._row_at(self.trees.fixed(at + 8, 4))
            if row >= 0:
                file = self.row_file[row]
                line = self.row_line[row]
            self.table.put_node(depth, self._name(self.trees.fixed(at + 4, 4)), file, line)
        else:
            file = cython.cast(cython.uint, self._slot(cython.cast(cython.longlong, self.trees.fixed(at + 4, 4))))
            line = cython.cast(cython.uint, self.trees.fixed(at + 8, 4))
            self.table.put_node(depth, self._name(self.trees.fixed(at + 12, 4)), file, line)
        return 0

    @cython.cfunc
    @cython.exceptval(-2)
    def _row_at(self, pc: cython.ulonglong) -> cython.Py_ssize_t:
        """The row that speaks for a pc of the function; -1 where none does."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.rows
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.row_pc[middle] <= pc:
                low = middle + 1
            else:
                high = middle
        return low - 1


@cython.cfunc
@cython.exceptval(-0x7FFFFFFFFFFFFFFF, check=True)
def _signed(change: cython.ulonglong) -> cython.longlong:
    """A change of value as it is kept: the sign in the lowest bit, the others turned over where it is set; 32 bits count."""
    half: cython.longlong = cython.cast(cython.longlong, (change >> 1) & 0x7FFFFFFF)
    return -half - 1 if change & 1 else half
