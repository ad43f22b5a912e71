"""What `merge` decides and `shape` carries out: which pieces a table has, and whose they are."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import cython

from uploader.core.columns import addresses, indexes, taken_each, zeros_each
from uploader.symbols.range_counts import RangeCounts


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class PiecePlan:
    """Disjoint pieces, ascending: whose they are and what they are called; lines and inlines are still to be cut out."""

    start: array[int] = field(default_factory=addresses)
    end: array[int] = field(default_factory=addresses)
    name: array[int] = field(default_factory=indexes)
    function: array[int] = field(default_factory=indexes)
    """The function of the source that the piece belongs to, or ``NONE`` for one that only a symbol knows."""
    table: array[int] = field(default_factory=indexes)
    symbol: array[int] = field(default_factory=indexes)
    """The symbol that named it, or ``NONE``."""
    early: array[int] = field(default_factory=indexes)
    """How many bytes at its start stand before the code that its function's source knows, and so have no line."""
    range_counts: RangeCounts = field(default_factory=RangeCounts)
    """What became of the functions' ranges where they overlap."""


@cython.final
@cython.cclass
class PlanColumns:
    """Views of the columns of a plan, and how many of its pieces are decided."""

    def __init__(self, plan: PiecePlan, count: int) -> None:
        self.start, self.end, self.name = plan.start, plan.end, plan.name
        self.function, self.table, self.symbol, self.early = plan.function, plan.table, plan.symbol, plan.early
        self.count = count

    def put(
        self,
        start: cython.ulonglong,
        end: cython.ulonglong,
        name: cython.uint,
        function: cython.uint,
        table: cython.uint,
        symbol: cython.uint,
    ) -> cython.int:
        """Decides the next piece; its ``early`` is what it was set to before."""
        at: cython.Py_ssize_t = self.count
        self.start[at] = start
        self.end[at] = end
        self.name[at] = name
        self.function[at] = function
        self.table[at] = table
        self.symbol[at] = symbol
        self.count = at + 1
        return 0

    def decided(self, range_counts: RangeCounts) -> PiecePlan:
        """The plan of the pieces that are decided."""
        ranges = taken_each(self.count, start=self.start, end=self.end, early=self.early)
        owners = taken_each(self.count, name=self.name, function=self.function, table=self.table, symbol=self.symbol)
        return PiecePlan(**ranges, **owners, range_counts=range_counts)


def room_for(pieces: int) -> PiecePlan:
    """A plan for so many pieces, of which none is decided."""
    start, end, name, function, table, symbol, early = zeros_each("QQIIIII", pieces)
    return PiecePlan(start=start, end=end, name=name, function=function, table=table, symbol=symbol, early=early)
