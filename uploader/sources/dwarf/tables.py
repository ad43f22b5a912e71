"""What DWARF is read into before it is joined: functions, what is inlined into them, scopes, ranges, rows.

A table is columns of one count that grow together, filled without the GIL.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import cython

from uploader.core.columns import grown, zeros


class Table:
    """A subclass names its columns in ``COLUMNS`` with their item types; its ``.pxd`` declares them public, as typed memoryviews."""

    COLUMNS = tuple[tuple[str, str], ...]()

    def __init__(self, room: int = 64) -> None:
        """``room`` is how many items are likely: what is not used takes no memory."""
        self.count = 0
        self.room = max(room, 1)
        for name, typecode in self.COLUMNS:
            setattr(self, name, zeros(typecode, self.room))

    @cython.final
    def add(self) -> cython.Py_ssize_t:
        """Makes one more item; gives its index."""
        n: cython.Py_ssize_t = self.count
        if n >= self.room:
            with cython.gil:
                self.grow(n + 1)
        self.count = n + 1
        return n

    def grow(self, wanted: int) -> None:
        """Makes room for at least so many items: for twice as many as now, if that is more."""
        for name, _ in self.COLUMNS:
            column = grown(getattr(self, name), wanted)
            setattr(self, name, column)
            self.room = len(column)

    def cut(self) -> Self:
        """The items that there are as a table of just these, in the memory where they are."""
        return self.replaced({name: memoryview(getattr(self, name))[: self.count] for name, _ in self.COLUMNS})

    def replaced(self, columns: Mapping[str, memoryview]) -> Self:
        """A table of the same kind with these columns, which are full."""
        table = type(self)()
        for name, column in columns.items():
            setattr(table, name, column)
            table.count = table.room = len(column)
        return table


class FunctionTable(Table):
    """An item a subprogram with code, in the order of their DIEs.

    ``pc`` is `constants.PC_BOUNDS` with start and end in ``a`` and ``b``, or `constants.PC_RANGES` with the raw value and the form of
    DW_AT_ranges.
    """

    COLUMNS = (
        ("offset", "Q"),
        ("unit", "I"),
        ("pc", "I"),
        ("a", "Q"),
        ("b", "Q"),
        ("decl_file", "I"),
        ("decl_line", "I"),
    )
    offset: memoryview
    unit: memoryview
    pc: memoryview
    a: memoryview
    b: memoryview
    decl_file: memoryview
    decl_line: memoryview

    def put(
        self,
        offset: cython.ulonglong,
        unit: cython.uint,
        pc: cython.uint,
        a: cython.ulonglong,
        b: cython.ulonglong,
        decl_file: cython.uint,
        decl_line: cython.uint,
    ) -> cython.Py_ssize_t:
        """Appends a function; gives its index."""
        n: cython.Py_ssize_t = self.add()
        self.offset[n] = offset
        self.unit[n] = unit
        self.pc[n] = pc
        self.a[n] = a
        self.b[n] = b
        self.decl_file[n] = decl_file
        self.decl_line[n] = decl_line
        return n


class NodeTable(Table):
    """An item an inlined subroutine of a function, in the order of their DIEs; ``origin`` is what it is a copy of.

    ``pc``, ``a`` and ``b`` are as those of functions; ``pc`` is `constants.PC_NONE` for one that states no code, while those in it do.
    """

    COLUMNS = (
        ("function", "I"),
        ("depth", "I"),
        ("origin", "Q"),
        ("call_file", "I"),
        ("call_line", "I"),
        ("pc", "I"),
        ("a", "Q"),
        ("b", "Q"),
    )
    function: memoryview
    depth: memoryview
    origin: memoryview
    call_file: memoryview
    call_line: memoryview
    pc: memoryview
    a: memoryview
    b: memoryview

    def put(
        self,
        function: cython.uint,
        depth: cython.uint,
        origin: cython.ulonglong,
        call_file: cython.uint,
        call_line: cython.uint,
        pc: cython.uint,
        a: cython.ulonglong,
        b: cython.ulonglong,
    ) -> cython.int:
        """Appends a node."""
        n: cython.Py_ssize_t = self.add()
        self.function[n] = function
        self.depth[n] = depth
        self.origin[n] = origin
        self.call_file[n] = call_file
        self.call_line[n] = call_line
        self.pc[n] = pc
        self.a[n] = a
        self.b[n] = b
        return 0


class ScopeTable(Table):
    """Pairs of a DIE's offset and its scope's."""

    COLUMNS = (("child", "Q"), ("parent", "Q"))
    child: memoryview
    parent: memoryview


class RangeTable(Table):
    """Ranges of addresses."""

    COLUMNS = (("start", "Q"), ("end", "Q"))
    start: memoryview
    end: memoryview

    def columns(self) -> tuple[memoryview, memoryview]:
        """(start, end), cut to their length, in the memory where they are."""
        return memoryview(self.start)[: self.count], memoryview(self.end)[: self.count]

    def put(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        """Appends a range."""
        n: cython.Py_ssize_t = self.add()
        self.start[n] = start
        self.end[n] = end
        return 0


class EntryTable(Table):
    """Paths that headers of line tables list: a string's form and value, and for a file the index of its directory."""

    COLUMNS = (("form", "I"), ("value", "Q"), ("directory", "I"))
    form: memoryview
    value: memoryview
    directory: memoryview

    def put(self, form: cython.uint, value: cython.ulonglong, directory: cython.uint) -> cython.int:
        """Appends an entry."""
        n: cython.Py_ssize_t = self.add()
        self.form[n] = form
        self.value[n] = value
        self.directory[n] = directory
        return 0


class RowTable(Table):
    """Rows of line tables."""

    COLUMNS = (("address", "Q"), ("file", "I"), ("line", "I"))
    address: memoryview
    file: memoryview
    line: memoryview

    def put(self, address: cython.ulonglong, file: cython.uint, line: cython.uint) -> cython.int:
        """Appends a row."""
        n: cython.Py_ssize_t = self.add()
        self.address[n] = address
        self.file[n] = file
        self.line[n] = line
        return 0


class SequenceTable(Table):
    """Where sequences of rows start, and which rows they have: from ``first`` to the one before ``last``."""

    COLUMNS = (("start", "Q"), ("first", "Q"), ("last", "Q"))
    start: memoryview
    first: memoryview
    last: memoryview
