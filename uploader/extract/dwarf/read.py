"""DWARF as a source of symbols: one file in, columns out (`symbols.columns.SourceColumns`).

The order of work is made for two cores or more: `.debug_info` is inflated while the line programs run, and names are resolved, which needs
the interpreter, while the next batch of units is walked, which doesn't. The result does not depend on how it was spread.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from uploader.binary.elf import ElfFile
from uploader.errors import MalformedDwarf
from uploader.extract.dwarf.abbrev import Abbrevs
from uploader.extract.dwarf.die import DieReader
from uploader.extract.dwarf.join import Batch, gather, grouped, joined, slots_of, spans
from uploader.extract.dwarf.line_tables import LineTables, read_line_tables
from uploader.extract.dwarf.names import NameReader
from uploader.extract.dwarf.ranges import RangeReader
from uploader.extract.dwarf.sections import DwarfSections, load_section, load_sections
from uploader.extract.dwarf.units import StringReader, Unit, Units, read_units
from uploader.extract.dwarf.walk import Walk
from uploader.symbols.columns import NONE, NameTable, SourceColumns, taken

BATCH_SIZE_BYTES = 4 * 1024 * 1024
"""How much of `.debug_info` is walked at a time: enough to be worth a thread's turn, small enough to keep all of them busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DwarfRead:
    """The columns, and what had to be left out of them."""

    columns: SourceColumns
    warnings: tuple[str, ...]


def read_dwarf(
    elf: ElfFile, executable: Sequence[tuple[int, int]], names: NameTable, *, threads: int = 1
) -> DwarfRead | None:
    """Reads all functions, inlines and lines that lie in the executable ranges, or None where the file has no DWARF.

    Damage is told in the warnings. Raises `MalformedElf` where a section that is needed can't be had at all.
    """
    with _workers(threads) as pool:
        info: Future[bytes | memoryview] | None = pool.submit(load_section, elf, "info") if pool else None
        sections = load_sections(elf)
        if not sections.line and elf.section(".debug_info") is None:
            return None
        tables = read_line_tables(sections, list(executable), 8 if elf.bits == 64 else 4)
        sections.info = info.result() if info else load_section(elf, "info")
        return read_sections(sections, tables, list(executable), names, pool)


def read_sections(
    sections: DwarfSections,
    tables: LineTables,
    executable: list[tuple[int, int]],
    names: NameTable,
    pool: Executor | None = None,
) -> DwarfRead:
    """The same for sections and line tables already in memory."""
    abbrevs = Abbrevs(sections.abbrev)
    units = read_units(sections, abbrevs)
    unit_table = array("I", [NONE if (table := tables.table_for(unit)) < 0 else table for unit in units.units])
    first_slot, slot_count, file_base = tables.files.columns(unit_table)

    reader = NameReader(
        DieReader(sections.info, abbrevs, little_endian=sections.little_endian),
        units.units,
        StringReader(sections),
        names,
    )
    batches: list[Batch] = []
    for batch in _walked(sections, abbrevs, units, executable, pool):
        reader.learn_scopes(batch.scopes["child"], batch.scopes["parent"])
        batch.function_name = reader.numbers(batch.functions["offset"])
        batch.node_name = reader.numbers(batch.nodes["origin"])
        batches.append(batch)
    all_of = joined(batches)
    node_unit = gather(all_of.nodes["function"], all_of.functions["unit"])
    columns = SourceColumns(
        names=names,
        file_at=tables.files.file_at,
        file_slots=len(tables.files),
        function_name=all_of.function_name,
        function_table=gather(all_of.functions["unit"], memoryview(unit_table)),
        function_decl_file=slots_of(
            all_of.functions["decl_file"], all_of.functions["unit"], first_slot, slot_count, file_base
        ),
        function_decl_line=taken(all_of.functions["decl_line"], len(all_of.functions["decl_line"])),
        function_node=all_of.function_node,
        function_node_end=all_of.function_node_end,
        function_range=all_of.function_range,
        range_start=all_of.range_start,
        range_end=all_of.range_end,
        node_depth=taken(all_of.nodes["depth"], len(all_of.nodes["depth"])),
        node_name=all_of.node_name,
        node_call_file=slots_of(all_of.nodes["call_file"], memoryview(node_unit), first_slot, slot_count, file_base),
        node_call_line=taken(all_of.nodes["call_line"], len(all_of.nodes["call_line"])),
        node_range=all_of.node_range,
        node_range_start=all_of.node_range_start,
        node_range_end=all_of.node_range_end,
        table_first=tables.first,
        row_address=tables.address,
        row_file=tables.file,
        row_line=tables.line,
        sequences=tables.sequences,
    )
    # Only names of files are still to be read; .debug_info is the largest thing in memory.
    sections.info = b""
    warnings = [*tables.warnings, *units.warnings, *(warning for batch in batches for warning in batch.warnings)]
    return DwarfRead(columns=columns, warnings=tuple(warnings))


@contextmanager
def _workers(threads: int) -> Iterator[ThreadPoolExecutor | None]:
    if threads < 2:
        yield None
        return
    with ThreadPoolExecutor(threads - 1, thread_name_prefix="symup-dwarf") as pool:
        yield pool


def _walked(
    sections: DwarfSections, abbrevs: Abbrevs, units: Units, executable: list[tuple[int, int]], pool: Executor | None
) -> Iterator[Batch]:
    """The batches in the order of the units; with a pool, later ones are walked while earlier ones are used."""
    jobs = _batches(units.units)
    if pool is None:
        for first, last in jobs:
            yield _walk(sections, abbrevs, units.units, first, last, executable)
        return
    futures = [pool.submit(_walk, sections, abbrevs, units.units, first, last, executable) for first, last in jobs]
    for future in futures:
        yield future.result()


def _batches(units: Sequence[Unit]) -> list[tuple[int, int]]:
    """(first, last) unit of each batch."""
    jobs: list[tuple[int, int]] = []
    first = 0
    size = 0
    for index, unit in enumerate(units):
        size += unit.end - unit.offset
        if size >= BATCH_SIZE_BYTES:
            jobs.append((first, index + 1))
            first, size = index + 1, 0
    if first < len(units):
        jobs.append((first, len(units)))
    return jobs


def _walk(
    sections: DwarfSections,
    abbrevs: Abbrevs,
    units: Sequence[Unit],
    first: int,
    last: int,
    executable: list[tuple[int, int]],
) -> Batch:
    reader = DieReader(sections.info, abbrevs, little_endian=sections.little_endian)
    walk = Walk(reader, sections.addresses, executable)
    warnings: list[str] = []
    for index in range(first, last):
        try:
            walk.walk(units[index], index)
        except MalformedDwarf as error:
            warnings.append(f"unit at 0x{units[index].offset:x}: {error.message}")
    functions, nodes = walk.functions(), walk.nodes()
    function_node, function_node_end, together = spans(nodes["function"], len(functions["unit"]))
    if not together:
        nodes = grouped(nodes, "function", function_node)
    range_reader = RangeReader(sections, units)
    function_range, range_start, range_end = range_reader.resolve(functions, functions["unit"], executable)
    node_unit = gather(nodes["function"], functions["unit"])
    node_range, node_range_start, node_range_end = range_reader.resolve(nodes, memoryview(node_unit), None)
    return Batch(
        functions=functions,
        nodes=nodes,
        scopes=walk.scopes(),
        function_node=function_node,
        function_node_end=function_node_end,
        function_range=function_range,
        range_start=range_start,
        range_end=range_end,
        node_range=node_range,
        node_range_start=node_range_start,
        node_range_end=node_range_end,
        warnings=warnings,
    )
