"""Tables that lie: each costs what is damaged, in time and memory that the file's own size bounds."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator

import pytest

from tests.sources.go.test_go_tables import CODE, INLINED, MAIN, OTHER, read, told
from tests.writers import pclntab_writer
from tests.writers.elf_writer import ALLOC, LOAD, Section, Segment, elf
from tests.writers.pclntab_writer import RODATA, TABLE, TEXT, Call, GoFunction, Row, Run, program, table, uvarint
from uploader.errors import MalformedGoTable
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.loaded import LoadedImage
from uploader.sources.go.find import MAX_TRIED, find_table
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


def changed(data: bytes, number: int, *, functab: bytes = b"", record: dict[int, int] | None = None) -> bytes:
    """A program whose nth function has another entry in ``ftab``, or other words in its record (by their offset)."""
    out = bytearray(data)
    at = data.index(struct.pack("<IH", 0xFFFFFFF1, 0))
    functions = at + struct.unpack_from("<8Q", data, at + 8)[7]
    place = functions + struct.unpack_from("<I", data, functions + 8 * number + 4)[0]
    out[functions + 8 * number : functions + 8 * number + len(functab)] = functab
    for offset, word in (record or {}).items():
        struct.pack_into("<I", out, place + offset, word)
    return bytes(out)


def words_of(data: bytes, number: int) -> tuple[int, ...]:
    """The first ten words of a function's record."""
    at = data.index(struct.pack("<IH", 0xFFFFFFF1, 0))
    functions = at + struct.unpack_from("<8Q", data, at + 8)[7]
    return struct.unpack_from("<10I", data, functions + struct.unpack_from("<I", data, functions + 8 * number + 4)[0])


@pytest.mark.parametrize("count", [200, 60])
def test_tables_that_all_functions_share_beyond_measure_are_refused(count: int) -> None:
    size = 2000
    rows = [Row(offset, "/x.go", offset % 2 + 1) for offset in range(size)]
    functions = [
        GoFunction("f", size * number, size * number + size, rows if not number else rows[:1])
        for number in range(count)
    ]
    data = program(functions)
    _, _, _, _, _, files, lines, *_ = words_of(data, 0)
    for number in range(1, count):
        data = changed(data, number, record={20: files, 24: lines})
    with ElfFile.from_bytes(data) as file:
        found = find_table(file)
        assert found is not None
        assert len(found.data) + (1 << 16) < size * count
        with pytest.raises(MalformedGoTable, match="tables that overlap"):
            read_go(found, Reading(executable=[(TEXT, TEXT + size * count)], names=NameTable()))


THIRD = GoFunction("main.third", 0x80, 0xC0, [Row(0, "/src/main.go", 50)])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        pytest.param(
            struct.pack("<I", 0x20),
            "the one before would end before it begins, and this record is another's",
            id="too early",
        ),
        pytest.param(struct.pack("<II", 0x40, 0xFFFFFF00), "its record is beyond the end", id="no record"),
    ],
)
def test_a_function_that_contradicts_its_table_is_left_out(entry: bytes, why: str) -> None:
    found = read(changed(program([MAIN, OTHER, THIRD]), 1, functab=entry))
    assert "main.third" in [name for name, *_ in told(found)], why
    assert "main.other[...]" not in [name for name, *_ in told(found)], why
    assert found.warnings


def test_functions_that_end_before_they_begin_are_left_out() -> None:
    backwards = [MAIN._replace(start=0x80, end=0xC0), OTHER, THIRD._replace(start=0x20, end=0x40)]
    found = read(program(backwards))
    assert [name for name, *_ in told(found)] == ["main.third"]
    assert found.warnings == ("2 of 3 functions of Go's table could not be read",)


def test_no_function_is_longer_than_32_bits() -> None:
    endless = GoFunction("endless", 0, 0x40, [Row(0, "/src/x.go", 1)])
    data = bytearray(program([endless, OTHER], version="1.16"))
    at = data.index(struct.pack("<QQQ", TEXT, 0, 0)[:8], data.index(struct.pack("<IH", 0xFFFFFFFA, 0)))
    struct.pack_into("<Q", data, at + 16, TEXT + (1 << 32))
    assert read(bytes(data)).warnings == ("2 of 2 functions of Go's table could not be read",)


def test_a_record_is_not_looked_for_before_the_table() -> None:
    data = bytearray(program([MAIN, OTHER], version="1.16"))
    at = data.index(struct.pack("<Q", TEXT), data.index(struct.pack("<IH", 0xFFFFFFFA, 0)))
    (record,) = struct.unpack_from("<Q", data, at + 8)
    size_bytes = len(table([MAIN, OTHER], version="1.16").data)
    struct.pack_into("<Q", data, at + 8, (record - size_bytes) % (1 << 64))
    found = read(bytes(data))
    assert [name for name, *_ in told(found)] == ["main.other[...]"]


