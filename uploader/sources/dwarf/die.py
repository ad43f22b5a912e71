"""Reads single DIEs of `.debug_info` by the steps of `abbrev` (DWARF 5 §7.5.2): the values of the attributes that have a slot.

A reader belongs to one thread. ``enter`` sets the unit; ``abbrev_at`` and ``capture`` then work at section offsets inside it.
Values are raw: what they mean depends on ``form``, which is kept beside them.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.numbers import NumberReader
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.forms import form_step
from uploader.sources.dwarf.unit_columns import UnitColumns

NO_MEANING = cython.declare(cython.ulonglong, constants.NO_MEANING)
IN_SUPPLEMENTARY = cython.declare(cython.longlong, constants.IN_SUPPLEMENTARY)


class DieReader(NumberReader):
    """Decodes DIEs at offsets of one `.debug_info`. ``value[slot]`` and ``form[slot]`` count where ``present`` has the slot's bit."""

    def __init__(self, data: bytes | memoryview, abbrevs: Abbrevs, *, little_endian: bool) -> None:
        super().__init__(data, little_endian=little_endian)
        self.abbrevs = abbrevs
        self.address_size = 8
        self.offset_size = 4
        self.unit_offset = 0
        self.unit_end = 0
        self.code_first = 0
        self.code_count = 0
        self.value = array("Q", [0]) * constants.SLOT_COUNT
        self.form = array("i", [0]) * constants.SLOT_COUNT
        self.present = 0

    def enter(
        self,
        unit_offset: cython.longlong,
        unit_end: cython.longlong,
        table: cython.int,
        address_size: cython.int,
        offset_size: cython.int,
    ) -> cython.int:
        """Sets the unit that offsets lie in."""
        self.unit_offset = unit_offset
        self.unit_end = unit_end
        self.address_size = address_size
        self.offset_size = offset_size
        self.code_first = self.abbrevs.table_first[table]
        self.code_count = self.abbrevs.table_codes[table]
        return 0

    def enter_unit(self, units: UnitColumns, index: cython.Py_ssize_t) -> cython.int:
        """Sets the unit of that index."""
        return self.enter(
            units.offset[index],
            units.end[index],
            units.table[index],
            units.address_size[index],
            units.offset_size[index],
        )

    def read(self, offset: int, unit: tuple[int, int, int, int, int]) -> None:
        """Captures the DIE at ``offset`` in a unit given as ``enter`` takes it. Raises `MalformedDwarf`."""
        unit_offset, unit_end, table, address_size, offset_size = unit
        self.enter(unit_offset, unit_end, table, address_size, offset_size)
        try:
            abbrev: cython.int = self.abbrev_at(offset)
            if abbrev < 0:
                self.present = 0
                return
            self.capture(self.position, abbrev)
        except IndexError:
            raise MalformedDwarf(f"the DIE at 0x{offset:x} is cut off") from None

    def reference(self, slot: cython.int) -> cython.longlong:
        """The section offset that a captured reference means; 0 where there is none, or it leads nowhere.

        What lies in the supplementary file is marked by `constants.IN_SUPPLEMENTARY`.
        """
        if not self.present >> slot & 1:
            return 0
        form: cython.int = self.form[slot]
        raw: cython.ulonglong = self.value[slot]
        if raw >= NO_MEANING:
            return 0
        offset: cython.longlong = cython.cast(cython.longlong, raw)
        if constants.FORM_REF1 <= form <= constants.FORM_REF_UDATA:
            return offset + self.unit_offset if offset < self.unit_end - self.unit_offset else 0
        if form == constants.FORM_REF_ADDR:
            return offset
        if form == constants.FORM_REF_SUP4 or form == constants.FORM_REF_SUP8 or form == constants.FORM_GNU_REF_ALT:
            return offset | IN_SUPPLEMENTARY
        return 0

    def slot(self, slot: int) -> tuple[int, int] | None:
        """(form, raw value) of a captured attribute, or None."""
        if not self.present >> slot & 1:
            return None
        return self.form[slot], self.value[slot]

    def abbrev_at(self, offset: cython.longlong) -> cython.int:
        """The abbreviation of the DIE at ``offset``, -1 for a null entry; ``position`` is left at its first attribute."""
        if offset < self.unit_offset or offset >= self.unit_end:
            with cython.gil:
                raise MalformedDwarf(f"a reference to 0x{offset:x} leaves its unit")
        byte: cython.int = self.data[offset]
        code: cython.longlong = byte
        self.position = offset + 1
        if byte >= 0x80:
            wide: cython.ulonglong = self.uleb(offset)
            code = cython.cast(cython.longlong, wide) if wide < 0x7FFFFFFF else 0x7FFFFFFF
        if code == 0:
            return -1
        index: cython.int = -1
        if code < self.code_count:
            index = self.abbrevs.code_index[self.code_first + code]
        if index < 0:
            with cython.gil:
                raise MalformedDwarf(f"the DIE at 0x{offset:x} has the unknown abbreviation {code}")
        return index

    def skip_form(self, p: cython.longlong, step: cython.int) -> cython.Py_ssize_t:
        """The offset behind a form that needs a look (a negative step of `abbrev`)."""
        length: cython.ulonglong
        form: cython.ulonglong
        inner: cython.int
        if step == constants.STEP_LEB:
            while self.data[p] >= 0x80:
                p += 1
            return p + 1
        if step == constants.STEP_CSTRING:
            while self.data[p] != 0:
                p += 1
            return p + 1
        if step == constants.STEP_BLOCK1:
            length = self.data[p]
            p += 1
        elif step == constants.STEP_BLOCK2:
            length = self.fixed(p, 2)
            p += 2
        elif step == constants.STEP_BLOCK4:
            length = self.fixed(p, 4)
            p += 4
        elif step == constants.STEP_BLOCK:
            length = self.uleb(p)
            p = self.position
        elif step == constants.STEP_INDIRECT:
            form = self.uleb(p)
            p = self.position
            inner = self.step_of(form)
            if inner >= 0:
                return p + inner
            return self.skip_form(p, inner)
        else:
            return p
        if length > cython.cast(cython.ulonglong, self.unit_end - p if self.unit_end > p else 0):
            with cython.gil:
                raise MalformedDwarf(f"a block at 0x{p:x} runs past its unit")
        return p + cython.cast(cython.longlong, length)

    def step_of(self, form: cython.ulonglong) -> cython.int:
        """The step of a form that stands in the DIE itself (DW_FORM_indirect)."""
        found: cython.int
        with cython.gil:
            found = self._indirect_step(form)
        return found

    def _indirect_step(self, form: int) -> int:
        step = form_step(form, self.address_size, self.offset_size, 4)
        if step is None or step in (constants.STEP_INDIRECT, constants.STEP_CONSTANT):
            raise MalformedDwarf(f"an indirect form 0x{form:x} that can't be")
        return step

    def capture(self, p: cython.longlong, abbrev: cython.int) -> cython.Py_ssize_t:
        """Fills the slots from a DIE whose attributes start at ``p``; gives the offset behind the DIE."""
        i: cython.int
        step: cython.int
        slot: cython.int
        form: cython.int
        end: cython.int = self.abbrevs.capture_first[abbrev + 1]
        raw: cython.ulonglong
        one: cython.longlong = 1
        present: cython.longlong = 0
        self.present = 0
        i = self.abbrevs.capture_first[abbrev]
        while i < end:
            step = self.abbrevs.step[i]
            slot = self.abbrevs.step_slot[i]
            if slot < 0:
                p = p + step if step >= 0 else self.skip_form(p, step)
                i += 1
                continue
            form = self.abbrevs.step_form[i]
            if step == constants.STEP_INDIRECT:
                raw = self.uleb(p)
                p = self.position
                step = self.step_of(raw)
                form = raw
            if step == 1:
                raw = self.data[p]
                p += 1
            elif step >= 0:
                raw = self.fixed(p, step) if step else 1
                p += step
            elif step == constants.STEP_LEB:
                raw = self.data[p]
                if raw >= 0x80 or form == constants.FORM_SDATA:
                    raw = self.sleb(p) if form == constants.FORM_SDATA else self.uleb(p)
                    p = self.position
                else:
                    p += 1
            elif step == constants.STEP_CONSTANT:
                raw = self.abbrevs.step_constant[i]
            else:
                raw = p
                p = self.skip_form(p, step)
            self.value[slot] = raw
            self.form[slot] = form
            present |= one << slot
            i += 1
        self.present = present
        if p > self.unit_end:
            with cython.gil:
                raise MalformedDwarf(f"a DIE runs past the end of its unit at 0x{self.unit_end:x}")
        return p
