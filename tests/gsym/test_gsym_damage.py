"""Any bytes give a sound table or `MalformedGsym`: nothing else escapes, and nothing runs away."""

from __future__ import annotations

import mmap
import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.gsym.tables import assert_sound, random_table, tables
from tests.writers.gsym_writer import (
    advance_address,
    advance_line,
    function_info,
    gsym_v1,
    info,
    inline_node,
    line_table,
    set_file,
    uleb,
)
from uploader.errors import MalformedGsym
from uploader.gsym.decode import decode
from uploader.gsym.encode import encode
from uploader.gsym.lookup import Gsym
from uploader.symbols.columns import SymbolTable

STRINGS = b"\0main\0inner\0/src\0a.c\0"
MAIN, INNER, SRC, A_C = 1, 6, 12, 17
FILES = ((0, 0), (SRC, A_C))


def answers_soundly(data: bytes) -> bool:
    """Whether the bytes decode; a table that comes out has to be sound. Lookups may answer or complain, too."""
    try:
        gsym = Gsym(data)
        for address in (0, gsym.header.base_address, gsym.header.base_address + 0x12):
            gsym.lookup(address)
            gsym.aliases(address)
    except MalformedGsym:
        pass
    try:
        _, table = decode(data)
    except MalformedGsym:
        return False
    assert_sound(table)
    return True


@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    answers_soundly(data)
    answers_soundly(b"MYSG\1\0\1\0" + data)
    answers_soundly(b"GSYM\0\2\1\0" + data)


@given(tables(), st.sampled_from((1, 2)), st.booleans(), st.data())
def test_single_byte_changes(table: SymbolTable, version: int, little_endian: bool, draws: st.DataObject) -> None:
    data = bytearray(encode(table, base_address=0, uuid=b"id", version=version, little_endian=little_endian))
    for _ in range(8):
        at = draws.draw(st.integers(0, len(data) - 1))
        before = data[at]
        data[at] = draws.draw(st.one_of(st.integers(0, 255), st.sampled_from((0, 1, 0x7F, 0x80, 0xFF))))
        answers_soundly(bytes(data))
        data[at] = before


@pytest.mark.parametrize("version", [1, 2])
def test_every_single_byte_set_to_its_extremes(version: int) -> None:
    data = bytearray(encode(random_table(random.Random(3), pieces=3), base_address=0, uuid=b"id", version=version))
    for at, before in enumerate(data):
        for value in (0, 0xFF, before ^ 1):
            data[at] = value
            answers_soundly(bytes(data))
        data[at] = before


@pytest.mark.parametrize("version", [1, 2])
def test_every_truncation_is_noticed(version: int) -> None:
    data = encode(random_table(random.Random(5), pieces=4), base_address=0, uuid=b"id", version=version)
    assert answers_soundly(data)
    spare_padding = 3
    for size in range(len(data) - spare_padding):
        assert not answers_soundly(data[:size]), size


def one_function(*infos: bytes, size: int = 0x20, name: int = MAIN, strings: bytes = STRINGS) -> bytes:
    return gsym_v1([(0x1000, function_info(size, name, *infos))], strings=strings, files=FILES)


def lines(*ops: bytes, first_line: int = 10, window: tuple[int, int] = (0, 0)) -> bytes:
    return one_function(info(1, line_table(first_line, *ops, window=window)))


def inlines(*children: bytes, root: tuple[int, int] = (0, 0x20)) -> bytes:
    return one_function(info(2, inline_node([root], MAIN, 0, 0, *children)))


FAULTS = {
    "not a GSYM file": b"",
    "no room for its header": b"MYSG\1\0",
    "version 7": b"MYSG\7\0\1" + bytes(60),
    "no size for": b"MYSG\1\0\3" + bytes(60),
    "UUID of 21 bytes": b"MYSG\1\0\1\x15" + bytes(60),
    "address offsets": b"MYSG\1\0\4\0" + bytes(8) + b"\xff\xff\xff\xff" + bytes(40),
    "no room for its 4294967295 entries": b"MYSG\1\0\1\0" + bytes(40) + b"\xff\xff\xff\xff" + bytes(9),
    "begin and end with a zero": one_function(strings=STRINGS[:-1]),
    "begin with the empty entry": gsym_v1([], strings=STRINGS, files=((SRC, A_C),)),
    "don't ascend": gsym_v1([(0x1000, function_info(1, MAIN)), (0x1000, function_info(1, MAIN))], strings=STRINGS),
    "overlaps the next": gsym_v1([(0x1000, function_info(9, MAIN)), (0x1008, function_info(1, MAIN))], strings=STRINGS),
    "is empty": one_function(size=0),
    "name lies outside": one_function(name=len(STRINGS)),
    "a name lies outside": one_function(name=0),
    "an empty name": one_function(name=MAIN + 4),
    "wrong end mark": one_function(info(0, b"1234")),
    "two line tables": one_function(
        info(1, line_table(1, advance_address(0))), info(1, line_table(1, advance_address(0)))
    ),
    "line table is cut off": one_function(info(1, b"\0\0\x80")),
    "line table holds a number that is too large": one_function(info(1, b"\0\0" + b"\xff" * 9 + b"\x02\0")),
    "no range of line deltas": lines(window=(3, 2)),
    "lines that 32 bits": lines(advance_line(-11), advance_address(0)),
    "32 bits": lines(advance_line(1), first_line=0xFFFFFFFF),
    "leaves its function": lines(advance_address(0), advance_line(1), advance_address(0x20)),
    "begin at its function's start": lines(advance_address(1)),
    "doesn't advance": lines(advance_address(0), advance_line(1), advance_address(0)),
    "repeats a row": lines(advance_address(0), advance_address(1)),
    "line table names a file": lines(set_file(2), advance_address(0)),
    "a file that isn't there": lines(set_file(0), advance_address(0)),
    "line table has bytes after its end": one_function(info(1, line_table(1, advance_address(0)) + b"\0")),
    "root that is not its function": inlines(root=(0, 0x10)),
    "is not its function": one_function(info(2, b"\0")),
    "outside its parent": inlines(inline_node([(0x1F, 2)], INNER, 1, 1)),
    "node outside": inlines(inline_node([(8, 8)], INNER, 1, 1, inline_node([(0, 9)], INNER, 1, 1))),
    "ranges out of order": inlines(inline_node([(8, 8), (0, 8)], INNER, 1, 1)),
    "out of order": inlines(inline_node([(8, 0)], INNER, 1, 1)),
    "overlap at address 0x1004": inlines(inline_node([(4, 8)], INNER, 1, 1), inline_node([(0, 5)], INNER, 1, 1)),
    "inline tree names a file": inlines(inline_node([(0, 8)], INNER, 2, 1)),
    "inline tree holds a number": inlines(inline_node([(0, 8)], INNER, 1, 2**32)),
    "inline tree is cut off": one_function(info(2, uleb(1) + uleb(0) + uleb(0x20) + b"\1")),
    "cut off": one_function(info(2, uleb(2**63) + uleb(0) + uleb(0x20) + b"\1")),
    "inline tree has bytes after": one_function(info(2, inline_node([(0, 0x20)], MAIN, 0, 0) + b"\0")),
    "neither 0 nor 1": inlines(b"\1\0\1\2" + bytes(6)),
    "nests too deeply": one_function(info(2, (b"\1\0\x20\1" + b"\1\0\0\0" + b"\0\0") * 5000)),
}


