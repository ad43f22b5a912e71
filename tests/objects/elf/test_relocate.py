"""Relocations of debug sections, operation by operation, and any damage to them."""

from __future__ import annotations

import struct
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers import elf_writer
from tests.writers.crel_writer import SHT_CREL, CrelEntry, crel_table
from tests.writers.elf_writer import CODE, SECTION, UNDEF, Section, Symbol, elf
from uploader.errors import MalformedElf
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.relocate import Relocator

RELA, REL = 4, 9
S390, MIPS = 22, 8
TEXT, COLD, GONE, ABSOLUTE = 1, 2, 3, 4
"""Indexes of the symbols that every file here has."""


class Entry(NamedTuple):
    offset: int
    type: int
    symbol: int = 0
    addend: int = 0


def relocated(
    data: bytes,
    *entries: Entry,
    machine: int = elf_writer.X86_64,
    bits: int = 64,
    little_endian: bool = True,
    table: int = RELA,
    name: str = ".debug_info",
    compress: str = "",
    kind: int = elf_writer.RELOCATABLE,
    raw: bytes | None = None,
) -> tuple[bytes, list[str]]:
    order = "<" if little_endian else ">"
    word = "Q" if bits == 64 else "I"
    body = b""
    for entry in entries:
        info = entry.symbol << 32 | entry.type if bits == 64 else entry.symbol << 8 | entry.type
        if machine == MIPS and bits == 64 and little_endian:
            info = entry.symbol | entry.type << 56
        mask = (1 << bits) - 1
        body += struct.pack(order + word + word, entry.offset, info)
        body += struct.pack(order + word, entry.addend & mask) if table == RELA else b""
    if table == SHT_CREL:
        body = crel_table(CrelEntry(*entry) for entry in entries)
    sections = [
        Section(".text", b"x" * 0x40, flags=CODE, alignment=16),
        Section(".cold", b"x" * 0x40, flags=CODE, alignment=0x100),
        Section(name, data, compress=compress),
        Section(".rel" + name, raw if raw is not None else body, type=table, info=3, link=".symtab"),
    ]
    symbols = [
        Symbol("", 0, type=SECTION, binding=0),
        Symbol("cold", 8, 8, section=".cold"),
        Symbol("gone", 0, section=UNDEF),
        Symbol("absolute", 0x1234, section=elf_writer.ABS),
    ]
    # The section index of .symtab is known once it is there: five sections stand before it.
    sections[3] = sections[3]._replace(link=5)
    file = elf(sections, symbols=symbols, machine=machine, bits=bits, little_endian=little_endian, kind=kind)
    with ElfFile.from_bytes(file) as opened:
        relocator = Relocator(opened)
        section = opened.section(name)
        assert section is not None
        return bytes(relocator.contents(section)), relocator.warnings


@pytest.mark.parametrize(
    ("machine", "bits", "little_endian", "wide", "narrow"),
    [
        pytest.param(elf_writer.X86_64, 64, True, 1, 10, id="x86-64"),
        pytest.param(elf_writer.ARM64, 64, True, 257, 258, id="arm64"),
        pytest.param(elf_writer.RISCV, 64, True, 2, 1, id="riscv64"),
        pytest.param(elf_writer.PPC64, 64, False, 38, 1, id="ppc64"),
        pytest.param(elf_writer.PPC64, 64, True, 38, 1, id="ppc64le"),
        pytest.param(S390, 64, False, 22, 4, id="s390x"),
        pytest.param(MIPS, 64, False, 18, 2, id="mips64"),
        pytest.param(MIPS, 64, True, 18, 2, id="mips64el"),
    ],
)
def test_absolute_values_of_64_bit_machines(
    machine: int, bits: int, little_endian: bool, wide: int, narrow: int
) -> None:
    entries = [Entry(0, wide, COLD, 4), Entry(8, narrow, TEXT, 0x11), Entry(12, narrow, ABSOLUTE, -4)]
    data, warnings = relocated(bytes(16), *entries, machine=machine, bits=bits, little_endian=little_endian)
    order = "<" if little_endian else ">"
    assert struct.unpack(order + "QII", data) == (0x10C, 0x11, 0x1230)
    assert warnings == []


@pytest.mark.parametrize(
    ("machine", "little_endian", "kind", "table"),
    [
        pytest.param(elf_writer.I386, True, 1, REL, id="386"),
        pytest.param(elf_writer.ARM, True, 2, REL, id="arm"),
        pytest.param(MIPS, False, 2, REL, id="mips"),
        pytest.param(elf_writer.RISCV, True, 1, RELA, id="riscv32"),
        pytest.param(elf_writer.X86_64, True, 10, RELA, id="x32"),
    ],
)
def test_absolute_values_of_32_bit_machines(machine: int, little_endian: bool, kind: int, table: int) -> None:
    order = "<" if little_endian else ">"
    before = struct.pack(order + "I", 4) if table == REL else bytes(4)
    data, _ = relocated(
        before, Entry(0, kind, COLD, 4), machine=machine, bits=32, little_endian=little_endian, table=table
    )
    assert struct.unpack(order + "I", data) == (0x10C,)


