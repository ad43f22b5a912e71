"""The numbers that say how good a symbol table is."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

import cython

from uploader.core.columns import NONE
from uploader.model import Figures
from uploader.symbols.columns import SymbolTable
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.table_columns import TableColumns
from uploader.values import frozen


@frozen
class LineCoverage:
    """Bytes of code that a line is known for, and those of them whose source would tell of inlined calls, too."""

    line_bytes: int
    inline_bytes: int


def measure(
    table: SymbolTable,
    executable: Sequence[tuple[int, int]],
    by_source: Mapping[str, int],
    *,
    origin: Any = None,
    function: Any = None,
    range_counts: RangeCounts | None = None,
) -> Figures:
    """Counts and coverage of a table against the executable ranges; ``by_source`` says how many functions each source gave.

    ``origin`` is the item of ``function`` for each piece, and that is `NONE` where the source of its lines knows no function, and
    so no calls inlined into it; without them there is no such source.
    ``range_counts`` is what became of ranges on the way.
    """
    ranges = range_counts if range_counts is not None else RangeCounts()
    covered = line_coverage(table, origin=origin, function=function)
    return Figures(
        executable_bytes=sum(end - start for start, end in executable),
        function_bytes=sum(table.end) - sum(table.start),
        line_bytes=covered.line_bytes,
        inline_bytes=covered.inline_bytes,
        functions=sum(by_source.values()),
        inlines=len(table.node_depth),
        line_rows=len(table.row_address),
        by_source=dict(by_source),
        dropped_ranges=ranges.dropped,
        cut_ranges=ranges.cut,
        widened_ranges=ranges.widened,
    )


def line_coverage(table: SymbolTable, *, origin: Any = None, function: Any = None) -> LineCoverage:
    """What rows speak for: a row reaches to the next or to its piece's end; line 0, or a file without a name, is no line."""
    if not len(table.row_address):
        return LineCoverage(line_bytes=0, inline_bytes=0)
    columns: TableColumns = TableColumns(table)
    named: cython.const[cython.uchar][::1] = bytes(bool(base) for _, base in table.files)
    files: cython.Py_ssize_t = len(named)
    with_functions: cython.bint = origin is not None and function is not None
    origins: cython.uint[::1] = origin if with_functions else array("I", [0])
    functions: cython.uint[::1] = function if with_functions else array("I", [0])
    total: cython.ulonglong = 0
    with_inlines: cython.ulonglong = 0
    known: cython.ulonglong
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    stop: cython.ulonglong
    for i in range(len(table.start)):
        known = 0
        for row in range(columns.row_first[i], columns.row_first[i + 1]):
            if columns.row_line[row] and columns.row_file[row] < files and named[columns.row_file[row]]:
                stop = columns.row_address[row + 1] if row + 1 < columns.row_first[i + 1] else columns.end[i]
                known += stop - columns.row_address[row]
        total += known
        if with_functions and functions[origins[i]] != NONE:
            with_inlines += known
    return LineCoverage(line_bytes=total, inline_bytes=with_inlines)


def count_functions(function: Any, name: Any) -> int:
    """The functions that pieces belong to. A part with a name of its own, like ``f.cold``, counts for itself: readers see no more of it.

    ``function`` is the item of each piece and ``name`` what it is called; pieces of no function (`NONE`) don't count.
    """
    if not len(function):
        return 0
    functions: cython.uint[::1] = function
    names: cython.uint[::1] = name
    highest: cython.uint = 0
    found: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(len(functions)):
        if functions[i] != NONE and functions[i] > highest:
            highest = functions[i]
    first = array("I", [NONE]) * (highest + 1)
    first_name: cython.uint[::1] = first
    others = set()
    for i in range(len(functions)):
        if functions[i] == NONE:
            continue
        if first_name[functions[i]] == NONE:
            first_name[functions[i]] = names[i]
            found += 1
        elif first_name[functions[i]] != names[i]:
            others.add((functions[i], names[i]))
    return found + len(others)
