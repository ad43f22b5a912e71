"""What is read of one function of Go's table, as columns: each is filled anew for the next function."""

from __future__ import annotations

import cython

from uploader.sources.dwarf.tables import Table

NONE = cython.declare(cython.int, -1)
NOT_ADOPTED = cython.declare(cython.int, -2)
"""The caller of a call that has none yet."""


class RunTable(Table):
    """Up to ``end`` the code belongs to that entry of the inline tree; -1 is the function itself."""

    COLUMNS = (("end", "Q"), ("call", "i"))
    end: memoryview
    call: memoryview

    def put(self, end: cython.ulonglong, call: cython.int) -> cython.int:
        """Appends a run."""
        n: cython.Py_ssize_t = self.add()
        self.end[n] = end
        self.call[n] = call
        return 0


class CallTable(Table):
    """Inlined calls that were met: their entry of the tree; and by number their caller, what is inlined into it, their code."""

    COLUMNS = (
        ("index", "i"), ("parent", "i"), ("child", "i"), ("last_child", "i"), ("sibling", "i"), ("piece", "i"), ("last_piece", "i"),
    )  # fmt: skip
    index: memoryview
    parent: memoryview
    child: memoryview
    last_child: memoryview
    sibling: memoryview
    piece: memoryview
    last_piece: memoryview

    def put(self, index: cython.int) -> cython.int:
        """Appends a call without a caller, and gives its number."""
        n: cython.Py_ssize_t = self.add()
        self.index[n] = index
        self.parent[n] = NOT_ADOPTED
        self.child[n] = self.last_child[n] = self.sibling[n] = NONE
        self.piece[n] = self.last_piece[n] = NONE
        return cython.cast(cython.int, n)


class PieceTable(Table):
    """Stretches of code that belong to one call, and the number of its next stretch."""

    COLUMNS = (("start", "Q"), ("end", "Q"), ("following", "i"))
    start: memoryview
    end: memoryview
    following: memoryview

    def put(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        """Appends a stretch that is its call's last, and gives its number."""
        n: cython.Py_ssize_t = self.add()
        self.start[n] = start
        self.end[n] = end
        self.following[n] = NONE
        return cython.cast(cython.int, n)