def test_riscv_spells_out_differences() -> None:
    add_32, sub_32, add_16, sub_16, set_6, sub_6, set_uleb, sub_uleb = 35, 39, 34, 38, 53, 52, 60, 61
    entries = [
        Entry(0, add_32, COLD, 0x30), Entry(0, sub_32, COLD, 0),
        Entry(4, add_16, TEXT, 0x21), Entry(4, sub_16, TEXT, 1),
        Entry(6, set_6, TEXT, 0x15), Entry(6, sub_6, TEXT, 5),
        Entry(7, set_uleb, COLD, 0x100), Entry(7, sub_uleb, COLD, 0x10),
    ]  # fmt: skip
    data, warnings = relocated(bytes(6) + b"\xc0" + b"\x80\x80\x00", *entries, machine=elf_writer.RISCV)
    assert data == struct.pack("<IH", 0x30, 0x20) + bytes([0xC0 | 0x10]) + b"\xf0\x81\x00"
    assert warnings == []


def test_code_that_a_linker_dropped_gets_a_mark_that_no_code_has() -> None:
    assert relocated(bytes(8), Entry(0, 1, GONE))[0] == b"\xff" * 8
    assert relocated(bytes(8), Entry(0, 1, GONE), name=".debug_ranges")[0] == struct.pack("<Q", 1)


def test_relocations_of_compressed_sections_apply_to_what_is_inflated() -> None:
    data, _ = relocated(bytes(64), Entry(32, 1, COLD, 1), compress="zlib")
    assert data == bytes(32) + struct.pack("<Q", 0x109) + bytes(24)


@pytest.mark.parametrize(
    ("machine", "bits", "little_endian", "wide"),
    [
        pytest.param(elf_writer.X86_64, 64, True, 1, id="x86-64"),
        pytest.param(MIPS, 64, False, 18, id="mips64"),
        pytest.param(MIPS, 64, True, 18, id="mips64el"),
        pytest.param(elf_writer.ARM, 32, True, 2, id="arm"),
    ],
)
def test_compact_tables_apply_as_plain_ones_do(machine: int, bits: int, little_endian: bool, wide: int) -> None:
    entries = [Entry(0, wide, COLD, 4), Entry(8, wide, TEXT, 0x11), Entry(16, wide, ABSOLUTE, -4)]
    how = {"machine": machine, "bits": bits, "little_endian": little_endian}
    compact = relocated(bytes(24), *entries, table=SHT_CREL, **how)  # type: ignore[arg-type]  # what fits each parameter
    assert compact == relocated(bytes(24), *entries, table=RELA, **how)  # type: ignore[arg-type]
    assert compact[1] == [] and compact[0] != bytes(24)


def test_linked_files_are_left_as_they_are() -> None:
    assert relocated(bytes(8), Entry(0, 1, COLD), kind=elf_writer.EXECUTABLE) == (bytes(8), [])


def test_entries_that_mean_nothing_are_counted_and_the_others_count() -> None:
    beyond, no_symbol, unknown, none = Entry(12, 1, COLD), Entry(0, 1, 99), Entry(0, 999, COLD), Entry(0, 0)
    data, warnings = relocated(bytes(16), beyond, no_symbol, unknown, none, Entry(0, 1, COLD, 1))
    assert data == struct.pack("<QQ", 0x109, 0)
    assert warnings == ["3 relocations of .debug_info could not be applied"]


@pytest.mark.parametrize("names", [(".debug_info", ".debug_line"), (".debug_line", ".debug_info")])
def test_warnings_stand_in_the_order_of_the_sections_whichever_is_asked_for_first(names: tuple[str, str]) -> None:
    # The symbol table comes behind these five.
    beyond = struct.pack("<QQq", 99, 1 << 32 | 1, 0)
    sections = [
        Section(".text", b"x" * 0x40, flags=CODE),
        *(Section(name, bytes(16)) for name in (".debug_info", ".debug_line")),
        Section(".rela.debug_info", beyond, type=RELA, info=2, link=6),
        Section(".rela.debug_line", 2 * beyond, type=RELA, info=3, link=6),
    ]
    symbols = [Symbol("", 0, type=SECTION, binding=0), Symbol("f", 8, 8)]
    with ElfFile.from_bytes(elf(sections, symbols=symbols, kind=elf_writer.RELOCATABLE)) as opened:
        relocator = Relocator(opened)
        for section in map(opened.section, names):
            assert section is not None
            relocator.contents(section)
        assert relocator.warnings == [
            "1 relocation of .debug_info could not be applied",
            "2 relocations of .debug_line could not be applied",
        ]


def test_a_machine_whose_relocations_are_unknown_is_refused() -> None:
    with pytest.raises(MalformedElf, match="machine-4242"):
        relocated(bytes(8), Entry(0, 1, COLD), machine=4242)


@given(st.binary(max_size=24 * 8), st.sampled_from([32, 64]), st.booleans(), st.sampled_from([RELA, REL, SHT_CREL]))
def test_any_table_gives_bytes_of_the_same_size(raw: bytes, bits: int, little_endian: bool, table: int) -> None:
    for machine in (elf_writer.X86_64, elf_writer.RISCV, MIPS):
        try:
            data, _ = relocated(
                bytes(40), raw=raw, bits=bits, little_endian=little_endian, table=table, machine=machine
            )
        except MalformedElf:
            assert table == SHT_CREL
            continue
        assert len(data) == 40
