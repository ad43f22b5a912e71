"""Builds `SourceColumns` and symbols from plain values, and reads a `SymbolTable` back address by address."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.symbols.validity import assert_valid
from uploader.core.columns import NONE
from uploader.symbols.columns import NameTable, SourceColumns, SymbolTable
from uploader.symbols.merge import SymbolPieces, merge
from uploader.symbols.shape import shape

FILES = ((b"/src", b"a.c"), (b"/src", b"b.c"), (b"/inc", b"c.h"), (b"/src", b"a.c"))
"""What file slots mean: slots 0 and 3 are one file, as compilers often list one twice."""

Place = tuple[bytes, int]
Range = tuple[int, int]


@dataclass(slots=True, kw_only=True)
class Inline:
    depth: int
    name: str
    ranges: Sequence[Range]
    call_file: int | None = None
    call_line: int = 0


@dataclass(slots=True, kw_only=True)
class Function:
    name: str
    ranges: Sequence[Range]
    table: int | None = None
    decl: tuple[int, int] | None = None
    """File slot and line."""
    inlines: Sequence[Inline] = ()


Row = tuple[int, int | None, int]
"""Address, file slot (None: nothing is known from here on), line."""


@dataclass(slots=True)
class Symbols:
    """Named ranges, ascending, one for each start."""

    listed: Sequence[tuple[int, int, str]]
    start: array[int] = field(init=False)
    end: array[int] = field(init=False)

    def __post_init__(self) -> None:
        self.listed = sorted(self.listed)
        self.start = array("Q", [start for start, _, _ in self.listed])
        self.end = array("Q", [end for _, end, _ in self.listed])

    def __len__(self) -> int:
        return len(self.listed)

    def names(self) -> list[bytes]:
        return [name.encode() for _, _, name in self.listed]


def sequences_of(tables: Sequence[Sequence[Row]]) -> list[tuple[int, int, int]]:
    """The stretches that line tables speak for: from a row with a file to the next without one."""
    found = []
    for table, rows in enumerate(tables):
        start: int | None = None
        for address, file, _ in rows:
            if file is None:
                if start is not None:
                    found.append((start, address, table))
                start = None
            elif start is None:
                start = address
    return sorted(found)


def columns(functions: Sequence[Function], tables: Sequence[Sequence[Row]], names: NameTable) -> SourceColumns:
    made = SourceColumns(names=names, file_at=lambda slot: FILES[slot], file_slots=len(FILES))
    for function in functions:
        made.function_name.append(names.intern(function.name.encode()))
        made.function_table.append(NONE if function.table is None else function.table)
        made.function_decl_file.append(NONE if function.decl is None else function.decl[0])
        made.function_decl_line.append(0 if function.decl is None else function.decl[1])
        made.function_node.append(len(made.node_depth))
        for inline in function.inlines:
            made.node_depth.append(inline.depth)
            made.node_name.append(names.intern(inline.name.encode()))
            made.node_call_file.append(NONE if inline.call_file is None else inline.call_file)
            made.node_call_line.append(inline.call_line)
            for start, end in inline.ranges:
                made.node_range_start.append(start)
                made.node_range_end.append(end)
            made.node_range.append(len(made.node_range_start))
        made.function_node_end.append(len(made.node_depth))
        for start, end in function.ranges:
            made.range_start.append(start)
            made.range_end.append(end)
        made.function_range.append(len(made.range_start))
    for rows in tables:
        for address, file, line in rows:
            made.row_address.append(address)
            made.row_file.append(NONE if file is None else file)
            made.row_line.append(line)
        made.table_first.append(len(made.row_address))
    for start, end, table in sequences_of(tables):
        made.sequence_start.append(start)
        made.sequence_end.append(end)
        made.sequence_table.append(table)
    return made


def merged(
    functions: Sequence[Function] = (),
    tables: Sequence[Sequence[Row]] = (),
    symbols: Sequence[tuple[int, int, str]] | None = None,
) -> SymbolTable:
    """The table that `merge` and `shape` make of it, checked for soundness."""
    names = NameTable()
    source = columns(functions, tables, names)
    plan = merge(source, None if symbols is None else SymbolPieces(Symbols(symbols), names))
    table, origin = shape(source, plan)
    assert len(origin) == len(table)
    assert all(plan.start[at] <= start < plan.end[at] for at, start in zip(origin, table.start, strict=True))
    assert_valid(table)
    return table


@dataclass(frozen=True, slots=True)
class Answer:
    """What a table says of one address. A line of 0 is none. The chain is outermost first: (name, call site's file and line)."""

    name: bytes
    place: tuple[tuple[bytes, bytes], int] | None
    chain: tuple[tuple[bytes, tuple[bytes, bytes], int], ...] = ()


def answer(table: SymbolTable, address: int) -> Answer | None:
    for piece in range(len(table)):
        if table.start[piece] <= address < table.end[piece]:
            return Answer(table.names[table.name[piece]], _place(table, piece, address), _chain(table, piece, address))
    return None


def _place(table: SymbolTable, piece: int, address: int) -> tuple[tuple[bytes, bytes], int] | None:
    place = None
    for row in range(table.row_first[piece], table.row_first[piece + 1]):
        if table.row_address[row] <= address:
            place = (table.files[table.row_file[row]], table.row_line[row]) if table.row_line[row] else None
    return place


def _chain(table: SymbolTable, piece: int, address: int) -> tuple[tuple[bytes, tuple[bytes, bytes], int], ...]:
    chain = []
    for node in range(table.node_first[piece], table.node_first[piece + 1]):
        if any(
            table.range_start[at] <= address < table.range_end[at]
            for at in range(table.range_first[node], table.range_first[node + 1])
        ):
            name = table.names[table.node_name[node]]
            chain.append((name, table.files[table.node_call_file[node]], table.node_call_line[node]))
            assert len(chain) == table.node_depth[node]
    return tuple(chain)


Line = tuple[int, int]
Told = tuple[int, int, str, list[tuple[int, str, int]], list[tuple[int, str, list[Range]]]]


def told(table: SymbolTable) -> list[Told]:
    """Every piece as (start, end, name, [(address, file, line)], [(depth, name, ranges)])."""
    return [
        (
            table.start[piece],
            table.end[piece],
            table.names[table.name[piece]].decode(),
            [
                (table.row_address[row], table.files[table.row_file[row]][1].decode(), table.row_line[row])
                for row in range(table.row_first[piece], table.row_first[piece + 1])
            ],
            [
                (
                    table.node_depth[node],
                    table.names[table.node_name[node]].decode(),
                    [
                        (table.range_start[at], table.range_end[at])
                        for at in range(table.range_first[node], table.range_first[node + 1])
                    ],
                )
                for node in range(table.node_first[piece], table.node_first[piece + 1])
            ],
        )
        for piece in range(len(table))
    ]


def pieces(table: SymbolTable) -> list[tuple[int, int, str]]:
    return [(start, end, name) for start, end, name, _, _ in told(table)]
