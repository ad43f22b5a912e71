"""The scopes that are open where a walk stands, and which of them its names need (DWARF 5 §3.3.8.2)."""

from __future__ import annotations

import cython

from uploader.core.columns import zeros
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.tables import ScopeTable


class OpenScopes:
    """A stack of scopes, at most ``depth`` deep, and the ``table`` of those that DIEs without a linkage name stand in.

    How many are open is for the caller to keep: it falls back as the walk leaves DIEs.
    """

    def __init__(self, depth: int, room: int) -> None:
        self.table = ScopeTable(room)
        self.depth = depth
        self.offset = zeros("Q", depth)
        self.recorded = zeros("I", depth)
        self.is_function = zeros("I", depth)

    def enter(
        self,
        die: cython.ulonglong,
        kind: cython.int,
        is_open: cython.uint,
        names_itself: cython.bint,
        children: cython.int,
    ) -> cython.uint:
        """Takes in a DIE that stands in so many scopes; gives how many are open below it."""
        if is_open:
            if kind == constants.KIND_DECLARATION:
                # What a function merely declares (`extern` in a block) stands elsewhere.
                if not self.is_function[is_open - 1]:
                    self._keep(die, is_open)
            elif kind == constants.KIND_ABSTRACT or (kind >= constants.KIND_SUBPROGRAM and names_itself):
                beside: cython.bint = kind == constants.KIND_ENTRY_POINT and self.is_function[is_open - 1] != 0
                self._keep(die, is_open - 1 if beside else is_open)
        if kind == constants.KIND_DECLARATION or not children or is_open >= self.depth:
            return is_open
        self.offset[is_open] = die
        self.recorded[is_open] = 0
        self.is_function[is_open] = kind >= constants.KIND_NAMED_ELSEWHERE
        return is_open + 1

    def _keep(self, die: cython.ulonglong, is_open: cython.uint) -> cython.int:
        """Keeps the scopes that a DIE stands in, each scope once while it is open."""
        child: cython.ulonglong = die
        n: cython.Py_ssize_t
        while is_open > 0:
            is_open -= 1
            n = self.table.add()
            self.table.child[n] = child
            child = self.offset[is_open]
            self.table.parent[n] = child
            if self.recorded[is_open]:
                break
            self.recorded[is_open] = 1
        return 0
