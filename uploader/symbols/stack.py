"""Puts the columns of several sources of one binary into one: the better source speaks where it does, the next where that is silent."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from uploader.core.columns import NONE, TYPE_INDEX
from uploader.symbols.columns import SourceColumns
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.spoken_for import SpokenFor

_FLAT = (
    "function_name", "function_decl_line", "range_start", "range_end", "node_depth", "node_name", "node_call_line",
    "node_range_start", "node_range_end", "row_address", "row_line", "sequence_start", "sequence_end",
)  # fmt: skip
_FILES = ("function_decl_file", "node_call_file", "row_file")


def stacked(sources: Sequence[SourceColumns]) -> tuple[SourceColumns, tuple[int, ...]]:
    """One source's worth of columns from several, the best first, and the first function of each in it.

    What a source says of code for which a better one has a function, or a line table, is left out. All share one table of names.
    A single source is given back as it is.
    """
    if len(sources) == 1:
        return sources[0], (0,)
    files = [source.file_at for source in sources]
    firsts = [0]
    for source in sources[:-1]:
        firsts.append(firsts[-1] + source.file_slots)

    def file_at(slot: int) -> tuple[bytes, bytes]:
        which = bisect_right(firsts, slot) - 1
        return files[which](slot - firsts[which])

    one = SourceColumns(
        names=sources[0].names,
        file_at=file_at,
        file_slots=firsts[-1] + sources[-1].file_slots,
        range_counts=RangeCounts(),
    )
    functions: list[int] = []
    taken = SpokenFor()
    for source, first_file in zip(sources, firsts, strict=True):
        functions.append(len(one.function_name))
        _append(one, _uncovered(source, taken) if taken else source, first_file)
        taken.take(source)
    return one, tuple(functions)


def _uncovered(source: SourceColumns, taken: SpokenFor) -> SourceColumns:
    """The source with the ranges of functions and line tables only that are left; inlines are clipped with their functions later."""
    first, start, end = array(TYPE_INDEX, [0]), array("Q"), array("Q")
    for function in range(len(source.function_name)):
        for at in range(source.function_range[function], source.function_range[function + 1]):
            for left_start, left_end in taken.left_of(source.range_start[at], source.range_end[at]):
                start.append(left_start)
                end.append(left_end)
        first.append(len(start))
    sequences = (array("Q"), array("Q"), array(TYPE_INDEX))
    for begin, stop, table in zip(source.sequence_start, source.sequence_end, source.sequence_table, strict=True):
        for left_start, left_end in taken.left_of(begin, stop):
            for column, item in zip(sequences, (left_start, left_end, table), strict=True):
                column.append(item)
    return replace(
        source,
        function_range=first,
        range_start=start,
        range_end=end,
        sequence_start=sequences[0],
        sequence_end=sequences[1],
        sequence_table=sequences[2],
    )


def _append(one: SourceColumns, source: SourceColumns, first_file: int) -> None:
    """Puts the columns of ``source`` behind those that are there."""
    tables, nodes = len(one.table_first) - 1, len(one.node_name)
    for name, base in (
        ("function_range", len(one.range_start)),
        ("node_range", len(one.node_range_start)),
        ("table_first", len(one.row_address)),
    ):
        getattr(one, name).extend(base + item for item in getattr(source, name)[1:])
    for name in ("function_node", "function_node_end"):
        getattr(one, name).extend(nodes + item for item in getattr(source, name))
    for name in ("function_table", "sequence_table"):
        getattr(one, name).extend(item if item == NONE else tables + item for item in getattr(source, name))
    for name in _FILES:
        getattr(one, name).extend(item if item == NONE else first_file + item for item in getattr(source, name))
    for name in _FLAT:
        getattr(one, name).extend(getattr(source, name))
    one.range_counts.add(source.range_counts)


def owner_of(functions: Sequence[int], function: int) -> int:
    """The number of the source, as `stacked` was given them, that a function is of."""
    return bisect_right(functions, function) - 1
