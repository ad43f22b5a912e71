"""The numbers that say how good a symbol table is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cython

from uploader.model import Figures
from uploader.symbols.columns import SymbolTable


def measure(table: SymbolTable, executable: Sequence[tuple[int, int]], by_source: Mapping[str, int]) -> Figures:
    """Counts and coverage of a table against the executable ranges; ``by_source`` says how many functions each source gave."""
    return Figures(
        executable_bytes=sum(end - start for start, end in executable),
        function_bytes=sum(table.end) - sum(table.start),
        line_bytes=_line_bytes(table),
        functions=sum(by_source.values()),
        inlines=len(table.node_depth),
        line_rows=len(table.row_address),
        by_source=dict(by_source),
    )


def _line_bytes(table: SymbolTable) -> int:
    """Bytes of code that a row with a line speaks for."""
    if not len(table.row_address):
        return 0
    end: cython.ulonglong[::1] = table.end
    first: cython.uint[::1] = table.row_first
    address: cython.ulonglong[::1] = table.row_address
    line: cython.uint[::1] = table.row_line
    total: cython.ulonglong = 0
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    stop: cython.ulonglong
    for i in range(len(table.start)):
        for row in range(first[i], first[i + 1]):
            if line[row]:
                stop = address[row + 1] if row + 1 < first[i + 1] else end[i]
                total += stop - address[row]
    return total
