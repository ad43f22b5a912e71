"""The bytes that a GSYM file speaks for are counted from its bytes alone, and never beyond the code."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agreement
import covered


def gsym(tmp_path: Path, functions: list[tuple[int, int, bytes]], *, order: str = "<", base: int = 0x1000) -> Path:
    """A GSYM file of (start, size, line table): the line table of a function may be empty."""
    count = len(functions)
    offsets = struct.pack(f"{order}{count}H", *(start - base for start, _, _ in functions))
    head = 48 + len(offsets) + -len(offsets) % 4
    infos, places = b"", []
    for _, size, lines in functions:
        infos += bytes(-len(infos) % 4)
        places.append(head + 4 * count + len(infos))
        part = struct.pack(order + "II", covered.LINE_TABLE, len(lines)) + lines if lines else b""
        infos += struct.pack(order + "II", size, 1) + part + bytes(8)
    header = struct.pack(order + "IHBBQIII", covered.MAGIC, 1, 2, 0, base, count, 0, 0) + bytes(20)
    path = tmp_path / "x.gsym"
    path.write_bytes((header + offsets).ljust(head, b"\0") + struct.pack(f"{order}{count}I", *places) + infos)
    return path


ROW_THEN_LINE_0_AT_8 = bytes([0, 0, 5, 2, 0, 3, 0x7B, 2, 8, 0])
"""A row of line 5 at the start, and one of line 0 eight bytes on."""


@pytest.mark.parametrize("order", ["<", ">"])
def test_functions_and_known_lines_are_counted_in_either_byte_order(tmp_path: Path, order: str) -> None:
    path = gsym(tmp_path, [(0x1000, 16, ROW_THEN_LINE_0_AT_8), (0x1020, 16, b"")], order=order)
    found = covered.measure(path, [(0x1000, 0x1100)])
    assert (found.functions, found.executable_bytes, found.function_bytes, found.line_bytes) == (2, 256, 32, 8)


def test_a_function_without_a_size_reaches_to_the_next_start(tmp_path: Path) -> None:
    path = gsym(tmp_path, [(0x1000, 0, b""), (0x1040, 16, b"")])
    assert covered.measure(path, [(0x1000, 0x1100)]).function_bytes == 0x50


def test_a_function_ends_with_its_section_and_counts_only_where_code_lies(tmp_path: Path) -> None:
    path = gsym(tmp_path, [(0x1000, 0x100, b""), (0x1300, 8, b"")])
    assert covered.measure(path, [(0x1000, 0x1010), (0x1020, 0x1030)]).function_bytes == 16


def test_functions_that_overlap_are_counted_once(tmp_path: Path) -> None:
    path = gsym(tmp_path, [(0x1000, 32, b""), (0x1000, 16, b""), (0x1010, 32, b"")])
    assert covered.measure(path, [(0x1000, 0x1100)]).function_bytes == 0x30


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda pair: (min(pair), max(pair)))))
def test_a_union_counts_each_address_once(ranges: list[tuple[int, int]]) -> None:
    assert covered.union_bytes(ranges) == len({one for start, end in ranges for one in range(start, end)})


@pytest.mark.parametrize("converter", ["symup", "llvm"])
def test_the_count_is_what_llvm_finds_address_by_address(
    built_binary: Callable[[str], Path], tmp_path: Path, converter: str
) -> None:
    binary, out = built_binary("gcc-dwarf5"), tmp_path / "x.gsym"
    agreement.convert(binary, out, converter=converter)
    code = agreement.read_code(binary)
    drawn = code.draw(1_000_000, 1)
    answers = {
        address: answer
        for address, answer in agreement.ask_gsymutil(out, drawn).items()
        if answer.names_function and not code.stretched(address, answer)
    }
    found = covered.measure(out, code.ranges)
    assert found.executable_bytes == len(drawn)
    assert found.function_bytes == len(answers)
    assert found.line_bytes == sum(bool(answer.frames[0].line) for answer in answers.values())
