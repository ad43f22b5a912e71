"""ELF files: what readelf says, and for damaged ones an error that says so."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import struct
import subprocess
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.writers import elf_writer
from tests.writers.elf_writer import ALLOC, CODE, NOBITS, NOTE, Note, Section, Segment, Symbol, elf, note_bytes
from uploader.errors import InputError, MalformedElf, NotElf
from uploader.objects.elf import elf_file
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.identity import code_digest
from uploader.sources.identify import identify

every_class = pytest.mark.parametrize(("bits", "little_endian"), [(32, True), (32, False), (64, True), (64, False)])

DEBUG_INFO = b"made of many parts, " * 50

SAMPLE = [
    Section(".text", b"\xc3" * 64, flags=CODE, address=0x1000, alignment=16),
    Section(".data", b"data", flags=ALLOC | elf_writer.WRITE, address=0x2000),
    Section(".bss", type=NOBITS, flags=ALLOC | elf_writer.WRITE, address=0x3000, size_bytes=0x100000),
    Section(".debug_info", DEBUG_INFO, compress="zlib"),
    Section(".debug_line", DEBUG_INFO, compress="zstd"),
    Section(".zdebug_str", DEBUG_INFO, compress="zlib-gnu"),
]
SAMPLE_FILE = elf(
    SAMPLE,
    symbols=[Symbol("main", 0x1000, 16)],
    notes=[Note("GNU", 3, bytes(range(20)))],
    segments=[Segment(elf_writer.LOAD, 5, ".text"), Segment(elf_writer.NOTE_SEGMENT, 4, ".note")],
)


@every_class
def test_headers_are_read_in_every_class_and_byte_order(bits: int, little_endian: bool) -> None:
    data = elf(SAMPLE, bits=bits, little_endian=little_endian, segments=[Segment(elf_writer.LOAD, 5, ".text")])
    with ElfFile.from_bytes(data, "sample") as file:
        assert (file.bits, file.little_endian, file.kind, file.path) == (bits, little_endian, 2, "sample")
        assert file.size_bytes == len(data)
        names = [section.name for section in file.sections]
        assert names == ["", ".text", ".data", ".bss", ".debug_info", ".debug_line", ".zdebug_str", ".shstrtab"]
        text = file.section(".text")
        assert text is not None
        assert (text.index, text.address, text.size_bytes, text.alignment, text.is_code) == (1, 0x1000, 64, 16, True)
        assert bytes(file.contents(text)) == b"\xc3" * 64
        assert file.base_address == 0x1000
        assert [(segment.address, segment.size_bytes, segment.flags) for segment in file.segments] == [(0x1000, 64, 5)]


@every_class
@pytest.mark.parametrize("name", [".debug_info", ".debug_line", ".debug_str", ".zdebug_str"])
def test_compressed_sections_are_given_inflated(bits: int, little_endian: bool, name: str) -> None:
    with ElfFile.from_bytes(elf(SAMPLE, bits=bits, little_endian=little_endian)) as file:
        section = file.section(name)
        assert section is not None
        assert section.compressed
        assert section.size_bytes < len(DEBUG_INFO)
        assert file.inflated_size_bytes(section) == len(DEBUG_INFO)
        assert bytes(file.contents(section)) == DEBUG_INFO


def test_a_section_without_bytes_is_empty_whatever_size_it_states() -> None:
    with ElfFile.from_bytes(SAMPLE_FILE) as file:
        bss = file.section(".bss")
        assert bss is not None
        assert (bss.size_bytes, bss.has_bytes, bytes(file.contents(bss))) == (0x100000, False, b"")
        assert file.section(".nonesuch") is None


def test_a_section_past_the_end_is_an_error_when_it_is_asked_for_and_not_before() -> None:
    for lie in (Section(".far", b"x", offset=1 << 40), Section(".long", b"x", size_bytes=1 << 40)):
        with ElfFile.from_bytes(elf([*SAMPLE, lie])) as file:
            section = file.section(lie.name)
            assert section is not None
            with pytest.raises(MalformedElf, match=lie.name):
                file.contents(section)
            with pytest.raises(MalformedElf, match=lie.name):
                file.inflated_size_bytes(section)
            debug = file.section(".debug_info")
            assert debug is not None
            assert bytes(file.contents(debug)) == DEBUG_INFO


@pytest.mark.parametrize("compress", ["zlib", "zstd", "zlib-gnu"])
def test_a_compressed_section_that_lies_about_its_size_is_an_error(compress: str) -> None:
    for size in (0, len(DEBUG_INFO) - 1, len(DEBUG_INFO) + 1, 1 << 31):
        lie = Section(".zdebug_info", DEBUG_INFO, compress=compress, declared_size_bytes=size)
        with ElfFile.from_bytes(elf([lie])) as file:
            section = file.section(".debug_info")
            assert section is not None
            with pytest.raises(MalformedElf):
                file.contents(section)


def test_executable_ranges_come_sorted_and_joined_and_from_sections_without_bytes_too() -> None:
    sections = [
        Section(".fini", type=NOBITS, flags=CODE, address=0x5000, size_bytes=0x10),
        Section(".plt", type=NOBITS, flags=CODE, address=0x1000, size_bytes=0x20),
        Section(".text", type=NOBITS, flags=CODE, address=0x1020, size_bytes=0x100),
        Section(".text.hot", type=NOBITS, flags=CODE, address=0x1100, size_bytes=0x40),
        Section(".rodata", b"data", flags=ALLOC, address=0x4000),
        Section(".empty", flags=CODE, address=0x9000),
        Section(".wraps", type=NOBITS, flags=CODE, address=(1 << 64) - 8, size_bytes=16),
    ]
    with ElfFile.from_bytes(elf(sections)) as file:
        assert file.executable_ranges() == [(0x1000, 0x1140), (0x5000, 0x5010)]


def test_without_sections_executable_ranges_come_from_segments() -> None:
    data = elf(
        segments=[
            Segment(elf_writer.LOAD, 4, address=0x1000, offset=0, size_bytes=64),
            Segment(elf_writer.LOAD, 5, address=0x2000, offset=0, size_bytes=64),
        ],
        section_headers=False,
    )
    with ElfFile.from_bytes(data) as file:
        assert file.sections == ()
        assert file.executable_ranges() == [(0x2000, 0x2040)]
        assert file.base_address == 0x1000


@every_class
def test_notes_of_sections_and_segments_are_told_once(bits: int, little_endian: bool) -> None:
    notes = [Note("GNU", 3, b"\x01" * 20), Note("Go", 4, b"abc/def"), Note("", 1, b""), Note("stapsdt", 3, b"12345")]
    order = {"bits": bits, "little_endian": little_endian}
    data = elf(notes=notes, segments=[Segment(elf_writer.NOTE_SEGMENT, 4, ".note")], **order)  # type: ignore[arg-type]  # a plain dict
    with ElfFile.from_bytes(data) as file:
        assert list(file.notes()) == [(note.name, note.type, note.desc) for note in notes]


def test_notes_are_found_where_either_table_is_missing() -> None:
    build_id = Note("GNU", 3, b"\x02" * 20)
    with ElfFile.from_bytes(elf(notes=[build_id])) as file:
        assert list(file.notes()) == [build_id]
    data = elf(notes=[build_id], segments=[Segment(elf_writer.NOTE_SEGMENT, 4, ".note")], section_headers=False)
    with ElfFile.from_bytes(data) as file:
        assert list(file.notes()) == [build_id]


def test_a_note_without_name_and_content_is_one_even_at_the_end() -> None:
    body = struct.pack("<6I", 0, 0, 7, 0, 0, 8)
    with ElfFile.from_bytes(elf([Section(".notes", body, type=NOTE, flags=ALLOC)])) as file:
        assert list(file.notes()) == [("", 7, b""), ("", 8, b"")]


def test_notes_aligned_to_eight_bytes_are_read() -> None:
    notes = [Note("GNU", 5, b"12345678" * 3), Note("GNU", 3, b"\x03" * 20), Note("Xen", 6, b"abc")]
    body = note_bytes(notes, alignment=8)
    with ElfFile.from_bytes(elf([Section(".notes", body, type=NOTE, flags=ALLOC, alignment=8)])) as file:
        assert list(file.notes()) == notes


def test_in_a_debug_file_segments_that_point_at_something_else_are_not_believed() -> None:
    trap = note_bytes([Note("GNU", 3, b"\xff" * 20)])
    data = elf(
        [Section(".text", type=NOBITS, flags=CODE, address=0x1000, size_bytes=64), Section(".trap", trap)],
        notes=[Note("GNU", 3, b"\x04" * 20)],
        segments=[Segment(elf_writer.NOTE_SEGMENT, 4, ".trap")],
    )
    with ElfFile.from_bytes(data) as file:
        assert [desc for _, _, desc in file.notes()] == [b"\x04" * 20]


def test_a_cut_note_ends_its_area_only() -> None:
    whole, cut = note_bytes([Note("GNU", 3, b"\x05" * 20)]), note_bytes([Note("GNU", 3, b"\x06" * 20)])[:-4]
    sections = [Section(".cut", cut, type=NOTE, alignment=4), Section(".whole", whole, type=NOTE, alignment=4)]
    with ElfFile.from_bytes(elf(sections)) as file:
        assert [desc for _, _, desc in file.notes()] == [b"\x05" * 20]


def test_more_sections_than_the_header_can_count() -> None:
    sections = [Section(f".s{index}", flags=CODE, address=index) for index in range(0xFF10)]
    with ElfFile.from_bytes(elf(sections, kind=elf_writer.RELOCATABLE)) as file:
        assert len(file.sections) == 0xFF10 + 2
        assert file.sections[0xFF10].name == f".s{0xFF0F}"


def test_section_names_that_are_not_utf_8_are_shown_and_found() -> None:
    data = elf([Section(".te\u00e9xt")]).replace(".te\u00e9xt".encode(), b".te\xff\xfext")
    with ElfFile.from_bytes(data) as file:
        assert file.sections[1].name == ".te\\xff\\xfext"


@pytest.mark.parametrize("data", [b"", b"\x7f", b"\x7fEL", b"#!/bin/sh\n" * 20, b"\x7fELG" + bytes(100)])
def test_what_has_no_elf_magic_is_not_elf(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(NotElf):
        ElfFile.from_bytes(data)
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(NotElf):
        ElfFile.open(tmp_path / "file")


def test_folders_pipes_and_missing_files_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(NotElf, match="not a regular file"):
            ElfFile.open(path)
    for name in ("missing", "\0"):
        with pytest.raises(InputError, match="can't be opened"):
            ElfFile.open(tmp_path / name)


def test_a_mapped_file_can_be_closed_while_a_view_is_still_in_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(SAMPLE_FILE)
    with ElfFile.open(tmp_path / "file") as file:
        text = file.section(".text")
        assert text is not None
        view = file.contents(text)
    assert bytes(view) == b"\xc3" * 64
    with pytest.raises(TypeError):
        view[0] = 0


def patched(offset: int, layout: str, value: int) -> bytes:
    data = bytearray(SAMPLE_FILE)
    struct.pack_into(layout, data, offset, value)
    return bytes(data)


@pytest.mark.parametrize(
    ("what", "data"),
    [
        ("class", patched(4, "<B", 3)),
        ("byte order", patched(5, "<B", 0)),
        ("section headers past the end", patched(40, "<Q", 1 << 60)),
        ("program headers past the end", patched(32, "<Q", len(SAMPLE_FILE) - 10)),
        ("section header size", patched(58, "<H", 8)),
        ("program header size", patched(54, "<H", 8)),
        ("section count", patched(60, "<H", 60000)),
        ("program header count", patched(56, "<H", 60000)),
        ("name section", patched(62, "<H", 999)),
    ],
)
def test_a_header_that_contradicts_the_file_is_malformed(what: str, data: bytes) -> None:
    with pytest.raises(MalformedElf):
        ElfFile.from_bytes(data, what)


def test_a_section_count_from_section_zero_is_not_believed_either() -> None:
    data = bytearray(patched(60, "<H", 0))
    section_offset = struct.unpack_from("<Q", data, 40)[0]
    struct.pack_into("<Q", data, section_offset + 32, 1 << 62)
    with pytest.raises(MalformedElf):
        ElfFile.from_bytes(bytes(data))


def answers(data: bytes) -> None:
    """Asks everything that can be asked of a file; only errors of ours may come of it."""
    try:
        with ElfFile.from_bytes(data) as file:
            list(file.notes())
            file.executable_ranges()
            identify(file)
            for ask in (file.contents, file.inflated_size_bytes):
                for section in file.sections:
                    with contextlib.suppress(MalformedElf):
                        ask(section)
            code_digest(file)
    except (NotElf, MalformedElf):
        pass


def test_every_truncation_gives_an_answer_or_a_clear_error() -> None:
    for length in range(0, len(SAMPLE_FILE), 97):
        answers(SAMPLE_FILE[:length])


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(changes=st.lists(st.tuples(st.integers(0, len(SAMPLE_FILE) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_every_changed_byte_gives_an_answer_or_a_clear_error(changes: list[tuple[int, int]]) -> None:
    data = bytearray(SAMPLE_FILE)
    for position, value in changes:
        data[position] = value
    answers(bytes(data))


@settings(max_examples=150)
@given(
    headers=st.lists(
        st.tuples(st.sampled_from([1, 3, 7, 8]), st.integers(0, 1 << 64), st.integers(0, 1 << 64), st.booleans()),
        max_size=6,
    )
)
def test_any_offsets_and_sizes_of_sections_give_an_answer_or_a_clear_error(
    headers: list[tuple[int, int, int, bool]],
) -> None:
    sections = [
        Section(
            f".s{index}",
            type=kind,
            offset=min(offset, (1 << 64) - 1),
            size_bytes=min(size, (1 << 64) - 1),
            flags=CODE * code,
        )
        for index, (kind, offset, size, code) in enumerate(headers)
    ]
    answers(elf([*SAMPLE, *sections]))


@given(data=st.binary(max_size=400))
def test_random_bytes_behind_the_magic_give_an_answer_or_a_clear_error(data: bytes) -> None:
    answers(b"\x7fELF" + data)


def test_overlapping_section_names_and_notes_take_bounded_memory() -> None:
    names = b"a" * (1 << 20)
    data = bytearray(elf([Section(".blob", names), *[Section(".x") for _ in range(3000)]]))
    with ElfFile.from_bytes(bytes(data)) as file:
        blob = file.section(".blob")
        assert blob is not None
        section_offset = struct.unpack_from("<Q", data, 40)[0]
        for index in range(2, len(file.sections)):
            struct.pack_into("<I", data, section_offset + 64 * index, index)
        struct.pack_into("<QQ", data, section_offset + 64 * (len(file.sections) - 1) + 24, blob.offset, blob.size_bytes)
    tracemalloc.start()
    try:
        with pytest.raises(MalformedElf, match="overlap"):
            ElfFile.from_bytes(bytes(data))
        assert tracemalloc.get_traced_memory()[1] < 256 << 20
    finally:
        tracemalloc.stop()


SOURCE = "int f(int x) { return x * 3; } int main(void) { return f(2); }"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that a real compiler made, with its stripped, debug, compressed and object forms beside it."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "main.c").write_text(SOURCE)
    for command in (
        "gcc -g -Wl,--build-id main.c -o program",
        "gcc -g -c main.c -o object.o",
        "objcopy --only-keep-debug program program.debug",
        "objcopy --strip-debug --add-gnu-debuglink=program.debug program stripped-debug",
        "strip program -o stripped",
        "objcopy --compress-debug-sections=zlib program zlib",
        "objcopy --compress-debug-sections=zlib-gnu program zlib-gnu",
    ):
        subprocess.run(command.split(), cwd=folder, check=True)
    return folder


FORMS = ["program", "object.o", "program.debug", "stripped-debug", "stripped", "zlib", "zlib-gnu"]


@pytest.mark.parametrize("form", FORMS)
def test_sections_are_those_that_readelf_lists(built: Path, form: str) -> None:
    text = subprocess.run(["readelf", "-SW", form], cwd=built, check=True, capture_output=True, text=True).stdout
    rows = re.findall(r"^ *\[ *(\d+)\] (\S+) +(\S+) +([0-9a-f]{16}) ([0-9a-f]+) ([0-9a-f]+) ", text, re.MULTILINE)
    with ElfFile.open(built / form) as file:
        ours = [
            (section.index, section.name, section.type == 8, section.address, section.offset, section.size_bytes)
            for section in file.sections[1:]
        ]
    assert ours == [
        (int(index), name, kind == "NOBITS", int(address, 16), int(offset, 16), int(size, 16))
        for index, name, kind, address, offset, size in rows
    ]
    assert ours


@pytest.mark.parametrize("form", FORMS[:1] + FORMS[2:])
def test_the_build_id_is_the_one_that_readelf_tells(built: Path, form: str) -> None:
    text = subprocess.run(["readelf", "-nW", form], cwd=built, check=True, capture_output=True, text=True).stdout
    expected = re.search(r"Build ID: ([0-9a-f]+)", text)
    assert expected is not None
    with ElfFile.open(built / form) as file:
        ours = [desc.hex() for name, kind, desc in file.notes() if (name, kind) == ("GNU", 3)]
    assert ours == [expected.group(1)]
    if shutil.which("eu-readelf"):
        text = subprocess.run(["eu-readelf", "-n", form], cwd=built, check=True, capture_output=True, text=True).stdout
        assert re.findall(r"Build ID: ([0-9a-f]+)", text)[:1] == ours


@pytest.mark.parametrize("form", ["zlib", "zlib-gnu"])
def test_what_objcopy_compressed_is_what_it_was(built: Path, form: str) -> None:
    with ElfFile.open(built / "program") as plain, ElfFile.open(built / form) as packed:
        for section in plain.sections:
            if section.name.startswith(".debug_"):
                other = packed.section(section.name)
                assert other is not None
                assert bytes(packed.contents(other)) == bytes(plain.contents(section))
        assert any(section.compressed for section in packed.sections)


def test_what_was_compressed_with_zstd_is_what_it_was(built: Path) -> None:
    for tool in ("objcopy", "llvm-objcopy", "llvm-objcopy-22"):
        command = [tool, "--compress-debug-sections=zstd", "program", "zstd"]
        if shutil.which(tool) and not subprocess.run(command, cwd=built, check=False, capture_output=True).returncode:
            break
    else:
        pytest.skip("no objcopy here writes zstd")
    with ElfFile.open(built / "program") as plain, ElfFile.open(built / "zstd") as packed:
        info, other = plain.section(".debug_info"), packed.section(".debug_info")
        assert info is not None
        assert other is not None
        assert other.compressed
        assert bytes(packed.contents(other)) == bytes(plain.contents(info))


def test_truncated_files_are_refused_when_mapped_too(tmp_path: Path) -> None:
    for length in range(0, len(SAMPLE_FILE), 97):
        (tmp_path / "cut").write_bytes(SAMPLE_FILE[:length])
        with pytest.raises((NotElf, MalformedElf), match=r"cut"):
            ElfFile.open(tmp_path / "cut")


def test_every_truncation_of_a_real_program_gives_an_answer_or_a_clear_error(built: Path) -> None:
    data = (built / "zlib").read_bytes()
    for length in range(0, len(data), 97):
        answers(data[:length])


def test_a_file_of_holes_is_refused_before_anything_in_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "holes"
    path.write_bytes(elf([Section(".text", b"\xc3" * 64, flags=CODE)]))
    os.truncate(path, 1 << 40)
    with pytest.raises(MalformedElf, match="are holes"):
        ElfFile.open(path)


def test_a_file_with_few_holes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "few"
    path.write_bytes(elf([Section(".text", b"\xc3" * 64, flags=CODE)]))
    os.truncate(path, 1 << 30)
    with ElfFile.open(path) as file:
        assert file.size_bytes == 1 << 30


def test_no_more_notes_are_read_than_any_file_has() -> None:
    """Areas of notes may lie in each other: 60,000 headers that share a megabyte would be 60 gigabytes."""
    area = note_bytes([Note("GNU", 5, bytes([index]) * ((1 << 20) - 16)) for index in range(20)])
    assert len(area) == 20 << 20
    areas = [Section(f".note{index}", type=NOTE, offset=64 + (index << 20), size_bytes=1 << 20) for index in range(20)]
    file = elf([Section(".bytes", area, offset=None), *areas])
    with ElfFile.from_bytes(file) as read:
        told = [desc[0] for _, _, desc in read.notes()]
    assert told == list(range(16))


def test_notes_that_areas_share_are_read_twice_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    area = note_bytes([Note("", index, b"") for index in range(1000)])
    areas = [Section(".note", type=NOTE, offset=64 + 16 * index, size_bytes=len(area) // 2) for index in range(400)]
    data = elf([Section(".bytes", area), *areas])
    read_bytes = []
    read_in = ElfFile._notes_in

    def counted(file: ElfFile, area: memoryview, alignment: int) -> Iterator[tuple[str, int, bytes]]:
        read_bytes.append(len(area))
        return read_in(file, area, alignment)

    monkeypatch.setattr(ElfFile, "_notes_in", counted)
    with ElfFile.from_bytes(data) as file:
        identify(file)
    assert len(data) < sum(read_bytes) <= 2 * len(data)


def test_of_many_notes_the_first_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elf_file, "MAX_NOTES", 3)
    with ElfFile.from_bytes(elf(notes=[Note("x", index, b"") for index in range(5)])) as file:
        assert [kind for _, kind, _ in file.notes()] == [0, 1, 2]


def test_an_area_of_notes_too_large_for_any_file_hides_no_other() -> None:
    huge = Section(".huge", note_bytes([Note("GNU", 5, bytes(17 << 20))]), type=NOTE)
    with ElfFile.from_bytes(elf([huge], notes=[Note("GNU", 3, b"\x07" * 20)])) as file:
        assert [desc for _, _, desc in file.notes()] == [b"\x07" * 20]
