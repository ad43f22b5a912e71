"""Decides which source speaks for which address: ranges that overlap become disjoint pieces, each with one name.

The rules, from the strongest:

- where functions overlap, the one that starts later (the inner one) speaks, and the outer one goes on behind it;
- of functions with one and the same range, the one with lines speaks, then the one with inlines, then the first;
- a symbol that starts exactly where a function's range does names it: it keeps ``.cold``, ``.isra.0`` and the like;
- one that starts a few bytes before and ends with the range is that function, too: what the compiler leaves room for at its entry
  (``-fpatchable-function-entry``) stands before the code that DWARF knows;
- symbols fill what functions leave, and nothing is stretched over a gap.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import cython

from uploader.core.columns import NONE, addresses, indexes, taken, zeros
from uploader.symbols.columns import NameTable, SourceColumns
from uploader.symbols.nesting import Pieces, cut, hidden, outermost_first
from uploader.symbols.range_counts import RangeCounts

NOBODY = cython.declare(cython.uint, NONE)

MAX_EARLY_BYTES = cython.declare(cython.ulonglong, 64)
"""So far before a function's code may its symbol start: eight instructions of four bytes are the most that is known."""


class Symbols(Protocol):
    """Named ranges ascending by start, one for each start; they may nest and overlap."""

    start: array[int]
    end: array[int]

    def __len__(self) -> int: ...

    def names(self) -> Iterable[bytes]:
        """The name of each."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Plan:
    """Disjoint pieces, ascending: whose they are and what they are called; lines and inlines are still to be cut out."""

    start: array[int] = field(default_factory=addresses)
    end: array[int] = field(default_factory=addresses)
    name: array[int] = field(default_factory=indexes)
    function: array[int] = field(default_factory=indexes)
    """The function of the source that the piece belongs to, or ``NONE`` for one that only a symbol knows."""
    table: array[int] = field(default_factory=indexes)
    symbol: array[int] = field(default_factory=indexes)
    """The symbol that named it, or ``NONE``."""
    early: array[int] = field(default_factory=indexes)
    """How many bytes at its start stand before the code that its function's source knows, and so have no line."""
    range_counts: RangeCounts = field(default_factory=RangeCounts)
    """What became of the functions' ranges where they overlap."""


class SymbolPieces:
    """Symbols as `merge` wants them, all named: what takes time and needs no other source is done when this is made."""

    def __init__(self, symbols: Symbols, names: NameTable) -> None:
        self.start = symbols.start
        self.end = symbols.end
        self.name = names.intern_all(symbols.names())
        self.pieces = cut(symbols.start, symbols.end)


def merge(source: SourceColumns | None, known: SymbolPieces | None) -> Plan:
    """The plan for a binary of which either or both may be known. Releases the GIL."""
    return _Merger(source, known).run()


