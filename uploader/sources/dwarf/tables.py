"""What DWARF is read into before it is joined: functions, what is inlined into them, scopes, ranges, rows."""

from __future__ import annotations

import cython

from uploader.core.table import Table


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
        n: cython.Py_ssize_t = _add(self)
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
        n: cython.Py_ssize_t = _add(self)
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
        n: cython.Py_ssize_t = _add(self)
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
        n: cython.Py_ssize_t = _add(self)
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
        n: cython.Py_ssize_t = _add(self)
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


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(-1)
def _add(table: Table) -> cython.Py_ssize_t:
    """What `Table.add` does, within this module: a call into another one takes as long as all the rest."""
    n: cython.Py_ssize_t = table.count
    if n >= table.room:
        with cython.gil:
            table.grow(n + 1)
    table.count = n + 1
    return n
