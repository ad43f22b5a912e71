"""The files of all line tables in one row of slots, named only when asked."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from uploader.core.columns import NONE
from uploader.sources.dwarf.constants import FORM_LINE_STRP
from uploader.sources.dwarf.file_names import FileNames
from uploader.sources.dwarf.line_header import LineHeader
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.units import Unit


class FileSlots:
    """Numbers every file of every table that was added: table after table, each from its first entry on."""

    def __init__(self, sections: DwarfSections) -> None:
        self._names = FileNames(sections)
        self._headers: list[LineHeader] = []
        self._units: list[Unit | None] = []
        self._first: list[int] = []
        self._count = 0
        self._pairs: dict[int, tuple[bytes, bytes]] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def tables(self) -> int:
        """How many tables were added."""
        return len(self._headers)

    def in_line_strings(self) -> bool:
        """Whether the names of any table's files lie in `.debug_line_str`."""
        return any(header.file_count and header.file(0)[0] == FORM_LINE_STRP for header in self._headers)

    def add(self, header: LineHeader) -> int:
        """Numbers the files of one more table; gives the first number."""
        first = self._count
        self._headers.append(header)
        self._units.append(None)
        self._first.append(first)
        self._count += header.file_count
        return first

    def define(self, at: int) -> None:
        """Numbers one more file of the table that was added last: its program defines it there (DWARF 4 §6.2.5.3)."""
        header = self._headers[-1]
        header.entries.read_file(at, header.end)
        header.file_count += 1
        self._count += 1

    def use(self, table: int, unit: Unit) -> None:
        """Has relative names of a table start from a unit's directory; the first unit counts."""
        if self._units[table] is None:
            self._units[table] = unit

    def name_ahead(self, slots: Iterable[int]) -> None:
        """Names slots before they are asked for, as far as their units, which need not be known yet, have no say in it."""
        for slot in slots:
            header, index, _ = self._place(slot)
            pair = self._names.fixed_pair(header, index)
            if pair is not None:
                self._pairs[slot] = pair

    def file_at(self, slot: int) -> tuple[bytes, bytes]:
        """(directory, base name) of a slot."""
        pair = self._pairs.get(slot)
        return pair if pair is not None else self._names.pair(*self._place(slot))

    def _place(self, slot: int) -> tuple[LineHeader, int, Unit | None]:
        table = bisect_right(self._first, slot) - 1
        while self._first[table] + self._headers[table].file_count <= slot:
            table -= 1
        return self._headers[table], slot - self._first[table], self._units[table]

    def columns(self, table_of_unit: Sequence[int]) -> tuple[array[int], array[int], array[int]]:
        """For every unit: the first slot of its table, how many files it has, and whether DWARF counts them from 0 or 1."""
        first, count, base = array("I"), array("I"), array("I")
        for table in table_of_unit:
            known = table != NONE
            first.append(self._first[table] if known else 0)
            count.append(self._headers[table].file_count if known else 0)
            base.append(1 if known and self._headers[table].version < 5 else 0)
        return first, count, base
