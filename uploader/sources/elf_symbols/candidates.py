"""Symbols that name code, before one of each address is chosen: as a value, and typed, for the loops that fill and read it."""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import taken_each
from uploader.values import frozen

RANK_WEAK = 1
RANK_LOCAL = 2
RANK_OF_LABELS = 4
"""What NOTYPE adds to 0 for global, 1 for weak, 2 for local."""

RANK_OF_STUBS = 7
"""Behind all names of symbol tables: any other of the same address is better."""

RANK_OF_DATA = 8
"""What marks data within code: no name of a function, but an unsized label ends there."""


@frozen
class Candidates:
    """Symbols in the tables' order, as columns. ``limit`` is the end of the section that the symbol lies in.

    ``rank`` is 0 for a global function: the lower the better.
    """

    start: array[int]
    size: array[int]
    limit: array[int]
    name_offset: array[int]
    name_length: array[int]
    rank: array[int]


def room_for(count: int) -> Candidates:
    """So many candidates, of which nothing is known yet."""
    return Candidates(
        start=array("Q", [0]) * count,
        size=array("Q", [0]) * count,
        limit=array("Q", [0]) * count,
        name_offset=array("Q", [0]) * count,
        name_length=array("I", [0]) * count,
        rank=array("B", [0]) * count,
    )


@cython.final
@cython.cclass
class CandidateColumns:
    """Views of the columns of candidates, and how many of them are known."""

    def __init__(self, candidates: Candidates, count: int) -> None:
        self.start, self.size, self.limit = candidates.start, candidates.size, candidates.limit
        self.name_offset, self.name_length = candidates.name_offset, candidates.name_length
        self.rank = candidates.rank
        self.count = count

    def known(self) -> Candidates:
        """Those that are known."""
        places = taken_each(self.count, start=self.start, size=self.size, limit=self.limit, rank=self.rank)
        names = taken_each(self.count, name_offset=self.name_offset, name_length=self.name_length)
        return Candidates(**places, **names)