@pytest.mark.parametrize("message", FAULTS)
def test_each_fault_has_its_own_words(message: str) -> None:
    with pytest.raises(MalformedGsym, match=message):
        decode(FAULTS[message])


def test_the_sound_neighbours_of_those_faults_decode() -> None:
    assert answers_soundly(lines(advance_address(0), advance_line(1), advance_address(0x1F)))
    assert answers_soundly(inlines(inline_node([(0, 8), (8, 0x18)], INNER, 1, 1, inline_node([(4, 8)], INNER, 0, 0))))
    assert answers_soundly(inlines(inline_node([(4, 8)], INNER, 1, 1), inline_node([(0, 4)], INNER, 1, 1)))


@pytest.mark.parametrize("number", [b"\x80" * 9 + b"\x02", b"\x80" * 10 + b"\0", b"\x84" + b"\x80" * 8 + b"\x7e"])
def test_numbers_of_inline_trees_that_would_fit_once_cut_to_64_bits_are_refused(number: bytes) -> None:
    child = uleb(1) + number + uleb(8) + b"\0" + INNER.to_bytes(4, "little") + uleb(1) + uleb(1)
    assert answers_soundly(inlines(child.replace(number, uleb(4))))
    with pytest.raises(MalformedGsym, match="inline tree holds a number that is too large"):
        decode(inlines(child))


def test_unknown_kinds_of_data_are_skipped() -> None:
    plain = decode(lines(advance_address(0)))[1]
    unknown = info(4, b"\0\0\0\0") + info(99, b"")
    assert decode(one_function(unknown + info(1, line_table(10, advance_address(0))) + unknown))[1] == plain


def test_functions_that_share_their_data_are_refused_in_little_time() -> None:
    """Thousands of functions pointing to one large record would otherwise be decoded thousands of times."""
    rows = line_table(1, *[advance_line(1) + advance_address(1)] * 30_000)
    shared = function_info(40_000, MAIN, info(1, rows))
    functions = [(0x1000 + number, b"") for number in range(60_000)]
    data = bytearray(gsym_v1([*functions, (0x1000 + 60_000, shared)], strings=STRINGS, files=FILES))
    offsets_at = 48 + 2 * 60_001 + 2
    data[offsets_at : offsets_at + 4 * 60_000] = data[offsets_at + 4 * 60_000 : offsets_at + 4 * 60_001] * 60_000
    begin = time.process_time()
    with pytest.raises(MalformedGsym):
        decode(bytes(data))
    assert time.process_time() - begin < 5


def test_strings_that_share_one_long_tail_are_refused_in_little_time() -> None:
    strings = b"\0" + b"a" * 60_000 + b"\0"
    functions = [(0x1000 + number, function_info(1, 1 + number)) for number in range(50_000)]
    begin = time.process_time()
    with pytest.raises(MalformedGsym, match="far more room"):
        decode(gsym_v1(functions, strings=strings))
    assert time.process_time() - begin < 5


def test_a_few_shared_tails_are_fine() -> None:
    functions = [(0x1000, function_info(1, MAIN)), (0x1001, function_info(1, MAIN + 1))]
    assert decode(gsym_v1(functions, strings=STRINGS))[1].names == [b"", b"main", b"ain"]


def test_a_mapped_file_reads_like_its_bytes(tmp_path: Path) -> None:
    data = encode(random_table(random.Random(2), pieces=4), base_address=0, uuid=b"id")
    (tmp_path / "a.gsym").write_bytes(data)
    with (tmp_path / "a.gsym").open("rb") as file:
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    header, table = decode(data)
    assert decode(mapped) == (header, table)
    assert [Gsym(mapped).lookup(start) for start in table.start] == [Gsym(data).lookup(start) for start in table.start]
