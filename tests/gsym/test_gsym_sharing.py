"""Functions that say the same share one record: the same answers from fewer bytes, and no bomb of it."""

from __future__ import annotations

import random
import re
import struct
import time
import tracemalloc
from array import array
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gsym.llvm_answers import Gsymutil, llvm_chains, our_chain
from tests.gsym.tables import assert_sound, content, random_table
from tests.writers.gsym_writer import advance_address, advance_line, function_info, info, line_table
from uploader.errors import MalformedGsym
from uploader.gsym.decode import decode, info_offsets
from uploader.gsym.encode import encode
from uploader.gsym.layout import parse_header
from uploader.gsym.lookup import Gsym
from uploader.symbols.columns import SymbolTable

SLACK_BYTES = 1 << 16
"""What is left out may outweigh what is kept by so much."""


def repeated(table: SymbolTable, times: int) -> SymbolTable:
    """The table's functions over and over, each time behind the last ones."""
    result = SymbolTable(names=table.names, files=table.files)
    step = table.end[-1] - table.start[0] + 16 if len(table) else 0
    for turn in range(times):
        shift = turn * step
        for column in ("start", "end", "row_address", "range_start", "range_end"):
            getattr(result, column).extend(address + shift for address in getattr(table, column))
        for column in ("name", "row_file", "row_line", "node_depth", "node_name", "node_call_file", "node_call_line"):
            getattr(result, column).extend(getattr(table, column))
        result.alias_name.extend(table.alias_name)
    for column, items in (("row_first", table.row_address), ("node_first", table.node_depth)):
        _repeat_firsts(getattr(result, column), getattr(table, column), len(items), times)
    _repeat_firsts(result.range_first, table.range_first, len(table.range_start), times)
    if table.alias_name:
        result.alias_first = array("I", [0])
        _repeat_firsts(result.alias_first, table.alias_first, len(table.alias_name), times)
    return result


def _repeat_firsts(target: array[int], firsts: array[int], items: int, times: int) -> None:
    for turn in range(times):
        target.extend(first + turn * items for first in firsts[1:])


def records_of(data: bytes) -> list[int]:
    """Where the record of each function begins."""
    return list(info_offsets(data, parse_header(data)))


def table_of(count: int, *, rows: int, name: int = 1, line: int = 10, size: int = 0) -> SymbolTable:
    """So many equal functions with a row for every byte."""
    one = SymbolTable(names=[b"", b"copied", b"other"], files=[(b"", b""), (b"/src", b"a.h")])
    one.start.append(0x1000)
    one.end.append(0x1000 + max(rows, size, 1))
    one.name.append(name)
    for row in range(rows):
        one.row_address.append(0x1000 + row)
        one.row_file.append(1)
        one.row_line.append(line + row % 5)
    one.row_first.append(rows)
    one.node_first.append(0)
    return repeated(one, count)


def random_repeated(rng: random.Random, *, pieces: int, times: int, **more: bool) -> SymbolTable:
    return repeated(random_table(rng, pieces=pieces, far=False, **more), times)


@given(
    st.randoms(use_true_random=False),
    st.integers(1, 5),
    st.integers(2, 6),
    st.booleans(),
    st.booleans(),
    st.sampled_from((1, 2)),
)
def test_repeated_functions_take_one_record_each_and_read_back_as_they_were(
    rng: random.Random, pieces: int, times: int, aliases: bool, little_endian: bool, version: int
) -> None:
    table = random_repeated(rng, pieces=pieces, times=times, aliases=aliases)
    assert_sound(table)
    data = encode(table, base_address=0, uuid=b"id", little_endian=little_endian, version=version)
    again = decode(data)[1]
    assert content(again) == content(table)
    assert_sound(again)
    records = records_of(data)
    assert len(records) == pieces * times
    assert len(set(records)) < len(records)
    if not aliases:  # Their copies may be more than may be shared.
        assert records == records[:pieces] * times
    assert encode(again, base_address=0, uuid=b"id", little_endian=little_endian, version=version) == data


@given(st.randoms(use_true_random=False), st.integers(2, 4))
def test_the_number_of_threads_does_not_change_what_is_shared(rng: random.Random, threads: int) -> None:
    table = random_repeated(rng, pieces=4, times=5)
    alone = encode(table, base_address=0, uuid=b"", threads=1)
    assert encode(table, base_address=0, uuid=b"", threads=threads) == alone


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(table_of(1, rows=9, name=2), id="name"),
        pytest.param(table_of(1, rows=9, line=11), id="line"),
        pytest.param(table_of(1, rows=9, size=10), id="size"),
        pytest.param(table_of(1, rows=0, size=9), id="no lines"),
    ],
)
def test_functions_that_differ_in_one_thing_have_records_of_their_own(other: SymbolTable) -> None:
    both = table_of(2, rows=9)
    both.start.append(0x2000)
    both.end.append(0x2000 + other.end[0] - other.start[0])
    both.name.append(other.name[0])
    both.row_address.extend(address + 0x1000 for address in other.row_address)
    both.row_file.extend(other.row_file)
    both.row_line.extend(other.row_line)
    both.row_first.append(len(both.row_address))
    both.node_first.append(0)
    data = encode(both, base_address=0, uuid=b"")
    first, second, third = records_of(data)
    assert first == second != third
    assert content(decode(data)[1]) == content(both)


