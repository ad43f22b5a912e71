"""Joins the columns of a walk with those of units and line tables."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cython

from uploader.symbols.joining import extend, shifted

Column = memoryview


@dataclass(slots=True, kw_only=True)
class Batch:
    """What some units in a row hold: the columns of `walk.Walk` by name, spans and ranges of their items, names once they are known."""

    functions: dict[str, Column]
    nodes: dict[str, Column]
    scopes: dict[str, Column]
    function_node: array[int]
    function_node_end: array[int]
    function_range: array[int]
    range_start: array[int]
    range_end: array[int]
    node_range: array[int]
    node_range_start: array[int]
    node_range_end: array[int]
    function_name: array[int] = field(default_factory=lambda: array("I"))
    node_name: array[int] = field(default_factory=lambda: array("I"))
    warnings: list[str] = field(default_factory=list)
    end: int = 0
    """The `.debug_info` offset behind the last unit."""


def joined(batches: Sequence[Batch]) -> Batch:
    """All batches as one, in their order."""
    if len(batches) == 1:
        return batches[0]
    functions: dict[str, array[int]] = {}
    nodes: dict[str, array[int]] = {}
    names = (
        "function_node",
        "function_node_end",
        "function_range",
        "range_start",
        "range_end",
        "node_range",
        "node_range_start",
        "node_range_end",
        "function_name",
        "node_name",
    )
    columns = {name: array("Q" if name.endswith(("_start", "range_end")) else "I") for name in names}
    function_count = node_count = range_count = node_range_count = 0
    for batch in batches:
        for name in ("unit", "decl_file", "decl_line"):
            extend(functions.setdefault(name, array("I")), batch.functions[name])
        extend(nodes.setdefault("function", array("I")), memoryview(shifted(batch.nodes["function"], function_count)))
        for name in ("depth", "call_file", "call_line"):
            extend(nodes.setdefault(name, array("I")), batch.nodes[name])
        for name, shift in (
            ("function_node", node_count),
            ("function_node_end", node_count),
            ("function_range", range_count),
            ("node_range", node_range_count),
        ):
            column = memoryview(getattr(batch, name))
            ends = 1 if name.endswith("_range") else 0
            extend(columns[name], memoryview(shifted(column[: len(column) - ends], shift)))
        for name in ("range_start", "range_end", "node_range_start", "node_range_end", "function_name", "node_name"):
            extend(columns[name], memoryview(getattr(batch, name)))
        function_count += len(batch.functions["unit"])
        node_count += len(batch.nodes["function"])
        range_count += len(batch.range_start)
        node_range_count += len(batch.node_range_start)
    columns["function_range"].append(range_count)
    columns["node_range"].append(node_range_count)
    empty = memoryview(array("I"))
    return Batch(
        functions={
            name: memoryview(functions[name]) if name in functions else empty
            for name in ("unit", "decl_file", "decl_line")
        },
        nodes={
            name: memoryview(nodes[name]) if name in nodes else empty
            for name in ("function", "depth", "call_file", "call_line")
        },
        scopes={},
        function_node=columns["function_node"],
        function_node_end=columns["function_node_end"],
        function_range=columns["function_range"],
        range_start=columns["range_start"],
        range_end=columns["range_end"],
        node_range=columns["node_range"],
        node_range_start=columns["node_range_start"],
        node_range_end=columns["node_range_end"],
        function_name=columns["function_name"],
        node_name=columns["node_name"],
    )


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
