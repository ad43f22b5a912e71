"""What a file says of itself: the words of readelf, and of a damaged file what is sound."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.writers.elf_writer import ALLOC, CODE, NOBITS, NOTE, NOTE_SEGMENT, Note, Section, Segment, elf, note_bytes
from uploader.errors import InputError
from uploader.objects.elf import describe as module
from uploader.objects.elf.describe import Description, describe
from uploader.objects.elf.elf_file import ElfFile

STRTAB, DYNAMIC, HASH = 3, 6, 5
PARTS = ("its header", "its kind", "the table of sections", "the interpreter", "what it is linked with", "notes")


def described(data: bytes) -> Description:
    return describe(ElfFile.from_bytes(data))


@pytest.fixture(scope="module")
def library(peer: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shared library with a name, a library that it needs, compressed debug sections and notes."""
    path = tmp_path_factory.mktemp("described") / "libgreet.so.1"
    flags = [
        "-g",
        "-gz=zlib",
        "-shared",
        "-fPIC",
        "-Wl,-soname,libgreet.so.1",
        "-Wl,--build-id",
        "-Wl,-rpath,/opt/greet",
    ]
    subprocess.run(
        [peer("gcc"), *flags, "-Wl,--no-as-needed", "-x", "c", "-", "-lm", "-o", path],
        input="int greet(int x) { return x + 1; }",
        text=True,
        check=True,
    )
    return path


@pytest.fixture(scope="module")
def readelf(peer: Callable[[str], str]) -> Callable[..., str]:
    tool = peer("readelf")

    def run(*words: str | Path) -> str:
        return subprocess.run(
            [tool, "-W", *words], check=True, capture_output=True, text=True, env={"LC_ALL": "C"}
        ).stdout

    return run


def test_a_library_is_described_in_the_words_of_readelf(library: Path, readelf: Callable[..., str]) -> None:
    with ElfFile.open(library) as file:
        told = describe(file)
    assert told.left_out == []
    header = readelf("-h", library)
    for label, words in (("Type", told.type), ("Machine", told.machine), ("OS/ABI", told.abi)):
        assert re.search(rf"{label}: +{re.escape(words)}$", header, re.MULTILINE), words
    dynamic = readelf("-d", library)
    assert told.soname == "libgreet.so.1"
    assert told.needed == re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
    assert "libm.so.6" in told.needed
    assert told.search_path == re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", dynamic) == ["/opt/greet"]
    (build_id,) = re.findall(r"Build ID: (\w+)", readelf("-n", library))
    assert [note.owner for note in told.notes if note.text.endswith(f"Build ID: {build_id}")] == ["GNU"]


def test_sections_have_the_types_flags_and_places_that_readelf_prints(
    library: Path, readelf: Callable[..., str]
) -> None:
    row = re.compile(
        r"^ *\[ *\d+\] (\S*) +([A-Z_]+) +([0-9a-f]{16}) [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +([A-Za-z]*) +\d+ +\d+ +\d+$",
        re.MULTILINE,
    )
    with ElfFile.open(library) as file:
        told = describe(file)
        inflated = {each.name: len(file.contents(each)) for each in file.sections if each.compressed}
    rows = row.findall(readelf("-S", library))
    assert len(rows) > 20
    assert [(each.name, each.type, each.flags, each.address, each.size_bytes) for each in told.sections] == [
        (name, kind, flags, int(address, 16), int(size, 16)) for name, kind, address, size, flags in rows
    ]
    assert {each.name: each.inflated_size_bytes for each in told.sections if "C" in each.flags} == inflated != {}
    assert all(each.inflated_size_bytes is None for each in told.sections if "C" not in each.flags)


def test_a_program_names_its_interpreter(built_binary: Callable[[str], Path], readelf: Callable[..., str]) -> None:
    path = built_binary("gcc-dwarf5")
    with ElfFile.open(path) as file:
        told = describe(file)
    assert f"interpreter: {told.interpreter}]" in readelf("-l", path)


def test_the_notes_of_a_file_without_section_headers_are_those_of_its_segments() -> None:
    notes = [Note("GNU", 3, bytes(range(20))), Note("Go", 4, b"abc/def")]
    data = elf(notes=notes, segments=[Segment(NOTE_SEGMENT, 4, ".note")], section_headers=False)
    told = described(data)
    assert [(note.owner, note.text) for note in told.notes] == [
        ("GNU", f"NT_GNU_BUILD_ID (unique build ID bitstring) Build ID: {bytes(range(20)).hex()}"),
        ("Go", "type 0x4, 7 bytes"),
    ]
    assert told.sections == []


