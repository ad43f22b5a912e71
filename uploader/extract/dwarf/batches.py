"""Walks the units of one file in batches, on several threads where there are any, in an order that does not depend on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from uploader.errors import MalformedDwarf
from uploader.extract.dwarf.abbrev import Abbrevs
from uploader.extract.dwarf.die import DieReader
from uploader.extract.dwarf.join import Batch, gather, grouped, spans
from uploader.extract.dwarf.names import NameReader
from uploader.extract.dwarf.ranges import RangeReader
from uploader.extract.dwarf.sections import DwarfSections
from uploader.extract.dwarf.units import StringReader, Unit, Units
from uploader.extract.dwarf.walk import Walk
from uploader.symbols.columns import NameTable

BATCH_SIZE_BYTES = 4 * 1024 * 1024
"""How much of `.debug_info` is walked at a time: enough to be worth a thread's turn, small enough to keep all of them busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Where code lies, and what is known of address 0, to which linkers send what they drop."""

    executable: list[tuple[int, int]]
    end_of_first: int = 0
    """Where the function at address 0 ends; 0 where that is not known, or not needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file's sections and units."""

    sections: DwarfSections
    abbrevs: Abbrevs
    units: Units

    def reader(self) -> DieReader:
        """A reader of its DIEs, for one thread."""
        return DieReader(self.sections.info, self.abbrevs, little_endian=self.sections.little_endian)

    def name_reader(self, names: NameTable, supplementary: NameReader | None) -> NameReader:
        """A reader of its names, for one thread."""
        return NameReader(self.reader(), self.units.units, StringReader(self.sections), names, supplementary)


def named_batches(
    part: Part, code: Code, names: NameTable, supplementary: NameReader | None, pool: Executor | None
) -> list[Batch]:
    """All that a file's units hold, names included, in the order of the units."""
    reader = part.name_reader(names, supplementary)
    batches: list[Batch] = []
    again: list[Batch] = []
    for batch in walked(part, code, pool):
        reader.learn_scopes(batch.scopes["child"], batch.scopes["parent"], batch.end)
        batch.function_name = reader.numbers(batch.functions["offset"])
        waiting = reader.has_deferred()
        batch.node_name = reader.numbers(batch.nodes["origin"])
        if waiting or reader.has_deferred():
            again.append(batch)
        batches.append(batch)
    reader.know_all_scopes()
    for batch in again:
        batch.function_name = reader.numbers(batch.functions["offset"])
        batch.node_name = reader.numbers(batch.nodes["origin"])
    return batches


def walked(part: Part, code: Code, pool: Executor | None) -> Iterator[Batch]:
    """The batches in the order of the units; with a pool, later ones are walked while earlier ones are used."""
    jobs = _batches(part.units.units)
    if pool is None:
        for first, last in jobs:
            yield _walk(part, first, last, code)
        return
    futures = [pool.submit(_walk, part, first, last, code) for first, last in jobs]
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


def _walk(part: Part, first: int, last: int, code: Code) -> Batch:
    sections, units = part.sections, part.units.units
    walk = Walk(part.reader(), sections.addresses, code.executable, code.end_of_first)
    warnings: list[str] = []
    for index in range(first, last):
        unit = units[index]
        if not unit.walked:
            continue
        try:
            walk.walk(unit, index)
        except MalformedDwarf as error:
            warnings.append(
                f"unit at 0x{unit.offset:x}: {error.message}; what follows 0x{walk.reached_offset():x} in it is lost, "
                f"up to {unit.end - walk.reached_offset()} of its {unit.end - unit.offset} bytes"
            )
    functions, nodes = walk.functions(), walk.nodes()
    function_node, function_node_end, together = spans(nodes["function"], len(functions["unit"]))
    if not together:
        nodes = grouped(nodes, "function", function_node)
    size_bytes = sum(unit.end - unit.offset for unit in units[first:last])
    range_reader = RangeReader(sections, units, share=size_bytes / max(len(sections.info), 1))
    function_range, range_start, range_end = range_reader.resolve(
        functions, functions["unit"], code.executable, code.end_of_first
    )
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
        end=units[last - 1].end,
    )