@cython.final
@cython.cclass
class _Merger:
    """The columns of both sources, and the plan being made of them."""

    piece_start: cython.const[cython.ulonglong][::1]
    piece_end: cython.const[cython.ulonglong][::1]
    piece_function: cython.const[cython.uint][::1]
    piece_head: cython.const[cython.ulonglong][::1]
    piece_known: cython.const[cython.ulonglong][::1]
    pieces: cython.Py_ssize_t
    function_name: cython.const[cython.uint][::1]
    function_table: cython.const[cython.uint][::1]

    symbol_start: cython.const[cython.ulonglong][::1]
    symbol_name: cython.const[cython.uint][::1]
    symbols: cython.Py_ssize_t
    part_start: cython.const[cython.ulonglong][::1]
    part_end: cython.const[cython.ulonglong][::1]
    part_symbol: cython.const[cython.uint][::1]
    parts: cython.Py_ssize_t

    stretch_start: cython.const[cython.ulonglong][::1]
    stretch_end: cython.const[cython.ulonglong][::1]
    stretch_table: cython.const[cython.uint][::1]
    stretches: cython.Py_ssize_t

    range_counts: RangeCounts
    columns: tuple  # type: ignore[type-arg]  # Cython takes the bare builtin as an attribute's type
    start: cython.ulonglong[::1]
    end: cython.ulonglong[::1]
    name: cython.uint[::1]
    function: cython.uint[::1]
    table: cython.uint[::1]
    symbol: cython.uint[::1]
    early: cython.uint[::1]
    count: cython.Py_ssize_t

    def __init__(self, source: SourceColumns | None, known: SymbolPieces | None) -> None:
        functions = _FunctionPieces(source, known)
        self.piece_start, self.piece_end = functions.pieces.start, functions.pieces.end
        self.piece_function = functions.function
        self.range_counts = functions.range_counts
        self.piece_head, self.piece_known = functions.head, functions.known
        self.pieces = len(functions.function)
        self.function_name = source.function_name if source is not None else array("I")
        self.function_table = source.function_table if source is not None else array("I")
        parts = known.pieces if known is not None else cut(array("Q"), array("Q"))
        self.symbol_start = known.start if known is not None else array("Q")
        self.symbol_name = known.name if known is not None else array("I")
        self.symbols = len(known.start) if known is not None else 0
        self.part_start, self.part_end, self.part_symbol = parts.start, parts.end, parts.of
        self.parts = len(parts.of)
        stretches, tables = _stretches(source)
        self.stretch_start, self.stretch_end, self.stretch_table = stretches.start, stretches.end, tables
        self.stretches = len(tables)
        # Each piece of a function, and each end of a symbol's, cuts a symbol at most once; each stretch's begin and end do.
        room = 2 * self.pieces + 2 * self.parts + 2 * self.stretches + 2
        self.columns = tuple(zeros(typecode, room) for typecode in "QQIIIII")
        self.start, self.end, self.name, self.function, self.table, self.symbol, self.early = self.columns
        self.count = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _add(
        self,
        start: cython.ulonglong,
        end: cython.ulonglong,
        name: cython.uint,
        function: cython.uint,
        table: cython.uint,
        symbol: cython.uint,
    ) -> cython.int:
        at: cython.Py_ssize_t = self.count
        self.start[at] = start
        self.end[at] = end
        self.name[at] = name
        self.function[at] = function
        self.table[at] = table
        self.symbol[at] = symbol
        self.count = at + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _add_symbol(self, start: cython.ulonglong, end: cython.ulonglong, symbol: cython.uint) -> cython.int:
        """Appends a piece that only a symbol knows, cut where another line table takes over."""
        name: cython.uint = self.symbol_name[symbol]
        at: cython.Py_ssize_t = _last_not_after(self.stretch_start, self.stretches, start)
        at = max(at, 0)
        stop: cython.ulonglong
        while start < end and at < self.stretches:
            if start < self.stretch_start[at]:
                stop = min(end, self.stretch_start[at])
                self._add(start, stop, name, NOBODY, NOBODY, symbol)
                start = stop
            elif start < self.stretch_end[at]:
                stop = min(end, self.stretch_end[at])
                self._add(start, stop, name, NOBODY, self.stretch_table[at], symbol)
                start = stop
            else:
                at += 1
        if start < end:
            self._add(start, end, name, NOBODY, NOBODY, symbol)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _add_function(self, piece: cython.Py_ssize_t, part: cython.Py_ssize_t) -> cython.int:
        """Appends a piece of a function; ``part`` is the first of the symbols' that doesn't end before it begins, or the one before."""
        if self.piece_known[piece] > self.piece_start[piece]:
            self.early[self.count] = cython.cast(cython.uint, self.piece_known[piece] - self.piece_start[piece])
        start: cython.ulonglong = self.piece_start[piece]
        end: cython.ulonglong = self.piece_end[piece]
        function: cython.uint = self.piece_function[piece]
        table: cython.uint = self.function_table[function]
        named: cython.Py_ssize_t = _last_not_after(self.symbol_start, self.symbols, self.piece_head[piece])
        if named >= 0 and self.symbol_start[named] == self.piece_head[piece]:
            return self._add(start, end, self.symbol_name[named], function, table, named)
        if self.function_name[function] != 0:
            return self._add(start, end, self.function_name[function], function, table, NOBODY)
        # Without a name of its own the function can't be told, but what it knows of lines and inlines serves the symbols in it.
        if part > 0 and self.part_end[part - 1] > start:
            part -= 1
        while part < self.parts and self.part_start[part] < end:
            symbol: cython.uint = self.part_symbol[part]
            if self.part_end[part] > start:
                self._add(
                    max(self.part_start[part], start),
                    min(self.part_end[part], end),
                    self.symbol_name[symbol],
                    function,
                    table,
                    symbol,
                )
            part += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _merge(self) -> cython.int:
        reached: cython.ulonglong = 0
        part: cython.Py_ssize_t = 0
        piece: cython.Py_ssize_t
        for piece in range(self.pieces):
            start: cython.ulonglong = self.piece_start[piece]
            end: cython.ulonglong = self.piece_end[piece]
            while part < self.parts and self.part_start[part] < start:
                if self.part_end[part] > reached:
                    self._add_symbol(
                        max(self.part_start[part], reached), min(self.part_end[part], start), self.part_symbol[part]
                    )
                if self.part_end[part] > end:
                    break
                part += 1
            reached = max(reached, end)
            self._add_function(piece, part)
        while part < self.parts:
            if self.part_end[part] > reached:
                self._add_symbol(max(self.part_start[part], reached), self.part_end[part], self.part_symbol[part])
            part += 1
        return 0

    def run(self) -> Plan:
        with cython.nogil:
            self._merge()
        start, end, name, function, table, symbol, early = (taken(column, self.count) for column in self.columns)
        return Plan(
            start=start,
            end=end,
            name=name,
            function=function,
            table=table,
            symbol=symbol,
            early=early,
            range_counts=self.range_counts,
        )


