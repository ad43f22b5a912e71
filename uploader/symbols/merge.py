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
from typing import Protocol

import cython

from uploader.core.columns import NONE
from uploader.core.search import first_after
from uploader.symbols.columns import NameTable, SourceColumns
from uploader.symbols.nesting import PieceColumns, Pieces, cut, hidden, outermost_first
from uploader.symbols.piece_plan import PiecePlan, PlanColumns, room_for
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.source_view import SourceView
from uploader.values import replace

MAX_EARLY_BYTES = 64
"""So far before a function's code may its symbol start: eight instructions of four bytes are the most that is known."""

LINES_WORTH = 2
INLINES_WORTH = 1
"""What makes one of several functions of one range speak for it."""


class Symbols(Protocol):
    """Named ranges ascending by start, one for each start; they may nest and overlap."""

    start: array[int]
    end: array[int]

    def __len__(self) -> int: ...

    def names(self) -> Iterable[bytes]:
        """The name of each."""


class SymbolPieces:
    """Symbols as `merge` wants them, all named: what takes time and needs no other source is done when this is made."""

    def __init__(self, symbols: Symbols, names: NameTable) -> None:
        self.start = symbols.start
        self.end = symbols.end
        self.name = names.intern_all(symbols.names())
        self.pieces = cut(symbols.start, symbols.end)


class _NoSymbols:
    """What stands for the symbols of a binary that has none."""

    start = end = array("Q")

    def __len__(self) -> int:
        return 0

    def names(self) -> tuple[bytes, ...]:
        return ()


def _silent_source() -> SourceColumns:
    """What stands for the source of a binary of which only symbols are known."""
    return SourceColumns(names=NameTable(), file_at=lambda _: (b"", b""), file_slots=0)


def merge(source: SourceColumns | None, known: SymbolPieces | None) -> PiecePlan:
    """The plan for a binary of which either or both may be known. Releases the GIL."""
    if source is None:
        source = _silent_source()
    if known is None:
        known = SymbolPieces(_NoSymbols(), NameTable())
    return _Merger(source, known).run()


class _Merger:
    """The columns of both sources, and the plan being made of them."""

    def __init__(self, source: SourceColumns, known: SymbolPieces) -> None:
        functions = _FunctionPieces(source, known)
        self.source = SourceView(source)
        self.functions = PieceColumns(functions.pieces, len(functions.pieces.of))
        self.range_counts = functions.range_counts
        self.head, self.known = functions.head, functions.known
        self.symbol_start, self.symbol_name = known.start, known.name
        self.symbols = len(known.start)
        self.parts = PieceColumns(known.pieces, len(known.pieces.of))
        stretches = _stretches(source)
        self.stretches = PieceColumns(stretches, len(stretches.of))
        # Each piece of a function, and each end of a symbol's, cuts a symbol at most once; each stretch's begin and end do.
        room = 2 * (self.functions.count + self.parts.count + self.stretches.count + 1)
        self.plan = PlanColumns(room_for(room), 0)

    def _add_symbol(self, start: cython.ulonglong, end: cython.ulonglong, symbol: cython.uint) -> cython.int:
        """Appends a piece that only a symbol knows, cut where another line table takes over."""
        name: cython.uint = self.symbol_name[symbol]
        at: cython.Py_ssize_t = first_after(self.stretches.start, 0, self.stretches.count, start) - 1
        at = max(at, 0)
        stop: cython.ulonglong
        while start < end and at < self.stretches.count:
            if start < self.stretches.start[at]:
                stop = min(end, self.stretches.start[at])
                self.plan.put(start, stop, name, NONE, NONE, symbol)
                start = stop
            elif start < self.stretches.end[at]:
                stop = min(end, self.stretches.end[at])
                self.plan.put(start, stop, name, NONE, self.stretches.of[at], symbol)
                start = stop
            else:
                at += 1
        if start < end:
            self.plan.put(start, end, name, NONE, NONE, symbol)
        return 0

    def _add_function(self, piece: cython.Py_ssize_t, part: cython.Py_ssize_t) -> cython.int:
        """Appends a piece of a function; ``part`` is the first of the symbols' that doesn't end before it begins, or the one before."""
        if self.known[piece] > self.functions.start[piece]:
            self.plan.early[self.plan.count] = cython.cast(cython.uint, self.known[piece] - self.functions.start[piece])
        start: cython.ulonglong = self.functions.start[piece]
        end: cython.ulonglong = self.functions.end[piece]
        function: cython.uint = self.functions.of[piece]
        table: cython.uint = self.source.function_table[function]
        named: cython.Py_ssize_t = first_after(self.symbol_start, 0, self.symbols, self.head[piece]) - 1
        if named >= 0 and self.symbol_start[named] == self.head[piece]:
            return self.plan.put(start, end, self.symbol_name[named], function, table, named)
        if self.source.function_name[function] != 0:
            return self.plan.put(start, end, self.source.function_name[function], function, table, NONE)
        # Without a name of its own the function can't be told, but what it knows of lines and inlines serves the symbols in it.
        if part > 0 and self.parts.end[part - 1] > start:
            part -= 1
        while part < self.parts.count and self.parts.start[part] < end:
            symbol: cython.uint = self.parts.of[part]
            if self.parts.end[part] > start:
                self.plan.put(
                    max(self.parts.start[part], start),
                    min(self.parts.end[part], end),
                    self.symbol_name[symbol],
                    function,
                    table,
                    symbol,
                )
            part += 1
        return 0

    def _merge(self) -> cython.int:
        reached: cython.ulonglong = 0
        part: cython.Py_ssize_t = 0
        piece: cython.Py_ssize_t
        for piece in range(self.functions.count):
            start: cython.ulonglong = self.functions.start[piece]
            end: cython.ulonglong = self.functions.end[piece]
            while part < self.parts.count and self.parts.start[part] < start:
                if self.parts.end[part] > reached:
                    self._add_symbol(
                        max(self.parts.start[part], reached), min(self.parts.end[part], start), self.parts.of[part]
                    )
                if self.parts.end[part] > end:
                    break
                part += 1
            reached = max(reached, end)
            self._add_function(piece, part)
        while part < self.parts.count:
            if self.parts.end[part] > reached:
                self._add_symbol(max(self.parts.start[part], reached), self.parts.end[part], self.parts.of[part])
            part += 1
        return 0

    def run(self) -> PiecePlan:
        with cython.nogil:
            self._merge()
        return self.plan.decided(self.range_counts)


