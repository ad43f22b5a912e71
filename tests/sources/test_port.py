"""What every source of symbols keeps to; and one more, made here, that is known everywhere by its line in the registry alone."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.elf_writer import CODE, Section, Symbol, elf
from uploader.core.columns import NONE
from uploader.destinations.folder import FolderDestination
from uploader.errors import InputError
from uploader.model import Decision, Quality, SymbolId
from uploader.objects.elf.elf_file import ElfFile
from uploader.pipeline.pair import DebugSources
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.sources import registry
from uploader.sources.identify import identify
from uploader.sources.port import ColumnSource, ColumnsRead, Reading, SymbolSource, TableSource, Worth
from uploader.symbols.columns import NameTable, SourceColumns

TEXT = Section(".text", b"\x90" * 64, address=0x1000, flags=CODE)
EVERYTHING = elf(
    [
        TEXT,
        Section(".debug_info", b"\x07\x00\x00\x00\x04\x00" + bytes(20)),
        Section(".debug_line", bytes(20)),
        Section(".debug_abbrev", b"\x01\x11\x00\x00\x00\x00"),
        Section(".gopclntab", b"\xf1\xff\xff\xff" + bytes(40)),
        Section(".gnu_debugdata", b"\xfd7zXZ\x00" + bytes(30)),
        Section(".plt", bytes(32), address=0x2000, flags=CODE),
    ],
    symbols=[Symbol("f", 0x1000, 8)],
    dynamic_symbols=[Symbol("g", 0x1010, 8)],
)
SOURCES = pytest.mark.parametrize("source", registry.SOURCES, ids=lambda source: source.name)


def reading() -> Reading:
    return Reading(executable=[(0x1000, 0x1040)], names=NameTable())


@SOURCES
def test_a_source_has_a_name_of_its_own_and_says_what_it_is_worth(source: SymbolSource) -> None:
    assert [other.name for other in registry.SOURCES].count(source.name) == 1
    assert source.name == source.name.lower().strip()
    assert isinstance(source.worth, Worth)
    assert set(source.worth.covered_by) <= {other.name for other in registry.SOURCES} - {source.name}
    assert source.worth.gives is Quality.NONE or isinstance(source, ColumnSource | TableSource)


@SOURCES
def test_a_file_without_anything_has_nothing_of_it(source: SymbolSource) -> None:
    with ElfFile.from_bytes(elf([TEXT])) as file:
        assert not source.present_in(file)
        if isinstance(source, ColumnSource):
            assert not any(source.richness(file))
        if isinstance(source, TableSource):
            assert source.read_symbols(file, file) is None


@SOURCES
@given(st.integers(64, len(EVERYTHING) - 1), st.integers(0, 255))
def test_any_bytes_are_an_answer_or_a_clear_error(source: SymbolSource, at: int, value: int) -> None:
    data = bytearray(EVERYTHING)
    data[at] = value
    try:
        file = ElfFile.from_bytes(bytes(data))
    except InputError:
        return
    with file:
        assert source.present_in(file) in (True, False)
        with contextlib.suppress(InputError):
            if isinstance(source, ColumnSource) and any(source.richness(file)):
                source.read_columns(file, reading())
            if isinstance(source, TableSource):
                source.read_symbols(file, file)


class Notes:
    """A section with lines like ``1000 1010 name line``."""

    name = "notes"
    worth = Worth(gives=Quality.FULL)
    what = "the notes"

    def present_in(self, elf: ElfFile) -> bool:
        return elf.has_filled(".notes")

    def richness(self, elf: ElfFile) -> tuple[int, ...]:
        return (int(elf.has_filled(".notes")),)

    def read_columns(self, elf: ElfFile, reading: Reading) -> ColumnsRead | None:
        section = elf.section(".notes")
        assert section is not None
        columns = SourceColumns(names=reading.names, file_at=lambda _: (b"/notes", b"n.txt"), file_slots=2)
        for number, line in enumerate(bytes(elf.contents(section)).split(b"\n")):
            start, end, name, at = line.split()
            columns.function_name.append(reading.names.intern(name))
            columns.function_table.append(number)
            columns.function_decl_file.append(NONE)
            columns.function_decl_line.append(0)
            columns.function_node.append(0)
            columns.function_node_end.append(0)
            for column in (columns.range_start, columns.row_address, columns.sequence_start):
                column.append(int(start, 16))
            for column in (columns.range_end, columns.sequence_end):
                column.append(int(end, 16))
            columns.row_file.append(1)
            columns.row_line.append(int(at))
            columns.sequence_table.append(number)
            columns.function_range.append(number + 1)
            columns.table_first.append(number + 1)
        return ColumnsRead(columns=columns, warnings=())


def test_one_line_in_the_registry_makes_a_source_known_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "SOURCES", (Notes(), *registry.SOURCES))
    path = tmp_path / "program"
    note = Section(".notes", b"1000 1010 noted 7\n1020 1040 other 9")
    path.write_bytes(elf([TEXT, note], symbols=[Symbol("plain", 0x1010, 16)]))
    with ElfFile.open(str(path)) as file:
        identified = identify(file)
    assert identified.sources == ("notes", "symtab")
    destination = FolderDestination(tmp_path / "store", "p")
    finished = upload(
        Plan(paths=[path], jobs=1, conversion=Conversion(debug=DebugSources(system_dirs=()))),
        destination,
        progress=Silent(),
        environ={"SYMUP": "test"},
    )
    (outcome,) = finished.outcomes
    assert (outcome.decision, outcome.quality) == (Decision.STORED, Quality.FULL)
    assert outcome.figures is not None
    assert dict(outcome.figures.by_source) == {"notes": 2, "symtab": 1}
    manifest = destination.manifest(SymbolId.parse(str(identified.identity.primary)))
    assert manifest is not None
    assert manifest.sources == ("notes", "symtab")
