"""The columns of a `SymbolTable` as the core's loops read and write them: typed, and declared once (``table_columns.pxd``)."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import cython

from uploader.core.columns import first_of, grown, indexes
from uploader.symbols.columns import SymbolTable


class TableColumns:
    """Views of a table's columns, named alike. They don't follow a column that the table is given later."""

    def __init__(self, table: SymbolTable) -> None:
        self.start, self.end, self.name = table.start, table.end, table.name
        self.row_first, self.row_address = table.row_first, table.row_address
        self.row_file, self.row_line = table.row_file, table.row_line
        self.node_first, self.node_depth, self.node_name = table.node_first, table.node_depth, table.node_name
        self.node_call_file, self.node_call_line = table.node_call_file, table.node_call_line
        self.range_first, self.range_start, self.range_end = table.range_first, table.range_start, table.range_end
        self.alias_first, self.alias_name = table.alias_first, table.alias_name


class GrowingTable(TableColumns):
    """A table being built, piece after piece, in memory that has room for more: what is not used of it takes none.

    What is put belongs to the piece that was opened last. Columns of one kind of item have the same room, with one item more than
    is used: the first row or node of the piece to come, the first range of the node to come.
    """

    def __init__(self, *, pieces: int = 0, rows: int = 0, nodes: int = 0, ranges: int = 0) -> None:
        """Takes how many items of each kind are likely."""
        TableColumns.__init__(self, SymbolTable())
        self.origin = indexes()
        self.pieces = self.rows = self.nodes = self.ranges = 0
        self._give_pieces_room(pieces)
        self._give_rows_room(rows)
        self._give_nodes_room(nodes)
        self._give_ranges_room(ranges)

    def open_piece(self, origin: cython.uint, start: cython.ulonglong, name: cython.uint) -> cython.int:
        """Begins a piece, which has neither rows nor nodes yet; ``origin`` is the number of what it is cut from."""
        n: cython.Py_ssize_t = self.pieces
        if n + 1 >= self.piece_room:
            with cython.gil:
                self._give_pieces_room(n + 2)
        self.origin[n] = origin
        self.start[n] = start
        self.name[n] = name
        self.row_first[n] = self.rows
        self.node_first[n] = self.nodes
        return 0

    def close_piece(self, end: cython.ulonglong) -> cython.int:
        """Ends the piece that is open."""
        self.end[self.pieces] = end
        self.pieces += 1
        return 0

    def put_row(self, address: cython.ulonglong, file: cython.uint, line: cython.uint) -> cython.int:
        """Puts a row of the line table."""
        n: cython.Py_ssize_t = self.rows
        if n + 1 >= self.row_room:
            with cython.gil:
                self._give_rows_room(n + 2)
        self.row_address[n] = address
        self.row_file[n] = file
        self.row_line[n] = line
        self.rows = n + 1
        return 0

    def put_node(
        self, depth: cython.uint, name: cython.uint, call_file: cython.uint, call_line: cython.uint
    ) -> cython.int:
        """Puts an inlined call, whose ranges are those put since the last one."""
        n: cython.Py_ssize_t = self.nodes
        if n + 1 >= self.node_room:
            with cython.gil:
                self._give_nodes_room(n + 2)
        self.node_depth[n] = depth
        self.node_name[n] = name
        self.node_call_file[n] = call_file
        self.node_call_line[n] = call_line
        self.nodes = n + 1
        self.range_first[n + 1] = self.ranges
        return 0

    def put_range(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        """Puts a range of the inlined call to come."""
        n: cython.Py_ssize_t = self.ranges
        if n + 1 >= self.range_room:
            with cython.gil:
                self._give_ranges_room(n + 2)
        self.range_start[n] = start
        self.range_end[n] = end
        self.ranges = n + 1
        return 0

    def _give_pieces_room(self, items: int) -> None:
        self.start, self.end, self.name, self.row_first, self.node_first, self.origin = _grown(
            items, self.start, self.end, self.name, self.row_first, self.node_first, self.origin
        )
        self.piece_room = len(self.start)

    def _give_rows_room(self, items: int) -> None:
        self.row_address, self.row_file, self.row_line = _grown(items, self.row_address, self.row_file, self.row_line)
        self.row_room = len(self.row_address)

    def _give_nodes_room(self, items: int) -> None:
        self.node_depth, self.node_name, self.node_call_file, self.node_call_line, self.range_first = _grown(
            items, self.node_depth, self.node_name, self.node_call_file, self.node_call_line, self.range_first
        )
        self.node_room = len(self.node_depth)

    def _give_ranges_room(self, items: int) -> None:
        self.range_start, self.range_end = _grown(items, self.range_start, self.range_end)
        self.range_room = len(self.range_start)

    def table(self) -> SymbolTable:
        """What is there, in this table's own memory; names, files and aliases are for others to add."""
        self.row_first[self.pieces] = self.rows
        self.node_first[self.pieces] = self.nodes
        return SymbolTable(
            start=first_of(self.start, self.pieces),
            end=first_of(self.end, self.pieces),
            name=first_of(self.name, self.pieces),
            row_first=first_of(self.row_first, self.pieces + 1),
            row_address=first_of(self.row_address, self.rows),
            row_file=first_of(self.row_file, self.rows),
            row_line=first_of(self.row_line, self.rows),
            node_first=first_of(self.node_first, self.pieces + 1),
            node_depth=first_of(self.node_depth, self.nodes),
            node_name=first_of(self.node_name, self.nodes),
            node_call_file=first_of(self.node_call_file, self.nodes),
            node_call_line=first_of(self.node_call_line, self.nodes),
            range_first=first_of(self.range_first, self.nodes + 1),
            range_start=first_of(self.range_start, self.ranges),
            range_end=first_of(self.range_end, self.ranges),
        )

    def origins(self) -> array[int]:
        """What each piece was cut from."""
        return first_of(self.origin, self.pieces)


def _grown(items: int, *columns: Any) -> Iterator[Any]:
    """Columns of one kind of item with room for so many."""
    return (grown(column, items) for column in columns)