def test_a_function_without_runs_of_its_calls_has_none() -> None:
    data = program([INLINED, OTHER])
    found = read(changed(data, 0, record={44 + 8: 0}))
    assert found.whole
    assert told(found)[0][4] == []


def test_a_tree_beyond_all_trees_is_none() -> None:
    data = bytearray(program([INLINED, OTHER], version="1.16"))
    with ElfFile.from_bytes(bytes(data)) as file:
        base, segment = LoadedImage(file).segment_of(TABLE)
    padded = TABLE + len(table([INLINED, OTHER], version="1.16").data)
    trees = padded + -padded % 16 + 16
    at = data.index(struct.pack("<Q", trees))
    # Less by the segment's size it would be the same tree, counted from the end.
    struct.pack_into("<Q", data, at, (trees - len(segment)) % (1 << 64))
    assert told(read(bytes(data)))[0][4] == []
    struct.pack_into("<Q", data, at, base + len(segment))
    assert told(read(bytes(data)))[0][4] == []


def test_a_call_beyond_its_tree_is_lost_and_others_are_not() -> None:
    lost = INLINED._replace(calls=[Call("a", 0)], runs=[Run(0x10, 0), Run(0x20, 0xFFFFFF), Run(0x40, -1)])
    found = read(program([lost]))
    assert [name for _, name, *_ in told(found)[0][4]] == ["a"]
    assert found.warnings == ("1 inlined calls of Go's table could not be read",)


@pytest.mark.parametrize("record", [{28: 2, 64: 16}, {40: 3 << 24}], ids=["two tables", "three references"])
def test_a_function_that_has_fewer_tables_or_references_has_no_calls(record: dict[int, int]) -> None:
    data = program([INLINED, OTHER])
    assert words_of(data, 0)[7] == 3
    found = read(changed(data, 0, record=record))
    assert found.whole
    assert told(found)[0][4] == []


@pytest.mark.parametrize("record", [{20: 0}, {24: 0}, {20: 0x7FFFFFFF}, {24: 0x7FFFFFFF}])
def test_a_function_without_a_table_of_files_or_lines_has_no_rows(record: dict[int, int]) -> None:
    found = read(changed(program([MAIN, OTHER]), 0, record=record))
    assert told(found)[0] == ("main.main", TEXT, TEXT + 0x40, [], [])


def test_a_file_is_not_looked_for_before_its_unit() -> None:
    data = program([MAIN._replace(runs=[Run(0x40, -1)]), OTHER])
    (at,) = struct.unpack_from("<I", data, data.index(struct.pack("<10I", *words_of(data, 0))) + 44 + 8)
    found = read(changed(data, 0, record={20: at, 32: 1}))
    assert {file for _, file, _ in told(found)[0][3]} == {""}


def test_behind_the_last_run_code_is_the_functions_own() -> None:
    short = INLINED._replace(calls=[Call("a", 0x30)], runs=[Run(0x10, 0)])
    found = read(program([short, INLINED._replace(start=0x40, end=0x80)]))
    assert [(name, ranges) for _, name, _, _, ranges in told(found)[0][4]] == [("a", [(TEXT, TEXT + 0x10)])]


def test_calls_that_are_given_code_beyond_measure_are_left_out() -> None:
    depth, times = 100, 2000
    calls = [Call(f"c{number}", number + 1) for number in range(depth)]
    runs = [Run(number + 1, number) for number in range(depth)]
    runs += [Run(depth + number + 1, 0 if number % 2 else -1) for number in range(times)]
    deep = GoFunction("deep", 0, depth + times, [Row(0, "/x.go", 1)], calls=calls, runs=runs)
    found = read(program([deep]))
    assert told(found)[0][4] == []
    assert found.warnings == ("1 inlined calls of Go's table could not be read",)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param((RODATA + 0x1000, 2, 3), id="as many as there is room for"),
        pytest.param((RODATA + 0x1000 + 32, 2, 2), id="beyond its segment"),
        pytest.param((0x900000, 2, 2), id="nowhere"),
    ],
)
def test_a_map_of_the_codes_parts_is_a_whole_slice(words: tuple[int, int, int]) -> None:
    data = program([MAIN, OTHER], code=[(0, TEXT), (0x40, TEXT + 0x500)])
    assert told(read(data))[1][1] == TEXT + 0x500
    lying = data.replace(struct.pack("<3Q", RODATA + 0x1000, 2, 2), struct.pack("<3Q", *words))
    assert told(read(lying))[1][1] == TEXT + 0x40


