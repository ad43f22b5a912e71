"""The bytes themselves, spelt out once: what a reader of the format finds in a small file."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.gsym_writer import (
    advance_address,
    advance_line,
    function_info,
    gsym_v1,
    info,
    inline_node,
    line_table,
    set_file,
    sleb,
    special,
    uleb,
)
from uploader.gsym.encode import encode
from uploader.gsym.line_table_encoder import encode_line_tables
from uploader.symbols.columns import SymbolTable

WINDOW = (-2, 5)


def small_table() -> SymbolTable:
    """``main`` at 0x1000 with a call inlined into two ranges and another one in it; ``end`` at 0x1100 with a name only."""
    return SymbolTable(
        start=array("Q", [0x1000, 0x1100]),
        end=array("Q", [0x1020, 0x1104]),
        name=array("I", [1, 2]),
        row_first=array("I", [0, 3, 3]),
        row_address=array("Q", [0x1000, 0x1004, 0x1010]),
        row_file=array("I", [1, 2, 1]),
        row_line=array("I", [10, 90, 12]),
        node_first=array("I", [0, 2, 2]),
        node_depth=array("I", [1, 2]),
        node_name=array("I", [3, 4]),
        node_call_file=array("I", [1, 2]),
        node_call_line=array("I", [11, 91]),
        range_first=array("I", [0, 2, 3]),
        range_start=array("Q", [0x1004, 0x1010, 0x1006]),
        range_end=array("Q", [0x1008, 0x1012, 0x1008]),
        names=[b"", b"main", b"end", b"outer", b"inner"],
        files=[(b"", b""), (b"/src", b"main.c"), (b"/src", b"inline.h")],
    )


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_small_file_is_written_byte_for_byte_as_the_format_says(order: str) -> None:
    strings = b"\0end\0inner\0main\0outer\0/src\0main.c\0inline.h\0"
    at = {text: strings.index(b"\0" + text + b"\0") + 1 for text in strings.strip(b"\0").split(b"\0")}
    rows = line_table(
        10,
        special(0, 0, WINDOW),
        set_file(2) + advance_line(80) + special(0, 4, WINDOW),
        set_file(1) + advance_line(-78) + special(0, 12, WINDOW),
        window=WINDOW,
    )
    inner = inline_node([(2, 2)], at[b"inner"], 2, 91, order=order)
    outer = inline_node([(4, 4), (16, 2)], at[b"outer"], 1, 11, inner, order=order)
    root = inline_node([(0, 0x20)], at[b"main"], 0, 0, outer, order=order)
    expected = gsym_v1(
        [
            (0x1000, function_info(0x20, at[b"main"], info(1, rows, order), info(2, root, order), order=order)),
            (0x1100, function_info(0x4, at[b"end"], order=order)),
        ],
        base_address=0x800,
        uuid=b"\xab\xcd",
        strings=strings,
        files=[(0, 0), (at[b"/src"], at[b"main.c"]), (at[b"/src"], at[b"inline.h"])],
        order=order,
    )
    assert encode(small_table(), base_address=0x800, uuid=b"\xab\xcd", little_endian=order == "<") == expected


def test_version_2_lists_its_sections_in_llvms_order() -> None:
    data = encode(small_table(), base_address=0x800, uuid=b"\xab\xcd", version=2)
    assert data[:20] == b"MYSG\2\0\2\0" + (0x800).to_bytes(8, "little") + (2).to_bytes(4, "little")
    entries = [data[at : at + 20] for at in range(20, 20 + 7 * 20, 20)]
    kinds = [int.from_bytes(entry[:4], "little") for entry in entries]
    assert kinds == [6, 1, 2, 4, 3, 5, 0]
    sections = {
        kind: data[offset : offset + size]
        for kind, entry in zip(kinds, entries, strict=True)
        for offset, size in [(int.from_bytes(entry[4:12], "little"), int.from_bytes(entry[12:], "little"))]
    }
    assert sections[6] == b"\xab\xcd"
    assert sections[1] == b"\0\x08\0\x09"
    assert sections[3] == b"\0end\0inner\0main\0outer\0/src\0main.c\0inline.h\0"
    assert len(sections[4]) == 4 + 3 * 16
    assert sections[2][:8] == bytes(8)
    second = int.from_bytes(sections[2][8:], "little")
    assert sections[5][second:] == b"\4\0\0\0" + (1).to_bytes(8, "little") + bytes(8)


@pytest.mark.parametrize(
    ("last_start", "size_bytes"),
    [(0x1000 + 0xFF, 1), (0x1000 + 0x100, 2), (0x1000 + 0xFFFF, 2), (0x1000 + 0x10000, 4), (0x1000 + 2**32, 8)],
)
def test_address_offsets_take_the_smallest_size_that_fits(last_start: int, size_bytes: int) -> None:
    table = SymbolTable(names=[b"", b"f"])
    for start in (0x1000, last_start):
        table.start.append(start)
        table.end.append(start + 1)
        table.name.append(1)
        table.row_first.append(0)
        table.node_first.append(0)
    assert encode(table, base_address=0x1000, uuid=b"")[6] == size_bytes


def opcodes(lines: list[int], addresses: list[int] | None = None) -> bytes:
    """The line table of one piece whose rows stand at ``addresses`` (one byte apart if not given), all in file 1."""
    addresses = addresses or list(range(len(lines)))
    table = SymbolTable(
        start=array("Q", [0]),
        end=array("Q", [addresses[-1] + 1]),
        name=array("I", [1]),
        row_first=array("I", [0, len(lines)]),
        row_address=array("Q", addresses),
        row_file=array("I", [1] * len(lines)),
        row_line=array("I", lines),
    )
    payload, ends = encode_line_tables(table, 0, 1, array("I", [0, 1]))
    return bytes(payload[: ends[0]])


def test_a_special_opcode_carries_line_and_address_at_once() -> None:
    rows = opcodes([10, 11, 16, 14], [0, 3, 30, 31])
    assert rows == line_table(
        10, special(0, 0, WINDOW), special(1, 3, WINDOW), special(5, 27, WINDOW), special(-2, 1, WINDOW), window=WINDOW
    )
    assert opcodes([10, 11], [0, 31])[-2:] == bytes([255, 0]), "the last opcode"


def test_a_line_outside_the_window_is_reached_first() -> None:
    first = special(0, 0, WINDOW)
    assert opcodes([1, 100_000]) == line_table(1, first, advance_line(99_999) + special(0, 1, WINDOW), window=WINDOW)
    assert opcodes([100_000, 1]) == line_table(
        100_000, first, advance_line(-99_999) + special(0, 1, WINDOW), window=WINDOW
    )


def test_an_address_too_far_for_a_special_opcode_takes_one_of_its_own() -> None:
    first = special(0, 0, WINDOW)
    assert opcodes([1, 3], [0, 31]) == line_table(1, first, advance_line(2) + special(0, 31, WINDOW), window=WINDOW)
    assert opcodes([1, 9], [0, 300]) == line_table(1, first, advance_line(8) + advance_address(300), window=WINDOW)
    assert opcodes([1, 1], [0, 2**40]) == line_table(1, first, advance_address(2**40), window=WINDOW)


def shortest(delta: int, advance: int) -> int:
    """The bytes of the shortest way to write a row, found by trying all of them."""
    low, high = WINDOW
    ways = [(1 + len(sleb(delta)) if delta else 0) + 1 + len(uleb(advance))]
    for step in range(low, high + 1):
        if 4 + step - low + advance * (high - low + 1) <= 255:
            rest = delta - step
            ways.append((1 + len(sleb(rest)) if rest else 0) + 1)
    return min(ways)


@given(
    st.lists(
        st.tuples(
            st.one_of(st.integers(-20, 20), st.integers(-200, 200), st.integers(-70_000, 70_000)),
            st.one_of(st.integers(1, 40), st.integers(1, 300), st.integers(1, 2**33)),
        ),
        max_size=30,
    )
)
def test_hardly_a_row_could_be_written_shorter(steps: list[tuple[int, int]]) -> None:
    lines, addresses = [100_000 * 30], [0]
    for delta, advance in steps:
        lines.append(lines[-1] + delta)
        addresses.append(addresses[-1] + advance)
    size_bytes = len(opcodes(lines, addresses)) - len(opcodes(lines[:1], addresses[:1]))
    # The whole way to a line, whose bytes recur, where a part of it could be a byte shorter.
    at_the_edge = sum(abs(abs(delta) - edge) <= 6 for delta, _ in steps for edge in (64, 8192))
    best = sum(shortest(*step) for step in steps)
    assert best <= size_bytes <= best + at_the_edge
