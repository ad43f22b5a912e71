"""`.debug_abbrev` compiled into step lists (DWARF 5 §7.5.3).

Every abbreviation becomes two short programs. *Skip* steps over a DIE that nobody asks about: neighbouring fixed-size forms are merged,
so that most DIEs cost one addition. *Capture* keeps the attributes that have a slot (`constants.SLOT_OF_ATTRIBUTE`).
All tables of a section lie in one set of flat columns, which the walk reads without the GIL.

A step is a byte count, or one of the negative codes below for what can't be sized without looking.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from uploader.errors import MalformedDwarf
from uploader.extract.dwarf.constants import (
    FORM_ADDR,
    FORM_IMPLICIT_CONST,
    FORM_REF_ADDR,
    SLOT_LOW_PC,
    SLOT_OF_ATTRIBUTE,
    SLOT_RANGES,
    TAG_ARRAY_TYPE,
    TAG_ENUMERATION_TYPE,
    TAG_INLINED_SUBROUTINE,
    TAG_SUBPROGRAM,
    TAG_SUBROUTINE_TYPE,
)
from uploader.extract.dwarf.constants import SCOPE_TAGS as _SCOPE_TAGS
from uploader.symbols.columns import grown

STEP_LEB = -1
STEP_CSTRING = -2
STEP_BLOCK1 = -3
STEP_BLOCK2 = -4
STEP_BLOCK4 = -5
STEP_BLOCK = -6
STEP_INDIRECT = -7
STEP_CONSTANT = -8

KIND_PLAIN = 0
KIND_SCOPE = 1
KIND_DECLARATION = 2
"""A subprogram without code of its own that names itself: it may need its scopes for a qualified name."""
KIND_FUNCTION = 3
KIND_INLINED = 4

_NAMING_SLOTS_MASK = 0b1110

_ADDRESS_SIZED = 100
_OFFSET_SIZED = 101

_FORM_STEP = {
    FORM_ADDR: _ADDRESS_SIZED,
    0x03: STEP_BLOCK2,
    0x04: STEP_BLOCK4,
    0x05: 2,
    0x06: 4,
    0x07: 8,
    0x08: STEP_CSTRING,
    0x09: STEP_BLOCK,
    0x0A: STEP_BLOCK1,
    0x0B: 1,
    0x0C: 1,
    0x0D: STEP_LEB,
    0x0E: _OFFSET_SIZED,
    0x0F: STEP_LEB,
    FORM_REF_ADDR: _OFFSET_SIZED,
    0x11: 1,
    0x12: 2,
    0x13: 4,
    0x14: 8,
    0x15: STEP_LEB,
    0x16: STEP_INDIRECT,
    0x17: _OFFSET_SIZED,
    0x18: STEP_BLOCK,
    0x19: 0,
    0x1A: STEP_LEB,
    0x1B: STEP_LEB,
    0x1C: 4,
    0x1D: _OFFSET_SIZED,
    0x1E: 16,
    0x1F: _OFFSET_SIZED,
    0x20: 8,
    FORM_IMPLICIT_CONST: STEP_CONSTANT,
    0x22: STEP_LEB,
    0x23: STEP_LEB,
    0x24: 8,
    0x25: 1,
    0x26: 2,
    0x27: 3,
    0x28: 4,
    0x29: 1,
    0x2A: 2,
    0x2B: 3,
    0x2C: 4,
    0x1F01: STEP_LEB,
    0x1F02: STEP_LEB,
    0x1F20: _OFFSET_SIZED,
    0x1F21: _OFFSET_SIZED,
}


def form_step(form: int, address_size: int, offset_size: int, version: int) -> int | None:
    """The step that passes one form, or None for an unknown form."""
    step = _FORM_STEP.get(form)
    if step == _ADDRESS_SIZED or (form == FORM_REF_ADDR and version <= 2):
        return address_size
    if step == _OFFSET_SIZED:
        return offset_size
    return step


def _kind_of(tag: int, slots: int) -> int:
    """What the walk does at a DIE of this tag whose abbreviation carries these slots (a bit set)."""
    if tag == TAG_INLINED_SUBROUTINE:
        return KIND_INLINED
    if tag == TAG_SUBPROGRAM:
        if slots & ((1 << SLOT_LOW_PC) | (1 << SLOT_RANGES)):
            return KIND_FUNCTION
        return KIND_PLAIN if slots & _NAMING_SLOTS_MASK else KIND_DECLARATION
    if tag in _SCOPE_TAGS:
        return KIND_SCOPE
    return KIND_PLAIN


class Abbrevs:
    """All abbreviation tables of one `.debug_abbrev` section, compiled on request.

    ``table`` must not be called while another thread walks. The total work is bounded by a multiple of the section's size, however
    many overlapping tables a hostile file asks for.
    """

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = data
        self._table_at: dict[tuple[int, int, int, int], int] = {}
        self._budget = 4 * len(data) + 65536
        self.kind = array("i", bytes(4 * 64))
        self.children = array("i", bytes(4 * 64))
        self.skip_first = array("i", bytes(4 * 64))
        self.skip_end = array("i", bytes(4 * 64))
        self.capture_first = array("i", bytes(4 * 64))
        self.capture_end = array("i", bytes(4 * 64))
        self.step = array("i", bytes(4 * 64))
        self.step_slot = array("i", bytes(4 * 64))
        self.step_form = array("i", bytes(4 * 64))
        self.step_constant = array("q", bytes(8 * 64))
        self.code_index = array("i", bytes(4 * 64))
        self.table_first = array("i", bytes(4 * 64))
        self.table_codes = array("i", bytes(4 * 64))
        self._count = 0
        self._step_count = 0
        self._code_count = 0
        self._table_count = 0

    def table(self, offset: int, address_size: int, offset_size: int, version: int) -> int:
        """The index of the table at ``offset`` as units of this shape read it. Raises `MalformedDwarf`."""
        key = (offset, address_size, offset_size, 2 if version <= 2 else 3)
        known = self._table_at.get(key)
        if known is None:
            known = self._table_at[key] = self._compile(offset, address_size, offset_size, version)
        return known

    def _compile(self, offset: int, address_size: int, offset_size: int, version: int) -> int:
        steps_of_form: dict[int, int] = {}
        kind_of: dict[tuple[int, int], int] = {}
        if offset >= len(self._data):
            raise MalformedDwarf(f"abbreviation table at 0x{offset:x} lies outside .debug_abbrev")
        data: cython.const[cython.uchar][::1] = self._data
        p: cython.Py_ssize_t = offset
        size: cython.Py_ssize_t = len(self._data)
        byte: cython.int
        code: cython.longlong
        value: cython.longlong
        shift: cython.int
        tag: cython.longlong
        attribute: cython.longlong
        form: cython.longlong
        constant: cython.longlong
        step: cython.int
        slot: cython.int
        slots: cython.longlong
        run: cython.int
        index: cython.int
        steps: cython.int
        captures: cython.int
        scratch_step: list[int]
        codes: list[int] = []
        first: int = self._count
        try:
            while p < size:
                code = 0
                shift = 0
                while True:
                    byte = data[p]
                    p += 1
                    if shift < 56:
                        code |= cython.cast(cython.longlong, byte & 0x7F) << shift
                    shift += 7
                    if byte < 0x80:
                        break
                if code == 0:
                    break
                tag = 0
                shift = 0
                while True:
                    byte = data[p]
                    p += 1
                    if shift < 56:
                        tag |= cython.cast(cython.longlong, byte & 0x7F) << shift
                    shift += 7
                    if byte < 0x80:
                        break
                index = self._count
                if index + 1 >= len(self.kind):
                    self._grow_abbreviations()
                self.children[index] = 1 if data[p] else 0
                p += 1
                skips: list[int] = []
                captured: list[tuple[int, int, int, int]] = []
                slots = 0
                run = 0
                capture_run: int = 0
                while True:
                    attribute = 0
                    shift = 0
                    while True:
                        byte = data[p]
                        p += 1
                        if shift < 56:
                            attribute |= cython.cast(cython.longlong, byte & 0x7F) << shift
                        shift += 7
                        if byte < 0x80:
                            break
                    form = 0
                    shift = 0
                    while True:
                        byte = data[p]
                        p += 1
                        if shift < 56:
                            form |= cython.cast(cython.longlong, byte & 0x7F) << shift
                        shift += 7
                        if byte < 0x80:
                            break
                    constant = 0
                    if form == 0x21:
                        shift = 0
                        while True:
                            byte = data[p]
                            p += 1
                            if shift < 56:
                                constant |= cython.cast(cython.longlong, byte & 0x7F) << shift
                            shift += 7
                            if byte < 0x80:
                                if byte & 0x40 and shift < 63:
                                    constant -= cython.cast(cython.longlong, 1) << shift
                                break
                    if attribute == 0 and form == 0:
                        break
                    known = steps_of_form.get(form)
                    if known is None:
                        known = form_step(form, address_size, offset_size, version)
                        if known is None:
                            raise MalformedDwarf(f"unknown form 0x{form:x} in the abbreviation table at 0x{offset:x}")
                        steps_of_form[form] = known
                    step = known
                    if step >= 0:
                        run += step
                    elif step != STEP_CONSTANT:
                        if run:
                            skips.append(run)
                            run = 0
                        skips.append(step)
                    found = SLOT_OF_ATTRIBUTE.get(attribute)
                    if found is not None and not slots & (1 << found):
                        slots |= 1 << found
                        if capture_run:
                            captured.append((capture_run, -1, 0, 0))
                            capture_run = 0
                        captured.append((step, found, form, constant))
                    elif step >= 0:
                        capture_run += step
                    elif step != STEP_CONSTANT:
                        if capture_run:
                            captured.append((capture_run, -1, 0, 0))
                            capture_run = 0
                        captured.append((step, -1, 0, 0))
                    if run > 1_000_000 or capture_run > 1_000_000:
                        raise MalformedDwarf(f"an abbreviation at 0x{p:x} is too large to be true")
                if run:
                    skips.append(run)
                if capture_run:
                    captured.append((capture_run, -1, 0, 0))
                self._store(skips, captured)
                kind = kind_of.get((tag, slots))
                if kind is None:
                    kind = kind_of[tag, slots] = _kind_of(tag, slots)
                self.kind[index] = kind
                codes.append(code)
                self._count += 1
        except IndexError:
            raise MalformedDwarf(f"the abbreviation table at 0x{offset:x} is cut off") from None
        self._budget -= p - offset
        if self._budget < 0:
            raise MalformedDwarf("too many overlapping abbreviation tables to be true")
        return self._index_codes(codes, first)

    def _store(self, skips: list[int], captured: list[tuple[int, int, int, int]]) -> None:
        index: cython.int = self._count
        at: cython.Py_ssize_t = self._step_count
        if at + len(skips) + len(captured) >= len(self.step):
            wanted = at + len(skips) + len(captured) + 1
            self.step = grown(self.step, wanted)
            self.step_slot = grown(self.step_slot, wanted)
            self.step_form = grown(self.step_form, wanted)
            self.step_constant = grown(self.step_constant, wanted)
        self.skip_first[index] = at
        for one in skips:
            self.step[at] = one
            at += 1
        self.skip_end[index] = at
        self.capture_first[index] = at
        for step, slot, form, constant in captured:
            self.step[at] = step
            self.step_slot[at] = slot
            self.step_form[at] = form
            self.step_constant[at] = constant
            at += 1
        self.capture_end[index] = at
        self._step_count = at

    def _grow_abbreviations(self) -> None:
        wanted = 2 * len(self.kind)
        self.kind = grown(self.kind, wanted)
        self.children = grown(self.children, wanted)
        self.skip_first = grown(self.skip_first, wanted)
        self.skip_end = grown(self.skip_end, wanted)
        self.capture_first = grown(self.capture_first, wanted)
        self.capture_end = grown(self.capture_end, wanted)

    def _index_codes(self, codes: list[int], first: int) -> int:
        """Lays a dense map from code to abbreviation; a table with wild codes is refused."""
        highest = max(codes, default=0)
        if highest > 16 * len(codes) + 4096:
            raise MalformedDwarf(f"abbreviation code {highest} is out of all proportion")
        base: cython.Py_ssize_t = self._code_count
        if base + highest + 1 >= len(self.code_index):
            self.code_index = grown(self.code_index, base + highest + 2)
        for code in range(highest + 1):
            self.code_index[base + code] = -1
        for position, code in enumerate(codes):
            if self.code_index[base + code] < 0:
                self.code_index[base + code] = first + position
        self._code_count = base + highest + 1
        table = self._table_count
        if table + 1 >= len(self.table_first):
            self.table_first = grown(self.table_first, table + 2)
            self.table_codes = grown(self.table_codes, table + 2)
        self.table_first[table] = base
        self.table_codes[table] = highest + 1
        self._table_count += 1
        return table


def compiled() -> bool:
    """Whether this module runs compiled."""
    return bool(cython.compiled)


__all__ = ["Abbrevs", "compiled", "form_step"]
_ = Any
