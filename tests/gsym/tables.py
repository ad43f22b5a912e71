"""Random sound symbol tables, what makes one sound, and what two have to share to be the same."""

from __future__ import annotations

import random
from array import array

from hypothesis import strategies as st

from uploader.symbols.columns import SymbolTable

STEPS = (1, 1, 2, 3, 4, 5, 7, 12, 16, 17, 40, 127, 128, 300)
LINE_STEPS = (0, 1, 1, 1, 2, 3, -1, -5, 7, 14, 15, -14, 63, 64, -64, -65, 300, -300, 5000)


def random_table(
    rng: random.Random, *, pieces: int, far: bool = True, for_llvm: bool = False, aliases: bool = False
) -> SymbolTable:
    """A sound table. ``for_llvm`` leaves out what LLVM's lookup can't show: inlines without rows."""
    table = SymbolTable()
    table.names = [b"", *(b"name%d" % number for number in range(1, 30)), b"_Z3f\xc3\xa4v", b"a" * 300]
    table.files = [(b"", b""), *((b"/dir%d" % (number % 4), b"f%d.c" % number) for number in range(1, 200))]
    address = rng.choice((0, 1, 0x1000, 0x400000, 0xFFFFFF0000000000))
    for _ in range(pieces):
        address += rng.choice((0, 0, 1, 16, 300, 70000, 0x1_2345_6789 if far else 5))
        start = address
        end = start + rng.choice((1, 2, 10, 200, 5000))
        table.start.append(start)
        table.end.append(end)
        table.name.append(rng.randrange(1, len(table.names)))
        has_rows = rng.random() < 0.8
        if has_rows:
            _add_rows(rng, table, start, end)
        table.row_first.append(len(table.row_address))
        if rng.random() < 0.7 and (has_rows or not for_llvm):
            _add_nodes(rng, table, [(start, end)], 1)
        table.node_first.append(len(table.node_depth))
        address = end
    if aliases:
        _add_aliases(rng, table)
    return table


def _add_aliases(rng: random.Random, table: SymbolTable) -> None:
    first = array("I", [0])
    for _ in range(len(table)):
        for _ in range(rng.choice((0, 0, 0, 1, 2, 40))):
            table.alias_name.append(rng.randrange(1, len(table.names)))
        first.append(len(table.alias_name))
    if len(table.alias_name):
        table.alias_first = first


def _add_rows(rng: random.Random, table: SymbolTable, start: int, end: int) -> None:
    line = rng.choice((0, 1, 50, 4000, 0xFFFFFFF0))
    before: tuple[int, int] | None = None
    address = start
    while address < end and len(table.row_address) - table.row_first[-1] < 60:
        line = min(max(line + rng.choice(LINE_STEPS), 0), 0xFFFFFFFF)
        file = rng.choice((1, 1, 1, 2, 150))
        if (file, line) != before:
            table.row_address.append(address)
            table.row_file.append(file)
            table.row_line.append(line)
            before = (file, line)
        address += rng.choice(STEPS)


def _add_nodes(rng: random.Random, table: SymbolTable, parent: list[tuple[int, int]], depth: int) -> None:
    """Cuts the parent's ranges into stretches and deals them to a few siblings in turn, so that siblings interleave."""
    stretches = []
    for start, end in parent:
        cuts = sorted({start, end, *(rng.randrange(start, end + 1) for _ in range(rng.randrange(0, 4)))})
        stretches += [(low, high) for low, high in zip(cuts, cuts[1:], strict=False) if rng.random() < 0.7]
    siblings = rng.randrange(1, 4)
    for sibling in range(siblings):
        ranges = stretches[sibling::siblings]
        if not ranges:
            continue
        table.node_depth.append(depth)
        table.node_name.append(rng.randrange(1, len(table.names)))
        table.node_call_file.append(rng.choice((0, 1, rng.randrange(len(table.files)))))
        table.node_call_line.append(rng.choice((0, 1, 200, 0xFFFFFFFF)))
        for low, high in ranges:
            table.range_start.append(low)
            table.range_end.append(high)
        table.range_first.append(len(table.range_start))
        if depth < 6 and rng.random() < 0.5:
            _add_nodes(rng, table, ranges, depth + 1)


