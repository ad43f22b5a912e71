"""Joins the columns of a walk with those of units and line tables."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import cython

from uploader.symbols.joining import Growing
from uploader.symbols.range_counts import RangeCounts

Column = memoryview


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Batch:
    """What some units in a row hold: the columns of `walk.Walk` by name, spans and ranges of their items.

    The columns lie in memory that is used again for a later batch.
    """

    functions: dict[str, Column]
    nodes: dict[str, Column]
    scopes: dict[str, Column]
    function_node: Column
    function_node_end: Column
    function_range: Column
    range_start: Column
    range_end: Column
    node_range: Column
    node_range_start: Column
    node_range_end: Column
    warnings: list[str]
    range_counts: RangeCounts
    end: int
    """The `.debug_info` offset behind the last unit."""


_WIDE = ("range_start", "range_end", "node_range_start", "node_range_end")
_NAMES = (
    *(
        "function_unit",
        "function_decl_file",
        "function_decl_line",
        "function_node",
        "function_node_end",
        "function_range",
    ),
    *("node_function", "node_depth", "node_call_file", "node_call_line", "node_range"),
    *_WIDE,
)


class Joined:
    """The columns of all batches end to end, named as in `symbols.columns.SourceColumns`."""

    def __init__(self) -> None:
        self._columns = {name: Growing("Q" if name in _WIDE else "I") for name in _NAMES}
        for name in ("function_range", "node_range"):
            self._columns[name] = Growing("I", 0)

    def add(self, batch: Batch, done: float = 1.0) -> None:
        """Appends the batch that comes next; of its memory nothing is kept. ``done`` is about which part of all is there then."""
        column = self._columns
        nodes, functions = len(column["node_function"]), len(column["function_unit"])
        for name in ("unit", "decl_file", "decl_line"):
            column[f"function_{name}"].extend(batch.functions[name], done)
        for name in ("depth", "call_file", "call_line"):
            column[f"node_{name}"].extend(batch.nodes[name], done)
        column["node_function"].extend_shifted(batch.nodes["function"], functions, done)
        column["function_node"].extend_shifted(batch.function_node, nodes, done)
        column["function_node_end"].extend_shifted(batch.function_node_end, nodes, done)
        column["function_range"].extend_shifted(batch.function_range[1:], len(column["range_start"]), done)
        column["range_start"].extend(batch.range_start, done)
        column["range_end"].extend(batch.range_end, done)
        column["node_range"].extend_shifted(batch.node_range[1:], len(column["node_range_start"]), done)
        column["node_range_start"].extend(batch.node_range_start, done)
        column["node_range_end"].extend(batch.node_range_end, done)

    def columns(self) -> dict[str, array[int]]:
        """All columns by name."""
        return {name: column.items for name, column in self._columns.items()}


def concatenated(columns: Iterable[array[int]]) -> array[int]:
    """Columns of 32-bit items end to end."""
    whole = array("I")
    for column in columns:
        whole.extend(column)
    return whole


def gather(index: memoryview, values: memoryview) -> array[int]:
    """``values[i]`` for every ``i`` of ``index``, both columns of 32-bit items."""
    n: cython.Py_ssize_t = len(index)
    result = array("I", [0]) * n
    if n == 0:
        return result
    out: cython.uint[::1] = result
    at: cython.uint[::1] = index
    source: cython.uint[::1] = values
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            out[i] = source[at[i]]
    return result


def slots_of(file: memoryview, unit: memoryview, first: array[int], count: array[int], base: array[int]) -> array[int]:
    """File slots for file indexes as DWARF counts them in the line table of each item's unit; ``NONE`` for no such file."""
    n: cython.Py_ssize_t = len(file)
    result = array("I", [0]) * n
    if n == 0:
        return result
    out: cython.uint[::1] = result
    raw: cython.uint[::1] = file
    of: cython.uint[::1] = unit
    first_slot: cython.uint[::1] = first
    files: cython.uint[::1] = count
    file_base: cython.uint[::1] = base
    i: cython.Py_ssize_t
    u: cython.uint
    none: cython.uint = 0xFFFFFFFF
    with cython.nogil:
        for i in range(n):
            u = of[i]
            if raw[i] < file_base[u] or raw[i] - file_base[u] >= files[u]:
                out[i] = none
            else:
                out[i] = first_slot[u] + raw[i] - file_base[u]
    return result


def unshown(name: array[int], depth: array[int], first: array[int]) -> int:
    """How many ranges nodes have that can't be shown: without a name, nested too deep, or within such a node."""
    n: cython.Py_ssize_t = len(name)
    if n == 0:
        return 0
    name_of: cython.const[cython.uint][::1] = name
    depth_of: cython.const[cython.uint][::1] = depth
    first_range: cython.const[cython.uint][::1] = first
    count: cython.Py_ssize_t = 0
    none: cython.uint = 0xFFFFFFFF
    below: cython.uint = none
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            if depth_of[i] <= below:
                below = none
                if name_of[i] != 0 and depth_of[i] < 1024:
                    continue
                below = depth_of[i]
            count += first_range[i + 1] - first_range[i]
    return count


def spans(group: memoryview, groups: int) -> tuple[array[int], array[int], bool]:
    """(first, end, together): the run of items of each group, as they lie once they are brought together in a stable order."""
    n: cython.Py_ssize_t = len(group)
    first_column = array("I", [0]) * groups
    end_column = array("I", [0]) * groups
    if n == 0 or groups == 0:
        return first_column, end_column, True
    first: cython.uint[::1] = first_column
    end: cython.uint[::1] = end_column
    of: cython.uint[::1] = group
    i: cython.Py_ssize_t
    at: cython.uint = 0
    size: cython.uint
    together: cython.bint = True
    with cython.nogil:
        for i in range(n):
            if i > 0 and of[i] < of[i - 1]:
                together = False
            end[of[i]] += 1
        for i in range(end.shape[0] if cython.compiled else len(end)):
            size = end[i]
            first[i] = at
            at += size
            end[i] = at
    return first_column, end_column, bool(together)


def grouped(columns: Mapping[str, memoryview], by: str, first: array[int]) -> dict[str, memoryview]:
    """The columns with the items of each group brought together, in their old order within it; ``first`` is from `spans`."""
    group: cython.uint[::1] = columns[by]
    n: cython.Py_ssize_t = len(columns[by])
    next_place: cython.uint[::1] = array("I", first)
    place_column = array("I", [0]) * n
    place: cython.uint[::1] = place_column
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            place[i] = next_place[group[i]]
            next_place[group[i]] += 1
    return {name: memoryview(_scattered(column, place_column)) for name, column in columns.items()}


def _scattered(column: memoryview, place_column: array[int]) -> array[int]:
    """The items of a column, each at its place."""
    n: cython.Py_ssize_t = len(column)
    result = array(column.format, bytes(column.itemsize * n))
    place: cython.uint[::1] = place_column
    i: cython.Py_ssize_t
    if column.format == "Q":
        wide: cython.ulonglong[::1] = column
        wide_out: cython.ulonglong[::1] = result
        with cython.nogil:
            for i in range(n):
                wide_out[place[i]] = wide[i]
    else:
        narrow: cython.uint[::1] = column
        narrow_out: cython.uint[::1] = result
        with cython.nogil:
            for i in range(n):
                narrow_out[place[i]] = narrow[i]
    return result