def test_what_no_table_knows_is_told_by_its_number() -> None:
    told = described(elf([Section(".odd", b"x", type=0x1234)], machine=0xABCD, kind=0x77))
    assert (told.type, told.machine) == ("unknown (119)", "unknown (43981)")
    (odd,) = [section for section in told.sections if section.name == ".odd"]
    assert odd.type == "unknown (4660)"


def test_a_debug_file_says_nothing_of_what_it_is_linked_with() -> None:
    """Its segments and its dynamic section are headers alone; the bytes that they name are those of something else."""
    told = described(
        elf(
            [
                Section(".text", type=NOBITS, flags=CODE, address=0x1000, size_bytes=64),
                Section(".dynamic", type=NOBITS, flags=ALLOC, address=0x2000, size_bytes=64),
                Section(".debug_info", b"something else" * 9),
            ],
            segments=[Segment(3, 4, ".debug_info"), Segment(2, 4, ".debug_info")],
        )
    )
    assert (told.interpreter, told.needed, told.left_out) == ("", [], [])


def test_a_damaged_part_is_left_out_with_a_line_and_the_others_are_told() -> None:
    dynamic = (1).to_bytes(8, "little") + (1 << 40).to_bytes(8, "little") + bytes(16)
    told = described(
        elf(
            [
                Section(".text", b"\xc3", flags=CODE, address=0x1000),
                Section(".dynamic", dynamic, type=DYNAMIC, flags=ALLOC, link=99),
            ],
            notes=[Note("GNU", 3, bytes(range(20)))],
        )
    )
    assert told.machine == "Advanced Micro Devices X86-64"
    assert [section.name for section in told.sections][:3] == ["", ".text", ".dynamic"]
    assert len(told.notes) == 1
    (line,) = told.left_out
    assert line.startswith("what it is linked with: ")


@pytest.mark.parametrize("kind", ["dynamic tags without end", "notes without end", "one string of all of it"])
def test_a_part_that_is_larger_than_any_real_one_is_cut_short_in_little_time(kind: str) -> None:
    tag = (1).to_bytes(8, "little") + (1).to_bytes(8, "little")
    sections = {
        "dynamic tags without end": [
            Section(".dynamic", tag * 500_000, type=DYNAMIC, link=".names"),
            Section(".names", b"\0libx.so\0", type=STRTAB),
        ],
        "notes without end": [Section(".many", note_bytes([Note("x", 1, b"")]) * 500_000, type=NOTE)],
        "one string of all of it": [
            Section(".dynamic", tag * 1000 + bytes(16), type=DYNAMIC, link=".names"),
            Section(".names", b"\0" + b"a" * 8_000_000 + b"\0", type=STRTAB),
        ],
    }
    began = time.process_time()
    told = described(elf(sections[kind]))
    assert time.process_time() - began < 5
    (line,) = told.left_out
    assert line.endswith("it is larger than any real one")


def test_of_very_many_sections_the_first_are_described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_SECTIONS", 10)
    told = described(elf([Section(f".text.{index}", b"x", flags=CODE) for index in range(20)]))
    assert len(told.sections) == 10
    assert told.left_out == ["the table of sections: it has 12 more"]


@settings(max_examples=300)
@given(draw=st.data())
def test_any_bytes_changed_are_described_or_refused(library: Path, draw: st.DataObject) -> None:
    """Those of the header, of the section headers, of notes and of the dynamic section, and any others."""
    data = bytearray(library.read_bytes())
    sections = ElfFile.from_bytes(bytes(data)).sections
    headers_at = int.from_bytes(data[40:48], "little")
    read = [(0, 0x400), (headers_at, len(data) - headers_at)]
    read += [(each.offset, each.size_bytes) for each in sections if each.type in (NOTE, DYNAMIC, STRTAB)]
    for _ in range(draw.draw(st.integers(1, 4))):
        offset, size = draw.draw(st.sampled_from([*read, (0, len(data))]))
        data[offset + draw.draw(st.integers(0, size - 1))] = draw.draw(st.integers(0, 255))
    try:
        told = described(bytes(data))
    except InputError:
        return
    assert told.machine or told.left_out
    assert all(line.startswith((*PARTS, "the inflated size of ")) for line in told.left_out)
