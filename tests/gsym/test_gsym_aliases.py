"""Aliases: several names of one function, kept as what LLVM calls merged functions."""

from __future__ import annotations

import random
import re
import struct
import subprocess
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gsym.tables import content, random_table
from tests.writers.gsym_writer import (
    advance_address,
    advance_line,
    function_info,
    gsym_v1,
    info,
    inline_node,
    line_table,
    special,
)
from uploader.errors import MalformedGsym
from uploader.gsym.decode import decode
from uploader.gsym.encode import encode
from uploader.gsym.lookup import Gsym
from uploader.symbols.columns import SymbolTable

STRINGS = b"\0main\0inner\0/src\0a.c\0"
MAIN, INNER, SRC, A_C = 1, 6, 12, 17
FILES = ((0, 0), (SRC, A_C))
WINDOW = (-2, 5)


def table_with(aliases: list[bytes], *, rows: int = 3) -> SymbolTable:
    """``main``, at 0x1000, with rows, an inlined call and aliases; ``end``, at 0x3000, with a name alone."""
    return SymbolTable(
        start=array("Q", [0x1000, 0x3000]),
        end=array("Q", [0x3000, 0x3004]),
        name=array("I", [1, 2]),
        row_first=array("I", [0, rows, rows]),
        row_address=array("Q", range(0x1000, 0x1000 + rows)),
        row_file=array("I", [1] * rows),
        row_line=array("I", range(10, 10 + rows)),
        node_first=array("I", [0, 1, 1]),
        node_depth=array("I", [1]),
        node_name=array("I", [3]),
        node_call_file=array("I", [1]),
        node_call_line=array("I", [11]),
        range_first=array("I", [0, 1]),
        range_start=array("Q", [0x1001]),
        range_end=array("Q", [0x1002]),
        alias_first=array("I", [0, len(aliases), len(aliases)] if aliases else []),
        alias_name=array("I", range(4, 4 + len(aliases))),
        names=[b"", b"main", b"end", b"inner", *aliases],
        files=[(b"", b""), (b"/src", b"a.c")],
    )


def merged(*records: bytes, order: str = "<") -> bytes:
    """A list of merged functions."""
    return info(
        3,
        struct.pack(order + "I", len(records))
        + b"".join(struct.pack(order + "I", len(record)) + record for record in records),
        order,
    )


def record(size: int, name: int, *infos: bytes, order: str = "<") -> bytes:
    """A function info that is not aligned."""
    return struct.pack(order + "II", size, name) + b"".join(infos) + bytes(8)


@pytest.mark.parametrize("order", ["<", ">"])
def test_an_alias_is_written_as_a_whole_function_of_its_own_name(order: str) -> None:
    strings = b"\0alias\0end\0inner\0main\0/src\0a.c\0"
    at = {text: strings.index(b"\0" + text + b"\0") + 1 for text in strings.strip(b"\0").split(b"\0")}
    rows = info(
        1, line_table(10, special(0, 0, WINDOW), special(1, 1, WINDOW), special(1, 1, WINDOW), window=WINDOW), order
    )

    def tree(name: bytes) -> bytes:
        call = inline_node([(1, 1)], at[b"inner"], 1, 11, order=order)
        return info(2, inline_node([(0, 0x2000)], at[name], 0, 0, call, order=order), order)

    alias = record(0x2000, at[b"alias"], rows, tree(b"alias"), order=order)
    functions = [
        (
            0x1000,
            function_info(0x2000, at[b"main"], rows, tree(b"main"), merged(alias, order=order), order=order),
        ),
        (0x3000, function_info(4, at[b"end"], order=order)),
    ]
    expected = gsym_v1(functions, uuid=b"", strings=strings, files=((0, 0), (at[b"/src"], at[b"a.c"])), order=order)
    assert encode(table_with([b"alias"]), base_address=0x1000, uuid=b"", little_endian=order == "<") == expected


def test_without_aliases_nothing_is_written_of_them() -> None:
    none = table_with([])
    empty = table_with([])
    empty.alias_first = array("I", [0, 0, 0])
    assert encode(none, base_address=0, uuid=b"") == encode(empty, base_address=0, uuid=b"")


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("version", [1, 2])
def test_aliases_are_read_back(version: int, little_endian: bool) -> None:
    table = table_with([b"alias", b"second"])
    data = encode(table, base_address=0, uuid=b"", version=version, little_endian=little_endian)
    assert content(decode(data)[1]) == content(table)
    gsym = Gsym(data)
    assert gsym.aliases(0x1000) == gsym.aliases(0x2FFF) == [b"alias", b"second"]
    assert gsym.aliases(0x3000) == gsym.aliases(0xFFF) == gsym.aliases(0x3004) == []
    assert [frame.name for frame in gsym.lookup(0x1001)] == [b"inner", b"main"]


