"""Sorts symbols by address and makes one function of all that share one. Part of the core: compiled or not, the same results."""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import taken, taken_each, zeros_each
from uploader.sources.elf_symbols.candidates import (
    RANK_OF_DATA,
    RANK_OF_LABELS,
    RANK_OF_STUBS,
    CandidateColumns,
    Candidates,
)
from uploader.values import frozen

UNDERSCORE = ord("_")
DOT = ord(".")

ADDRESS_BITS = 64
DIGIT_BITS = 8
DIGITS = 256
LAST_DIGIT = 0xFF
LAST_ADDRESS = 0xFFFFFFFFFFFFFFFF


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


class SymbolChooser:
    """Chooses among candidates; to be used once."""

    def __init__(self, candidates: Candidates, text: bytes) -> None:
        room = len(candidates.start)
        self.text = text
        self.text_size = len(text)
        self.among = CandidateColumns(candidates, room)
        self.order, self.spare = zeros_each("II", room)
        self.bucket = array("I", [0]) * DIGITS
        self.count = 0
        self.start, self.end, self.extended, self.chosen, self.first, self.last = zeros_each("QQBIII", room)

    def run(self) -> Choice:
        """Sorts and chooses."""
        with cython.nogil:
            self.sort()
            self.choose()
        ranges = taken_each(self.count, start=self.start, end=self.end, extended=self.extended)
        groups = taken_each(self.count, chosen=self.chosen, first=self.first, last=self.last)
        return Choice(**ranges, **groups, order=taken(self.order, self.among.count))

    def sort(self) -> cython.int:
        """Fills ``order`` by start address, stable: by the bytes of the address, the lowest first, skipping equal ones."""
        index: cython.Py_ssize_t
        varying: cython.ulonglong = 0
        shift: cython.int = 0
        for index in range(self.among.count):
            self.order[index] = index
            varying |= self.among.start[index] ^ self.among.start[0]
        while shift < ADDRESS_BITS:
            if (varying >> shift) & LAST_DIGIT:
                self.sort_by_digit(shift)
            shift += DIGIT_BITS
        return 0

    def sort_by_digit(self, shift: cython.int) -> cython.int:
        """Puts ``order`` in the order of one byte of the address."""
        index: cython.Py_ssize_t
        digit: cython.Py_ssize_t
        at: cython.uint
        amount: cython.uint
        place: cython.uint = 0
        for digit in range(DIGITS):
            self.bucket[digit] = 0
        for index in range(self.among.count):
            self.bucket[(self.among.start[index] >> shift) & LAST_DIGIT] += 1
        for digit in range(DIGITS):
            amount = self.bucket[digit]
            self.bucket[digit] = place
            place += amount
        for index in range(self.among.count):
            at = self.order[index]
            digit = (self.among.start[at] >> shift) & LAST_DIGIT
            self.spare[self.bucket[digit]] = at
            self.bucket[digit] += 1
        for index in range(self.among.count):
            self.order[index] = self.spare[index]
        return 0

    def choose(self) -> cython.int:
        """Makes one symbol of each group that shares a start address, then gives ends to those without a size."""
        first: cython.Py_ssize_t = 0
        out: cython.Py_ssize_t = 0
        covered: cython.ulonglong = 0
        inner: cython.ulonglong = 0
        while first < self.among.count:
            best: cython.uint = self.order[first]
            start: cython.ulonglong = self.among.start[best]
            limit: cython.ulonglong = self.among.limit[best]
            function_size: cython.ulonglong = 0
            label_size: cython.ulonglong = 0
            counts: cython.bint = start >= covered
            last: cython.Py_ssize_t = first
            while last < self.among.count and self.among.start[self.order[last]] == start:
                at: cython.uint = self.order[last]
                size: cython.ulonglong = self.among.size[at]
                # Functions, and global labels: an entry point that people know, though it lies in what has a size.
                if self.among.rank[at] <= RANK_OF_LABELS:
                    counts = True
                if size <= self.among.limit[at] - start:
                    if self.among.rank[at] < RANK_OF_LABELS:
                        function_size = max(function_size, size)
                    elif self.among.rank[at] < RANK_OF_DATA:
                        label_size = max(label_size, size)
                limit = max(limit, self.among.limit[at])
                if last > first and self.better(at, best):
                    best = at
                last += 1
            size = function_size if function_size != 0 else label_size
            if size != 0 or counts or self.among.rank[best] == RANK_OF_DATA:
                self.start[out] = start
                self.chosen[out] = best
                self.first[out] = first
                self.last[out] = last
                if size != 0:
                    self.end[out] = start + size
                    self.extended[out] = 0
                    inner = start + size
                    covered = max(covered, inner)
                else:
                    self.end[out] = limit
                    if start < inner < limit:
                        self.end[out] = inner
                    elif start < covered < limit:
                        self.end[out] = covered
                    self.extended[out] = 1
                out += 1
            first = last
        self.count = self.end_unsized(out)
        return 0

    def end_unsized(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Ends what has no size at the next symbol, a label at data too; then takes out the data, and gives how many are left."""
        next_symbol: cython.ulonglong = LAST_ADDRESS
        next_start: cython.ulonglong = LAST_ADDRESS
        index: cython.Py_ssize_t = 0
        kept: cython.Py_ssize_t = 0
        for index in range(count):
            # From the last to the first.
            at: cython.Py_ssize_t = count - 1 - index
            rank: cython.uchar = self.among.rank[self.chosen[at]]
            if self.extended[at]:
                self.end[at] = min(self.end[at], next_symbol if rank < RANK_OF_LABELS else next_start)
            next_start = self.start[at]
            if rank != RANK_OF_DATA:
                next_symbol = next_start
        for index in range(count):
            if kept > 0 and self.goes_on(kept - 1, index):
                self.end[kept - 1] = self.end[index]
            elif self.among.rank[self.chosen[index]] != RANK_OF_DATA:
                self.start[kept] = self.start[index]
                self.end[kept] = self.end[index]
                self.extended[kept] = self.extended[index]
                self.chosen[kept] = self.chosen[index]
                self.first[kept] = self.first[index]
                self.last[kept] = self.last[index]
                kept += 1
        return kept

    def goes_on(self, before: cython.Py_ssize_t, index: cython.Py_ssize_t) -> cython.bint:
        """Whether a symbol is a mere part, a basic block, of the function just before it: no function starts there."""
        one: cython.uint = self.chosen[before]
        other: cython.uint = self.chosen[index]
        behind: cython.ulonglong = self.among.name_offset[other] + self.among.name_length[other]
        if (
            self.end[before] != self.start[index]
            or self.among.name_length[one] != self.among.name_length[other]
            or self.among.rank[other] >= RANK_OF_STUBS
            or behind >= self.text_size
            or self.text[behind] != DOT
        ):
            return False
        same: cython.uint = 0
        while (
            same < self.among.name_length[one]
            and self.text[self.among.name_offset[one] + same] == self.text[self.among.name_offset[other] + same]
        ):
            same += 1
        return same == self.among.name_length[one]

    def better(self, one: cython.uint, other: cython.uint) -> cython.bint:
        """Whether name ``one`` is to be shown rather than ``other``."""
        if self.among.rank[one] != self.among.rank[other]:
            return self.among.rank[one] < self.among.rank[other]
        # A function that says how long it is, is no mark at its beginning: runtime.text of Go stands where its first function does.
        if (self.among.size[one] == 0) != (self.among.size[other] == 0):
            return self.among.size[one] != 0
        one_underscores: cython.Py_ssize_t = self.underscores(one)
        other_underscores: cython.Py_ssize_t = self.underscores(other)
        if one_underscores != other_underscores:
            return one_underscores < other_underscores
        if self.among.name_length[one] != self.among.name_length[other]:
            return self.among.name_length[one] < self.among.name_length[other]
        index: cython.uint = 0
        for index in range(self.among.name_length[one]):
            one_letter: cython.uchar = self.text[self.among.name_offset[one] + index]
            other_letter: cython.uchar = self.text[self.among.name_offset[other] + index]
            if one_letter != other_letter:
                return one_letter < other_letter
        return False

    def underscores(self, symbol: cython.uint) -> cython.Py_ssize_t:
        """How many underscores a symbol's name begins with."""
        count: cython.Py_ssize_t = 0
        while (
            count < self.among.name_length[symbol] and self.text[self.among.name_offset[symbol] + count] == UNDERSCORE
        ):
            count += 1
        return count
