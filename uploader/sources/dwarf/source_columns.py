"""Makes the columns of a source of what was joined and the line tables."""

from __future__ import annotations

from array import array

from uploader.sources.dwarf.join import Joined, gather, slots_of, unshown
from uploader.sources.dwarf.line_tables import LineTables
from uploader.symbols.columns import NameTable, SourceColumns
from uploader.symbols.range_counts import RangeCounts


def source_columns(
    joined: Joined, tables: LineTables, unit_table: array[int], names: NameTable, unnamed: int
) -> SourceColumns:
    """``unit_table`` has the line table of each unit, or ``NONE``; ``unnamed`` is the name of inlined calls that have none."""
    first_slot, slot_count, file_base = tables.files.columns(unit_table)
    function_unit = memoryview(joined.function_unit.items)
    node_unit = memoryview(gather(memoryview(joined.node_function.items), function_unit))
    node_depth, node_range = joined.node_depth.items, joined.node_range.items
    range_counts = RangeCounts(dropped=unshown(joined.node_name, node_depth, node_range))
    range_counts.add(joined.range_counts)
    node_name = joined.node_name
    if unnamed:
        node_name = array("I", (name or unnamed for name in node_name))
    sequence_start, sequence_end, sequence_table = tables.sequences()
    return SourceColumns(
        names=names,
        file_at=tables.files.file_at,
        file_slots=len(tables.files),
        function_name=joined.function_name,
        function_table=gather(function_unit, memoryview(unit_table)),
        function_decl_file=slots_of(
            memoryview(joined.function_decl_file.items), function_unit, first_slot, slot_count, file_base
        ),
        function_decl_line=joined.function_decl_line.items,
        function_node=joined.function_node.items,
        function_node_end=joined.function_node_end.items,
        function_range=joined.function_range.items,
        range_start=joined.range_start.items,
        range_end=joined.range_end.items,
        node_depth=node_depth,
        node_name=node_name,
        node_call_file=slots_of(memoryview(joined.node_call_file.items), node_unit, first_slot, slot_count, file_base),
        node_call_line=joined.node_call_line.items,
        node_range=node_range,
        node_range_start=joined.node_range_start.items,
        node_range_end=joined.node_range_end.items,
        table_first=tables.first,
        row_address=tables.address,
        row_file=tables.file,
        row_line=tables.line,
        sequence_start=sequence_start,
        sequence_end=sequence_end,
        sequence_table=sequence_table,
        range_counts=range_counts,
    )
