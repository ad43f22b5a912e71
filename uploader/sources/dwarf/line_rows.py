"""The rows that line programs make, as they are kept: in order, and without those that can never be seen.

The rows of one table ascend by address. A row holds until the next; one whose file is ``NO_FILE`` says that nothing is known from there on
(the end of a sequence, or a file index that means nothing). Of several rows at one address the last counts, and a row that repeats the
file and line before it is left out: neither can ever be seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import cython

from uploader.sources.dwarf.code_ranges import CodeRanges
from uploader.sources.dwarf.tables import RowTable, SequenceTable

NO_FILE = 0xFFFFFFFF
NOWHERE = cython.declare(cython.uint, NO_FILE)


class LineRows:
    """The ``kept`` rows of the tables read so far: those of table ``t`` are ``table_first[t]:table_first[t + 1]``.

    ``file`` is a file's slot: what `begin_table` was given as the table's first, plus the file's place in the table. The rows of the table
    being read wait in ``scratch`` until it ends: its sequences come in any order.
    """

    def __init__(self, executable: Sequence[tuple[int, int]], room: int) -> None:
        self.code = CodeRanges(executable)
        self.kept = RowTable(room)
        self.table_first: list[int] = [0]
        self.sequence_start: list[int] = []
        self.sequence_end: list[int] = []
        self.sequence_table: list[int] = []
        self.scratch = RowTable(4096)
        self.sequences = SequenceTable()
        self.sequence_first = 0
        self.pending = False
        self.pending_address = 0
        self.pending_file = 0
        self.pending_line = 0
        self.begun = False
        self.dead = False
        self.begin_address = 0
        self.first_slot = 0
        self.file_base = 0
        self.file_count = 0

    def begin_table(self, first_slot: int, file_base: int, file_count: int) -> None:
        """Takes in rows of the next table. Its files count from ``file_base`` on."""
        self.scratch.count = 0
        self.sequences.count = 0
        self.first_slot = first_slot
        self.file_base = file_base
        self.file_count = file_count
        self.begin()

    def begin(self) -> cython.int:
        """Begins a sequence."""
        self.sequence_first = self.scratch.count
        self.pending = False
        self.begun = False
        self.dead = False
        self.pending_address = 0
        return 0

    def move(self, address: cython.ulonglong, top: cython.ulonglong) -> cython.int:
        """Takes in where the program says that the rows to come begin; ``top`` is the highest address there is."""
        if address >= top - 1 or (self.begun and address < self.pending_address):
            self.cut()
        return 0

    def cut(self) -> cython.int:
        """From here to the sequence's end nothing can be trusted; what came before holds up to its last row."""
        if self.begun and not self.dead:
            self.end(self.pending_address)
        self.dead = True
        self.pending = False
        return 0

    def give_up(self) -> cython.int:
        """Ends the sequence that the program has left open."""
        if self.begun:
            self.cut()
            self.end(self.pending_address)
        return 0

    def row(self, address: cython.ulonglong, file: cython.ulonglong, line: cython.ulonglong) -> cython.int:
        """Takes in a row."""
        if self.dead:
            return 0
        if not self.begun:
            if address >= self.code.end_at(address):
                self.dead = True
                return 0
            self.begun = True
            self.begin_address = address
        elif address != self.pending_address:
            if address < self.pending_address:
                return self.cut()
            self._flush()
        self.pending = True
        self.pending_address = address
        if file < self.file_base or file - self.file_base >= self.file_count:
            self.pending_file = NOWHERE
            self.pending_line = 0
        else:
            self.pending_file = self.first_slot + file - self.file_base
            self.pending_line = line
        return 0

    def _flush(self) -> cython.int:
        n: cython.Py_ssize_t = self.scratch.count
        self.pending = False
        if (
            n > self.sequence_first
            and self.scratch.file[n - 1] == self.pending_file
            and self.scratch.line[n - 1] == self.pending_line
        ):
            return 0
        return self.scratch.put(self.pending_address, self.pending_file, self.pending_line)

    def end(self, address: cython.ulonglong) -> cython.int:
        """Closes the sequence at ``address``; one without a byte of code leaves no trace."""
        n: cython.Py_ssize_t
        if self.begun and not self.dead:
            if self.pending and self.pending_address < address:
                self._flush()
            self.pending = False
            if self.begin_address < address and self.scratch.count > self.sequence_first:
                self.scratch.put(address, NOWHERE, 0)
                n = self.sequences.add()
                self.sequences.start[n] = self.begin_address
                self.sequences.first[n] = self.sequence_first
                self.sequences.last[n] = self.scratch.count
            else:
                self.scratch.count = self.sequence_first
        self.begun = False
        return 0

    def end_table(self) -> None:
        """Keeps the table's rows in the order of their sequences' starts; where sequences overlap, the later start wins."""
        n: cython.Py_ssize_t
        table = len(self.table_first) - 1
        floor: cython.Py_ssize_t = self.kept.count
        if floor + self.scratch.count > self.kept.room:
            self.kept.grow(floor + self.scratch.count)
        start: memoryview = memoryview(self.sequences.start)
        for n in sorted(range(self.sequences.count), key=start.__getitem__):
            with cython.nogil:
                self._append(floor, n)
            self.sequence_start.append(self.sequences.start[n])
            self.sequence_end.append(self.scratch.address[self.sequences.last[n] - 1])
            self.sequence_table.append(table)
        self.table_first.append(self.kept.count)

    def _append(self, floor: cython.Py_ssize_t, sequence: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = self.kept.count
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.sequences.first[sequence]
        last: cython.Py_ssize_t = self.sequences.last[sequence]
        while at > floor and self.kept.address[at - 1] >= self.sequences.start[sequence]:
            at -= 1
        for i in range(first, last):
            self.kept.address[at] = self.scratch.address[i]
            self.kept.file[at] = self.scratch.file[i]
            self.kept.line[at] = self.scratch.line[i]
            at += 1
        self.kept.count = at
        return 0
