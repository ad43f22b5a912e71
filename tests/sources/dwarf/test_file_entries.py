"""Lists of directories and files in headers of line tables (DWARF 5 §6.2.4.1): every form, and damage."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import uleb
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf.file_entries import FileEntries

PATH, DIRECTORY, MD5, VENDOR = 1, 2, 5, 0x2001
NO_DIRECTORY = 0xFFFFFFFF


def described(formats: Sequence[tuple[int, int]], *entries: bytes, count: int | None = None) -> bytes:
    """A list of version 5: what each entry holds, their number, and the entries."""
    head = bytes([len(formats)]) + b"".join(uleb(content) + uleb(form) for content, form in formats)
    return head + uleb(len(entries) if count is None else count) + b"".join(entries)


def read(
    data: bytes, *, end: int | None = None, little_endian: bool = True, offset_size: int = 4
) -> list[tuple[int, int, int]]:
    """(form, value, directory) of each entry."""
    entries = FileEntries(data, little_endian=little_endian)
    entries.read_described(0, len(data) if end is None else end, 8, offset_size, "files")
    assert entries.behind() <= len(data)
    return [entries.entry(index) for index in range(len(entries))]


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize("length", [0, 1, 200])
@pytest.mark.parametrize("form", [dw.BLOCK, dw.BLOCK1, dw.BLOCK2, dw.BLOCK4])
def test_a_block_of_any_form_is_passed(form: int, length: int, little_endian: bool) -> None:
    order = "little" if little_endian else "big"
    size = {dw.BLOCK1: 1, dw.BLOCK2: 2, dw.BLOCK4: 4}.get(form)
    block = (uleb(length) if size is None else length.to_bytes(size, order)) + b"\xaa" * length  # type: ignore[arg-type]
    entries = [block + name + b"\0" + uleb(index) for index, name in enumerate((b"a.c", b"b.c"))]
    data = described([(VENDOR, form), (PATH, dw.STRING), (DIRECTORY, dw.UDATA)], *entries)
    first = data.index(b"a.c")
    assert read(data, little_endian=little_endian) == [
        (dw.STRING, first, 0),
        (dw.STRING, data.index(b"b.c"), 1),
    ]


@pytest.mark.parametrize("form", [dw.BLOCK, dw.BLOCK1, dw.BLOCK2, dw.BLOCK4])
def test_a_block_that_is_longer_than_the_section_is_refused(form: int) -> None:
    huge = {dw.BLOCK: uleb((1 << 64) - 1), dw.BLOCK1: b"\xff", dw.BLOCK2: b"\xff\xff", dw.BLOCK4: b"\xff" * 4}[form]
    with pytest.raises(MalformedDwarf, match="runs past its end"):
        read(described([(VENDOR, form), (PATH, dw.STRING)], huge + b"a.c\0"))


@pytest.mark.parametrize("little_endian", [True, False], ids=["little", "big"])
@pytest.mark.parametrize(
    ("form", "size"), [(dw.DATA1, 1), (dw.DATA2, 2), (dw.DATA4, 4), (dw.DATA8, 8), (dw.DATA16, 16)]
)
def test_a_directory_in_a_fixed_form_of_any_size(form: int, size: int, little_endian: bool) -> None:
    """Of sixteen bytes the low eight count: no index is larger."""
    number = (7).to_bytes(size, "little" if little_endian else "big")
    data = described([(DIRECTORY, form), (PATH, dw.STRING)], number + b"a.c\0")
    assert read(data, little_endian=little_endian) == [(dw.STRING, data.index(b"a.c"), 7)]


@pytest.mark.parametrize("directory", [0xFFFFFFFF, 1 << 32, (1 << 64) - 1])
def test_a_directory_beyond_all_lists_is_none(directory: int) -> None:
    data = described([(DIRECTORY, dw.UDATA), (PATH, dw.STRING)], uleb(directory) + b"a.c\0")
    assert read(data)[0][2] == NO_DIRECTORY


@pytest.mark.parametrize("offset_size", [4, 8])
def test_an_offset_has_the_size_of_the_tables_offsets(offset_size: int) -> None:
    data = described([(PATH, dw.LINE_STRP)], *(place.to_bytes(offset_size, "little") for place in (5, 0x01020304)))
    assert read(data, offset_size=offset_size) == [(dw.LINE_STRP, 5, 0), (dw.LINE_STRP, 0x01020304, 0)]


def test_what_is_described_twice_counts_as_the_last_says() -> None:
    data = described([(PATH, dw.STRING), (PATH, dw.STRING)], b"old.c\0new.c\0")
    assert read(data) == [(dw.STRING, data.index(b"new.c"), 0)]


def test_entries_without_a_path_have_no_form() -> None:
    assert read(described([(MD5, dw.DATA16)], bytes(16), bytes(16))) == [(0, 0, 0)] * 2


@pytest.mark.parametrize("form", [0x00, 0x02, dw.INDIRECT, dw.IMPLICIT_CONST, 0x1F00, 1 << 40])
def test_a_form_that_no_list_can_have_is_named(form: int) -> None:
    with pytest.raises(MalformedDwarf, match=f"unknown form 0x{form:x}"):
        read(described([(PATH, form)], bytes(16)))


def test_entries_that_take_no_byte_are_not_believed() -> None:
    with pytest.raises(MalformedDwarf, match="take no byte"):
        read(described([(VENDOR, dw.FLAG_PRESENT)], count=3) + bytes(8))


@pytest.mark.parametrize("formats", [[], [(PATH, dw.STRING)]], ids=["of nothing", "of strings"])
@pytest.mark.parametrize("count", [10, 1 << 32, (1 << 64) - 1])
def test_more_entries_than_bytes_are_not_believed(formats: list[tuple[int, int]], count: int) -> None:
    with pytest.raises(MalformedDwarf, match=f"claims {count} files"):
        read(described(formats, count=count) + bytes(9))


def test_entries_that_run_past_the_header_are_refused_though_the_section_goes_on() -> None:
    data = described([(PATH, dw.DATA8), (DIRECTORY, dw.UDATA)], bytes(9), bytes(9))
    assert len(read(data)) == 2
    with pytest.raises(MalformedDwarf, match="runs past its end"):
        read(data, end=len(data) - 1)


FORMATS = [(VENDOR, dw.BLOCK2), (PATH, dw.STRING), (DIRECTORY, dw.UDATA), (MD5, dw.DATA16), (VENDOR, dw.BLOCK4)]
ENTRY = b"\2\0xya.c\0" + uleb(300) + bytes(16) + b"\1\0\0\0z"


@pytest.mark.parametrize("cut", range(len(described(FORMATS, ENTRY, ENTRY))))
def test_a_list_cut_off_anywhere_is_refused(cut: int) -> None:
    whole = described(FORMATS, ENTRY, ENTRY)
    assert len(read(whole)) == 2
    with pytest.raises((IndexError, MalformedDwarf)):
        read(whole[:cut])


class TestVersions2To4:
    FILES = b"a.c\0" + uleb(1) + uleb(300) + uleb(0) + b"b.c\0" + uleb(1 << 40) + uleb(0) + uleb(0) + b"\0"

    def test_files_have_a_directory_and_no_more_of_use(self) -> None:
        entries = FileEntries(self.FILES, little_endian=True)
        entries.read_files(0, len(self.FILES))
        assert [entries.entry(index) for index in range(len(entries))] == [
            (dw.STRING, 0, 1),
            (dw.STRING, self.FILES.index(b"b.c"), NO_DIRECTORY),
        ]
        assert entries.behind() == len(self.FILES)

    @pytest.mark.parametrize("cut", [1, 3, 4, 5, 6, 7])
    def test_a_file_that_is_cut_off_has_no_name(self, cut: int) -> None:
        """What a program defines itself (DW_LNE_define_file) costs no more than that file."""
        entries = FileEntries(self.FILES[:cut], little_endian=True)
        entries.read_file(0, cut)
        ((form, value, directory),) = [entries.entry(index) for index in range(len(entries))]
        assert (form, value, directory) == (dw.STRING, cut, 0), "an offset behind the section: no string"

    @pytest.mark.parametrize("data", [b"a", b"a\0b", b"a\0bc"])
    def test_directories_without_an_end_are_refused(self, data: bytes) -> None:
        with pytest.raises(IndexError):
            FileEntries(data, little_endian=True).read_directories(0, len(data))

    def test_a_string_does_not_reach_past_the_header(self) -> None:
        with pytest.raises(IndexError):
            FileEntries(b"abc\0\0", little_endian=True).read_directories(0, 2)

    def test_entries_can_be_taken_back(self) -> None:
        entries = FileEntries(b"a\0b\0\0", little_endian=True)
        entries.add_unnamed()
        entries.read_directories(0, 5)
        assert (len(entries), entries.entry(0)) == (3, (0, 0, 0))
        entries.cut(1)
        entries.read_directories(2, 5)
        assert [entries.entry(index)[1] for index in range(len(entries))] == [0, 2]

    def test_no_section_at_all_has_no_entries(self) -> None:
        assert len(FileEntries(b"", little_endian=True)) == 0
