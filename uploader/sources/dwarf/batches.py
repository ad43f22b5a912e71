"""Walks the units of one file in batches, on several threads where there are any, in an order that does not depend on them."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field

from uploader.core.columns import taken
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.die import DieReader
from uploader.sources.dwarf.join import Batch, Joined, gather, grouped, spans
from uploader.sources.dwarf.names import NameReader
from uploader.sources.dwarf.nest_inlines import InlineNester
from uploader.sources.dwarf.ranges import RangeReader
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.strings import StringReader
from uploader.sources.dwarf.unit_columns import UnitColumns
from uploader.sources.dwarf.units import Unit, Units
from uploader.sources.dwarf.walk import Walk
from uploader.symbols.columns import NameTable
from uploader.symbols.range_counts import RangeCounts
from uploader.values import frozen

BATCH_SIZE_BYTES = 4 * 1024 * 1024
"""How much of `.debug_info` is walked at a time: enough to be worth a thread's turn, small enough to keep all of them busy."""


@frozen
class Code:
    """Where code lies, and what is known of address 0, to which linkers send what they drop."""

    executable: list[tuple[int, int]]
    end_of_first: int = 0
    """Where the function at address 0 ends; 0 where that is not known, or not needed."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Part:
    """One file's sections and units, which don't change any more."""

    sections: DwarfSections
    abbrevs: Abbrevs
    units: Units
    columns: UnitColumns = field(init=False)

    def __post_init__(self) -> None:
        self.columns = UnitColumns(self.units.units)

    def reader(self) -> DieReader:
        """A reader of its DIEs, for one thread."""
        return DieReader(self.sections.info, self.abbrevs, little_endian=self.sections.little_endian)

    def name_reader(self, names: NameTable, supplementary: NameReader | None) -> NameReader:
        """A reader of its names, for one thread."""
        return NameReader(
            self.reader(), self.units.units, self.columns, StringReader(self.sections), names, supplementary
        )


class Walker:
    """Walks batches of one file, one after another, in memory that it uses again: a batch lasts until the next begins."""

    def __init__(self, part: Part, code: Code) -> None:
        self._part = part
        self._code = code
        size_bytes = min(len(part.sections.info), BATCH_SIZE_BYTES)
        self._walk = Walk(part.reader(), part.sections.addresses, code.executable, code.end_of_first, size_bytes)
        self._function_ranges = RangeReader(part.sections, part.columns)
        self._node_ranges = RangeReader(part.sections, part.columns, size_bytes)
        self._nester = InlineNester(code.executable)

    def walk(self, first: int, last: int) -> Batch:
        """All that the units ``first:last`` hold."""
        part, code = self._part, self._code
        units = part.units.units
        size_bytes = sum(unit.end - unit.offset for unit in units[first:last])
        self._walk.begin()
        warnings = self._walk.walk(part.columns, first, last)
        functions, nodes = self._walk.functions(), self._walk.nodes()
        function_node, function_node_end, together = spans(nodes.function, functions.count)
        if not together:
            nodes = grouped(nodes, function_node)
        share = size_bytes / max(len(part.sections.info), 1)
        self._function_ranges.allot(share)
        self._node_ranges.allot(share)
        function_range, range_start, range_end = self._function_ranges.resolve(
            functions, functions.unit, code.executable, code.end_of_first
        )
        node_unit = gather(nodes.function, functions.unit)
        node_range, node_range_start, node_range_end = self._nester.nest(
            (memoryview(function_range), range_start, range_end),
            (function_node, function_node_end),
            nodes.depth,
            self._node_ranges.resolve(nodes, memoryview(node_unit), None),
        )
        return Batch(
            functions=functions,
            nodes=nodes,
            scopes=self._walk.scope_pairs(),
            function_node=memoryview(function_node),
            function_node_end=memoryview(function_node_end),
            function_range=memoryview(function_range),
            range_start=range_start,
            range_end=range_end,
            node_range=memoryview(node_range),
            node_range_start=node_range_start,
            node_range_end=node_range_end,
            warnings=warnings,
            range_counts=self._range_counts(),
            end=units[last - 1].end,
        )

    def _range_counts(self) -> RangeCounts:
        dropped, cut, widened = self._nester.figures()
        malformed = (
            self._walk.dropped_count() + self._function_ranges.dropped_count() + self._node_ranges.dropped_count()
        )
        return RangeCounts(dropped=dropped + malformed, cut=cut, widened=widened)


def walked(part: Part, code: Code, pool: Executor | None = None, threads: int = 1) -> Iterator[Batch]:
    """The batches in the order of the units, each to be used up before the next is asked for.

    With a pool of ``threads - 1`` threads some are walked there meanwhile; where the next in order is not ready, the caller's
    own thread walks another one rather than wait.
    """
    jobs = iter(_batches(part.units.units))
    spare: list[Walker] = []
    running: deque[tuple[Walker, Future[Batch] | Batch]] = deque()

    def walker() -> Walker:
        return spare.pop() if spare else Walker(part, code)

    while True:
        while pool is not None and len(running) < 2 * threads and (job := next(jobs, None)) is not None:
            free = walker()
            running.append((free, pool.submit(free.walk, *job)))
        ready = running and not (isinstance(running[0][1], Future) and not running[0][1].done())
        if not ready and len(running) < 3 * threads and (job := next(jobs, None)) is not None:
            free = walker()
            running.append((free, free.walk(*job)))
            continue
        if not running:
            return
        free, batch = running.popleft()
        yield batch.result() if isinstance(batch, Future) else batch
        spare.append(free)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class _Waiting:
    """A batch with names that wait for scopes of later ones, and which DIEs they are the names of."""

    index: int
    functions: memoryview
    nodes: memoryview


def join_named(
    joined: Joined,
    part: Part,
    code: Code,
    names: NameTable,
    supplementary: NameReader | None,
    pool: Executor | None,
    threads: int,
    unit_numbers: array[int] | None = None,
) -> None:
    """Appends all that a file's units hold to ``joined``, in the order of the units, with its names.

    ``unit_numbers`` gives, for each unit, the index that it is to have there, where that is another.
    """
    reader = part.name_reader(names, supplementary)
    function_names: list[array[int]] = []
    node_names: list[array[int]] = []
    again: list[_Waiting] = []
    for batch in walked(part, code, pool, threads):
        reader.learn_scopes(batch.scopes, batch.end)
        function_names.append(reader.numbers(batch.functions.offset))
        waiting = reader.has_deferred()
        node_names.append(reader.numbers(batch.nodes.origin))
        if waiting or reader.has_deferred():
            again.append(
                _Waiting(
                    index=len(node_names) - 1,
                    functions=_copy(batch.functions.offset),
                    nodes=_copy(batch.nodes.origin),
                )
            )
        unit = batch.functions.unit
        if unit_numbers is not None:
            unit = memoryview(gather(unit, memoryview(unit_numbers)))
        joined.add(batch, unit, batch.end / max(len(part.sections.info), 1))
    reader.know_all_scopes()
    for each in again:
        function_names[each.index] = reader.numbers(each.functions)
        node_names[each.index] = reader.numbers(each.nodes)
    for function_name, node_name in zip(function_names, node_names, strict=True):
        joined.function_name.extend(function_name)
        joined.node_name.extend(node_name)


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


def _copy(column: memoryview) -> memoryview:
    return memoryview(taken(column, len(column)))
