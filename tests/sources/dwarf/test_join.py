"""Nodes that the walk met out of the order of their functions are brought together, and files get their slots."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from uploader.core.columns import NONE
from uploader.sources.dwarf.join import gather, grouped, slots_of, spans, unshown
from uploader.sources.dwarf.tables import NodeTable


def indexes(items: list[int]) -> memoryview:
    return memoryview(array("I", items))


def nodes_of(functions: list[int]) -> NodeTable:
    """Nodes of these functions, each of whose other columns tells its place."""
    places = list(range(len(functions)))
    columns = {
        name: memoryview(array(typecode, functions if name == "function" else places))
        for name, typecode in NodeTable.COLUMNS
    }
    return NodeTable().replaced(columns)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_nodes_of_one_function_come_together_in_their_old_order(functions: list[int]) -> None:
    first, end, together = spans(indexes(functions), 6)
    assert together == (functions == sorted(functions))
    table = grouped(nodes_of(functions), first)
    order = sorted(range(len(functions)), key=functions.__getitem__)
    assert list(memoryview(table.function)) == sorted(functions)
    for name, _ in NodeTable.COLUMNS[1:]:
        assert list(memoryview(getattr(table, name))) == order
    for function in range(6):
        assert sorted(functions)[first[function] : end[function]] == [function] * functions.count(function)


def test_of_nothing_there_is_nothing() -> None:
    assert spans(indexes([]), 0) == (array("I"), array("I"), True)
    assert spans(indexes([]), 2) == (array("I", [0, 0]), array("I", [0, 0]), True)
    assert gather(indexes([]), indexes([])) == array("I")


def test_a_file_index_counts_from_its_tables_first_file() -> None:
    first, count, base = array("I", [0, 10, 0]), array("I", [2, 3, 0]), array("I", [0, 1, 0])
    found = slots_of(indexes([0, 1, 2, 0, 1, 3, 4, 0]), indexes([0, 0, 0, 1, 1, 1, 1, 2]), first, count, base)
    assert list(found) == [0, 1, NONE, NONE, 10, 12, NONE, NONE]


def test_ranges_of_what_has_no_name_and_of_all_in_it_are_not_shown() -> None:
    name, depth, first = array("I", [1, 0, 2, 3]), array("I", [1, 2, 3, 2]), array("I", [0, 1, 3, 7, 15])
    assert unshown(name, depth, first) == 2 + 4
