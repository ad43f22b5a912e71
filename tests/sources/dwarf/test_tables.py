"""Tables keep what was put into them, however often they grow, and give it away without copying it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.sources.dwarf.tables import RangeTable, ScopeTable

PAIRS = st.lists(st.tuples(st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1)), min_size=1, max_size=300)


def filled(pairs: list[tuple[int, int]], room: int) -> ScopeTable:
    table = ScopeTable(room)
    table.grow(len(pairs))
    for index, (child, parent) in enumerate(pairs):
        table.child[index] = child
        table.parent[index] = parent
    table.count = len(pairs)
    return table


def pairs_of(table: ScopeTable) -> list[tuple[int, int]]:
    return list(zip(memoryview(table.child), memoryview(table.parent), strict=True))


@given(PAIRS, st.integers(0, 100), st.integers(0, 1000))
def test_what_is_there_stays_when_a_table_grows(pairs: list[tuple[int, int]], room: int, wanted: int) -> None:
    table = filled(pairs, room)
    before = table.room
    table.grow(wanted)
    assert table.room == len(memoryview(table.child)) == len(memoryview(table.parent)) >= max(wanted, 2 * before)
    assert pairs_of(table.cut()) == pairs


@given(PAIRS)
def test_a_cut_table_has_just_the_items_and_lies_in_the_same_memory(pairs: list[tuple[int, int]]) -> None:
    table = filled(pairs, 10)
    part = table.cut()
    assert type(part) is ScopeTable and part.count == part.room == len(pairs)
    table.child[0] = 7
    assert part.child[0] == 7


def test_a_new_table_is_empty_whatever_its_room() -> None:
    for room in (0, 1, 1 << 20):
        table = RangeTable(room)
        assert table.count == 0 and table.room >= 1
        assert [len(column) for column in table.columns()] == [0, 0]


def test_a_column_takes_only_items_of_its_type() -> None:
    table = RangeTable()
    with pytest.raises((OverflowError, ValueError)):
        table.start[0] = 1 << 64
