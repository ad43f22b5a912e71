"""Who a file is and what it holds: primary id and aliases, sources, expected quality, the shape and digest of its code."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers import elf_writer
from tests.writers.elf_writer import ALLOC, CODE, NOBITS, NOTE, Note, Section, Symbol, elf, note_bytes
from uploader.errors import MalformedElf
from uploader.model import IdScheme, Quality, Source, SymbolId
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.identity import CodeSection, code_digest
from uploader.sources.identify import Identified, identify
from uploader.sources.registry import expected

TEXT = Section(".text", b"\x90" * 64, flags=CODE, address=0x1000)
GO_ID = "uN5aTfbvEr-_x/redacted/abc/9zZ"
BUILD_ID = bytes(range(1, 21))


def identified(data: bytes) -> Identified:
    with ElfFile.from_bytes(data, "file") as file:
        return identify(file)


def digest(data: bytes) -> str | None:
    with ElfFile.from_bytes(data) as file:
        return code_digest(file)


def otel_file_id(data: bytes) -> str:
    return hashlib.sha256(data[:4096] + data[-4096:] + len(data).to_bytes(8, "big")).digest()[:16].hex()


def test_the_gnu_build_id_comes_first_and_the_others_are_aliases() -> None:
    data = elf([TEXT], notes=[Note("Go", 4, GO_ID.encode()), Note("GNU", 3, BUILD_ID)])
    identity = identified(data).identity
    assert identity.primary == SymbolId(scheme=IdScheme.GNU, value=BUILD_ID.hex())
    assert identity.aliases == (
        SymbolId(scheme=IdScheme.GO, value=GO_ID.replace("/", "~")),
        SymbolId(scheme=IdScheme.FILE, value=otel_file_id(data)),
    )


def test_without_a_build_id_the_go_id_is_primary_and_without_that_the_file_id() -> None:
    go = identified(elf([TEXT], notes=[Note("Go", 4, GO_ID.encode())])).identity
    assert go.primary == SymbolId(scheme=IdScheme.GO, value=GO_ID.replace("/", "~"))
    data = elf([TEXT])
    assert identified(data).identity.primary == SymbolId(scheme=IdScheme.FILE, value=otel_file_id(data))
    assert identified(data).identity.aliases == ()


@given(padding=st.integers(0, 12000))
def test_the_file_id_is_that_of_opentelemetry_for_short_and_long_files(padding: int) -> None:
    data = elf([Section(".pad", bytes(index % 251 for index in range(padding)))])
    assert identified(data).identity.primary.value == otel_file_id(data)


@pytest.mark.parametrize(
    "note",
    [
        Note("GNU", 3, b""),
        Note("GNU", 3, bytes(20)),
        Note("GNU", 3, b"\x01" * 65),
        Note("GNU", 4, BUILD_ID),
        Note("CORE", 3, BUILD_ID),
        Note("Go", 4, b""),
        Note("Go", 4, b"../../etc/passwd \xff"),
        Note("Go", 4, b"x" * 300),
        Note("Go", 4, b"redacted\0"),
    ],
)
def test_an_id_that_names_nothing_or_can_not_be_a_file_name_is_passed_over(note: Note) -> None:
    assert identified(elf([TEXT], notes=[note])).identity.primary.scheme is IdScheme.FILE


@pytest.mark.parametrize(
    "whole",
    [
        "4976e6500ffe27c99db6bfc5dabb045d27ccf7b0",
        "b78919aff001d8366249403a2544fba2d833084f",
        "498919aff001d8366249403a2544fba2d833084f",
    ],
    ids=["go1.22.10", "go1.24.11", "go1.27.3"],
)
def test_an_id_that_go_makes_of_the_word_in_place_of_its_own_is_none(whole: str) -> None:
    word = Note("Go", 4, b"redacted\0")
    made_of_it = Note("GNU", 3, bytes.fromhex(whole))
    found = identified(elf([TEXT], notes=[made_of_it, word]))
    assert found.identity.primary.scheme is IdScheme.FILE
    assert found.has_redacted_id
    assert found.has_id_of_redacted
    linked_with_one = identified(elf([TEXT], notes=[Note("GNU", 3, BUILD_ID), word]))
    assert linked_with_one.identity.primary.value == BUILD_ID.hex()
    assert not linked_with_one.has_redacted_id
    without_one = identified(elf([TEXT], notes=[word]))
    assert (without_one.has_redacted_id, without_one.has_id_of_redacted) == (True, False)
    alone = identified(elf([TEXT], notes=[made_of_it]))
    assert alone.identity.primary.scheme is IdScheme.FILE
    assert alone.has_redacted_id


@pytest.mark.parametrize("other", [b"\1", b"", GO_ID.encode()])
def test_the_word_in_place_of_an_id_counts_whatever_notes_follow(other: bytes) -> None:
    made_of_it = Note("GNU", 3, bytes.fromhex("498919aff001d8366249403a2544fba2d833084f"))
    found = identified(elf([TEXT], notes=[Note("Go", 4, b"redacted"), Note("Go", 4, other), made_of_it]))
    assert found.identity.primary.scheme is (IdScheme.GO if other == GO_ID.encode() else IdScheme.FILE)
    assert found.has_redacted_id is (other != GO_ID.encode())


def test_the_build_id_of_a_kernel_lies_in_its_notes_section_among_others() -> None:
    notes = note_bytes([Note("Xen", 6, b"linux"), Note("GNU", 3, BUILD_ID), Note("Linux", 0x101, bytes(4))])
    kernel = elf([TEXT, Section(".notes", notes, type=NOTE, flags=ALLOC, alignment=4)])
    assert identified(kernel).identity.primary == SymbolId(scheme=IdScheme.GNU, value=BUILD_ID.hex())


@pytest.mark.parametrize(
    ("sections", "sources", "quality"),
    [
        ([], (), Quality.NONE),
        ([Section(".debug_info", b"x")], (Source.DWARF,), Quality.FULL),
        (
            [Section(".debug_info", b"x" * 99, compress="zlib"), Section(".debug_line", b"x")],
            (Source.DWARF,),
            Quality.FULL,
        ),
        ([Section(".zdebug_info", b"x" * 99, compress="zlib-gnu")], (Source.DWARF,), Quality.FULL),
        ([Section(".debug_line", b"x")], (Source.DWARF_LINES,), Quality.LINES),
        ([Section(".debug_info"), Section(".debug_line", b"x")], (Source.DWARF_LINES,), Quality.LINES),
        ([Section(".debug_info", type=NOBITS, size_bytes=9)], (), Quality.NONE),
        ([Section(".gopclntab", b"x")], (Source.GO,), Quality.FULL),
        ([Section(".data.rel.ro.gopclntab", b"x")], (Source.GO,), Quality.FULL),
        ([Section(".gopclntab", type=NOBITS, size_bytes=9)], (), Quality.NONE),
        ([Section(".gnu_debugdata", b"x")], (Source.MINI_DEBUGINFO,), Quality.FUNCTIONS),
    ],
)
def test_sources_are_told_from_sections_that_hold_bytes(
    sections: list[Section], sources: tuple[Source, ...], quality: Quality
) -> None:
    told = identified(elf([TEXT, *sections]))
    assert (told.sources, expected(told.sources)) == (sources, quality)


def test_symbol_tables_count_only_where_they_hold_symbols() -> None:
    symbol = [Symbol("f", 0x1000)]
    assert identified(elf([TEXT], symbols=[], dynamic_symbols=[])).sources == ()
    assert identified(elf([TEXT], symbols=symbol)).sources == (Source.SYMTAB,)
    assert identified(elf([TEXT], dynamic_symbols=symbol)).sources == (Source.DYNSYM,)
    told = identified(elf([TEXT, Section(".debug_info", b"x")], symbols=symbol, dynamic_symbols=symbol, bits=32))
    assert told.sources == (Source.DWARF, Source.SYMTAB, Source.DYNSYM)
    assert expected(told.sources) is Quality.FULL


@pytest.mark.parametrize(
    ("machine", "bits", "little_endian", "name"),
    [
        (elf_writer.X86_64, 64, True, "x86-64"),
        (elf_writer.X86_64, 32, True, "x32"),
        (elf_writer.I386, 32, True, "386"),
        (elf_writer.ARM64, 64, True, "arm64"),
        (elf_writer.ARM, 32, True, "arm"),
        (elf_writer.PPC64, 64, False, "ppc64"),
        (elf_writer.PPC64, 64, True, "ppc64le"),
        (elf_writer.RISCV, 64, True, "riscv64"),
        (22, 64, False, "s390x"),
        (60000, 64, True, "machine-60000"),
    ],
)
def test_machines_have_the_names_of_the_field(machine: int, bits: int, little_endian: bool, name: str) -> None:
    told = identified(elf([TEXT], machine=machine, bits=bits, little_endian=little_endian))
    assert told.machine == name


def test_a_debug_file_has_the_shape_of_its_binary_but_no_code() -> None:
    sections = [Section(".plt", b"\x11" * 8, flags=CODE, address=0x3000), TEXT, Section(".data", b"x", flags=ALLOC)]
    bare = [
        section._replace(data=b"", type=NOBITS, size_bytes=len(section.data)) if section.flags & ALLOC else section
        for section in sections
    ]
    binary, debug = identified(elf(sections)), identified(elf(bare))
    assert binary.code_sections == debug.code_sections
    assert binary.code_sections == (
        CodeSection(name=".text", address=0x1000, size_bytes=64),
        CodeSection(name=".plt", address=0x3000, size_bytes=8),
    )
    assert (binary.has_code_bytes, debug.has_code_bytes) == (True, False)
    assert digest(elf(sections)) is not None
    assert digest(elf(bare)) is None


def test_the_digest_changes_with_the_code_and_with_nothing_else() -> None:
    plain = digest(elf([TEXT]))
    assert plain == digest(elf([Section(".data", b"other", flags=ALLOC), TEXT, Section(".debug_info", b"more")]))
    changes = [TEXT._replace(data=b"\x90" * 63 + b"\x91"), TEXT._replace(address=0x1001), TEXT._replace(name=".texu")]
    assert len({plain, *(digest(elf([change])) for change in changes)}) == 4


def test_code_that_reaches_past_the_end_or_overlaps_itself_has_no_digest() -> None:
    far = Section(".text", b"x" * 64, flags=CODE, offset=1 << 30)
    layers = [Section(f".text{index}", b"x" * 64, flags=CODE, offset=64, size_bytes=4000) for index in range(60)]
    for sections in ([far], layers):
        with pytest.raises(MalformedElf):
            digest(elf(sections))


@pytest.mark.parametrize("little_endian", [True, False])
@pytest.mark.parametrize("name", [b"a.debug", b"ab.debug", b"abc.debug", b"abcd.debug"])
def test_a_debug_link_gives_name_and_crc(name: bytes, little_endian: bool) -> None:
    padded = name + bytes(4 - len(name) % 4)
    link = padded + (0xDEADBEEF).to_bytes(4, "little" if little_endian else "big")
    told = identified(elf([TEXT, Section(".gnu_debuglink", link)], little_endian=little_endian)).debug_link
    assert told is not None
    assert (told.name, told.crc32) == (name, 0xDEADBEEF)


@pytest.mark.parametrize("link", [b"", b"\0\0\0\0\0\0\0\0", b"name", b"name\0\0\0\0abc", b"x" * 70_000 + b"\0" * 8])
def test_a_damaged_debug_link_is_none(link: bytes) -> None:
    assert identified(elf([TEXT, Section(".gnu_debuglink", link)])).debug_link is None
    assert identified(elf([TEXT, Section(".gnu_debuglink", link, offset=1 << 30)])).debug_link is None


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    (folder / "main.c").write_text("int main(void) { return 0; }")
    for command in (
        "gcc -g -Wl,--build-id main.c -o program",
        "objcopy --only-keep-debug program program.debug",
        "strip program -o stripped",
        "objcopy --add-gnu-debuglink=program.debug stripped linked",
    ):
        subprocess.run(command.split(), cwd=folder, check=True)
    return folder


def test_stripping_a_real_program_keeps_its_id_shape_and_digest(built: Path) -> None:
    told, digests = {}, {}
    for form in ("program", "program.debug", "stripped", "linked"):
        with ElfFile.open(built / form) as file:
            told[form], digests[form] = identify(file), code_digest(file)
    text = subprocess.run(["readelf", "-nW", "program"], cwd=built, check=True, capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", text)
    assert build_id is not None
    assert {each.identity.primary.value for each in told.values()} == {build_id.group(1)}
    assert len({each.code_sections for each in told.values()}) == 1
    assert digests["program"] == digests["stripped"] == digests["linked"] is not None
    assert digests["program.debug"] is None
    assert told["program"].sources == (Source.DWARF, Source.SYMTAB, Source.DYNSYM)
    assert told["program.debug"].sources == (Source.DWARF, Source.SYMTAB)
    assert told["stripped"].sources == (Source.DYNSYM,)
    link = told["linked"].debug_link
    assert link is not None
    assert link.name == b"program.debug"
