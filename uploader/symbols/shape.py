"""Makes the symbol table of a plan: shapes its pieces on several threads, joins what they give, and numbers the files."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import cython

from uploader.core.columns import NONE, taken
from uploader.symbols.call_sites import join_call_sites
from uploader.symbols.columns import NameTable, SourceColumns, SymbolTable
from uploader.symbols.joining import Growing
from uploader.symbols.piece_plan import PiecePlan
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.shaper import MAX_PIECES_WITH_INLINES, Shaper
from uploader.symbols.table_columns import TableColumns
from uploader.symbols.uses import first_uses
from uploader.values import frozen, replace

FileAt = Callable[[int], tuple[bytes, bytes]]


def _number_files(table: SymbolTable, file_at: FileAt, slots: int) -> None:
    """Turns slots into numbers of distinct files in the order of their first use; unknown ones become 0."""
    files: list[tuple[bytes, bytes]] = [(b"", b"")]
    number_of: dict[tuple[bytes, bytes], int] = {}
    numbers = array("I", [0]) * max(slots, 1)
    columns = (table.row_file, table.node_call_file)
    for slot in first_uses(columns, slots):
        pair = file_at(slot)
        found = number_of.get(pair)
        if found is None:
            found = number_of[pair] = len(files)
            files.append(pair)
        numbers[slot] = found
    for column in columns:
        _renumber(column, numbers)
    table.files = files


def _renumber(column: array[int], numbers: array[int]) -> None:
    """Puts the new number of each item in its place, 0 for ``NONE``."""
    n: cython.Py_ssize_t = len(column)
    if n == 0:
        return
    slot: cython.uint[::1] = column
    number: cython.uint[::1] = numbers
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(n):
            slot[i] = number[slot[i]] if slot[i] != NONE else 0


def _drop_repeated_rows(table: SymbolTable) -> None:
    """Leaves out rows that repeat the file and line before them: two slots may have turned out to be one file."""
    rows: cython.Py_ssize_t = len(table.row_address)
    if rows == 0:
        return
    columns: TableColumns = TableColumns(table)
    pieces: cython.Py_ssize_t = len(table.start)
    piece: cython.Py_ssize_t
    row: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    kept: cython.Py_ssize_t = 0
    next_first: cython.Py_ssize_t = 0
    with cython.nogil:
        for piece in range(pieces):
            begin = next_first
            next_first = columns.row_first[piece + 1]
            columns.row_first[piece] = kept
            for row in range(begin, next_first):
                if (
                    row > begin
                    and columns.row_file[row] == columns.row_file[kept - 1]
                    and columns.row_line[row] == columns.row_line[kept - 1]
                ):
                    continue
                columns.row_address[kept] = columns.row_address[row]
                columns.row_file[kept] = columns.row_file[row]
                columns.row_line[kept] = columns.row_line[row]
                kept += 1
        columns.row_first[pieces] = kept
    if kept < rows:
        table.row_address = taken(table.row_address, kept)
        table.row_file = taken(table.row_file, kept)
        table.row_line = taken(table.row_line, kept)


@frozen
class _Part:
    """What some of a plan's pieces were cut to, the piece of the plan behind each, and how many inlines were left out."""

    table: SymbolTable
    origins: array[int]
    lost: int
    range_counts: RangeCounts


_ITEMS = (
    *("start", "end", "name", "row_address", "row_file", "row_line"),
    *("node_depth", "node_name", "node_call_file", "node_call_line", "range_start", "range_end"),
)
_FIRSTS = (("row_first", "row_address"), ("node_first", "node_depth"), ("range_first", "range_start"))
"""Columns of first items, and a column of the items that they count."""


def _joined(parts: deque[_Part]) -> tuple[SymbolTable, array[int]]:
    """The table of all parts, which are used up, and the piece of the plan behind each of its pieces. The first is not moved."""
    whole = parts.popleft()
    table = whole.table
    if not parts:
        return table, whole.origins
    columns = {name: Growing.onto(getattr(table, name)) for name in (*_ITEMS, *(first for first, _ in _FIRSTS))}
    origins = Growing.onto(whole.origins)
    while parts:
        part = parts.popleft()
        for name, counted in _FIRSTS:
            columns[name].extend_shifted(memoryview(getattr(part.table, name))[1:], len(columns[counted]))
        for name in _ITEMS:
            columns[name].extend(getattr(part.table, name))
        origins.extend(part.origins)
    for name, column in columns.items():
        setattr(table, name, column.items)
    return table, origins.items


