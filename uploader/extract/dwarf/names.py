"""Names of functions: by abstract origins and specifications to a linkage name, or to a name with its scopes; each DIE read once.

The order is that of DWARF's own meaning (DWARF 5 §3.3.8.2, §2.13): the DIE, what it specifies or stems from, at most 16 steps.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import cython

from uploader.errors import MalformedDwarf
from uploader.extract.dwarf.constants import SLOT_LINKAGE_NAME, SLOT_NAME
from uploader.extract.dwarf.die import DieReader
from uploader.extract.dwarf.units import StringReader, Unit
from uploader.symbols.columns import NameTable

MAX_STEPS = 16
MAX_SCOPES = 64


@cython.final
@cython.cclass
class NameReader:
    """Gives the number in a `NameTable` of the function that a DIE describes. Belongs to one thread."""

    reader: DieReader
    units: list
    unit_offsets: list
    strings: object
    scopes: dict
    table: object
    number_of: dict
    number_at: dict
    slots: cython.Py_ssize_t
    memo_key: cython.ulonglong[::1]
    memo_value: cython.uint[::1]
    memo_count: cython.Py_ssize_t
    unit_index: cython.Py_ssize_t

    def __init__(self, reader: DieReader, units: Sequence[Unit], strings: StringReader, scopes: Mapping[int, int], table: NameTable) -> None:
        self.reader = reader
        self.units = list(units)
        self.unit_offsets = [unit.offset for unit in units]
        self.strings = strings
        self.scopes = dict(scopes)
        self.table = table
        self.number_at = {}
        self.slots = 1 << 12
        self.memo_key = array("Q", bytes(8 * self.slots))
        self.memo_value = array("I", bytes(4 * self.slots))
        self.memo_count = 0
        self.unit_index = 0

    def numbers(self, offsets: memoryview) -> array[int]:
        """The name numbers for a column of DIE offsets (0: no DIE), 0 where a name can't be found."""
        n: cython.Py_ssize_t = len(offsets)
        result = array("I", bytes(4 * n))
        if n == 0:
            return result
        out: cython.uint[::1] = result
        offset: cython.ulonglong[::1] = offsets
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        for i in range(n):
            if offset[i] == 0:
                continue
            at = self._find(offset[i])
            if self.memo_key[at] == 0:
                number: cython.uint = self._resolve(offset[i])
                self.memo_key[at] = offset[i]
                self.memo_value[at] = number
                self.memo_count += 1
                out[i] = number
                if 2 * self.memo_count > self.slots:
                    self._rehash()
            else:
                out[i] = self.memo_value[at]
        return result

    @cython.cfunc
    @cython.exceptval(-1)
    def _find(self, key: cython.ulonglong) -> cython.Py_ssize_t:
        """The place of a key in the memo, or the free place where it belongs."""
        mask: cython.ulonglong = self.slots - 1
        low: cython.ulonglong = key & 0xFFFFFFFF
        at: cython.ulonglong = ((low * 0x9E3779B1) >> 8) & mask
        while self.memo_key[at] != 0 and self.memo_key[at] != key:
            at = (at + 1) & mask
        return at

    def _rehash(self) -> None:
        keys, values = self.memo_key, self.memo_value
        self.slots *= 4
        self.memo_key = array("Q", bytes(8 * self.slots))
        self.memo_value = array("I", bytes(4 * self.slots))
        for i in range(len(keys)):
            if keys[i]:
                at = self._find(keys[i])
                self.memo_key[at] = keys[i]
                self.memo_value[at] = values[i]

    def _resolve(self, offset: int) -> int:
        """The number of the name of the DIE at ``offset``; a damaged chain gives what was found before the damage."""
        name: tuple[int, int] | None = None
        named: int = 0
        step: cython.int = 0
        try:
            while step < MAX_STEPS and offset:
                unit = self._unit(offset)
                if unit is None:
                    break
                self.reader.read(offset, unit.shape)
                if self.reader.present & 2:
                    place = self.strings.locate(self.reader.form[1], self.reader.value[1], unit)
                    number = self._number(place)
                    if number:
                        return number
                if self.reader.present & 1:
                    found = self.strings.locate(self.reader.form[0], self.reader.value[0], unit)
                    if found is not None:
                        name = found
                        named = offset
                offset = 0
                if self.reader.present & 4:
                    offset = self._target(2, unit)
                if not offset and self.reader.present & 8:
                    offset = self._target(3, unit)
                step += 1
        except MalformedDwarf:
            pass
        if name is None:
            return 0
        if named in self.scopes:
            return self.table.intern(self._qualified(self.strings.read(name), named))
        return self._number(name)

    def _number(self, place: tuple[int, int] | None) -> int:
        """The number of the string at a place; 0 for an empty or unknown one."""
        if place is None:
            return 0
        number = self.number_at.get(place)
        if number is None:
            number = self.number_at[place] = self.table.intern(self.strings.read(place))
        return number

    def _target(self, slot: int, unit: Unit) -> int:
        """The `.debug_info` offset that a reference means, 0 where it leads out of this file."""
        form: int = self.reader.form[slot]
        raw: int = self.reader.value[slot]
        if 0x11 <= form <= 0x15:
            return unit.offset + raw if raw < unit.end - unit.offset else 0
        return raw if form == 0x10 else 0

    def _unit(self, offset: int) -> Unit | None:
        units: list = self.units
        if not units:
            return None
        unit = units[self.unit_index]
        if not unit.offset <= offset < unit.end:
            index = bisect_right(self.unit_offsets, offset) - 1
            if index < 0 or offset >= units[index].end:
                return None
            self.unit_index = index
            unit = units[index]
        return unit

    def _qualified(self, name: bytes, offset: int) -> bytes:
        """``name`` behind the names of the scopes that the DIE at ``offset`` stands in."""
        parts = [name]
        child = offset
        while (scope := self.scopes.get(child)) is not None and len(parts) < MAX_SCOPES and scope < child:
            unit = self._unit(scope)
            if unit is None:
                break
            try:
                self.reader.read(scope, unit.shape)
            except MalformedDwarf:
                break
            part = b""
            if self.reader.present & 1:
                part = self.strings.read(self.strings.locate(self.reader.form[0], self.reader.value[0], unit))
            parts.append(part or b"(anonymous)")
            child = scope
        return b"::".join(reversed(parts))


__all__ = ["NameReader", "SLOT_LINKAGE_NAME", "SLOT_NAME"]