@cython.cfunc
@cython.nogil
@cython.exceptval(-2)
def _last_not_after(
    column: cython.const[cython.ulonglong][::1], count: cython.Py_ssize_t, address: cython.ulonglong
) -> cython.Py_ssize_t:
    """The index of the last item of an ascending column that isn't greater; -1 where all are."""
    low: cython.Py_ssize_t = 0
    high: cython.Py_ssize_t = count
    middle: cython.Py_ssize_t
    while low < high:
        middle = (low + high) // 2
        if column[middle] <= address:
            low = middle + 1
        else:
            high = middle
    return low - 1


def _stretches(source: SourceColumns | None) -> tuple[Pieces, array[int]]:
    """Disjoint stretches of code for which some line table speaks, and which; of those that overlap, the one that starts later."""
    if source is None:
        return cut(array("Q"), array("Q")), array("I")
    order = outermost_first(source.sequence_start, source.sequence_end)
    pieces = cut(source.sequence_start, source.sequence_end, order)
    return pieces, array("I", map(source.sequence_table.__getitem__, pieces.of))


class _FunctionPieces:
    """Disjoint pieces of functions, ascending: whose each is, and where the range begins that it is a piece of.

    ``head`` is where the function's symbol has the range begin, ``known`` where its source has.
    """

    def __init__(self, source: SourceColumns | None, symbols: SymbolPieces | None) -> None:
        if source is None or not len(source.range_start):
            self.pieces = cut(array("Q"), array("Q"))
            self.function, self.head, self.known = array("I"), array("Q"), array("Q")
            self.range_counts = RangeCounts()
            return
        function_of, worth = _owners(source)
        order = outermost_first(source.range_start, source.range_end, worth)
        start = _with_early_symbols(source, order, symbols)
        self.pieces = cut(start, source.range_end, order)
        whole, part = hidden(start, source.range_end, order, self.pieces)
        self.range_counts = RangeCounts(dropped=whole, cut=part)
        self.function = array("I", map(function_of.__getitem__, self.pieces.of))
        self.head = array("Q", map(start.__getitem__, self.pieces.of))
        self.known = (
            self.head
            if start is source.range_start
            else array("Q", map(source.range_start.__getitem__, self.pieces.of))
        )


def _with_early_symbols(source: SourceColumns, order: array[int], symbols: SymbolPieces | None) -> array[int]:
    """Where each range begins, with the bytes before it that only its symbol knows; ``order`` stays that of `outermost_first`.

    A symbol is a range's where it ends with it, none starts nearer, and no other range reaches beyond the symbol's start.
    """
    if symbols is None or not len(symbols.start):
        return source.range_start
    start: cython.const[cython.ulonglong][::1] = source.range_start
    end: cython.const[cython.ulonglong][::1] = source.range_end
    in_order: cython.const[cython.uint][::1] = order
    symbol_start: cython.const[cython.ulonglong][::1] = symbols.start
    symbol_end: cython.const[cython.ulonglong][::1] = symbols.end
    found_range_column = zeros("I", len(order))
    found_symbol_column = zeros("I", len(order))
    found_range: cython.uint[::1] = found_range_column
    found_symbol: cython.uint[::1] = found_symbol_column
    ranges: cython.Py_ssize_t = len(order)
    count: cython.Py_ssize_t = len(symbols.start)
    found: cython.Py_ssize_t = 0
    at: cython.Py_ssize_t = 0
    reached: cython.ulonglong = 0
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(ranges):
            this: cython.uint = in_order[i]
            while at + 1 < count and symbol_start[at + 1] <= start[this]:
                at += 1
            if (
                reached <= symbol_start[at] < start[this]
                and start[this] - symbol_start[at] <= MAX_EARLY_BYTES
                and symbol_end[at] == end[this]
            ):
                found_range[found] = this
                found_symbol[found] = cython.cast(cython.uint, at)
                found += 1
            reached = max(reached, end[this])
    if not found:
        return source.range_start
    widened = array("Q", source.range_start)
    for i in range(found):
        widened[found_range_column[i]] = symbols.start[found_symbol_column[i]]
    return widened


def _owners(source: SourceColumns) -> tuple[array[int], Sequence[int]]:
    """For each range its function, and what that is worth: 2 where it has lines, and 1 where it has inlines."""
    ranges = len(source.range_start)
    function_column = array("I", [0]) * ranges
    worth_column = bytearray(ranges)
    function_of: cython.uint[::1] = function_column
    worth: cython.uchar[::1] = worth_column
    table: cython.const[cython.uint][::1] = source.function_table
    node: cython.const[cython.uint][::1] = source.function_node
    node_end: cython.const[cython.uint][::1] = source.function_node_end
    first: cython.const[cython.uint][::1] = source.function_range
    count: cython.Py_ssize_t = len(source.function_name)
    function: cython.Py_ssize_t
    at: cython.Py_ssize_t
    with cython.nogil:
        for function in range(count):
            for at in range(first[function], first[function + 1]):
                function_of[at] = function
                worth[at] = (2 if table[function] != NOBODY else 0) + (1 if node[function] < node_end[function] else 0)
    return function_column, worth_column
