"""Addresses to frames."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.gsym.tables import tables
from tests.writers.gsym_writer import (
    advance_address,
    advance_line,
    function_info,
    gsym_v1,
    info,
    inline_node,
    line_table,
    set_file,
)
from uploader.errors import MalformedGsym
from uploader.gsym.encode import encode
from uploader.gsym.lookup import Frame, Gsym
from uploader.symbols.columns import SymbolTable

STRINGS = b"\0main\0inner\0/src\0a.c\0"
MAIN, INNER, SRC, A_C = 1, 6, 12, 17
FILES = ((0, 0), (SRC, A_C))


def frames(gsym: Gsym, address: int) -> list[tuple[bytes, bytes, bytes, int, int]]:
    return [(frame.name, frame.directory, frame.base, frame.line, frame.offset_bytes) for frame in gsym.lookup(address)]


def expected_frames(table: SymbolTable, address: int) -> list[tuple[bytes, bytes, bytes, int, int]]:
    """What a table says of an address, found by looking at everything."""
    for piece in range(len(table)):
        if table.start[piece] <= address < table.end[piece]:
            break
    else:
        return []
    place: tuple[bytes, bytes, int] = (b"", b"", 0)
    for row in range(table.row_first[piece], table.row_first[piece + 1]):
        if table.row_address[row] <= address:
            place = (*table.files[table.row_file[row]], table.row_line[row])
    chain = []
    for node in range(table.node_first[piece], table.node_first[piece + 1]):
        items = range(table.range_first[node], table.range_first[node + 1])
        if any(table.range_start[item] <= address < table.range_end[item] for item in items):
            chain.append(node)
    found = []
    for node in reversed(chain):
        begin = table.range_start[table.range_first[node]]
        found.append((table.names[table.node_name[node]], *place, address - begin))
        place = (*table.files[table.node_call_file[node]], table.node_call_line[node])
    return [*found, (table.names[table.name[piece]], *place, address - table.start[piece])]


def interesting_addresses(table: SymbolTable) -> set[int]:
    edges = {*table.start, *table.end, *table.row_address, *table.range_start, *table.range_end}
    return {max(edge + step, 0) for edge in edges for step in (-1, 0, 1)} | {0}


@given(tables())
def test_lookup_tells_what_the_table_says(table: SymbolTable) -> None:
    for version, little_endian in ((1, True), (1, False), (2, True), (2, False)):
        gsym = Gsym(encode(table, base_address=0, uuid=b"", version=version, little_endian=little_endian))
        for address in interesting_addresses(table):
            assert frames(gsym, address) == expected_frames(table, address), hex(address)


def one_function(*infos: bytes, size: int = 0x20) -> Gsym:
    return Gsym(gsym_v1([(0x1000, function_info(size, MAIN, *infos))], strings=STRINGS, files=FILES))


def test_an_address_that_nothing_covers_has_no_frames() -> None:
    gsym = one_function()
    assert gsym.lookup(0xFFF) == gsym.lookup(0x1020) == gsym.lookup(0) == gsym.lookup(2**64 - 1) == []
    assert Gsym(gsym_v1([])).lookup(0x1000) == []


def test_a_function_without_lines_gives_its_name() -> None:
    assert one_function().lookup(0x1004) == [Frame(name=b"main", directory=b"", base=b"", line=0, offset_bytes=4)]


def test_an_inlined_call_from_an_unknown_place_still_gives_its_frame() -> None:
    rows = info(1, line_table(10, advance_address(0)))
    tree = info(2, inline_node([(0, 0x20)], MAIN, 0, 0, inline_node([(4, 4)], INNER, 0, 0)))
    assert frames(one_function(rows, tree), 0x1006) == [
        (b"inner", b"/src", b"a.c", 10, 2),
        (b"main", b"", b"", 0, 6),
    ]


def test_a_function_of_unknown_size_reaches_to_the_next_one() -> None:
    """llvm-gsymutil writes symbols without a size as size 0."""
    gsym = Gsym(
        gsym_v1([(0x1000, function_info(0, MAIN)), (0x1100, function_info(1, INNER))], strings=STRINGS, files=FILES)
    )
    assert [frame.name for frame in gsym.lookup(0x10FF)] == [b"main"]


def test_of_functions_with_one_start_the_first_that_covers_the_address_answers() -> None:
    gsym = Gsym(
        gsym_v1([(0x1000, function_info(4, MAIN)), (0x1000, function_info(8, INNER))], strings=STRINGS, files=FILES)
    )
    assert [gsym.lookup(address)[0].name for address in (0x1003, 0x1004)] == [b"main", b"inner"]


def test_of_rows_at_one_address_the_last_answers() -> None:
    rows = line_table(10, advance_address(0), advance_line(5) + advance_address(0))
    gsym = one_function(info(1, rows))
    assert [gsym.lookup(address)[0].line for address in (0x1000, 0x1001)] == [15, 15]


def test_a_row_may_name_the_last_file_and_none_behind_it() -> None:
    named = [one_function(info(1, line_table(10, set_file(n), advance_address(0)))) for n in range(len(FILES) + 1)]
    assert named[-2].lookup(0x1000)[0].base == b"a.c"
    with pytest.raises(MalformedGsym, match="a file that isn't there"):
        named[-1].lookup(0x1000)


def test_rows_begin_with_file_1_which_a_table_without_it_does_not_have() -> None:
    function = function_info(0x20, MAIN, info(1, line_table(10, advance_address(0))))
    gsym = Gsym(gsym_v1([(0x1000, function)], strings=STRINGS, files=FILES[:1]))
    with pytest.raises(MalformedGsym, match="a row names a file that isn't there"):
        gsym.lookup(0x1000)


def test_a_damaged_function_costs_only_itself() -> None:
    damaged = function_info(4, MAIN, info(1, b"\0\0\x80"))
    gsym = Gsym(gsym_v1([(0x1000, damaged), (0x1010, function_info(4, INNER))], strings=STRINGS, files=FILES))
    with pytest.raises(MalformedGsym):
        gsym.lookup(0x1001)
    assert gsym.lookup(0x1011)[0].name == b"inner"
