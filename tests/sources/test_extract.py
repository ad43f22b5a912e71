"""From a whole ELF file to one table: DWARF and symbol tables together, and what damage in one of them costs."""

from __future__ import annotations

import dataclasses
import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.symbols.sources import Told, told
from tests.symbols.validity import assert_valid
from tests.writers import dwarf_writer as dw
from tests.writers.elf_writer import Symbol
from uploader.model import Quality, Source
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.extract import Extracted, build

INNER = dw.abstract("inner")
SECTIONS = dw.assemble(
    dw.Unit(
        dw.compile_unit(
            INNER,
            dw.subprogram("f", 0x1000, 0x1010, dw.inlined(INNER, 0x1004, 0x1008, call_file=1, call_line=3)),
            attributes={dw.STMT_LIST: 0, dw.COMP_DIR: "/src"},
        )
    ),
    lines=[dw.Lines(dw.rows((0x1000, 1), (0x1004, 9), end=0x1010))],
)
SYMBOLS = (Symbol("f.cold", 0x1000, 16), Symbol("asm", 0x1020, 16))
F = (
    0x1000,
    0x1010,
    "f.cold",
    [(0x1000, "a.c", 1), (0x1004, "a.c", 9)],
    [(1, "inner", [(0x1004, 0x1008)])],
)
ASM: Told = (0x1020, 0x1030, "asm", [], [])


def built(sections: DwarfSections = SECTIONS, *, dwarf: bool = True, threads: int = 1, compress: str = "") -> Extracted:
    image = dw.elf_with(sections, symbols=SYMBOLS, compress=compress)
    with ElfFile.from_bytes(image) as elf:
        extracted = build(elf, dwarf=dwarf, threads=threads)
    assert_valid(extracted.table)
    return extracted


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("compress", ["", "zlib", "zstd"])
def test_dwarf_and_symbols_speak_together(threads: int, compress: str) -> None:
    extracted = built(threads=threads, compress=compress)
    assert told(extracted.table) == [F, ASM]
    assert extracted.warnings == ()
    assert extracted.figures.by_source == {Source.DWARF: 1, Source.SYMTAB: 1}
    assert extracted.figures.quality is Quality.FULL
    assert (extracted.figures.function_bytes, extracted.figures.line_bytes) == (32, 16)
    assert (extracted.figures.inlines, extracted.figures.line_rows) == (1, 2)


def test_without_dwarf_the_symbols_speak_alone() -> None:
    extracted = built(dwarf=False)
    assert told(extracted.table) == [(0x1000, 0x1010, "f.cold", [], []), ASM]
    assert extracted.figures.quality is Quality.FUNCTIONS


def test_damage_in_the_lines_costs_the_lines() -> None:
    extracted = built(dataclasses.replace(SECTIONS, line=b"\xff" * 40))
    assert [each[:3] for each in told(extracted.table)] == [F[:3], ASM[:3]]
    assert extracted.warnings


@pytest.mark.parametrize("field", ["info", "abbrev"])
def test_damage_in_the_dies_costs_the_dies(field: str) -> None:
    damage = b"\xff" * 40
    extracted = built(
        dataclasses.replace(SECTIONS, info=damage) if field == "info" else dataclasses.replace(SECTIONS, abbrev=damage)
    )
    assert [each[:4] for each in told(extracted.table)] == [F[:4], ASM[:4]]
    assert extracted.warnings


LITTLE = dw.assemble(
    dw.Unit(dw.compile_unit(dw.subprogram("asm", 0x1020, 0x1030), attributes={dw.STMT_LIST: 0})),
    lines=[dw.Lines(dw.rows((0x1020, 7), end=0x1030), files=["a.S"])],
)
"""What an assembler leaves in a binary whose other debug information was taken out."""


@pytest.mark.parametrize("compress", ["", "zlib", "zstd"])
def test_of_several_files_the_one_with_the_most_dwarf_speaks(compress: str) -> None:
    little, much = dw.elf_with(LITTLE, symbols=SYMBOLS), dw.elf_with(SECTIONS, symbols=SYMBOLS, compress=compress)
    with ElfFile.from_bytes(little) as one, ElfFile.from_bytes(much) as other:
        for main, *companions in itertools.permutations([one, other]):
            assert told(build(main, companions=companions).table) == [F, ASM]


def test_where_the_most_dwarf_is_damaged_the_next_speaks() -> None:
    damaged = bytearray(dw.elf_with(SECTIONS, symbols=SYMBOLS, compress="zlib"))
    with ElfFile.from_bytes(bytes(damaged)) as elf:
        section = elf.section(".debug_info")
    assert section is not None
    damaged[section.offset + 24 : section.offset + section.size_bytes] = b"\xff" * (section.size_bytes - 24)
    with (
        ElfFile.from_bytes(dw.elf_with(LITTLE, symbols=SYMBOLS)) as main,
        ElfFile.from_bytes(bytes(damaged)) as companion,
    ):
        extracted = build(main, companions=[companion])
    assert told(extracted.table)[1] == (0x1020, 0x1030, "asm", [(0x1020, "a.S", 7)], [])
    (warning,) = extracted.warnings
    assert warning.startswith("DWARF could not be read")


