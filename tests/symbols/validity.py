"""Whether a symbol table holds to every invariant that `SymbolTable` promises."""

from __future__ import annotations

from uploader.symbols.columns import SymbolTable

TOP = (1 << 64) - 1


def assert_valid(table: SymbolTable) -> None:
    """Fails where one of `SymbolTable`'s invariants is broken, and says which."""
    pieces = len(table)
    assert len(table.end) == len(table.name) == pieces
    assert table.names[0] == b""
    assert table.files[0] == (b"", b"")
    _assert_spans(table.row_first, pieces, len(table.row_address))
    _assert_spans(table.node_first, pieces, len(table.node_depth))
    _assert_spans(table.range_first, len(table.node_depth), len(table.range_start))
    assert len(table.row_file) == len(table.row_line) == len(table.row_address)
    assert len(table.node_name) == len(table.node_call_file) == len(table.node_call_line) == len(table.node_depth)
    assert len(table.range_end) == len(table.range_start)
    before = 0
    for piece in range(pieces):
        start, end = table.start[piece], table.end[piece]
        assert before <= start < end <= TOP, f"piece {piece} is empty or overlaps the one before"
        before = end
        assert 0 < table.name[piece] < len(table.names), f"piece {piece} is nameless"
        assert table.names[table.name[piece]] != b""
        _assert_rows(table, piece)
        _assert_nodes(table, piece)


def _assert_spans(first: object, count: int, items: int) -> None:
    listed = list(first)  # type: ignore[call-overload]  # any column of indexes
    assert len(listed) == count + 1
    assert listed[0] == 0
    assert listed[-1] == items
    assert listed == sorted(listed)


def _assert_rows(table: SymbolTable, piece: int) -> None:
    rows = range(table.row_first[piece], table.row_first[piece + 1])
    if rows:
        assert table.row_address[rows[0]] == table.start[piece], f"piece {piece}: the first row is not at its start"
    for row in rows:
        assert table.start[piece] <= table.row_address[row] < table.end[piece], f"row {row} leaves its piece"
        assert 0 < table.row_file[row] < len(table.files), f"row {row} has no file"
        if row > rows[0]:
            assert table.row_address[row - 1] < table.row_address[row], f"row {row} does not ascend"
            one, other = ((table.row_file[at], table.row_line[at]) for at in (row - 1, row))
            assert one != other, f"row {row} repeats the one before"


def _assert_nodes(table: SymbolTable, piece: int) -> None:
    stack: list[list[tuple[int, int]]] = [[(table.start[piece], table.end[piece])]]
    claimed: list[list[tuple[int, int]]] = [[]]
    for node in range(table.node_first[piece], table.node_first[piece + 1]):
        depth = table.node_depth[node]
        assert 1 <= depth <= len(stack), f"node {node} skips a level"
        assert 0 < table.node_name[node] < len(table.names), f"node {node} is nameless"
        assert table.names[table.node_name[node]] != b""
        assert table.node_call_file[node] < len(table.files)
        ranges = [
            (table.range_start[at], table.range_end[at])
            for at in range(table.range_first[node], table.range_first[node + 1])
        ]
        assert ranges, f"node {node} has no code"
        del stack[depth:], claimed[depth:]
        before = 0
        for start, end in ranges:
            assert before <= start < end, f"node {node}: a range is empty or does not ascend"
            before = end
            assert any(low <= start and end <= high for low, high in stack[-1]), f"node {node} leaves its parent"
            assert all(end <= low or high <= start for low, high in claimed[-1]), f"node {node} overlaps a sibling"
        claimed[-1] += ranges
        stack.append(ranges)
        claimed.append([])