def test_lines_are_not_repeated_without_end() -> None:
    """Else a symbol table with many names for one long function would make a file of any size."""
    aliases = [b"alias%05d" % number for number in range(5000)]
    table = table_with(aliases, rows=0x2000)
    data = encode(table, base_address=0, uuid=b"")
    assert len(data) < 10 * len(encode(table_with([], rows=0x2000), base_address=0, uuid=b"")) + 5000 * 40
    assert content(decode(data)[1]) == content(table)


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
def test_llvm_tells_the_aliases_with_their_lines(
    tmp_path: Path, peer: Callable[[str], str], little_endian: bool
) -> None:
    path = tmp_path / "aliases.gsym"
    path.write_bytes(encode(table_with([b"alias", b"second"]), base_address=0, uuid=b"", little_endian=little_endian))
    told = gsymutil(peer, "--merged-functions", "--address=0x1001", "--address=0x3000", path)
    for name in ("main", "alias", "second"):
        assert re.search(rf"inner @ /src/a\.c:11 \[inlined\]\n *{name} \+ 1 @ /src/a\.c:11\n", told)
    assert "Found 3 functions at address 0x0000000000001001" in told
    assert "Found 1 function at address 0x0000000000003000" in told
    alone = gsymutil(peer, "--address=0x1001", path)
    assert "main + 1" in alone and "alias +" not in alone


def test_llvm_dumps_random_aliases_without_a_complaint(tmp_path: Path, peer: Callable[[str], str]) -> None:
    table = random_table(random.Random(4), pieces=60, aliases=True)
    path = tmp_path / "aliases.gsym"
    path.write_bytes(encode(table, base_address=0, uuid=bytes(range(20))))
    dump = gsymutil(peer, path)
    assert "error" not in dump and "warning" not in dump
    assert dump.count("++ Merged FunctionInfos[") == len(table.alias_name) > 100


def gsymutil(peer: Callable[[str], str], *arguments: str | Path) -> str:
    done = subprocess.run(
        [peer("llvm-gsymutil-22"), *arguments], capture_output=True, text=True, check=True, timeout=120
    )
    assert not done.stderr, done.stderr
    return done.stdout


def one_function(*infos: bytes) -> bytes:
    return gsym_v1([(0x1000, function_info(0x20, MAIN, *infos))], strings=STRINGS, files=FILES)


def test_merged_functions_of_others_give_their_names() -> None:
    """Functions that the linker folded have lines of their own; what they are called is kept."""
    rows = info(1, line_table(70, advance_address(0), advance_line(3) + advance_address(9)))
    header, table = decode(one_function(merged(record(0x20, INNER, rows), record(0x20, INNER))))
    assert [table.names[name] for name in table.alias_name] == [b"inner", b"inner"]
    assert table.alias_first.tolist() == [0, 2]
    assert header.function_count == len(table) == 1


FAULTS = {
    "list of merged functions is cut off": one_function(info(3, b"\1\0\0")),
    "merged functions is cut off": one_function(info(3, struct.pack("<II", 1, 9) + bytes(8))),
    "is cut off": one_function(info(3, struct.pack("<I", 2**32 - 1))),
    "followed by something else": one_function(info(3, struct.pack("<I", 0) + b"\0")),
    "longer or shorter": one_function(merged(record(0x20, INNER) + b"\0")),
    "or shorter than its list": one_function(merged(record(0x20, INNER)[:-1], record(0x20, INNER))),
    "another size": one_function(merged(record(0x1F, INNER))),
    "of its own": one_function(merged(record(0x20, INNER, merged(record(0x20, INNER))))),
    "a name lies outside": one_function(merged(record(0x20, 0))),
    "name lies outside": one_function(merged(record(0x20, len(STRINGS)))),
    "an empty name": one_function(merged(record(0x20, MAIN + 4))),
    "two lists of merged": one_function(merged(record(0x20, INNER)), merged(record(0x20, INNER))),
    "line table": one_function(merged(record(0x20, INNER, info(1, b"\0\0\x80")))),
    "inline tree": one_function(merged(record(0x20, INNER, info(2, b"\x80")))),
    "lies outside the string table": one_function(
        merged(record(0x20, INNER, info(2, inline_node([(0, 0x20)], INNER, 0, 0, inline_node([(0, 1)], 99, 0, 0)))))
    ),
}


@pytest.mark.parametrize("message", FAULTS)
def test_each_fault_has_its_own_words(message: str) -> None:
    with pytest.raises(MalformedGsym, match=message):
        decode(FAULTS[message])


def test_damaged_aliases_cost_a_lookup_only_themselves() -> None:
    gsym = Gsym(one_function(info(3, b"\xff\0\0\0")))
    assert [frame.name for frame in gsym.lookup(0x1001)] == [b"main"]
    with pytest.raises(MalformedGsym):
        gsym.aliases(0x1001)
