"""Functions from symbol tables: which symbols count, which name wins an address, and how far each function reaches."""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.writers import elf_writer
from tests.writers.elf_writer import (
    ABS,
    ALLOC,
    CODE,
    FUNC,
    GLOBAL,
    IFUNC,
    LOCAL,
    NOBITS,
    NOTYPE,
    OBJECT,
    UNDEF,
    UNIQUE,
    WEAK,
    Section,
    Symbol,
    elf,
)
from uploader.errors import MalformedElf, NotElf
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.elf_symbols.read import ElfSymbols, read_symbols

every_class = pytest.mark.parametrize(("bits", "little_endian"), [(32, True), (32, False), (64, True), (64, False)])

SECTIONS = [
    Section(".text", type=NOBITS, flags=CODE, address=0x1000, size_bytes=0x100),
    Section(".fini", type=NOBITS, flags=CODE, address=0x1200, size_bytes=0x10),
    Section(".data", b"x" * 64, flags=ALLOC, address=0x2000),
]


def read(symbols: Sequence[Symbol] | None = None, dynamic: Sequence[Symbol] | None = None, **how: Any) -> ElfSymbols:
    with ElfFile.from_bytes(
        elf(how.pop("sections", SECTIONS), symbols=symbols, dynamic_symbols=dynamic, **how)
    ) as file:
        return read_symbols(file)


def rows(symbols: ElfSymbols) -> list[tuple[int, int, bytes]]:
    return [(symbols.start[i], symbols.end[i], symbols.name(i)) for i in range(len(symbols))]


def names(*symbols: Symbol, **how: Any) -> list[bytes]:
    return [name for _, _, name in rows(read(symbols, **how))]


@every_class
def test_functions_come_sorted_with_their_ranges_in_every_class_and_byte_order(bits: int, little_endian: bool) -> None:
    table = [
        Symbol("late", 0x1080, 0x10),
        Symbol("fini", 0x1200, 0x10, section=".fini"),
        Symbol("early", 0x1000, 0x20, IFUNC, LOCAL),
    ]
    assert rows(read(table, bits=bits, little_endian=little_endian)) == [
        (0x1000, 0x1020, b"early"),
        (0x1080, 0x1090, b"late"),
        (0x1200, 0x1210, b"fini"),
    ]


def test_what_is_not_code_is_dropped() -> None:
    assert names(
        Symbol("function", 0x1000, 1),
        Symbol("assembly", 0x1001, 0, NOTYPE),
        Symbol("variable", 0x1002, 1, OBJECT),
        Symbol(".text", 0x1003, 0, elf_writer.SECTION),
        Symbol("main.c", 0x1004, 0, elf_writer.FILE),
        Symbol("thread_local", 0x1005, 1, 6),
        Symbol("imported", 0x1006, 1, section=UNDEF),
        Symbol("", 0x1007, 1),
        Symbol("data_label", 0x2000, 1, NOTYPE, section=".data"),
        Symbol("_etext", 0x1100, 0, NOTYPE),
        Symbol("past_the_end", 0x1100, 4),
        Symbol("before", 0xFFF, 4),
        Symbol("number", 0x1009, 0, NOTYPE, section=ABS),
        Symbol("no_such_section", 0x100A, 4, section=77),
    ) == [b"function", b"assembly"]


def test_a_function_counts_by_its_address_where_its_section_is_not_code() -> None:
    symbols = [Symbol("absolute", 0x1010, 4, section=ABS), Symbol("astray", 0x1204, 4, section=".data")]
    assert rows(read(symbols)) == [(0x1010, 0x1014, b"absolute"), (0x1204, 0x1208, b"astray")]


@pytest.mark.parametrize("name", ["$a", "$t", "$d", "$x", "$x.12", "$d.realdata"])
def test_mapping_symbols_are_dropped(name: str) -> None:
    assert names(Symbol(name, 0x1000, 0, NOTYPE, LOCAL), machine=elf_writer.ARM64) == []


