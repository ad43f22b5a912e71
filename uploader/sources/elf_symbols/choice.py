"""Sorts symbols by address and makes one function of all that share one. Part of the core: compiled or not, the same results."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import cython

from uploader.sources.elf_symbols.gather import trimmed
from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.sources.elf_symbols.gather import Candidates


@frozen
class Choice:
    """One function for each start address, ascending, as columns of equal length.

    ``chosen`` indexes the candidates. ``first`` and ``last`` delimit, in ``order``, all the candidates of that address.
    """

    start: array[int]
    end: array[int]
    extended: array[int]
    chosen: array[int]
    first: array[int]
    last: array[int]
    order: array[int]


@cython.final
@cython.cclass
class SymbolChooser:
    """Chooses among candidates; to be used once."""

    text: cython.const[cython.uchar][::1]
    text_size: cython.ulonglong
    count: cython.Py_ssize_t
    start: cython.ulonglong[::1]
    size: cython.ulonglong[::1]
    limit: cython.ulonglong[::1]
    offset: cython.ulonglong[::1]
    length: cython.uint[::1]
    rank: cython.uchar[::1]
    order: cython.uint[::1]
    spare: cython.uint[::1]
    bucket: cython.uint[::1]
    out_count: cython.Py_ssize_t
    out_start: cython.ulonglong[::1]
    out_end: cython.ulonglong[::1]
    out_extended: cython.uchar[::1]
    out_chosen: cython.uint[::1]
    out_first: cython.uint[::1]
    out_last: cython.uint[::1]

    def __init__(self, candidates: Candidates, text: bytes) -> None:
        room = max(len(candidates.start), 1)
        self.text = text
        self.text_size = len(text)
        self.count = len(candidates.start)
        self.start = candidates.start
        self.size = candidates.size
        self.limit = candidates.limit
        self.offset = candidates.name_offset
        self.length = candidates.name_length
        self.rank = candidates.rank
        self.order = array("I", [0]) * room
        self.spare = array("I", [0]) * room
        self.bucket = array("I", [0]) * 256
        self.out_count = 0
        self.out_start = array("Q", [0]) * room
        self.out_end = array("Q", [0]) * room
        self.out_extended = array("B", bytes(room))
        self.out_chosen = array("I", [0]) * room
        self.out_first = array("I", [0]) * room
        self.out_last = array("I", [0]) * room

    def run(self) -> Choice:
        """Sorts and chooses."""
        with cython.nogil:
            self.sort()
            self.choose()
        return Choice(
            start=trimmed("Q", self.out_start, self.out_count),
            end=trimmed("Q", self.out_end, self.out_count),
            extended=trimmed("B", self.out_extended, self.out_count),
            chosen=trimmed("I", self.out_chosen, self.out_count),
            first=trimmed("I", self.out_first, self.out_count),
            last=trimmed("I", self.out_last, self.out_count),
            order=trimmed("I", self.order, self.count),
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def sort(self) -> cython.int:
        """Fills ``order`` by start address, stable: by the bytes of the address, the lowest first, skipping equal ones."""
        index: cython.Py_ssize_t = 0
        varying: cython.ulonglong = 0
        for index in range(self.count):
            self.order[index] = index
            varying |= self.start[index] ^ self.start[0]
        shift: cython.int = 0
        while shift < 64:
            if (varying >> shift) & 0xFF:
                digit: cython.Py_ssize_t = 0
                for digit in range(256):
                    self.bucket[digit] = 0
                for index in range(self.count):
                    self.bucket[(self.start[index] >> shift) & 0xFF] += 1
                place: cython.uint = 0
                for digit in range(256):
                    amount: cython.uint = self.bucket[digit]
                    self.bucket[digit] = place
                    place += amount
                for index in range(self.count):
                    at: cython.uint = self.order[index]
                    digit = (self.start[at] >> shift) & 0xFF
                    self.spare[self.bucket[digit]] = at
                    self.bucket[digit] += 1
                for index in range(self.count):
                    self.order[index] = self.spare[index]
            shift += 8
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def choose(self) -> cython.int:
        """Makes one symbol of each group that shares a start address, then gives ends to those without a size."""
        first: cython.Py_ssize_t = 0
        out: cython.Py_ssize_t = 0
        covered: cython.ulonglong = 0
        inner: cython.ulonglong = 0
        while first < self.count:
            best: cython.uint = self.order[first]
            start: cython.ulonglong = self.start[best]
            limit: cython.ulonglong = self.limit[best]
            function_size: cython.ulonglong = 0
            label_size: cython.ulonglong = 0
            counts: cython.bint = start >= covered
            last: cython.Py_ssize_t = first
            while last < self.count and self.start[self.order[last]] == start:
                at: cython.uint = self.order[last]
                size: cython.ulonglong = self.size[at]
                # Functions, and global labels: an entry point that people know, though it lies in what has a size.
                if self.rank[at] <= 4:
                    counts = True
                if size <= self.limit[at] - start:
                    if self.rank[at] < 4:
                        function_size = max(function_size, size)
                    elif self.rank[at] < 8:
                        label_size = max(label_size, size)
                limit = max(limit, self.limit[at])
                if last > first and self.better(at, best):
                    best = at
                last += 1
            size = function_size if function_size != 0 else label_size
            if size != 0 or counts or self.rank[best] == 8:
                self.out_start[out] = start
                self.out_chosen[out] = best
                self.out_first[out] = first
                self.out_last[out] = last
                if size != 0:
                    self.out_end[out] = start + size
                    self.out_extended[out] = 0
                    inner = start + size
                    covered = max(covered, inner)
                else:
                    self.out_end[out] = limit
                    if start < inner < limit:
                        self.out_end[out] = inner
                    elif start < covered < limit:
                        self.out_end[out] = covered
                    self.out_extended[out] = 1
                out += 1
            first = last
        self.out_count = self.end_unsized(out)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def end_unsized(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Ends what has no size at the next symbol, a label at data too; then takes out the data, and gives how many are left."""
        next_symbol: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
        next_start: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
        index: cython.Py_ssize_t = 0
        kept: cython.Py_ssize_t = 0
        for index in range(count):
            # From the last to the first.
            at: cython.Py_ssize_t = count - 1 - index
            rank: cython.uchar = self.rank[self.out_chosen[at]]
            if self.out_extended[at]:
                self.out_end[at] = min(self.out_end[at], next_symbol if rank < 4 else next_start)
            next_start = self.out_start[at]
            if rank != 8:
                next_symbol = next_start
        for index in range(count):
            if kept > 0 and self.goes_on(kept - 1, index):
                self.out_end[kept - 1] = self.out_end[index]
            elif self.rank[self.out_chosen[index]] != 8:
                self.out_start[kept] = self.out_start[index]
                self.out_end[kept] = self.out_end[index]
                self.out_extended[kept] = self.out_extended[index]
                self.out_chosen[kept] = self.out_chosen[index]
                self.out_first[kept] = self.out_first[index]
                self.out_last[kept] = self.out_last[index]
                kept += 1
        return kept

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def goes_on(self, before: cython.Py_ssize_t, index: cython.Py_ssize_t) -> cython.bint:
        """Whether a symbol is a mere part, a basic block, of the function just before it: no function starts there."""
        one: cython.uint = self.out_chosen[before]
        other: cython.uint = self.out_chosen[index]
        behind: cython.ulonglong = self.offset[other] + self.length[other]
        if (
            self.out_end[before] != self.out_start[index]
            or self.length[one] != self.length[other]
            or self.rank[other] >= 7
            or behind >= self.text_size
            or self.text[behind] != 46
        ):
            return False
        same: cython.uint = 0
        while same < self.length[one] and self.text[self.offset[one] + same] == self.text[self.offset[other] + same]:
            same += 1
        return same == self.length[one]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def better(self, one: cython.uint, other: cython.uint) -> cython.bint:
        """Whether name ``one`` is to be shown rather than ``other``."""
        if self.rank[one] != self.rank[other]:
            return self.rank[one] < self.rank[other]
        one_underscores: cython.Py_ssize_t = self.underscores(one)
        other_underscores: cython.Py_ssize_t = self.underscores(other)
        if one_underscores != other_underscores:
            return one_underscores < other_underscores
        if self.length[one] != self.length[other]:
            return self.length[one] < self.length[other]
        index: cython.uint = 0
        for index in range(self.length[one]):
            one_letter: cython.uchar = self.text[self.offset[one] + index]
            other_letter: cython.uchar = self.text[self.offset[other] + index]
            if one_letter != other_letter:
                return one_letter < other_letter
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def underscores(self, symbol: cython.uint) -> cython.Py_ssize_t:
        """How many underscores a symbol's name begins with."""
        count: cython.Py_ssize_t = 0
        while count < self.length[symbol] and self.text[self.offset[symbol] + count] == 95:
            count += 1
        return count
