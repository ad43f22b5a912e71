"""DWARF as a source of symbols: sections in, columns out (`symbols.columns.SourceColumns`)."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from uploader.errors import MalformedDwarf
from uploader.extract.dwarf.abbrev import Abbrevs
from uploader.extract.dwarf.die import DieReader
from uploader.extract.dwarf.files import FileSlots
from uploader.extract.dwarf.join import gather, grouped, slots_of, spans
from uploader.extract.dwarf.line_header import read_line_header
from uploader.extract.dwarf.lines import LineReader
from uploader.extract.dwarf.names import NameReader
from uploader.extract.dwarf.ranges import RangeReader
from uploader.extract.dwarf.sections import DwarfSections
from uploader.extract.dwarf.units import StringReader, Unit, Units, read_units
from uploader.extract.dwarf.walk import Walk
from uploader.symbols.columns import NONE, NameTable, SourceColumns, taken


@dataclass(frozen=True, slots=True, kw_only=True)
class DwarfRead:
    """The columns, and what had to be left out of them."""

    columns: SourceColumns
    warnings: tuple[str, ...]


@dataclass(slots=True)
class _Tables:
    """The line tables in use, and which unit uses which."""

    reader: LineReader
    files: FileSlots
    of_unit: list[int] = field(default_factory=list)


def read_dwarf(
    sections: DwarfSections, executable: Sequence[tuple[int, int]], names: NameTable, *, threads: int = 1
) -> DwarfRead:
    """Reads all functions, inlines and lines that lie in the executable ranges. Damage is told in the warnings, never raised."""
    ranges = list(executable)
    abbrevs = Abbrevs(sections.abbrev)
    units = read_units(sections, abbrevs)
    warnings = units.warnings
    tables = _read_lines(sections, units, ranges, warnings)
    walk = _walk(sections, abbrevs, units, ranges, warnings)
    functions, nodes = walk.functions(), walk.nodes()
    function_node, function_node_end, together = spans(nodes["function"], len(functions["unit"]))
    if not together:
        nodes = grouped(nodes, "function", function_node)

    range_reader = RangeReader(sections, units.units)
    function_range, range_start, range_end = range_reader.resolve(functions, functions["unit"], ranges)
    node_unit = gather(nodes["function"], functions["unit"])
    node_range, node_range_start, node_range_end = range_reader.resolve(nodes, memoryview(node_unit), None)

    scopes = walk.scopes()
    name_reader = NameReader(
        DieReader(sections.info, abbrevs, little_endian=sections.little_endian),
        units.units,
        StringReader(sections),
        dict(zip(scopes["child"], scopes["parent"], strict=True)),
        names,
    )
    unit_table = array("I", [NONE if table < 0 else table for table in tables.of_unit])
    first_slot, slot_count, file_base = tables.files.columns(tables.of_unit)
    address, file, line = tables.reader.rows()
    starts, ends, sequence_tables = tables.reader.sequences()
    columns = SourceColumns(
        names=names,
        file_at=tables.files.file_at,
        file_slots=len(tables.files),
        function_name=name_reader.numbers(functions["offset"]),
        function_table=gather(functions["unit"], memoryview(unit_table)) if unit_table else array("I"),
        function_decl_file=slots_of(functions["decl_file"], functions["unit"], first_slot, slot_count, file_base),
        function_decl_line=taken(functions["decl_line"], len(functions["decl_line"])),
        function_node=function_node,
        function_node_end=function_node_end,
        function_range=function_range,
        range_start=range_start,
        range_end=range_end,
        node_depth=taken(nodes["depth"], len(nodes["depth"])),
        node_name=name_reader.numbers(nodes["origin"]),
        node_call_file=slots_of(nodes["call_file"], memoryview(node_unit), first_slot, slot_count, file_base),
        node_call_line=taken(nodes["call_line"], len(nodes["call_line"])),
        node_range=node_range,
        node_range_start=node_range_start,
        node_range_end=node_range_end,
        table_first=array("I", tables.reader.tables()),
        row_address=taken(address, len(address)),
        row_file=taken(file, len(file)),
        row_line=taken(line, len(line)),
        sequences=sorted(zip(starts, ends, sequence_tables, strict=True)),
    )
    return DwarfRead(columns=columns, warnings=tuple(warnings))


def _read_lines(
    sections: DwarfSections, units: Units, executable: list[tuple[int, int]], warnings: list[str]
) -> _Tables:
    tables = _Tables(LineReader(sections.line, executable, little_endian=sections.little_endian), FileSlots(sections))
    table_at: dict[int, int] = {}
    for unit in units.units:
        table = -1
        if unit.line_offset >= 0 and sections.line:
            known = table_at.get(unit.line_offset)
            table = _read_table(sections, unit, tables, warnings) if known is None else known
            table_at[unit.line_offset] = table
        tables.of_unit.append(table)
    return tables


def _read_table(sections: DwarfSections, unit: Unit, tables: _Tables, warnings: list[str]) -> int:
    try:
        header = read_line_header(sections, unit.line_offset, unit)
    except MalformedDwarf as error:
        warnings.append(error.message)
        return -1
    first_slot = tables.files.add(header, unit)
    trouble = tables.reader.read(header, first_slot)
    if trouble:
        warnings.append(trouble)
    return tables.files.tables - 1


def _walk(
    sections: DwarfSections, abbrevs: Abbrevs, units: Units, executable: list[tuple[int, int]], warnings: list[str]
) -> Walk:
    reader = DieReader(sections.info, abbrevs, little_endian=sections.little_endian)
    walk = Walk(reader, sections.addresses, executable)
    for index, unit in enumerate(units.units):
        try:
            walk.walk(unit, index)
        except MalformedDwarf as error:
            warnings.append(f"unit at 0x{unit.offset:x}: {error.message}")
    return walk