def test_riscv_appends_the_instruction_set_to_a_mapping_symbol() -> None:
    mapping = Symbol("$xrv64i2p1_m2p0", 0x1000, 0, NOTYPE, LOCAL)
    assert names(mapping, machine=elf_writer.RISCV) == []
    assert names(mapping) == [b"$xrv64i2p1_m2p0"]


def test_names_that_only_resemble_mapping_symbols_stay() -> None:
    kept = ["$", "$b", "$dollar", "x$a"]
    assert names(*(Symbol(name, 0x1000 + i, 1, NOTYPE) for i, name in enumerate(kept))) == [
        name.encode() for name in kept
    ]
    assert names(Symbol("$a", 0x1000, 4)) == [b"$a"]


def test_local_labels_of_the_assembler_are_dropped() -> None:
    assert names(Symbol(".L12", 0x1000, 0, NOTYPE, LOCAL), Symbol(".Loop", 0x1010, 0, NOTYPE, GLOBAL)) == [b".Loop"]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("memcpy@@GLIBC_2.14", b"memcpy"),
        ("memcpy@GLIBC_2.2.5", b"memcpy"),
        ("memcpy", b"memcpy"),
        ("@odd", b"@odd"),
        ("puts@plt", b"puts@plt"),
        ("puts@plt2", b"puts"),
    ],
)
def test_versions_are_stripped(name: str, shown: bytes) -> None:
    assert names(Symbol(name, 0x1000, 4)) == [shown]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Symbol("__long_local_function", 0x1000, 4, binding=LOCAL), Symbol("a", 0x1000, 0, NOTYPE, GLOBAL)),
        (Symbol("__long_global", 0x1000, 4), Symbol("a", 0x1000, 4, binding=WEAK)),
        (Symbol("__long_unique", 0x1000, 4, binding=UNIQUE), Symbol("a", 0x1000, 4, binding=WEAK)),
        (Symbol("__long_weak", 0x1000, 4, binding=WEAK), Symbol("a", 0x1000, 4, binding=LOCAL)),
        (Symbol("longer", 0x1000, 4), Symbol("_a", 0x1000, 4)),
        (Symbol("_zzzz", 0x1000, 4), Symbol("__a", 0x1000, 4)),
        (Symbol("zz", 0x1000, 4), Symbol("aaa", 0x1000, 4)),
        (Symbol("aab", 0x1000, 4), Symbol("aac", 0x1000, 4)),
        (Symbol("aa", 0x1000, 4), Symbol(b"a\xe9", 0x1000, 4)),
        (Symbol("strlen@@V2", 0x1000, 4), Symbol("strlens", 0x1000, 4)),
    ],
)
def test_one_name_wins_an_address_and_the_other_is_its_alias(better: Symbol, worse: Symbol) -> None:
    def bare(symbol: Symbol) -> bytes:
        return (symbol.name if isinstance(symbol.name, bytes) else symbol.name.encode()).partition(b"@")[0]

    for order in ([better, worse], [worse, better]):
        symbols = read(order)
        assert [symbols.name(i) for i in range(len(symbols))] == [bare(better)]
        assert symbols.aliases(0x1000) == (bare(worse),)


def test_aliases_are_ordered_and_told_once() -> None:
    symbols = read(
        [
            Symbol("_c", 0x1000, 4),
            Symbol("main", 0x1000, 4),
            Symbol("b@V1", 0x1000, 4, binding=LOCAL),
            Symbol("maintain", 0x1000, 4),
        ],
        [Symbol("main", 0x1000, 4), Symbol("b", 0x1000, 4, binding=WEAK), Symbol("other", 0x1010, 4)],
    )
    assert symbols.aliases(0x1000) == (b"maintain", b"_c", b"b")
    assert symbols.aliases(0x1010) == ()
    assert symbols.aliases(0x1001) == ()
    assert symbols.aliases(1 << 63) == ()


