"""Which code the better sources of a binary speak for: the others need not be asked about it."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain

from uploader.symbols.columns import SourceColumns


class SpokenFor:
    """Ranges of code that some source speaks for: disjoint, ascending, none touching the next."""

    def __init__(self) -> None:
        self.start = array("Q")
        self.end = array("Q")

    def __len__(self) -> int:
        return len(self.start)

    def add(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Takes ranges in, in any order."""
        joined = sorted([*zip(self.start, self.end, strict=True), *ranges])
        self.start, self.end = array("Q"), array("Q")
        for start, end in joined:
            if self.end and start <= self.end[-1]:
                self.end[-1] = max(self.end[-1], end)
            elif start < end:
                self.start.append(start)
                self.end.append(end)

    def take(self, source: SourceColumns) -> None:
        """Takes in what a source speaks for: the code of its functions, and what its line tables tell of."""
        both = (source.range_start, source.range_end), (source.sequence_start, source.sequence_end)
        self.add(chain.from_iterable(zip(*each, strict=True) for each in both))

    def left_of(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """What nobody speaks for of a range."""
        at = bisect_right(self.end, start)
        while at < len(self.start) and self.start[at] < end:
            if start < self.start[at]:
                yield start, self.start[at]
            start = self.end[at]
            at += 1
        if start < end:
            yield start, end