def test_a_thousand_copies_take_little_more_room_than_one() -> None:
    one, thousand = (len(encode(table_of(count, rows=20), base_address=0, uuid=b"")) for count in (1, 1000))
    assert thousand - one < 1000 * 8 + 64, "an address and an offset each"


def test_an_address_within_any_copy_is_looked_up_in_the_one_record() -> None:
    gsym = Gsym(encode(table_of(50, rows=5), base_address=0, uuid=b""))
    for copy in range(50):
        (frame,) = gsym.lookup(0x1000 + copy * 21 + 3)
        assert (frame.name, frame.base, frame.line, frame.offset_bytes) == (b"copied", b"a.h", 13, 3)


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
def test_llvm_reads_shared_records_without_a_complaint_and_answers_as_we_do(
    tmp_path: Path, gsymutil: Gsymutil, little_endian: bool
) -> None:
    rng = random.Random(1)
    table = random_repeated(rng, pieces=30, times=7, for_llvm=True)
    path = tmp_path / "shared.gsym"
    path.write_bytes(encode(table, base_address=table.start[0], uuid=bytes(20), little_endian=little_endian))
    assert len(set(records_of(path.read_bytes()))) == 30
    dump = gsymutil(path)
    assert "error" not in dump and "warning" not in dump
    starts = [int(start, 16) for start in re.findall(r"FunctionInfo @ 0x[0-9a-f]+: \[0x([0-9a-f]+) - ", dump)]
    assert starts == list(table.start)
    gsym = Gsym(path.read_bytes())
    addresses = sorted(
        {*table.start, *(end - 1 for end in table.end), *rng.sample(list(table.row_address), 500), *table.end}
    )
    answers = llvm_chains(gsymutil, path, addresses)
    assert {address: our_chain(gsym, address) for address in addresses} == answers
    assert all(answers[start] for start in table.start)


@pytest.mark.parametrize(("count", "rows"), [(2000, 1000), (200, 30_000), (100_000, 3)])
def test_no_more_is_shared_than_readers_are_told_to_expect(count: int, rows: int) -> None:
    """Whatever the encoder shares the decoder takes; and what it decodes to is bounded by the file's own size."""
    table = table_of(count, rows=rows)
    data = encode(table, base_address=0, uuid=b"")
    records = sorted(set(records_of(data)))
    kept = len(data) - records[0]
    left_out = (count - len(records)) * (kept // len(records))
    assert left_out <= kept + SLACK_BYTES
    assert len(records) < count * 0.6
    assert content(decode(data)[1]) == content(table)


def hostile(count: int, size: int, record: bytes) -> bytes:
    """A file of v1 with four-byte address offsets, all of whose functions of ``size`` bytes point at one record."""
    strings = b"\0copied\0/src\0a.c\0"
    files = struct.pack("<IIIII", 2, 0, 0, 8, 13)
    strings_at = 48 + 8 * count + len(files)
    record_at = -(-(strings_at + len(strings)) // 4) * 4
    header = struct.pack("<IHBBQIII20s", 0x4753594D, 1, 4, 0, 0x1000, count, strings_at, len(strings), bytes(20))
    addresses = array("I", range(0, count * size, size)).tobytes()
    offsets = array("I", [record_at]).tobytes() * count
    body = header + addresses + offsets + files + strings
    return body.ljust(record_at, b"\0") + record


def rows_record(size: int, rows: int) -> bytes:
    ops = advance_address(0) + (advance_line(1) + advance_address(1)) * (rows - 1)
    return function_info(size, 1, info(1, line_table(1, ops)))


def test_the_writer_of_hostile_files_writes_sound_ones_too() -> None:
    _, table = decode(hostile(3, 64, rows_record(64, 10)))
    assert_sound(table)
    assert [table.names[name] for name in table.name] == [b"copied"] * 3


@pytest.mark.parametrize(
    ("count", "rows"), [(1_000_000, 4_000), (1_000_000, 20), (60_000, 60_000)], ids=["many", "small", "large"]
)
def test_a_million_addresses_of_one_large_record_are_refused_in_bounded_time_and_memory(count: int, rows: int) -> None:
    data = hostile(count, 4096 if rows < 4096 else 65_536, rows_record(4096 if rows < 4096 else 65_536, rows))
    tracemalloc.start()
    began = time.process_time()
    try:
        with pytest.raises(MalformedGsym, match="shared by more functions than a file of this size can mean"):
            decode(data)
        spent = time.process_time() - began
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert spent < 20
    assert peak_bytes < 24 * len(data)


def test_of_a_file_that_is_refused_whole_single_addresses_are_still_looked_up() -> None:
    gsym = Gsym(hostile(100_000, 4096, rows_record(4096, 4000)))
    (frame,) = gsym.lookup(0x1000 + 4096 * 77_777 + 5)
    assert (frame.name, frame.base, frame.offset_bytes) == (b"copied", b"a.c", 5)
