"""Decides which source speaks for which address: ranges that overlap become disjoint pieces, each with one name.

The rules, from the strongest:

- where functions overlap, the one that starts later (the inner one) speaks, and the outer one goes on behind it;
- of functions with one and the same range, the one with lines speaks, then the one with inlines, then the first;
- a symbol that starts exactly where a function's range does names it: it keeps ``.cold``, ``.isra.0`` and the like;
- symbols fill what functions leave, and nothing is stretched over a gap.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Protocol

import cython

from uploader.symbols.columns import NONE, NameTable, SourceColumns, addresses, indexes


class Symbols(Protocol):
    """Named ranges ascending by start, one for each start; they may nest and overlap."""

    start: array[int]
    end: array[int]

    def __len__(self) -> int: ...

    def name(self, index: int) -> bytes:
        """The name of a symbol."""


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

    def add(self, start: int, end: int, name: int, function: int, table: int, symbol: int) -> None:
        """Appends one piece."""
        self.start.append(start)
        self.end.append(end)
        self.name.append(name)
        self.function.append(function)
        self.table.append(table)
        self.symbol.append(symbol)


class SymbolPieces:
    """Symbols as `merge` wants them: what takes time and needs no other source is done when this is made."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.pieces = _nested_pieces(list(zip(symbols.start, symbols.end, range(len(symbols)), strict=True)))
        self.at: dict[int, int] = dict(zip(symbols.start, range(len(symbols)), strict=True))


def merge(source: SourceColumns | None, known: SymbolPieces | None, names: NameTable) -> Plan:
    """The plan for a binary of which either or both may be known."""
    pieces = _function_pieces(source) if source is not None else []
    plan = Plan()
    symbols = known.symbols if known is not None else None
    symbol_pieces = known.pieces if known is not None else []
    symbol_at = known.at if known is not None else {}
    symbol_name: dict[int, int] = {}

    def named(symbol: int) -> int:
        number = symbol_name.get(symbol)
        if number is None:
            assert symbols is not None
            number = symbol_name[symbol] = names.intern(symbols.name(symbol))
        return number

    tables = _Tables(source)
    at: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = len(symbol_pieces)
    reached: int = 0
    for start, end, function, head in pieces:
        while at < count and symbol_pieces[at][0] < start:
            piece_start, piece_end, symbol = symbol_pieces[at]
            if piece_end > reached:
                tables.add(plan, max(piece_start, reached), min(piece_end, start), named(symbol), symbol)
            if piece_end > end:
                break
            at += 1
        reached = max(reached, end)
        assert source is not None
        symbol = symbol_at.get(head, NONE)
        name = named(symbol) if symbol != NONE else source.function_name[function]
        table = source.function_table[function]
        if name:
            plan.add(start, end, name, function, table, symbol)
            continue
        # Without a name of its own the function can't be told, but what it knows of lines and inlines serves the symbols in it.
        inside: cython.Py_ssize_t = at - 1 if at > 0 and symbol_pieces[at - 1][1] > start else at
        while inside < count and symbol_pieces[inside][0] < end:
            piece_start, piece_end, symbol = symbol_pieces[inside]
            if piece_end > start:
                plan.add(max(piece_start, start), min(piece_end, end), named(symbol), function, table, symbol)
            inside += 1
    while at < count:
        piece_start, piece_end, symbol = symbol_pieces[at]
        if piece_end > reached:
            tables.add(plan, max(piece_start, reached), piece_end, named(symbol), symbol)
        at += 1
    return plan


class _Tables:
    """Finds the line tables that speak for code which no function of the source covers."""

    def __init__(self, source: SourceColumns | None) -> None:
        sequences = sorted(source.sequences, key=_outer_first) if source is not None else []
        self._sequences = _nested_pieces(sequences)
        self._starts = [start for start, _, _ in self._sequences]

    def add(self, plan: Plan, start: int, end: int, name: int, symbol: int) -> None:
        """Appends a symbol's piece, cut where another line table takes over; of tables that overlap, the one that starts later."""
        index = max(bisect_right(self._starts, start) - 1, 0)
        while start < end and index < len(self._starts):
            sequence_start, sequence_end, table = self._sequences[index]
            if start < sequence_start:
                stop = min(end, sequence_start)
                plan.add(start, stop, name, NONE, NONE, symbol)
                start = stop
            elif start < sequence_end:
                stop = min(end, sequence_end)
                plan.add(start, stop, name, NONE, table, symbol)
                start = stop
            else:
                index += 1
        if start < end:
            plan.add(start, end, name, NONE, NONE, symbol)


def _function_pieces(source: SourceColumns) -> list[tuple[int, int, int, int]]:
    """(start, end, function, start of the range that it is a piece of), disjoint and ascending."""
    best: dict[tuple[int, int], int] = {}
    count: cython.Py_ssize_t = len(source.function_name)
    if count == 0 or not len(source.range_start):
        return []
    worth_column = array("B", [0]) * count
    worth: cython.uchar[::1] = worth_column
    table: cython.uint[::1] = source.function_table
    node: cython.uint[::1] = source.function_node
    node_end: cython.uint[::1] = source.function_node_end
    first: cython.uint[::1] = source.function_range
    range_start: cython.ulonglong[::1] = source.range_start
    range_end: cython.ulonglong[::1] = source.range_end
    none: cython.uint = 0xFFFFFFFF
    function: cython.Py_ssize_t
    at: cython.Py_ssize_t
    for function in range(count):
        if first[function] == first[function + 1]:
            continue
        worth[function] = (2 if table[function] != none else 0) + (1 if node[function] < node_end[function] else 0)
        for at in range(first[function], first[function + 1]):
            key = (range_start[at], range_end[at])
            known = best.setdefault(key, function)
            if worth[cython.cast(cython.Py_ssize_t, known)] < worth[function]:
                best[key] = function
    ranges = sorted((start, -end, function) for (start, end), function in best.items())
    return [
        (start, end, ranges[index][2], ranges[index][0])
        for start, end, index in _nested_pieces([(start, -end, index) for index, (start, end, _) in enumerate(ranges)])
    ]


def _outer_first(each: tuple[int, int, int]) -> tuple[int, int, int]:
    """Sorts ranges by their start, of those with one start the longer first, then the later in order."""
    return each[0], -each[1], -each[2]


def _nested_pieces(ranges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Cuts ranges, ascending by start and the longer first, into disjoint pieces in which the latest start speaks."""
    pieces: list[tuple[int, int, int]] = []
    outer: list[tuple[int, int]] = []
    open_end: int = 0
    open_index: int = -1
    cursor: int = 0
    for start, end, index in ranges:
        while open_index >= 0 and open_end <= start:
            if cursor < open_end:
                pieces.append((cursor, open_end, open_index))
                cursor = open_end
            open_end, open_index = outer.pop()
        if open_index >= 0 and cursor < start:
            pieces.append((cursor, start, open_index))
        cursor = start
        outer.append((open_end, open_index))
        open_end, open_index = end, index
    while open_index >= 0:
        if cursor < open_end:
            pieces.append((cursor, open_end, open_index))
            cursor = open_end
        open_end, open_index = outer.pop()
    return pieces
