"""Names of functions: by abstract origins and specifications to a linkage name, or to a name with its scopes; each DIE read once.

The order is that of DWARF's own meaning (DWARF 5 §3.3.8.2, §2.13): the DIE, what it specifies or stems from, at most 16 steps.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.errors import MalformedDwarf
from uploader.extract.dwarf.die import DieReader
from uploader.extract.dwarf.memo import Memo
from uploader.extract.dwarf.units import StringReader, Unit
from uploader.symbols.columns import NameTable

MAX_SCOPES = 64

IN_SUPPLEMENTARY = cython.declare(cython.longlong, 1 << 61)
"""Added to the offset of a DIE in the supplementary file (`walk` does it, too)."""


@cython.final
@cython.cclass
class NameReader:
    """Gives the number in a `NameTable` of the function that a DIE describes. Belongs to one thread."""

    reader: DieReader
    units: list[Unit]
    unit_offset: cython.longlong[::1]
    unit_end: cython.longlong[::1]
    unit_table: cython.int[::1]
    unit_address_size: cython.int[::1]
    unit_offset_size: cython.int[::1]
    unit_count: cython.Py_ssize_t
    unit: cython.Py_ssize_t
    strings: StringReader
    scopes: dict[int, int]
    table: NameTable
    memo: Memo
    strp_memo: Memo
    supplementary: NameReader | None
    known_end: cython.longlong
    deferred: cython.bint
    budget_bytes: cython.longlong

    def __init__(
        self,
        reader: DieReader,
        units: Sequence[Unit],
        strings: StringReader,
        table: NameTable,
        supplementary: NameReader | None = None,
    ) -> None:
        """``supplementary`` reads the file that dwz moved common DIEs to, and has the same ``table``."""
        self.reader = reader
        self.units = list(units)
        self.unit_offset = array("q", [unit.offset for unit in units] or [0])
        self.unit_end = array("q", [unit.end for unit in units] or [0])
        self.unit_table = array("i", [unit.table for unit in units] or [0])
        self.unit_address_size = array("i", [unit.address_size for unit in units] or [0])
        self.unit_offset_size = array("i", [unit.offset_size for unit in units] or [0])
        self.unit_count = len(units)
        self.unit = 0
        self.strings = strings
        self.scopes = {}
        self.table = table
        self.memo = Memo()
        self.strp_memo = Memo()
        self.supplementary = supplementary
        self.known_end = 0
        self.deferred = False
        self.budget_bytes = 2 * strings.size_bytes + 1048576

    def learn_scopes(self, child: memoryview, parent: memoryview, up_to: int) -> None:
        """Takes in which scope's DIE each of some DIEs stands in (`walk.Walk.scopes`); those below ``up_to`` are then all known."""
        self.scopes.update(zip(child, parent, strict=True))
        self.known_end = up_to

    def know_all_scopes(self) -> None:
        """From now on no name waits for scopes."""
        self.known_end = 1 << 61

    def has_deferred(self) -> bool:
        """Whether the last ``numbers`` left a name at 0 whose scopes are not known yet: ask again once they are."""
        return bool(self.deferred)

    def numbers(self, offsets: memoryview) -> array[int]:
        """The name numbers for a column of DIE offsets (0: no DIE), 0 where a name can't be found."""
        self.deferred = False
        waiting: cython.bint = False
        n: cython.Py_ssize_t = len(offsets)
        result = array("I", [0]) * n
        if n == 0:
            return result
        out: cython.uint[::1] = result
        offset: cython.ulonglong[::1] = offsets
        i: cython.Py_ssize_t
        known: cython.longlong
        number: cython.uint
        for i in range(n):
            if offset[i] == 0:
                continue
            known = self.memo.get(offset[i])
            if known < 0:
                number = 0
                if offset[i] >> 62 == 0:
                    self.deferred = False
                    number = self._resolve(cython.cast(cython.longlong, offset[i]))
                    if self.deferred:
                        waiting = True
                        continue
                self.memo.put(offset[i], number)
                known = number
            out[i] = cython.cast(cython.uint, known)
        self.deferred = waiting
        return result

    @cython.cfunc
    def _resolve(self, offset: cython.longlong) -> cython.uint:
        """The number of the name of the DIE at ``offset``; a damaged chain gives what was found before the damage."""
        named: cython.longlong = -1
        name_form: cython.int = 0
        name_value: cython.ulonglong = 0
        name_unit: cython.Py_ssize_t = 0
        number: cython.uint
        step: cython.int = 0
        try:
            while step < 16 and offset > 0:
                if offset & IN_SUPPLEMENTARY:
                    number = self._elsewhere(offset)
                    if number:
                        return number
                    break
                if not self._read(offset):
                    break
                if self.reader.present & 2:
                    number = self._number(self.reader.form[1], self.reader.value[1], self.unit)
                    if number:
                        return number
                if self.reader.present & 1:
                    name_form = self.reader.form[0]
                    name_value = self.reader.value[0]
                    name_unit = self.unit
                    named = offset
                offset = 0
                if self.reader.present & 4:
                    offset = self._target(2)
                if offset == 0 and self.reader.present & 8:
                    offset = self._target(3)
                step += 1
        except (MalformedDwarf, IndexError):
            pass
        if named < 0:
            return 0
        if named >= self.known_end:
            self.deferred = True
            return 0
        if named in self.scopes:
            return self._qualified(
                self.strings.read(self.strings.locate(name_form, name_value, self.units[name_unit])), named
            )
        return self._number(name_form, name_value, name_unit)

    @cython.cfunc
    @cython.exceptval(-1)
    def _read(self, offset: cython.longlong) -> cython.bint:
        """Captures the DIE at ``offset``; false where no unit holds it, or it is a null entry."""
        low: cython.Py_ssize_t
        high: cython.Py_ssize_t
        middle: cython.Py_ssize_t
        abbrev: cython.int
        if self.unit_count == 0:
            return False
        if offset < self.unit_offset[self.unit] or offset >= self.unit_end[self.unit]:
            low = 0
            high = self.unit_count
            while low < high:
                middle = (low + high) >> 1
                if self.unit_offset[middle] <= offset:
                    low = middle + 1
                else:
                    high = middle
            if low == 0 or offset >= self.unit_end[low - 1]:
                return False
            self.unit = low - 1
        self.reader.enter(
            self.unit_offset[self.unit],
            self.unit_end[self.unit],
            self.unit_table[self.unit],
            self.unit_address_size[self.unit],
            self.unit_offset_size[self.unit],
        )
        abbrev = self.reader.abbrev_at(offset)
        if abbrev < 0:
            return False
        self.reader.capture(self.reader.position, abbrev)
        return True

    @cython.cfunc
    def _number(self, form: cython.int, value: cython.ulonglong, unit: cython.Py_ssize_t) -> cython.uint:
        """The number of the string that a form means; 0 for an empty or unknown one."""
        known: cython.longlong
        number: cython.uint
        if form == 0x0E and value != 0:
            known = self.strp_memo.get(value)
            if known < 0:
                number = self._intern(self.strings.read((1, value)))
                self.strp_memo.put(value, number)
                return number
            return cython.cast(cython.uint, known)
        return self._intern(self.strings.read(self.strings.locate(form, value, self.units[unit])))

    def _intern(self, name: bytes) -> int:
        """The number of a name; 0 for a new one where the names already outweigh the sections that they stand in."""
        known = self.table.find(name)
        if known >= 0:
            return known
        self.budget_bytes -= len(name)
        return self.table.intern(name) if self.budget_bytes >= 0 else 0

    @cython.cfunc
    def _target(self, slot: cython.int) -> cython.longlong:
        """The `.debug_info` offset that a reference means, 0 where it leads out of this file."""
        form: cython.int = self.reader.form[slot]
        raw: cython.ulonglong = self.reader.value[slot]
        if raw >> 62:
            return 0
        if 0x11 <= form <= 0x15:
            offset: cython.longlong = self.unit_offset[self.unit] + cython.cast(cython.longlong, raw)
            return offset if offset < self.unit_end[self.unit] else 0
        if raw >> 61:
            return 0
        if form == 0x10:
            return cython.cast(cython.longlong, raw)
        if form == 0x1C or form == 0x24 or form == 0x1F20:
            return cython.cast(cython.longlong, raw) | IN_SUPPLEMENTARY
        return 0

    def _elsewhere(self, offset: int) -> int:
        """The number of the name of a DIE in the supplementary file, whose references never lead back."""
        if self.supplementary is None:
            return 0
        return self.supplementary.numbers(memoryview(array("Q", [offset ^ IN_SUPPLEMENTARY])))[0]

    def _qualified(self, name: bytes, offset: int) -> int:
        """The number of ``name`` behind the names of the scopes that the DIE at ``offset`` stands in."""
        parts = [name]
        child = offset
        while (scope := self.scopes.get(child)) is not None and len(parts) < MAX_SCOPES and scope < child:
            part = b""
            try:
                if self._read(scope) and self.reader.present & 1:
                    part = self.strings.read(
                        self.strings.locate(self.reader.form[0], self.reader.value[0], self.units[self.unit])
                    )
            except (MalformedDwarf, IndexError):
                break
            parts.append(part or b"(anonymous)")
            child = scope
        return self._intern(b"::".join(reversed(parts)))