@st.composite
def tables(draw: st.DrawFn, *, for_llvm: bool = False) -> SymbolTable:
    return random_table(
        draw(st.randoms(use_true_random=False)),
        pieces=draw(st.integers(0, 8)),
        far=draw(st.booleans()),
        for_llvm=for_llvm,
        aliases=draw(st.booleans()),
    )


def content(table: SymbolTable) -> list[object]:
    """All that a table says, with names and files spelt out: numbering doesn't count."""
    return [
        *(column.tolist() for column in (table.start, table.end, table.row_first, table.row_address, table.row_line)),
        *(column.tolist() for column in (table.node_first, table.node_depth, table.node_call_line)),
        *(column.tolist() for column in (table.range_first, table.range_start, table.range_end)),
        table.alias_first.tolist(),
        [table.names[name] for name in (*table.name, *table.node_name, *table.alias_name)],
        [table.files[file] for file in (*table.row_file, *table.node_call_file)],
    ]


def assert_sound(table: SymbolTable) -> None:
    """Every invariant of `SymbolTable`, told plainly."""
    pieces = len(table)
    assert len(table.end) == len(table.name) == pieces
    _assert_firsts(table.row_first, pieces, len(table.row_address))
    _assert_firsts(table.node_first, pieces, len(table.node_depth))
    _assert_firsts(table.range_first, len(table.node_depth), len(table.range_start))
    assert table.names[0] == b"" and b"" not in table.names[1:] and table.files[0] == (b"", b"")
    assert all(0 < name < len(table.names) for name in (*table.name, *table.node_name, *table.alias_name))
    if table.alias_name:
        _assert_firsts(table.alias_first, pieces, len(table.alias_name))
    else:
        assert not table.alias_first
    assert all(0 < file < len(table.files) for file in table.row_file)
    assert all(file < len(table.files) for file in table.node_call_file)
    assert all(table.end[piece] <= table.start[piece + 1] for piece in range(pieces - 1))
    for piece in range(pieces):
        start, end = table.start[piece], table.end[piece]
        assert start < end
        rows = range(table.row_first[piece], table.row_first[piece + 1])
        assert not rows or table.row_address[rows[0]] == start
        for row in rows:
            assert start <= table.row_address[row] < end
            if row > rows[0]:
                assert table.row_address[row] > table.row_address[row - 1]
                assert (table.row_file[row], table.row_line[row]) != (table.row_file[row - 1], table.row_line[row - 1])
        _assert_sound_tree(table, piece)


def _assert_firsts(column: array[int], owners: int, items: int) -> None:
    assert len(column) == owners + 1 and column[0] == 0 and column[-1] == items
    assert all(before <= after for before, after in zip(column, column[1:], strict=False))


def _assert_sound_tree(table: SymbolTable, piece: int) -> None:
    path = [{(table.start[piece], table.end[piece])}]
    taken: dict[int, list[tuple[int, int]]] = {}
    for node in range(table.node_first[piece], table.node_first[piece + 1]):
        depth = table.node_depth[node]
        assert 1 <= depth <= len(path)
        items = range(table.range_first[node], table.range_first[node + 1])
        ranges = [(table.range_start[item], table.range_end[item]) for item in items]
        assert ranges and all(low < high for low, high in ranges)
        assert all(before[1] <= after[0] for before, after in zip(ranges, ranges[1:], strict=False))
        del path[depth:]
        assert all(_covered(low, high, path[-1]) for low, high in ranges)
        taken.setdefault(depth, []).extend(ranges)
        path.append(set(ranges))
    for ranges in taken.values():
        ranges.sort()
        assert all(before[1] <= after[0] for before, after in zip(ranges, ranges[1:], strict=False))


def _covered(low: int, high: int, ranges: set[tuple[int, int]]) -> bool:
    for start, end in sorted(ranges):
        if start <= low < end:
            low = min(end, high)
    return low == high