def test_of_what_begins_like_a_table_some_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    made = table([MAIN], header_text_start=0).data
    heads = (made + bytes(-len(made) % 8)) * 50
    sections = [Section(".text", b"\x90" * 64, flags=6, address=TEXT), Section(".data", heads, flags=3, address=TABLE)]
    data = elf(sections, segments=[Segment(LOAD, 5, section=".text"), Segment(LOAD, 6, section=".data")])
    tried = []
    image_words = LoadedImage.pointers_to

    def counted(image: LoadedImage, value: int) -> Iterator[int]:
        tried.append(value)
        return image_words(image, value)

    monkeypatch.setattr(LoadedImage, "pointers_to", counted)
    with ElfFile.from_bytes(data) as file, pytest.raises(MalformedGoTable, match="where its code begins"):
        find_table(file)
    assert len(tried) == MAX_TRIED


@pytest.mark.parametrize(("version", "words"), [("1.2", 1), ("1.16", 7), ("1.20", 8)])
def test_a_header_that_is_cut_is_told(version: str, words: int) -> None:
    data = memoryview(table([MAIN], version=version).data)
    for length in range(8 + 8 * words):
        with pytest.raises(MalformedGoTable, match="cut off in its header"):
            read_header(data[:length], little_endian=True)


@pytest.mark.parametrize(("padding", "is_read"), [(0, True), (8, True), (9, False), (500_000, False)])
def test_numbers_are_as_long_as_64_bits_take_and_padding_is_not_read(
    monkeypatch: pytest.MonkeyPatch, padding: int, is_read: bool
) -> None:
    """Functions share tables: what is read of one is read for each of them."""

    def padded(number: int) -> bytes:
        plain = uvarint(number)
        return plain if number != 0x8A * 2 else plain[:-1] + bytes([plain[-1] | 0x80]) + b"\x80" * (padding - 1) + b"\0"

    if padding:
        monkeypatch.setattr(pclntab_writer, "uvarint", padded)
    lined = MAIN._replace(rows=[Row(0, "/src/main.go", 0x89)])
    data = program([lined, OTHER])
    before = time.monotonic()
    names = [name for name, *_ in told(read(data))]
    assert names == (["main.main", "main.other[...]"] if is_read else ["main.other[...]"])
    assert time.monotonic() - before < 10


@pytest.mark.parametrize("units", [1 << 32, (1 << 64) - 0x40])
def test_runs_of_more_code_than_32_bits_count_are_none_of_gos(monkeypatch: pytest.MonkeyPatch, units: int) -> None:
    monkeypatch.setattr(pclntab_writer, "uvarint", lambda number: uvarint(units if number == 0x37 else number))
    odd = GoFunction("main.odd", 0x40, 0x77, [Row(0, "/src/x.go", 1)])
    assert [name for name, *_ in told(read(program([MAIN, odd])))] == ["main.main"]
    inlined = INLINED._replace(start=0, end=0x77, runs=[Run(0x37, 0), Run(0x40, -1)])
    found = read(program([inlined]))
    assert not found.whole


def test_a_record_far_beyond_the_table_is_none_before_it() -> None:
    data = bytearray(program([MAIN, OTHER], version="1.16"))
    at = data.index(struct.pack("<Q", TEXT), data.index(struct.pack("<IH", 0xFFFFFFFA, 0)))
    (record,) = struct.unpack_from("<Q", data, at + 8)
    struct.pack_into("<Q", data, at + 8, (record + (1 << 63)) % (1 << 64))
    assert [name for name, *_ in told(read(bytes(data)))] == ["main.other[...]"]


def test_no_function_goes_on_beyond_the_code_that_it_begins_in() -> None:
    rows = [Row(0, "/src/main.go", 7), Row(0x30, "/src/main.go", 9), Row(0x200, "/src/main.go", 10)]
    long = GoFunction("main.long", 0x40, 0x400, rows)
    executable = [(TEXT, TEXT + 0x80), (TEXT + 0x100, TEXT + 0x10000)]
    with ElfFile.from_bytes(program([MAIN, long])) as file:
        found = find_table(file)
        assert found is not None
        columns = read_go(found, Reading(executable=executable, names=NameTable())).columns
    assert list(zip(columns.range_start, columns.range_end, strict=True)) == [
        (TEXT, TEXT + 0x40),
        (TEXT + 0x40, TEXT + 0x80),
    ]
    assert max(columns.row_address) < TEXT + 0x80