PROGRAM = """
volatile int sink;
static int __attribute__((noinline)) leaf(int x, int y) {
    int s = 0;
    for (int i = 0; i < x; i++) { s += i * y; sink = s; }
    return s;
}
int __attribute__((noinline)) middle(int a) { return leaf(a, 7) + leaf(a + 1, 7); }
int _start(int argc) { return middle(argc) + 2; }
"""


NESTED_IN_C = """
volatile int sink;
int outer(int a) {
    int helper(int b) { sink = b; return a * b; }
    return helper(3) + helper(a);
}
int _start(int argc) { return outer(argc); }
"""
NESTED_IN_CXX = """
volatile int sink;
static int twice(int x) { auto f = [&](int y) { sink = y; return x * y; }; return f(2) + f(3); }
extern "C" int _start(int argc) { return twice(argc); }
"""


def names_of(tmp_path: Path, compiler: str, *flags: str, text: str = PROGRAM) -> list[str]:
    """The names of the program's pieces, built so."""
    return [name for name, _ in names_and_inlines(tmp_path, compiler, *flags, text=text)]


def names_and_inlines(tmp_path: Path, compiler: str, *flags: str, text: str) -> list[tuple[str, list[str]]]:
    """The same, each with what is inlined into it."""
    source, program = tmp_path / ("p.cc" if text == NESTED_IN_CXX else "p.c"), tmp_path / "p"
    source.write_text(text)
    command = [compiler, "-g", "-O2", "-nostdlib", "-static", *flags, str(source), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True)
    with ElfFile.open(program) as elf:
        table = build(elf).table
    assert_valid(table)
    return [(name, [inline for _, inline, _ in inlines]) for _, _, name, _, inlines in told(table)]


@pytest.mark.parametrize("room", ["2", "4,2", "4,4"])
@pytest.mark.parametrize("compiler", ["gcc", "aarch64-linux-gnu-gcc"])
def test_room_left_at_a_functions_entry_makes_no_second_function_of_it(
    peer: Callable[[str], str], tmp_path: Path, compiler: str, room: str
) -> None:
    names = names_of(tmp_path, peer(compiler), f"-fpatchable-function-entry={room}", "-Wl,--build-id=none")
    assert sorted(names) == ["_start", "leaf.constprop.0", "middle"]


def test_basic_blocks_in_sections_of_their_own_are_named_after_their_function(
    peer: Callable[[str], str], tmp_path: Path
) -> None:
    peer("ld.lld-22")
    names = names_of(tmp_path, peer("clang-22"), "-fuse-ld=lld", "-fbasic-block-sections=all")
    assert set(names) == {"_start", "leaf", "middle"}


def test_a_function_in_another_has_one_name_out_of_line_and_inlined(peer: Callable[[str], str], tmp_path: Path) -> None:
    gcc = peer("gcc")
    assert names_of(tmp_path, gcc, "-O0", text=NESTED_IN_C) == ["outer::helper", "outer", "_start"]
    inlined = names_and_inlines(tmp_path, gcc, text=NESTED_IN_C)
    assert {name for _, inlines in inlined for name in inlines} >= {"outer::helper"}


def test_an_inlined_lambda_bears_the_name_of_the_function_around_it(peer: Callable[[str], str], tmp_path: Path) -> None:
    ((_, inlines),) = names_and_inlines(tmp_path, peer("g++"), text=NESTED_IN_CXX)
    assert set(inlines) == {"twice", "twice::{lambda}::operator()"}


@pytest.mark.parametrize("symbol", ["helper.1", "helper.12"])
@pytest.mark.parametrize("suffix", ["", ".cold", ".constprop.0"])
def test_the_numbered_symbol_of_a_nested_function_is_told_with_its_scopes(symbol: str, suffix: str) -> None:
    nested = dw.subprogram("helper", 0x1004, 0x1008)
    outer = dw.subprogram("outer", 0x1000, 0x1010, nested)
    assert named(outer, Symbol(symbol + suffix, 0x1004, 4)) == ["outer", f"outer::helper{suffix}", "outer"]


@pytest.mark.parametrize("symbol", ["helper", "helper.cold", "other.1", "helper_1", "xhelper.1"])
def test_other_symbols_of_a_nested_function_name_it_as_ever(symbol: str) -> None:
    nested = dw.subprogram("helper", 0x1004, 0x1008)
    outer = dw.subprogram("outer", 0x1000, 0x1010, nested)
    assert named(outer, Symbol(symbol, 0x1004, 4)) == ["outer", symbol, "outer"]


def named(function: dw.Die, *symbols: Symbol) -> list[str]:
    sections = dw.assemble(dw.Unit(dw.compile_unit(function)))
    with ElfFile.from_bytes(dw.elf_with(sections, symbols=symbols)) as elf:
        return [name for _, _, name, _, _ in told(build(elf).table)]
