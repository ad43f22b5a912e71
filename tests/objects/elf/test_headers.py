"""ELF headers: the same as pyelftools reads, whatever the class and byte order."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from elftools.elf import enums
from elftools.elf.elffile import ELFFile

from tests.writers import elf_writer
from tests.writers.elf_writer import ALLOC, CODE, NOBITS, Note, Section, Segment, Symbol, elf
from uploader.errors import MalformedElf
from uploader.objects.elf.headers import SHN_XINDEX, read_headers

KINDS = {
    name: number
    for table_name, table in vars(enums).items()
    if table_name.startswith(("ENUM_E_TYPE", "ENUM_E_MACHINE", "ENUM_SH_TYPE", "ENUM_P_TYPE"))
    for name, number in table.items()
}
SECTION_FIELDS = {
    "type": "sh_type",
    "flags": "sh_flags",
    "address": "sh_addr",
    "offset": "sh_offset",
    "size_bytes": "sh_size",
    "link": "sh_link",
    "info": "sh_info",
    "entry_size": "sh_entsize",
    "alignment": "sh_addralign",
}
SEGMENT_FIELDS = {
    "type": "p_type",
    "flags": "p_flags",
    "offset": "p_offset",
    "address": "p_vaddr",
    "size_bytes": "p_filesz",
    "memory_size_bytes": "p_memsz",
    "alignment": "p_align",
}


def number(value: int | str) -> int:
    """pyelftools names the values that it knows."""
    return KINDS[value] if isinstance(value, str) else value


def agree(data: bytes) -> None:
    """Both readers tell the same of every header."""
    ours = read_headers(memoryview(data))
    theirs = ELFFile(io.BytesIO(data))
    assert (ours.bits, ours.little_endian) == (theirs.elfclass, theirs.little_endian)
    assert ours.kind == number(theirs["e_type"])
    assert ours.machine == number(theirs["e_machine"])
    assert ours.flags == theirs["e_flags"]
    sections = list(theirs.iter_sections())
    assert [section.name for section in ours.sections] == [section.name for section in sections]
    for mine, other in zip(ours.sections, sections, strict=True):
        assert {name: getattr(mine, name) for name in SECTION_FIELDS} == {
            name: number(other[field]) for name, field in SECTION_FIELDS.items()
        }
    segments = list(theirs.iter_segments())
    assert [{name: getattr(mine, name) for name in SEGMENT_FIELDS} for mine in ours.segments] == [
        {name: number(other[field]) for name, field in SEGMENT_FIELDS.items()} for other in segments
    ]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("little_endian", [True, False])
def test_every_class_and_byte_order_reads_as_pyelftools_reads_it(bits: int, little_endian: bool) -> None:
    agree(
        elf(
            [
                Section(".text", b"\xc3" * 64, flags=CODE, address=0x1000, alignment=16),
                Section(".data", b"data", flags=ALLOC | elf_writer.WRITE, address=0x2000),
                Section(".bss", type=NOBITS, flags=ALLOC | elf_writer.WRITE, address=0x3000, size_bytes=0x100000),
                Section(".debug_info", b"packed " * 50, compress="zlib"),
            ],
            symbols=[Symbol("main", 0x1000, 16)],
            notes=[Note("GNU", 3, bytes(range(20)))],
            segments=[Segment(elf_writer.LOAD, 5, ".text"), Segment(elf_writer.NOTE_SEGMENT, 4, ".note")],
            bits=bits,
            little_endian=little_endian,
        )
    )


def test_a_real_program_reads_as_pyelftools_reads_it() -> None:
    agree(Path(sys.executable).resolve().read_bytes())


def test_more_sections_than_the_header_can_count_are_counted_by_the_first() -> None:
    data = bytearray(elf([Section(f".s{index}", flags=CODE, address=index) for index in range(3)]))
    before = read_headers(memoryview(data))
    at = int.from_bytes(data[40:48], "little")
    names_index = int.from_bytes(data[62:64], "little")
    data[60:64] = (0).to_bytes(2, "little") + SHN_XINDEX.to_bytes(2, "little")
    data[at + 32 : at + 40] = len(before.sections).to_bytes(8, "little")
    data[at + 40 : at + 44] = names_index.to_bytes(4, "little")
    assert [section.name for section in read_headers(memoryview(data)).sections] == [
        section.name for section in before.sections
    ]


@pytest.mark.parametrize("length", [52, 63])
def test_a_file_that_ends_within_the_larger_header_is_malformed(length: int) -> None:
    with pytest.raises(MalformedElf, match="ends within its ELF header"):
        read_headers(memoryview(elf([])[:length]))
