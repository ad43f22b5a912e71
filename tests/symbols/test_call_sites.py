"""Inlines of one call site become one; no address has another answer."""

from __future__ import annotations

import copy
from array import array

from hypothesis import given

from tests.gsym.tables import tables
from uploader.symbols.call_sites import join_call_sites
from uploader.symbols.columns import SymbolTable

Site = tuple[int, int, int]


def site(table: SymbolTable, node: int) -> Site:
    return table.node_name[node], table.node_call_file[node], table.node_call_line[node]


def chain(table: SymbolTable, piece: int, address: int) -> list[Site]:
    """The calls that hold an address, outermost first."""
    found: list[Site] = []
    for node in range(table.node_first[piece], table.node_first[piece + 1]):
        ranges = range(table.range_first[node], table.range_first[node + 1])
        if any(table.range_start[item] <= address < table.range_end[item] for item in ranges):
            found.append(site(table, node))
    return found


def siblings(table: SymbolTable, piece: int) -> list[tuple[Site, ...]]:
    """The path of sites to each node of a piece."""
    path: list[Site] = []
    found = []
    for node in range(table.node_first[piece], table.node_first[piece + 1]):
        del path[table.node_depth[node] - 1 :]
        path.append(site(table, node))
        found.append(tuple(path))
    return found


@given(tables())
def test_each_call_site_has_one_node_and_each_address_its_calls(table: SymbolTable) -> None:
    joined = copy.deepcopy(table)
    join_call_sites(joined)
    for piece in range(len(table)):
        assert sorted(siblings(joined, piece)) == sorted(set(siblings(table, piece)))
        first, last = (table.range_first[table.node_first[piece + more]] for more in (0, 1))
        for address in {*table.range_start[first:last], *table.range_end[first:last]}:
            assert chain(joined, piece, address) == chain(table, piece, address)


def test_more_nodes_and_ranges_than_are_likely_are_joined_too() -> None:
    """Two sites in turn, each in a thousand pieces."""
    count = 2000
    table = SymbolTable(
        start=array("Q", [0]),
        end=array("Q", [4 * count]),
        name=array("I", [1]),
        row_first=array("I", [0, 0]),
        node_first=array("I", [0, count]),
        node_depth=array("I", [1]) * count,
        node_name=array("I", [2]) * count,
        node_call_file=array("I", [0]) * count,
        node_call_line=array("I", [1, 2]) * (count // 2),
        range_first=array("I", range(count + 1)),
        range_start=array("Q", range(0, 4 * count, 4)),
        range_end=array("Q", range(2, 4 * count, 4)),
    )
    join_call_sites(table)
    assert list(table.node_first) == [0, 2]
    assert list(table.node_call_line) == [1, 2]
    assert list(table.range_first) == [0, count // 2, count]
    assert list(table.range_start) == [*range(0, 4 * count, 8), *range(4, 4 * count, 8)]
