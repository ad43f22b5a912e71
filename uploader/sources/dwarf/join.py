"""Joins the columns of a walk with those of units and line tables."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import cython

from uploader.core.columns import NONE
from uploader.sources.dwarf.tables import FunctionTable, NodeTable, ScopeTable
from uploader.symbols.joining import Growing
from uploader.symbols.range_counts import RangeCounts

NOWHERE = cython.declare(cython.uint, NONE)
DEEPEST_SHOWN = cython.declare(cython.uint, 1024)
"""Calls that are nested as deep or deeper are not shown."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Batch:
    """What some units in a row hold, and the spans and ranges of its items.

    The columns lie in memory that is used again for a later batch.
    """

    functions: FunctionTable
    nodes: NodeTable
    scopes: ScopeTable
    function_node: memoryview
    function_node_end: memoryview
    function_range: memoryview
    range_start: memoryview
    range_end: memoryview
    node_range: memoryview
    node_range_start: memoryview
    node_range_end: memoryview
    warnings: list[str]
    range_counts: RangeCounts
    end: int
    """The `.debug_info` offset behind the last unit."""


class Joined:
    """The columns of all batches end to end, named as in `symbols.columns.SourceColumns`."""

    def __init__(self) -> None:
        self.function_unit = Growing("I")
        self.function_decl_file = Growing("I")
        self.function_decl_line = Growing("I")
        self.function_node = Growing("I")
        self.function_node_end = Growing("I")
        self.function_range = Growing("I", 0)
        self.range_start = Growing("Q")
        self.range_end = Growing("Q")
        self.node_function = Growing("I")
        self.node_depth = Growing("I")
        self.node_call_file = Growing("I")
        self.node_call_line = Growing("I")
        self.node_range = Growing("I", 0)
        self.node_range_start = Growing("Q")
        self.node_range_end = Growing("Q")
        self.function_name = array("I")
        self.node_name = array("I")
        self.range_counts = RangeCounts()
        self.warnings: list[str] = []
        """What was wrong with units."""

    def add(self, batch: Batch, function_unit: cython.uint[::1], done: float = 1.0) -> None:
        """Appends the batch that comes next; of its memory nothing is kept. ``function_unit`` has the units of its functions.

        ``done`` is about which part of all is there then.
        """
        nodes, functions = len(self.node_function), len(self.function_unit)
        self.function_unit.extend(function_unit, done)
        self.function_decl_file.extend(batch.functions.decl_file, done)
        self.function_decl_line.extend(batch.functions.decl_line, done)
        self.function_node.extend_shifted(batch.function_node, nodes, done)
        self.function_node_end.extend_shifted(batch.function_node_end, nodes, done)
        self.function_range.extend_shifted(batch.function_range[1:], len(self.range_start), done)
        self.range_start.extend(batch.range_start, done)
        self.range_end.extend(batch.range_end, done)
        self.node_function.extend_shifted(batch.nodes.function, functions, done)
        self.node_depth.extend(batch.nodes.depth, done)
        self.node_call_file.extend(batch.nodes.call_file, done)
        self.node_call_line.extend(batch.nodes.call_line, done)
        self.node_range.extend_shifted(batch.node_range[1:], len(self.node_range_start), done)
        self.node_range_start.extend(batch.node_range_start, done)
        self.node_range_end.extend(batch.node_range_end, done)
        self.range_counts.add(batch.range_counts)
        self.warnings.extend(batch.warnings)


def gather(index: cython.uint[::1], values: cython.uint[::1]) -> array[int]:
    """``values[i]`` for every ``i`` of ``index``."""
    n: cython.Py_ssize_t = len(index)
    result = array("I", [0]) * n
    out: cython.uint[::1] = result
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            out[i] = values[index[i]]
    return result


def slots_of(
    file: cython.uint[::1],
    unit: cython.uint[::1],
    first_slot: cython.uint[::1],
    files: cython.uint[::1],
    file_base: cython.uint[::1],
) -> array[int]:
    """File slots for file indexes as DWARF counts them in the line table of each item's unit; ``NONE`` for no such file."""
    n: cython.Py_ssize_t = len(file)
    result = array("I", [0]) * n
    out: cython.uint[::1] = result
    i: cython.Py_ssize_t
    u: cython.uint
    with cython.nogil:
        for i in range(n):
            u = unit[i]
            if file[i] < file_base[u] or file[i] - file_base[u] >= files[u]:
                out[i] = NOWHERE
            else:
                out[i] = first_slot[u] + file[i] - file_base[u]
    return result


def unshown(name: cython.uint[::1], depth: cython.uint[::1], first_range: cython.uint[::1]) -> int:
    """How many ranges nodes have that can't be shown: without a name, nested too deep, or within such a node."""
    n: cython.Py_ssize_t = len(name)
    count: cython.Py_ssize_t = 0
    below: cython.uint = NOWHERE
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            if depth[i] <= below:
                below = NOWHERE
                if name[i] != 0 and depth[i] < DEEPEST_SHOWN:
                    continue
                below = depth[i]
            count += first_range[i + 1] - first_range[i]
    return count


def spans(group: cython.uint[::1], groups: int) -> tuple[array[int], array[int], bool]:
    """(first, end, together): the run of items of each group, as they lie once they are brought together in a stable order."""
    n: cython.Py_ssize_t = len(group)
    last: cython.Py_ssize_t = groups
    first_column = array("I", [0]) * groups
    end_column = array("I", [0]) * groups
    first: cython.uint[::1] = first_column
    end: cython.uint[::1] = end_column
    i: cython.Py_ssize_t
    at: cython.uint = 0
    size: cython.uint
    together: cython.bint = True
    with cython.nogil:
        for i in range(n):
            if i > 0 and group[i] < group[i - 1]:
                together = False
            end[group[i]] += 1
        for i in range(last):
            size = end[i]
            first[i] = at
            at += size
            end[i] = at
    return first_column, end_column, bool(together)


def grouped(nodes: NodeTable, first: array[int]) -> NodeTable:
    """The nodes with those of each function brought together, in their old order within it; ``first`` is from `spans`."""
    n: cython.Py_ssize_t = nodes.count
    group: cython.uint[::1] = nodes.function
    next_place: cython.uint[::1] = array("I", first)
    place_column = array("I", [0]) * n
    place: cython.uint[::1] = place_column
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            place[i] = next_place[group[i]]
            next_place[group[i]] += 1
    return nodes.replaced(
        {
            name: (_scattered_wide if typecode == "Q" else _scattered)(getattr(nodes, name), place_column)
            for name, typecode in nodes.COLUMNS
        }
    )


def _scattered(column: cython.uint[::1], place: cython.uint[::1]) -> memoryview:
    """The items of a column, each at its place."""
    n: cython.Py_ssize_t = len(column)
    result = array("I", [0]) * n
    out: cython.uint[::1] = result
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            out[place[i]] = column[i]
    return memoryview(result)


def _scattered_wide(column: cython.ulonglong[::1], place: cython.uint[::1]) -> memoryview:
    """The same for 64-bit items."""
    n: cython.Py_ssize_t = len(column)
    result = array("Q", [0]) * n
    out: cython.ulonglong[::1] = result
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            out[place[i]] = column[i]
    return memoryview(result)