def test_each_function_tells_the_table_it_was_chosen_from() -> None:
    both = read(
        [Symbol("__f", 0x1000, 4), Symbol("same", 0x1010, 4)], [Symbol("f", 0x1000, 4), Symbol("same", 0x1010, 4)]
    )
    assert [both.set_of(i) for i in range(2)] == [1, 0]
    data = elf(SECTIONS, symbols=[Symbol("s", 0x1000, 4)], dynamic_symbols=[Symbol("d", 0x1010, 4)])
    with ElfFile.from_bytes(data) as file:
        assert rows(read_symbols(file, dynsym=False)) == [(0x1000, 0x1004, b"s")]
        assert rows(read_symbols(file, symtab=False)) == [(0x1010, 0x1014, b"d")]
        assert rows(read_symbols(file, symtab=False, dynsym=False)) == []


def test_size_zero_reaches_to_the_next_symbol_or_the_section_end_never_across_a_gap() -> None:
    symbols = read(
        [Symbol("a", 0x1000), Symbol("b", 0x1010), Symbol("c", 0x1200, section=".fini"), Symbol("sized", 0x1080, 8)]
    )
    assert rows(symbols) == [
        (0x1000, 0x1010, b"a"),
        (0x1010, 0x1080, b"b"),
        (0x1080, 0x1088, b"sized"),
        (0x1200, 0x1210, b"c"),
    ]
    assert list(symbols.extended) == [1, 1, 0, 1]
    assert rows(read([Symbol("b", 0x1010), Symbol("c", 0x1200, section=".fini")]))[0] == (0x1010, 0x1100, b"b")


def test_an_unsized_function_inside_a_sized_one_ends_with_it() -> None:
    assert rows(read([Symbol("outer", 0x1000, 0x40), Symbol("entry", 0x1010)])) == [
        (0x1000, 0x1040, b"outer"),
        (0x1010, 0x1040, b"entry"),
    ]


@pytest.mark.parametrize("binding", [LOCAL, WEAK])
def test_unsized_labels_inside_a_sized_function_are_not_functions(binding: int) -> None:
    inside = Symbol("loop", 0x1010, 0, NOTYPE, binding)
    assert rows(read([Symbol("outer", 0x1000, 0x40), inside, Symbol("after", 0x1040, 0, NOTYPE)])) == [
        (0x1000, 0x1040, b"outer"),
        (0x1040, 0x1100, b"after"),
    ]
    assert names(Symbol("outer", 0x1000, 0x40), Symbol("sized", 0x1010, 8, NOTYPE)) == [b"outer", b"sized"]


@pytest.mark.parametrize("kind", [FUNC, NOTYPE])
def test_global_labels_inside_a_sized_function_are_its_other_entries(kind: int) -> None:
    """As the kernel's ``entry_SYSCALL_64_after_hwframe`` in ``entry_SYSCALL_64``."""
    table = [
        Symbol("entry", 0x1000, 0x40, kind),
        Symbol("after_hwframe", 0x1010, 0, NOTYPE),
        Symbol("loop", 0x1018, 0, NOTYPE, LOCAL),
        Symbol("return", 0x1020, 0, NOTYPE),
        Symbol("next", 0x1040, 0x10),
    ]
    assert rows(read(table)) == [
        (0x1000, 0x1040, b"entry"),
        (0x1010, 0x1020, b"after_hwframe"),
        (0x1020, 0x1040, b"return"),
        (0x1040, 0x1050, b"next"),
    ]


def test_the_section_of_a_basic_block_is_the_functions_that_the_block_is_of() -> None:
    table = [
        Symbol("f.llvm.12", 0x1000, 0x10),
        Symbol("f.llvm.12.__part.1", 0x1010, 8, NOTYPE, LOCAL),
        Symbol("f.llvm.12.__part.23", 0x1018, 8, NOTYPE, LOCAL),
        Symbol("g", 0x1020, 0x10),
        Symbol("f.llvm.12.__part.3", 0x1030, 4, NOTYPE, LOCAL),
    ]
    assert rows(read(table)) == [
        (0x1000, 0x1020, b"f.llvm.12"),
        (0x1020, 0x1030, b"g"),
        (0x1030, 0x1034, b"f.llvm.12"),
    ]


