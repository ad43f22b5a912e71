"""Numbers are written as DWARF 5 §7.6 and GSYM say, read again as they were, and alike by both cores."""

from __future__ import annotations

import importlib.util
from array import array
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.gsym_writer import advance_address, advance_line, line_table, sleb, special, uleb
from uploader import gsym
from uploader.gsym.decode import decode
from uploader.gsym.encode import encode
from uploader.gsym.line_table_encoder import encode_line_tables
from uploader.symbols.columns import SymbolTable

WINDOW = (-2, 5)

unsigned = st.integers(0, 2**64 - 1)
signed = st.integers(-(2**33) + 1, 2**33 - 1)
sizes = st.sampled_from((1, 2, 4, 8))
lines = st.integers(0, 2**32 - 1)


def plain(name: str) -> ModuleType:
    """A module of this core as plain Python, whether it is compiled or not: a compiled one shows its numbers to none but the core."""
    spec = importlib.util.spec_from_file_location(f"plain_{name}", Path(str(gsym.__file__)).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    return plain("writer")


@pytest.fixture(scope="module")
def reader() -> ModuleType:
    return plain("reader")


@given(st.lists(st.tuples(unsigned, signed, unsigned, sizes)), st.booleans())
def test_what_is_written_is_read(
    writer: ModuleType, reader: ModuleType, numbers: list[tuple[int, int, int, int]], little: bool
) -> None:
    into = writer.GsymWriter(0, little)
    expected = b""
    for one, two, three, size_bytes in numbers:
        into.reserve(3 * writer.NUMBER_MAX_BYTES)
        into.uleb(one)
        into.sleb(two)
        cut = three % 256**size_bytes
        into.fixed(cut, size_bytes)
        expected += uleb(one) + sleb(two) + cut.to_bytes(size_bytes, "little" if little else "big")
    data = bytes(into.out[: into.at])
    assert data == expected
    back = reader.GsymReader(data, "a test", reader.REASONS, little)
    back.end = len(data)
    for one, two, three, size_bytes in numbers:
        assert (back.uleb(), back.sleb(), back.fixed(size_bytes)) == (one, two, three % 256**size_bytes)
    assert back.at == back.end


@given(lines, lines, st.integers(252, 2**64 - 2))
def test_the_running_core_writes_and_reads_the_same_numbers(first: int, second: int, advance: int) -> None:
    table = SymbolTable(
        start=array("Q", [0]),
        end=array("Q", [min(advance + 1, 2**64 - 1)]),
        name=array("I", [1]),
        row_first=array("I", [0, 2]),
        row_address=array("Q", [0, advance]),
        row_file=array("I", [1, 1]),
        row_line=array("I", [first, second]),
        node_first=array("I", [0, 0]),
        names=[b"", b"f"],
        files=[(b"", b""), (b"", b"f.c")],
    )
    payload, ends = encode_line_tables(table, 0, 1, array("I", [0, 1]))
    step = advance_line(second - first) if second != first else b""
    rows = line_table(first, special(0, 0, WINDOW), step, advance_address(advance), window=WINDOW)
    assert bytes(payload[: ends[0]]) == rows
    if advance < 2**32 - 1 and first != second:
        again = decode(encode(table, base_address=0, uuid=b""))[1]
        assert list(again.row_line) == [first, second]
        assert list(again.row_address) == [0, advance]
