"""Tables that lie: each costs what is damaged, in time and memory that the file's own size bounds."""

from __future__ import annotations

import struct
import time

import pytest

from tests.sources.go.test_go_tables import CODE, INLINED, MAIN, OTHER, read, told
from tests.writers.elf_writer import ALLOC, LOAD, Section, Segment, elf
from tests.writers.pclntab_writer import TABLE, TEXT, GoFunction, Row, program, table
from uploader.errors import MalformedGoTable
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.loaded import LoadedImage
from uploader.sources.go.find import find_table
from uploader.sources.go.layouts import read_header
from uploader.sources.go.read import read_go
from uploader.sources.port import Reading
from uploader.symbols.columns import NameTable

WHOLE = table([MAIN, OTHER])


def with_word(data: bytes, index: int, value: int) -> memoryview:
    """The table with another word in its header."""
    changed = bytearray(data)
    struct.pack_into("<Q", changed, 8 + 8 * index, value)
    return memoryview(bytes(changed))


@pytest.mark.parametrize("count", [1 << 20, 1 << 40, (1 << 64) - 1])
def test_a_table_has_no_more_functions_than_bytes(count: int) -> None:
    with pytest.raises(MalformedGoTable, match="too short for its"):
        read_header(with_word(WHOLE.data, 0, count), little_endian=True)


def test_parts_stand_in_their_order() -> None:
    for index in range(3, 8):
        with pytest.raises(MalformedGoTable, match="out of order"):
            read_header(with_word(WHOLE.data, index, len(WHOLE.data) + 1), little_endian=True)


def test_functions_that_lie_where_no_code_is_are_left_out() -> None:
    beyond = GoFunction("beyond", 0x20000, 0x20040, [Row(0, "/src/x.go", 1)])
    found = read(program([MAIN, beyond]))
    assert [name for name, *_ in told(found)] == ["main.main"]
    assert found.warnings == ("1 of 2 functions of Go's table could not be read",)


def test_a_function_whose_record_is_anothers_is_left_out() -> None:
    data = bytearray(program([MAIN, OTHER]))
    at = data.index(WHOLE.data[WHOLE.parts["functions"] :][:20])
    data[at + 12 : at + 16] = data[at + 4 : at + 8]
    found = read(bytes(data))
    assert [name for name, *_ in told(found)] == ["main.main"]
    assert not found.whole


def test_a_table_whose_names_overlap_is_refused() -> None:
    functions = [GoFunction(f"f{number}", 8 * number, 8 * number + 8, [Row(0, "/x.go", 1)]) for number in range(2000)]
    data = bytearray(program(functions))
    parts = table(functions).parts
    start = data.index(table(functions).data[:64])
    names_bytes = parts["units"] - parts["names"]
    # Each name goes on to the end of all of them.
    data[start + parts["names"] : start + parts["units"]] = b"n" * (names_bytes - 1) + b"\0"
    with ElfFile.from_bytes(bytes(data)) as file:
        found = find_table(file)
        assert found is not None
        names = NameTable()
        with pytest.raises(MalformedGoTable, match="names that overlap"):
            read_go(found, Reading(executable=CODE, names=names))
    assert sum(map(len, names.names)) <= 5 * names_bytes + (1 << 16)


def test_relocations_and_pointers_by_the_thousand_take_no_time() -> None:
    made = table([INLINED], header_text_start=0)
    entries = b"".join(struct.pack("<QQQ", 0x900000 + 8 * number, 8, TABLE) for number in range(30_000))
    sections = [
        Section(".text", b"\x90" * 64, flags=6, address=TEXT),
        Section(".gopclntab", made.data, flags=ALLOC, address=TABLE, alignment=32),
        Section(".data", struct.pack("<Q", TABLE) * 30_000, flags=3, address=0x900000, alignment=8),
        Section(".rela.dyn", entries, flags=ALLOC, address=0x700000, alignment=8),
        Section(".dynamic", struct.pack("<6Q", 7, 0x700000, 8, len(entries), 0, 0), type=6, flags=3, address=0x710000),
    ]
    loaded = (".text", ".gopclntab", ".data", ".rela.dyn", ".dynamic")
    segments = [Segment(LOAD, 6 if name != ".text" else 5, section=name) for name in loaded]
    before = time.monotonic()
    file = ElfFile.from_bytes(elf(sections, segments=[*segments, Segment(2, 6, section=".dynamic")]))
    with file, pytest.raises(MalformedGoTable, match="where its code begins"):
        find_table(file)
    assert time.monotonic() - before < 10


def test_segments_that_cover_one_another_are_looked_at_twice_at_most() -> None:
    data = elf(
        [Section(".data", bytes(4096), flags=3, address=0x1000)], segments=[Segment(LOAD, 6, section=".data")] * 500
    )
    with ElfFile.from_bytes(data) as file:
        covered = sum(len(view) for _, view in LoadedImage(file).segments(code=False))
    assert 4096 <= covered <= 2 * len(data)


def test_what_the_loader_puts_into_a_table_counts_and_other_files_symbols_do_not() -> None:
    own = struct.pack("<QQQ", 0x1008, 8, 0xABCD)
    foreign = struct.pack("<QQQ", 0x1010, (1 << 32) | 1, 0x1234)
    data = elf(
        [
            Section(".data", bytes(64), flags=3, address=0x1000, alignment=8),
            Section(".rela.dyn", own + foreign, flags=ALLOC, address=0x2000, alignment=8),
            Section(".dynamic", struct.pack("<6Q", 7, 0x2000, 8, 1 << 40, 0, 0), type=6, flags=3, address=0x3000),
        ],
        segments=[
            *(Segment(LOAD, 6, section=name) for name in (".data", ".rela.dyn", ".dynamic")),
            Segment(2, 6, section=".dynamic"),
        ],
    )
    with ElfFile.from_bytes(data) as file:
        image = LoadedImage(file)
        assert image.words(0x1000, 3) == [0, 0xABCD, 0]
        patched = image.patched(0x1000, image.bytes_from(0x1000, 64))
        assert bytes(patched[8:16]) == struct.pack("<Q", 0xABCD)
        assert next(image.pointers_to(0xABCD)) == 0x1008


def test_a_table_that_would_lie_beyond_all_addresses_is_an_answer_or_a_clear_error() -> None:
    data = bytearray(program([MAIN], bits=32, section_headers=False))
    segments_at = struct.unpack_from("<I", data, 28)[0]
    # The third segment has the table; this far up its parts would lie beyond 32 bits.
    struct.pack_into("<I", data, segments_at + 2 * 32 + 8, 0xFFFFFFF8)
    with ElfFile.from_bytes(bytes(data)) as file:
        found = find_table(file)
        assert found is not None
        assert found.trees is None
        assert list(LoadedImage(file).pointers_to(1 << 32)) == []