@pytest.mark.parametrize(
    "name", ["f.part.0", "f.cold", "f.__part.", "f.__part.x1", "f.__part", "f.__part.1.cold", ".__part.1", "f__part.1"]
)
def test_names_that_only_resemble_a_basic_blocks_stay(name: str) -> None:
    assert rows(read([Symbol("f", 0x1000, 4), Symbol(name, 0x1004, 4, NOTYPE, LOCAL)])) == [
        (0x1000, 0x1004, b"f"),
        (0x1004, 0x1008, name.encode()),
    ]


def test_functions_of_one_name_that_touch_stay_apart() -> None:
    assert rows(read([Symbol("f", 0x1000, 4), Symbol("f", 0x1004, 4), Symbol("f@V1", 0x1008, 4)])) == [
        (0x1000, 0x1004, b"f"),
        (0x1004, 0x1008, b"f"),
        (0x1008, 0x100C, b"f"),
    ]


def test_an_entry_ends_with_the_innermost_function_around_it() -> None:
    table = [
        Symbol("array", 0x1000, 0x100),
        Symbol("thunk", 0x1010, 0x10),
        Symbol("entry", 0x1018, 0, NOTYPE),
        Symbol("later", 0x1080, 0, NOTYPE),
    ]
    assert rows(read(table)) == [
        (0x1000, 0x1100, b"array"),
        (0x1010, 0x1020, b"thunk"),
        (0x1018, 0x1020, b"entry"),
        (0x1080, 0x1100, b"later"),
    ]


@pytest.mark.parametrize("size", [0, 8])
@pytest.mark.parametrize("binding", [LOCAL, GLOBAL])
def test_data_within_code_ends_a_label_without_a_size_and_has_no_name(size: int, binding: int) -> None:
    """As the header that boot loaders look for ends ``start`` in Xen."""
    data = Symbol("multiboot_header", 0x1010, size, OBJECT, binding)
    symbols = read([Symbol("start", 0x1000, 0, NOTYPE), data, Symbol("begin", 0x1040, 0, NOTYPE)])
    assert rows(symbols) == [(0x1000, 0x1010, b"start"), (0x1040, 0x1100, b"begin")]
    elsewhere = Symbol("counter", 0x1010, size, OBJECT, binding, section=".data")
    assert rows(read([Symbol("start", 0x1000, 0, NOTYPE), elsewhere])) == [(0x1000, 0x1100, b"start")]


def test_data_within_code_ends_no_function() -> None:
    """A table among its instructions does not say that they end there."""
    data = Symbol("table", 0x1010, 8, OBJECT)
    assert rows(read([Symbol("sized", 0x1000, 0x20), data])) == [(0x1000, 0x1020, b"sized")]
    assert rows(read([Symbol("unsized", 0x1000), data])) == [(0x1000, 0x1100, b"unsized")]


def test_data_under_the_address_of_a_function_is_no_name_of_it() -> None:
    data = Symbol("data", 0x1000, 0x30, OBJECT)
    symbols = read([data, Symbol("__function", 0x1000, 0x10), Symbol("__other", 0x1000, 0x10)])
    assert rows(symbols) == [(0x1000, 0x1010, b"__other")]
    assert symbols.aliases(0x1000) == (b"__function",)


def test_data_gives_a_label_of_its_address_no_size() -> None:
    symbols = read([Symbol("data", 0x1000, 0x30, OBJECT), Symbol("label", 0x1000, 0, NOTYPE), Symbol("f", 0x1010, 8)])
    assert rows(symbols) == [(0x1000, 0x1010, b"label"), (0x1010, 0x1018, b"f")]


def test_of_several_sizes_the_largest_that_stays_in_the_section_counts() -> None:
    table = [Symbol("f", 0x1000, 8), Symbol("__f", 0x1000, 0x18), Symbol("lie", 0x1000, 0x101, binding=WEAK)]
    assert rows(read(table)) == [(0x1000, 0x1018, b"f")]
    assert rows(read([Symbol("f", 0x1000, 8), Symbol("_stext", 0x1000, 0x100, NOTYPE)])) == [(0x1000, 0x1008, b"f")]
    assert rows(read([Symbol("f", 0x1000), Symbol("label", 0x1000, 0x30, NOTYPE)])) == [(0x1000, 0x1030, b"f")]


