"""Tables: columns of one count that grow together, filled without the GIL."""

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
