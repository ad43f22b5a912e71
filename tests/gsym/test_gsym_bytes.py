"""The bytes themselves, spelt out once: what a reader of the format finds in a small file."""

from __future__ import annotations

from array import array

import pytest

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
from uploader.gsym.encode import encode
from uploader.gsym.line_table import encode_line_tables
from uploader.symbols.columns import SymbolTable


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
        advance_address(0),
        set_file(2) + advance_line(80) + advance_address(4),
        set_file(1) + advance_line(-78) + advance_address(12),
        window=(-78, -78),
    )
    inner = inline_node([(2, 2)], at[b"inner"], 2, 91, order=order)
    outer = inline_node([(4, 4), (16, 2)], at[b"outer"], 1, 11, inner, order=order)
    root = inline_node([(0, 0x20)], at[b"main"], 0, 0, outer, order=order)
    rows = rows.replace(advance_line(-78) + advance_address(12), bytes([4 + 12]))
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


def window(lines: list[int]) -> tuple[int, int]:
    low, high = ((byte ^ 0x40) - 0x40 for byte in opcodes(lines)[:2])
    return low, high


def test_the_window_is_the_one_that_llvm_chooses() -> None:
    assert window([7]) == (0, 0), "one row"
    assert window([10, 11, 13]) == (1, 2), "all deltas, where they lie close enough"
    assert window([10, 11, 12]) == (0, 1), "a single small delta makes room for 0"
    assert window([10, 24, 38]) == (14, 14), "but not one of 14"
    assert window([100, 80, 81, 83, 84]) == (1, 2), "the densest 14 lines, their ends being real deltas"
    assert window([100, 101, 121, 122, 142]) == (0, 1), "the first of equals"
    assert window([100, 80, 100]) == (-20, -20), "negative ones, too"


def test_a_special_opcode_carries_line_and_address_at_once() -> None:
    rows = opcodes([10, 11, 13], [0, 3, 130])
    assert rows == line_table(
        10, advance_address(0), bytes([4 + 0 + 3 * 2]), advance_line(2) + advance_address(127), window=(1, 2)
    )
    assert opcodes([10, 12, 13], [0, 1, 126])[-2:] == bytes([254, 0])
    assert opcodes([10, 11, 13], [0, 1, 126])[-2:] == bytes([255, 0])


def test_a_delta_too_far_for_any_window_still_round_trips_in_plain_opcodes() -> None:
    assert opcodes([1, 100_000]) == line_table(1, bytes([4]), advance_line(99_999) + advance_address(1))