def _shape(source: SourceColumns, plan: PiecePlan, first: int, last: int, begun: Event | None = None) -> _Part:
    """Shapes the plan's pieces ``first:last``; ``begun`` is set when the interpreter is about to be left to others for long."""
    # Behind the first part the others will stand.
    shaper = Shaper(source, share=((last - first) if first else len(plan.start)) / max(len(plan.start), 1))
    if begun is not None:
        begun.set()
    shaper.run(plan, first, last)
    table = shaper.table()
    join_call_sites(table)
    return _Part(table=table, origins=shaper.origins(), lost=shaper.lost_count(), range_counts=shaper.range_counts())


def _shape_beside(source: SourceColumns, plan: PiecePlan, threads: int) -> tuple[deque[_Part], array[int]]:
    """All parts of a plan in order, and the new numbers of the names, which are sorted while other threads shape."""
    pieces = len(plan.start)
    # This thread has the names to sort first, which takes half as long as all that is shaped.
    own_share = max(0.0, 1.5 / threads - 0.5)
    cuts = [*(int(pieces * (1 - own_share) * part / (threads - 1)) for part in range(threads)), pieces]
    begun = [Event() for _ in range(threads - 1)]
    with ThreadPoolExecutor(threads - 1, thread_name_prefix="symup-shape") as pool:
        shaped = [
            pool.submit(_shape, source, plan, cuts[part], cuts[part + 1], begun[part]) for part in range(threads - 1)
        ]
        for event, part in zip(begun, shaped, strict=True):
            while not event.wait(0.1) and not part.done():
                pass
        numbers = _sort_names(source.names)
        own = _shape(source, plan, cuts[threads - 1], pieces)
        return deque([*(part.result() for part in shaped), own]), numbers


def _sort_names(names: NameTable) -> array[int]:
    """Numbers the names in their order, as files have them; gives the new number of each."""
    order = names.sorted_order()
    numbers = array("I", [0]) * len(order)
    out: cython.uint[::1] = numbers
    number: cython.Py_ssize_t
    for number, old in enumerate(order):
        out[old] = number
    names.renumber(order)
    return numbers


def shape(
    source: SourceColumns,
    plan: PiecePlan,
    *,
    threads: int = 1,
    warnings: list[str] | None = None,
    range_counts: RangeCounts | None = None,
) -> tuple[SymbolTable, array[int]]:
    """The symbol table of a plan, and for each of its pieces the index of the plan's piece that it was cut from.

    The result does not depend on the threads. The names of ``source`` are numbered anew. Inlines that would take endless
    cutting are left out, and told in ``warnings``. What became of ranges is added to ``range_counts``.
    """
    plan, lost = _without_endless_repeats(source, plan)
    if threads == 1:
        parts = deque([_shape(source, plan, 0, len(plan.start))])
        numbers = _sort_names(source.names)
    else:
        parts, numbers = _shape_beside(source, plan, threads)
    counts = range_counts if range_counts is not None else RangeCounts()
    counts.dropped += lost
    for part in parts:
        counts.add(part.range_counts)
    lost += sum(part.lost for part in parts)
    table, origin = _joined(parts)
    table.names = source.names.names
    table.names_ascend = True
    _renumber(table.name, numbers)
    _renumber(table.node_name, numbers)
    _number_files(table, source.file_at, source.file_slots)
    _drop_repeated_rows(table)
    if lost and warnings is not None:
        warnings.append(
            f"inlines were left out at {lost} places where they overlap or repeat more than any compiler's do"
        )
    return table, origin


def _without_endless_repeats(source: SourceColumns, plan: PiecePlan) -> tuple[PiecePlan, int]:
    """A plan in which no function with many inlines has them cut out of more than a bounded number of pieces; and how many lost them."""
    pieces_of = Counter(plan.function)
    endless = {
        function
        for function, pieces in pieces_of.items()
        if function != NONE
        and pieces > MAX_PIECES_WITH_INLINES
        and source.function_node_end[function] - source.function_node[function] > MAX_PIECES_WITH_INLINES
    }
    if not endless:
        return plan, 0
    seen: Counter[int] = Counter()
    functions = array("I")
    lost = 0
    for function in plan.function:
        seen[function] += 1
        bare = function in endless and seen[function] > MAX_PIECES_WITH_INLINES
        functions.append(NONE if bare else function)
        lost += bare
    return replace(plan, function=functions), lost