def _stretches(source: SourceColumns) -> Pieces:
    """Disjoint stretches of code for which some line table speaks, and which; of those that overlap, the one that starts later."""
    order = outermost_first(source.sequence_start, source.sequence_end)
    pieces = cut(source.sequence_start, source.sequence_end, order)
    return replace(pieces, of=array("I", map(source.sequence_table.__getitem__, pieces.of)))


class _FunctionPieces:
    """Disjoint pieces of functions, ascending: whose each is, and where the range begins that it is a piece of.

    ``head`` is where the function's symbol has the range begin, ``known`` where its source has.
    """

    def __init__(self, source: SourceColumns, symbols: SymbolPieces) -> None:
        function_of, worth = _owners(source)
        order = outermost_first(source.range_start, source.range_end, worth)
        start = _with_early_symbols(source, order, symbols)
        pieces = cut(start, source.range_end, order)
        whole, part = hidden(start, source.range_end, order, pieces)
        self.range_counts = RangeCounts(dropped=whole, cut=part)
        self.pieces = replace(pieces, of=array("I", map(function_of.__getitem__, pieces.of)))
        self.head = array("Q", map(start.__getitem__, pieces.of))
        self.known = (
            self.head if start is source.range_start else array("Q", map(source.range_start.__getitem__, pieces.of))
        )


def _with_early_symbols(source: SourceColumns, order: array[int], symbols: SymbolPieces) -> array[int]:
    """Where each range begins, with the bytes before it that only its symbol knows; ``order`` stays that of `outermost_first`.

    A symbol is a range's where it ends with it, none starts nearer, and no other range reaches beyond the symbol's start.
    """
    if not len(symbols.start) or not len(order):
        return source.range_start
    widened = array("Q", source.range_start)
    out: cython.ulonglong[::1] = widened
    start: cython.const[cython.ulonglong][::1] = source.range_start
    end: cython.const[cython.ulonglong][::1] = source.range_end
    in_order: cython.const[cython.uint][::1] = order
    symbol_start: cython.const[cython.ulonglong][::1] = symbols.start
    symbol_end: cython.const[cython.ulonglong][::1] = symbols.end
    ranges: cython.Py_ssize_t = len(order)
    count: cython.Py_ssize_t = len(symbols.start)
    found: cython.bint = False
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
                out[this] = symbol_start[at]
                found = True
            reached = max(reached, end[this])
    return widened if found else source.range_start


def _owners(source: SourceColumns) -> tuple[array[int], Sequence[int]]:
    """For each range its function, and what that is worth: more where it has lines than where it has inlines."""
    function_column = array("I", [0]) * len(source.range_start)
    worth_column = bytearray(len(source.range_start))
    function_of: cython.uint[::1] = function_column
    worth: cython.uchar[::1] = worth_column
    view: SourceView = SourceView(source)
    count: cython.Py_ssize_t = len(source.function_name)
    function: cython.Py_ssize_t
    at: cython.Py_ssize_t
    with cython.nogil:
        for function in range(count):
            for at in range(view.function_range[function], view.function_range[function + 1]):
                function_of[at] = function
                if view.function_table[function] != NONE:
                    worth[at] += LINES_WORTH
                if view.function_node[function] < view.function_node_end[function]:
                    worth[at] += INLINES_WORTH
    return function_column, worth_column
