"""Relocations as Android's linkers pack them: each group's flags say what its relocations share."""

from __future__ import annotations

import pytest

from tests.writers.elf_writer import ALLOC, LOAD, Section, Segment, elf
from uploader.objects.elf import loaded as loaded_module
from uploader.objects.elf.android_relocations import BY_ADDEND, BY_INFO, BY_OFFSET, WITH_ADDEND, unpack
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.loaded import LoadedImage

RELATIVE = 8


def sleb(number: int) -> bytes:
    out = bytearray()
    while not -64 <= number < 64:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number & 0x7F])


def packed(*numbers: int) -> memoryview:
    return memoryview(b"APS2" + b"".join(map(sleb, numbers)))


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        pytest.param(
            (2, 0x1000, 2, 0, 8, RELATIVE, -4, RELATIVE), [(0x1008, 8, 0), (0x1004, 8, 0)], id="each has all of its own"
        ),
        pytest.param(
            (3, 0x1000, 3, BY_OFFSET | BY_INFO | WITH_ADDEND, 8, RELATIVE, 0x500, 0x10, -0x20),
            [(0x1008, 8, 0x500), (0x1010, 8, 0x510), (0x1018, 8, 0x4F0)],
            id="addends of their own count from the one before",
        ),
        pytest.param(
            (2, 0, 2, BY_OFFSET | BY_INFO | BY_ADDEND | WITH_ADDEND, 8, RELATIVE, -1),
            [(8, 8, (1 << 64) - 1), (16, 8, (1 << 64) - 1)],
            id="one for all",
        ),
        pytest.param(
            (2, 0, 1, BY_INFO | WITH_ADDEND, RELATIVE, 8, 0x500, 1, BY_INFO | WITH_ADDEND, RELATIVE, 8, 1),
            [(8, 8, 0x500), (16, 8, 0x501)],
            id="addends go on over groups",
        ),
        pytest.param((2, 0, 1, 0, 8, RELATIVE), [(8, 8, 0)], id="cut off"),
        pytest.param((2, 0, 0, 0, 8, RELATIVE), [], id="a group of none"),
        pytest.param((2, 0, -1, 0, 8, RELATIVE), [], id="a group of fewer than none"),
        pytest.param((2, 0, 0, 0, 1, 0, 8, RELATIVE), [], id="nothing is behind a group of none"),
        pytest.param((2, 0, -1, 0, 1, 0, 8, RELATIVE), [], id="nor behind one of fewer"),
    ],
)
def test_each_relocation_has_its_offset_kind_and_addend(numbers: tuple[int, ...], told: list[tuple[int, ...]]) -> None:
    assert list(unpack(packed(*numbers), most=100)) == told


def test_relocations_that_take_no_bytes_are_no_more_than_the_file_has_words() -> None:
    everything = packed(1 << 40, 0, 1 << 40, BY_OFFSET | BY_INFO | BY_ADDEND | WITH_ADDEND, 8, RELATIVE, 1)
    assert len(list(unpack(everything, most=100))) == 100


def test_other_bytes_are_no_table() -> None:
    assert list(unpack(memoryview(b"APS1" + bytes(packed(1, 0, 1, 0, 8, RELATIVE))[4:]), most=100)) == []
    assert list(unpack(memoryview(b""), most=100)) == []


def loaded(table: bytes) -> bytes:
    """A file of which the loader reads a table, with data of 8 words at 0x1000."""
    dynamic = b"".join(number.to_bytes(8, "little") for number in (0x60000011, 0x2000, 0x60000012, len(table), 0, 0))
    return elf(
        [
            Section(".data", bytes(64), flags=3, address=0x1000, alignment=8),
            Section(".rela.dyn", table, flags=ALLOC, address=0x2000),
            Section(".dynamic", dynamic, type=6, flags=3, address=0x3000),
        ],
        segments=[
            *(Segment(LOAD, 6, section=name) for name in (".data", ".rela.dyn", ".dynamic")),
            Segment(2, 6, section=".dynamic"),
        ],
    )


def test_the_loader_puts_there_what_they_say() -> None:
    table = bytes(packed(2, 0x1000, 2, BY_INFO | WITH_ADDEND, RELATIVE, 8, 0xABCD, 8, -0xABCE))
    with ElfFile.from_bytes(loaded(table)) as file:
        assert LoadedImage(file).words(0x1000, 4) == [0, 0xABCD, (1 << 64) - 1, 0]


def test_relocations_in_any_order_are_found() -> None:
    table = bytes(packed(3, 0x1000, 3, BY_INFO | WITH_ADDEND, RELATIVE, 16, 0xA, 8, 0x1, -16, 0x1))
    with ElfFile.from_bytes(loaded(table)) as file:
        image = LoadedImage(file)
        assert image.words(0x1000, 5) == [0, 0xC, 0xA, 0xB, 0]
        assert image.words(0x1010, 1) == [0xA]
        assert list(image.pointers_to(0xB)) == [0x1018]
        assert bytes(image.patched(0x1000, memoryview(bytes(23)))) == bytes(8) + b"\x0c" + bytes(14)
        assert bytes(image.patched(0x1000, memoryview(bytes(24))))[16:] == b"\x0a" + bytes(7)


ONE_PLACE = BY_OFFSET | BY_INFO | BY_ADDEND | WITH_ADDEND


@pytest.mark.parametrize("most", [5, 1 << 20])
def test_relocations_are_no_more_than_the_words_that_are_loaded(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """A group that shares everything takes no bytes for each of its relocations."""
    monkeypatch.setattr(loaded_module, "MAX_RELOCATIONS", most)
    data = loaded(bytes(packed(1 << 40, 0x1000, 1 << 40, ONE_PLACE, 0, RELATIVE, 0xABCD)))
    with ElfFile.from_bytes(data + bytes(1 << 16)) as file:
        words = sum(size_bytes for _, size_bytes in LoadedImage(file).extents(code=False)) // 8
        assert len(list(LoadedImage(file).pointers_to(0xABCD))) == min(words, most)