@pytest.mark.parametrize("size", [0x101, 1 << 40, (1 << 64) - 1])
def test_a_size_that_leaves_the_section_is_no_size(size: int) -> None:
    symbols = read([Symbol("f", 0x1000, size), Symbol("g", 0x1020, 4)])
    assert rows(symbols)[0] == (0x1000, 0x1020, b"f")
    assert symbols.extended[0] == 1


def test_the_thumb_bit_is_masked_on_arm_functions_only() -> None:
    thumb = [Symbol("thumb", 0x1011, 4), Symbol("label", 0x1021, 4, NOTYPE)]
    assert rows(read(thumb, machine=elf_writer.ARM, bits=32)) == [
        (0x1010, 0x1014, b"thumb"),
        (0x1021, 0x1025, b"label"),
    ]
    assert rows(read(thumb, bits=32))[0] == (0x1011, 0x1015, b"thumb")


def test_function_descriptors_of_ppc64_are_followed() -> None:
    opd = b"".join(word.to_bytes(8, "big") for word in (0x1010, 0, 0, 0x1080, 0, 0))
    sections = [*SECTIONS, Section(".opd", opd, flags=ALLOC | elf_writer.WRITE, address=0x3000)]
    table = [
        Symbol("first", 0x3000, 0x20, section=".opd"),
        Symbol("second", 0x3018, 0x10, section=".opd"),
        Symbol("past", 0x3030, 0x10, section=".opd"),
        Symbol("before", 0x2FF8, 0x10, section=".opd"),
    ]
    symbols = read(table, sections=sections, machine=elf_writer.PPC64, little_endian=False)
    assert rows(symbols) == [(0x1010, 0x1030, b"first"), (0x1080, 0x1090, b"second")]
    assert rows(read(table, sections=sections)) == []


def test_in_a_relocatable_file_addresses_count_from_the_section() -> None:
    sections = [
        Section(".text", b"x" * 32, flags=CODE),
        Section(".moved", b"x" * 32, flags=CODE, address=0x4000),
    ]
    table = [
        Symbol("f", 4, 8),
        Symbol("g", 4, 8, section=".moved"),
        Symbol("far", 64, 8),
        Symbol("abs", 4, 8, section=ABS),
    ]
    assert rows(read(table, sections=sections, kind=elf_writer.RELOCATABLE)) == [(4, 12, b"f"), (0x4004, 0x400C, b"g")]


def test_sections_beyond_the_sixteen_bits_of_a_symbol_are_found() -> None:
    many = [Section(f".s{i}") for i in range(0xFF10)]
    data = elf([*many, SECTIONS[0]], symbols=[Symbol("none", 5, section=0), Symbol("f", 0x1004, 8, NOTYPE)])
    with ElfFile.from_bytes(data) as file:
        assert rows(read_symbols(file)) == [(0x1004, 0x100C, b"f")]


def test_a_file_without_tables_has_no_functions() -> None:
    assert rows(read()) == []
    assert rows(read([])) == []
    assert len(read([], [])) == 0


def damaged(**change: Any) -> ElfSymbols:
    """A table whose section header is changed, or which is linked to other strings."""
    table = Section(
        ".symtab", bytes(24) + b"\1\0\0\0\x12\0\1\0" + (0x1000).to_bytes(8, "little") + bytes(8), type=2, entry_size=24
    )
    strings = Section(".strings", b"\0name\0", type=3)
    return read(sections=[*SECTIONS, strings, table._replace(**{"link": ".strings", **change})])


def test_a_table_that_contradicts_itself_is_malformed() -> None:
    assert rows(damaged()) == [(0x1000, 0x1100, b"name")]
    for change in ({"link": 99}, {"entry_size": 16}, {"offset": 1 << 40}, {"size_bytes": 1 << 40}):
        with pytest.raises(MalformedElf):
            damaged(**change)


def test_names_that_are_cut_or_lie_outside_the_strings_do_no_harm() -> None:
    table = Section(".symtab", b"", type=2, link=".strings")
    entry = bytearray(b"\1\0\0\0\x12\0\1\0" + (0x1000).to_bytes(8, "little") + bytes(8))
    for offset, expected in ((1, [b"cut"]), (4, []), (5, []), (0xFFFFFFFF, [])):
        entry[:4] = offset.to_bytes(4, "little")
        sections = [*SECTIONS, Section(".strings", b"\0cut", type=3), table._replace(data=bytes(24) + bytes(entry))]
        assert [name for _, _, name in rows(read(sections=sections))] == expected


def test_overlapping_names_are_refused_in_bounded_time() -> None:
    count = 20_000
    strings = Section(".strings", b"\0" + b"a" * 4_000_000, type=3)
    entries = bytearray(24)
    for index in range(count):
        entries += (1 + index).to_bytes(4, "little") + b"\x12\0\1\0" + (0x1000).to_bytes(8, "little") + bytes(8)
    with pytest.raises(MalformedElf, match="overlap"):
        read(sections=[*SECTIONS, strings, Section(".symtab", bytes(entries), type=2, link=".strings")])


symbol_lists = st.lists(
    st.builds(
        Symbol,
        name=st.text("_ab@$.Ltx", max_size=5),
        value=st.integers(0xFF8, 0x1218),
        size_bytes=st.sampled_from([0, 0, 1, 8, 0x20, 0x100, 1 << 63]),
        type=st.sampled_from([FUNC, NOTYPE, IFUNC, OBJECT]),
        binding=st.sampled_from([GLOBAL, LOCAL, WEAK]),
        section=st.sampled_from([".text", ".fini", ".data", ABS]),
        other=st.just(0),
    ),
    max_size=20,
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(table=symbol_lists, dynamic=symbol_lists)
def test_ranges_ascend_lie_in_one_section_and_have_names(table: list[Symbol], dynamic: list[Symbol]) -> None:
    symbols = read(table, dynamic)
    told = rows(symbols)
    given_names = {str(symbol.name).encode() for symbol in table + dynamic}
    assert [start for start, _, _ in told] == sorted({start for start, _, _ in told})
    for index, (start, end, name) in enumerate(told):
        assert 0x1000 <= start < end <= 0x1100 or 0x1200 <= start < end <= 0x1210
        assert any(each == name or each.startswith(name + b"@") for each in given_names)
        assert name not in symbols.aliases(start)
        if symbols.extended[index] and index + 1 < len(told):
            assert end <= told[index + 1][0]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(table=symbol_lists, seed=st.randoms(use_true_random=False))
def test_the_order_of_a_table_makes_no_difference(table: list[Symbol], seed: Any) -> None:
    shuffled = list(table)
    seed.shuffle(shuffled)
    one, other = read(table), read(shuffled)
    assert rows(one) == rows(other)
    assert [one.aliases(start) for start in one.start] == [other.aliases(start) for start in other.start]


SAMPLE = elf(
    [*SECTIONS, Section(".opd", bytes(48), flags=ALLOC, address=0x3000)],
    symbols=[
        Symbol(f"f{index}@@V", 0x1000 + index % 7 * 16, index % 3 * 8, index % 3, index % 3) for index in range(20)
    ],
    dynamic_symbols=[Symbol("g", 0x1000, 4), Symbol("h", 0x3000, 4, section=".opd")],
    machine=elf_writer.PPC64,
)


def answers(data: bytes) -> None:
    with contextlib.suppress(NotElf, MalformedElf), ElfFile.from_bytes(data) as file:
        symbols = read_symbols(file)
        for index in range(len(symbols)):
            assert symbols.start[index] < symbols.end[index]
            assert symbols.name(index)
            symbols.aliases(symbols.start[index])


def test_every_truncation_gives_an_answer_or_a_clear_error() -> None:
    for length in range(0, len(SAMPLE), 97):
        answers(SAMPLE[:length])


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(changes=st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_every_changed_byte_gives_an_answer_or_a_clear_error(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SAMPLE)
    for position, value in changes:
        data[position] = value
    answers(bytes(data))


def test_memory_grows_with_the_table() -> None:
    table = [Symbol(f"function_number_{index}", 0x1000 + index, 1) for index in range(20_000)]
    data = elf([Section(".text", type=NOBITS, flags=CODE, address=0x1000, size_bytes=20_000)], symbols=table)
    tracemalloc.start()
    try:
        with ElfFile.from_bytes(data) as file:
            assert len(read_symbols(file)) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 16 * len(data)
    finally:
        tracemalloc.stop()


SOURCE = """
__attribute__((noinline)) static int hidden(int x) { return x * 7 + 1; }
__attribute__((weak)) int weak_one(int x) { return hidden(x); }
int strong_one(int x) __attribute__((alias("weak_one")));
__asm__(".text\\n.globl bare_label\\nbare_label: nop\\nnop\\nnop\\n");
int main(int argc, char **argv) { return strong_one(argc); }
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    (folder / "main.c").write_text(SOURCE)
    for command in (
        "gcc -O1 -g -rdynamic main.c -o program",
        "objcopy --only-keep-debug program program.debug",
        "strip program -o stripped",
    ):
        subprocess.run(command.split(), cwd=folder, check=True)
    return folder


def readelf_functions(path: Path) -> dict[int, set[tuple[str, int]]]:
    """Names and sizes of FUNC and GNU_IFUNC symbols that are defined, by address, as ``readelf`` tells them."""
    text = subprocess.run(["readelf", "-sW", path], check=True, capture_output=True, text=True).stdout
    found: dict[int, set[tuple[str, int]]] = {}
    pattern = r"^ *\d+: ([0-9a-f]+) +(\d+|0x[0-9a-f]+) (?:FUNC|IFUNC) +\w+ +\w+ +(?:\[.*?\] +)?(\d+) ([^\s@]+)"
    for address, size, _, name in re.findall(pattern, text, re.MULTILINE):
        found.setdefault(int(address, 16), set()).add((name, int(size, 0)))
    return found


@pytest.mark.parametrize("form", ["program", "program.debug", "stripped"])
def test_every_function_that_readelf_lists_is_there(built: Path, form: str) -> None:
    expected = readelf_functions(built / form)
    with ElfFile.open(built / form) as file:
        symbols = read_symbols(file)
    told = {start: (end, name) for start, end, name in rows(symbols)}
    assert expected.keys() <= told.keys()
    for address, functions in expected.items():
        end, name = told[address]
        everyone = {name.decode(), *(alias.decode() for alias in symbols.aliases(address))}
        assert {each for each, _ in functions} <= everyone
        size = max(size for _, size in functions)
        assert size in {0, end - address}
    assert b"strong_one" in {name for _, name in told.values()}


def test_assembly_without_type_is_covered(built: Path) -> None:
    with ElfFile.open(built / "program.debug") as file:
        told = {name: end - start for start, end, name in rows(read_symbols(file))}
    assert told[b"bare_label"] >= 3


def test_a_real_library_has_every_function_that_readelf_lists() -> None:
    library = next((path for path in Path("/").glob("lib*/*/libc.so.6")), None) or next(
        Path("/").glob("lib*/libc.so.6"), None
    )
    if library is None or not shutil.which("readelf"):
        pytest.skip("no glibc here")
    expected = readelf_functions(library)
    with ElfFile.open(library) as file:
        symbols = read_symbols(file)
    told = {start: {name, *symbols.aliases(start)} for start, _, name in rows(symbols)}
    assert len(expected) > 1000
    assert {address: {name.encode() for name, _ in functions} for address, functions in expected.items()} == {
        address: told[address] for address in expected
    }


def test_a_function_that_says_how_long_it_is_names_an_address_before_a_mark_that_does_not() -> None:
    assert names(
        Symbol("runtime.text", 0x1000, 0, FUNC, LOCAL), Symbol("__first_function", 0x1000, 16, FUNC, LOCAL)
    ) == [b"__first_function"]
    assert names(Symbol("global", 0x1000, 0), Symbol("__local", 0x1000, 16, FUNC, LOCAL)) == [b"global"]
