"""`.debug_abbrev` compiled into step lists (DWARF 5 §7.5.3).

Every abbreviation becomes two short programs. *Skip* steps over a DIE that nobody asks about: neighbouring fixed-size forms are merged,
so that most DIEs cost one addition. *Capture* keeps the attributes that have a slot (`constants.SLOT_OF_ATTRIBUTE`).
All tables of a section lie in one set of flat columns, which the walk reads without the GIL.

A step is a byte count, or one of the negative codes below for what can't be sized without looking. An abbreviation's kind
(`constants.KIND_SUBPROGRAM` and its like) is what the walk does at its DIEs.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import grown, zeros
from uploader.core.numbers import NumberReader
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf.constants import (
    FORM_ADDR,
    FORM_ADDRX,
    FORM_ADDRX1,
    FORM_ADDRX2,
    FORM_ADDRX3,
    FORM_ADDRX4,
    FORM_BLOCK,
    FORM_BLOCK1,
    FORM_BLOCK2,
    FORM_BLOCK4,
    FORM_DATA1,
    FORM_DATA2,
    FORM_DATA4,
    FORM_DATA8,
    FORM_DATA16,
    FORM_EXPRLOC,
    FORM_FLAG,
    FORM_FLAG_PRESENT,
    FORM_GNU_ADDR_INDEX,
    FORM_GNU_REF_ALT,
    FORM_GNU_STR_INDEX,
    FORM_GNU_STRP_ALT,
    FORM_IMPLICIT_CONST,
    FORM_INDIRECT,
    FORM_LINE_STRP,
    FORM_LOCLISTX,
    FORM_REF1,
    FORM_REF2,
    FORM_REF4,
    FORM_REF8,
    FORM_REF_ADDR,
    FORM_REF_SIG8,
    FORM_REF_SUP4,
    FORM_REF_SUP8,
    FORM_REF_UDATA,
    FORM_RNGLISTX,
    FORM_SDATA,
    FORM_SEC_OFFSET,
    FORM_STRING,
    FORM_STRP,
    FORM_STRP_SUP,
    FORM_STRX,
    FORM_STRX1,
    FORM_STRX2,
    FORM_STRX3,
    FORM_STRX4,
    FORM_UDATA,
    KIND_ABSTRACT,
    KIND_DECLARATION,
    KIND_ENTRY_POINT,
    KIND_INLINED,
    KIND_NAMED_ELSEWHERE,
    KIND_NAMESPACE,
    KIND_OTHER,
    KIND_SCOPE,
    KIND_SUBPROGRAM,
    SLOT_ABSTRACT_ORIGIN,
    SLOT_LINKAGE_NAME,
    SLOT_LOW_PC,
    SLOT_OF_ATTRIBUTE,
    SLOT_RANGES,
    SLOT_SPECIFICATION,
    TAG_CLASS_TYPE,
    TAG_ENTRY_POINT,
    TAG_ENUMERATION_TYPE,
    TAG_INLINED_SUBROUTINE,
    TAG_INTERFACE_TYPE,
    TAG_MODULE,
    TAG_NAMESPACE,
    TAG_STRUCTURE_TYPE,
    TAG_SUBPROGRAM,
    TAG_UNION_TYPE,
)

TOO_MANY_OVERLAP = "too many overlapping abbreviation tables to be true"

STEP_LEB = -1
STEP_CSTRING = -2
STEP_BLOCK1 = -3
STEP_BLOCK2 = -4
STEP_BLOCK4 = -5
STEP_BLOCK = -6
STEP_INDIRECT = -7
STEP_CONSTANT = -8

_ADDRESS_SIZED = 100
_OFFSET_SIZED = 101

_FORM_STEP = {
    FORM_ADDR: _ADDRESS_SIZED,
    FORM_BLOCK2: STEP_BLOCK2,
    FORM_BLOCK4: STEP_BLOCK4,
    FORM_DATA2: 2,
    FORM_DATA4: 4,
    FORM_DATA8: 8,
    FORM_STRING: STEP_CSTRING,
    FORM_BLOCK: STEP_BLOCK,
    FORM_BLOCK1: STEP_BLOCK1,
    FORM_DATA1: 1,
    FORM_FLAG: 1,
    FORM_SDATA: STEP_LEB,
    FORM_STRP: _OFFSET_SIZED,
    FORM_UDATA: STEP_LEB,
    FORM_REF_ADDR: _OFFSET_SIZED,
    FORM_REF1: 1,
    FORM_REF2: 2,
    FORM_REF4: 4,
    FORM_REF8: 8,
    FORM_REF_UDATA: STEP_LEB,
    FORM_INDIRECT: STEP_INDIRECT,
    FORM_SEC_OFFSET: _OFFSET_SIZED,
    FORM_EXPRLOC: STEP_BLOCK,
    FORM_FLAG_PRESENT: 0,
    FORM_STRX: STEP_LEB,
    FORM_ADDRX: STEP_LEB,
    FORM_REF_SUP4: 4,
    FORM_STRP_SUP: _OFFSET_SIZED,
    FORM_DATA16: 16,
    FORM_LINE_STRP: _OFFSET_SIZED,
    FORM_REF_SIG8: 8,
    FORM_IMPLICIT_CONST: STEP_CONSTANT,
    FORM_LOCLISTX: STEP_LEB,
    FORM_RNGLISTX: STEP_LEB,
    FORM_REF_SUP8: 8,
    FORM_STRX1: 1,
    FORM_STRX2: 2,
    FORM_STRX3: 3,
    FORM_STRX4: 4,
    FORM_ADDRX1: 1,
    FORM_ADDRX2: 2,
    FORM_ADDRX3: 3,
    FORM_ADDRX4: 4,
    FORM_GNU_ADDR_INDEX: STEP_LEB,
    FORM_GNU_STR_INDEX: STEP_LEB,
    FORM_GNU_REF_ALT: _OFFSET_SIZED,
    FORM_GNU_STRP_ALT: _OFFSET_SIZED,
}


def form_step(form: int, address_size: int, offset_size: int, version: int) -> int | None:
    """The step that passes one form, or None for an unknown form."""
    step = _FORM_STEP.get(form)
    if step == _ADDRESS_SIZED or (form == FORM_REF_ADDR and version <= 2):
        return address_size
    if step == _OFFSET_SIZED:
        return offset_size
    return step


CLASS_TYPE = cython.declare(cython.ulonglong, TAG_CLASS_TYPE)
ENTRY_POINT = cython.declare(cython.ulonglong, TAG_ENTRY_POINT)
ENUMERATION_TYPE = cython.declare(cython.ulonglong, TAG_ENUMERATION_TYPE)
INLINED_SUBROUTINE = cython.declare(cython.ulonglong, TAG_INLINED_SUBROUTINE)
INTERFACE_TYPE = cython.declare(cython.ulonglong, TAG_INTERFACE_TYPE)
MODULE = cython.declare(cython.ulonglong, TAG_MODULE)
NAMESPACE = cython.declare(cython.ulonglong, TAG_NAMESPACE)
STRUCTURE_TYPE = cython.declare(cython.ulonglong, TAG_STRUCTURE_TYPE)
SUBPROGRAM = cython.declare(cython.ulonglong, TAG_SUBPROGRAM)
UNION_TYPE = cython.declare(cython.ulonglong, TAG_UNION_TYPE)

OTHER = cython.declare(cython.int, KIND_OTHER)
SCOPE = cython.declare(cython.int, KIND_SCOPE)
NAMESPACE_SCOPE = cython.declare(cython.int, KIND_NAMESPACE)
NAMED_ELSEWHERE = cython.declare(cython.int, KIND_NAMED_ELSEWHERE)
DECLARATION = cython.declare(cython.int, KIND_DECLARATION)
ABSTRACT = cython.declare(cython.int, KIND_ABSTRACT)
WITH_CODE = cython.declare(cython.int, KIND_SUBPROGRAM)
ENTRY = cython.declare(cython.int, KIND_ENTRY_POINT)
INLINED = cython.declare(cython.int, KIND_INLINED)
HAS_CODE = cython.declare(cython.longlong, 1 << SLOT_LOW_PC | 1 << SLOT_RANGES)
HAS_OTHER_NAME = cython.declare(
    cython.longlong, 1 << SLOT_LINKAGE_NAME | 1 << SLOT_ABSTRACT_ORIGIN | 1 << SLOT_SPECIFICATION
)


class Abbrevs(NumberReader):
    """All abbreviation tables of one `.debug_abbrev` section, compiled on request.

    ``table`` must not be called while another thread walks. All work and memory together are bounded by a multiple of the section's size,
    however many overlapping, wild or broken tables a hostile file asks for.
    """

    def __init__(self, data: bytes | memoryview) -> None:
        super().__init__(data)
        self._table_at: dict[tuple[int, int, int, int], int] = {}
        self._refused: dict[tuple[int, int, int, int], str] = {}
        self._budget = 4 * len(data) + 65536
        # Even of the shortest abbreviations, numbered one by one, the bytes that may be read hold no more.
        self._code_budget = 2 * len(data) + 65536
        # Room for what is likely: of what is not used no memory is taken.
        abbreviations = max(64, len(data) // 10)
        steps = max(64, len(data) // 2)
        self.kind = zeros("i", abbreviations)
        self.children = zeros("i", abbreviations)
        self.skip_first = zeros("i", abbreviations)
        self.skip_end = zeros("i", abbreviations)
        self.capture_first = zeros("i", abbreviations)
        self.capture_end = zeros("i", abbreviations)
        self.step = zeros("i", steps)
        self.step_slot = zeros("i", steps)
        self.step_form = zeros("i", steps)
        self.step_constant = zeros("Q", steps)
        self.code_index = zeros("i", abbreviations)
        self.table_first = zeros("i", 64)
        self.table_codes = zeros("i", 64)
        self.form_steps = array("i", [-100] * 0x40)
        self.slot_of = array("i", [-1] * 0x200)
        for attribute, slot in SLOT_OF_ATTRIBUTE.items():
            self.slot_of[attribute if attribute < 0x80 else attribute - 0x2000 + 0x80] = slot
        self.captured_step = zeros("i", 64)
        self.captured_slot = zeros("i", 64)
        self.captured_form = zeros("i", 64)
        self.captured_constant = zeros("Q", 64)
        self.codes = zeros("Q", 64)
        self.abbreviation_room = abbreviations
        self.step_room = steps
        self.captured_room = 64
        self.code_room = 64
        self.code_total = 0
        self.offset_size = 4
        self._count = 0
        self._step_count = 0
        self._code_count = 0
        self._table_count = 0
        self.forms = 0
        self._asked: list[int] = []

    def asked(self, table: int) -> int:
        """The forms of a table's captured attributes: a bit each for those below 48, bit 48 where one of them is a range list.

        Bits 49 and 50 stand for GNU's indexes of addresses and of strings.
        """
        return self._asked[table]

    def table(self, offset: int, address_size: int, offset_size: int, version: int) -> int:
        """The index of the table at ``offset`` as units of this shape read it. Raises `MalformedDwarf`."""
        key = (offset, address_size, offset_size, 2 if version <= 2 else 3)
        known = self._table_at.get(key)
        if known is not None:
            return known
        if key in self._refused:
            raise MalformedDwarf(self._refused[key])
        count, step_count = self._count, self._step_count
        try:
            known = self._table_at[key] = self._compile(offset, address_size, offset_size, version)
        except MalformedDwarf as error:
            self._refused[key] = error.message
            self._count, self._step_count = count, step_count
            raise
        return known

    def compile_ahead(self, address_size: int) -> None:
        """Compiles the tables that stand one behind another from the section's start, as most units of the file will read them.

        What can't be read is left for the units that ask for it.
        """
        offset = 0
        while True:
            while offset < self.data_size and self.data[offset] == 0:
                offset += 1
            if offset >= self.data_size:
                return
            budget = self._budget
            try:
                self.table(offset, address_size, 4, 5)
            except MalformedDwarf:
                return
            finally:
                self._budget = budget
            offset = self.position

    def _compile(self, offset: int, address_size: int, offset_size: int, version: int) -> int:
        if offset >= self.data_size:
            raise MalformedDwarf(f"abbreviation table at 0x{offset:x} lies outside .debug_abbrev")
        if self._budget < 0:
            raise MalformedDwarf(TOO_MANY_OVERLAP)
        for form in range(len(self.form_steps)):
            known = form_step(form, address_size, offset_size, version)
            self.form_steps[form] = -100 if known is None else known
        self.offset_size = offset_size
        first = self._count
        self.code_total = 0
        self.forms = 0
        trouble: cython.int
        try:
            trouble = self._read_table(offset)
        except IndexError:
            # To the section's end: what is cut off has cost as much as what is whole.
            self._budget -= self.data_size - offset
            raise MalformedDwarf(f"the abbreviation table at 0x{offset:x} is cut off") from None
        self._budget -= self.position - offset
        if trouble == 1:
            raise MalformedDwarf(f"unknown form in the abbreviation table at 0x{offset:x}")
        if trouble == 2:
            raise MalformedDwarf(f"an abbreviation at 0x{self.position:x} is too large to be true")
        if self._budget < 0:
            raise MalformedDwarf(TOO_MANY_OVERLAP)
        table = self._index_codes(first)
        self._asked.append(self.forms)
        return table

    def _read_table(self, p: cython.Py_ssize_t) -> cython.int:
        """Reads declarations up to the table's end. Gives 0, 1 for an unknown form, 2 for an absurd size; `IndexError` where cut off."""
        code: cython.ulonglong
        tag: cython.ulonglong
        attribute: cython.ulonglong
        form: cython.ulonglong
        step: cython.int
        slot: cython.int
        slots: cython.longlong
        declared: cython.bint
        run: cython.int
        capture_run: cython.int
        constant: cython.ulonglong
        n: cython.Py_ssize_t
        skip: cython.Py_ssize_t
        captured: cython.Py_ssize_t
        i: cython.Py_ssize_t
        self.position = p
        while p < self.data_size:
            code = self.uleb(p)
            p = self.position
            if code == 0:
                break
            tag = self.uleb(p)
            p = self.position
            n = self._count
            if n + 1 >= self.abbreviation_room:
                self._grow_abbreviations()
            self.children[n] = 1 if self.data[p] != 0 else 0
            p += 1
            skip = self._step_count
            captured = 0
            slots = 0
            declared = False
            run = 0
            capture_run = 0
            while True:
                attribute = self.uleb(p)
                form = self.uleb(self.position)
                p = self.position
                constant = 0
                if form == 0x21:
                    constant = self.sleb(p)
                    p = self.position
                if attribute == 0 and form == 0:
                    break
                step = self._step_of(form)
                if step == -100:
                    return 1
                if self._step_count + 4 >= self.step_room:
                    self._grow_steps()
                if captured + 4 >= self.captured_room:
                    self._grow_captured()
                if step >= 0:
                    run += step
                elif step != -8:
                    if run:
                        self.step[self._step_count] = run
                        self._step_count += 1
                        run = 0
                    self.step[self._step_count] = step
                    self._step_count += 1
                slot = -1
                if attribute == 0x3C:
                    declared = True
                if attribute < 0x80:
                    slot = self.slot_of[attribute]
                elif 0x2000 <= attribute < 0x2180:
                    slot = self.slot_of[attribute - 0x2000 + 0x80]
                if slot >= 0 and slots >> slot & 1 == 0:
                    self.forms |= self._bit_of(form)
                    if slot == 6:
                        self.forms |= cython.cast(cython.ulonglong, 1) << 48
                    slots |= cython.cast(cython.longlong, 1) << slot
                    if capture_run:
                        captured = self._capture(captured, capture_run, -1, 0, 0)
                        capture_run = 0
                    captured = self._capture(captured, step, slot, cython.cast(cython.int, form), constant)
                elif step >= 0:
                    capture_run += step
                elif step != -8:
                    if capture_run:
                        captured = self._capture(captured, capture_run, -1, 0, 0)
                        capture_run = 0
                    captured = self._capture(captured, step, -1, 0, 0)
                if run > 1000000 or capture_run > 1000000:
                    return 2
            if run:
                self.step[self._step_count] = run
                self._step_count += 1
            if capture_run:
                captured = self._capture(captured, capture_run, -1, 0, 0)
            self.skip_first[n] = skip
            self.skip_end[n] = self._step_count
            while self._step_count + captured + 4 >= self.step_room:
                self._grow_steps()
            self.capture_first[n] = self._step_count
            for i in range(captured):
                self.step[self._step_count + i] = self.captured_step[i]
                self.step_slot[self._step_count + i] = self.captured_slot[i]
                self.step_form[self._step_count + i] = self.captured_form[i]
                self.step_constant[self._step_count + i] = self.captured_constant[i]
            self._step_count += captured
            self.capture_end[n] = self._step_count
            self.kind[n] = self._kind(tag, slots, declared)
            self._add_code(code)
            self._count = n + 1
        self.position = p
        return 0

    def _step_of(self, form: cython.ulonglong) -> cython.int:
        """The step of a form in the table being read, -100 for an unknown one."""
        if form < 0x40:
            return self.form_steps[form]
        if form == 0x1F01 or form == 0x1F02:
            return -1
        if form == 0x1F20 or form == 0x1F21:
            return self.offset_size
        return -100

    def _bit_of(self, form: cython.ulonglong) -> cython.ulonglong:
        """The bit of a form in `asked`, none for those that no other section is needed for."""
        if form < 48:
            return cython.cast(cython.ulonglong, 1) << form
        if form == 0x1F01:
            return cython.cast(cython.ulonglong, 1) << 49
        if form == 0x1F02:
            return cython.cast(cython.ulonglong, 1) << 50
        return 0

    def _capture(
        self, at: cython.Py_ssize_t, step: cython.int, slot: cython.int, form: cython.int, constant: cython.ulonglong
    ) -> cython.Py_ssize_t:
        self.captured_step[at] = step
        self.captured_slot[at] = slot
        self.captured_form[at] = form
        self.captured_constant[at] = constant
        return at + 1

    def _kind(self, tag: cython.ulonglong, slots: cython.longlong, declared: cython.bint) -> cython.int:
        """What the walk does at a DIE of this tag whose abbreviation carries these slots (a bit set), and DW_AT_declaration or not."""
        if tag == INLINED_SUBROUTINE:
            return INLINED
        if tag == SUBPROGRAM or tag == ENTRY_POINT:
            if slots & HAS_CODE:
                return WITH_CODE if tag == SUBPROGRAM else ENTRY
            if declared:
                return OTHER if slots & HAS_OTHER_NAME else DECLARATION
            return NAMED_ELSEWHERE if slots & HAS_OTHER_NAME else ABSTRACT
        if tag == NAMESPACE:
            return NAMESPACE_SCOPE
        if tag == STRUCTURE_TYPE or tag == CLASS_TYPE or tag == UNION_TYPE:
            return SCOPE
        if tag == ENUMERATION_TYPE or tag == MODULE or tag == INTERFACE_TYPE:
            return SCOPE
        return OTHER

    def _add_code(self, code: cython.ulonglong) -> cython.int:
        n: cython.Py_ssize_t = self.code_total
        if n >= self.code_room:
            self.codes = grown(self.codes, n + 1)
            self.code_room = len(self.codes)
        self.codes[n] = code
        self.code_total = n + 1
        return 0

    def _grow_steps(self) -> None:
        self.step = grown(self.step, 0)
        self.step_slot = grown(self.step_slot, 0)
        self.step_form = grown(self.step_form, 0)
        self.step_constant = grown(self.step_constant, 0)
        self.step_room = len(self.step)

    def _grow_captured(self) -> None:
        self.captured_step = grown(self.captured_step, 0)
        self.captured_slot = grown(self.captured_slot, 0)
        self.captured_form = grown(self.captured_form, 0)
        self.captured_constant = grown(self.captured_constant, 0)
        self.captured_room = len(self.captured_step)

    def _grow_abbreviations(self) -> None:
        wanted = 2 * self.abbreviation_room
        self.kind = grown(self.kind, wanted)
        self.children = grown(self.children, wanted)
        self.skip_first = grown(self.skip_first, wanted)
        self.skip_end = grown(self.skip_end, wanted)
        self.capture_first = grown(self.capture_first, wanted)
        self.capture_end = grown(self.capture_end, wanted)
        self.abbreviation_room = len(self.kind)

    def _index_codes(self, first: int) -> int:
        """Lays a dense map from code to abbreviation; a table with wild codes is refused."""
        total: cython.Py_ssize_t = self.code_total
        highest: cython.ulonglong = 0
        i: cython.Py_ssize_t
        for i in range(total):
            if self.codes[i] > highest:
                highest = self.codes[i]
        if highest > 16 * total + 4096:
            raise MalformedDwarf(f"abbreviation code {highest} is out of all proportion")
        base: cython.Py_ssize_t = self._code_count
        size: cython.Py_ssize_t = highest + 1
        at: cython.Py_ssize_t
        if base + size > self._code_budget:
            raise MalformedDwarf("the codes of all abbreviation tables together are out of all proportion")
        if base + size >= len(self.code_index):
            self.code_index = grown(self.code_index, base + size + 1)
        for i in range(size):
            self.code_index[base + i] = -1
        for i in range(total):
            at = base + cython.cast(cython.Py_ssize_t, self.codes[i])
            if self.code_index[at] < 0:
                self.code_index[at] = first + i
        self._code_count = base + size
        table = self._table_count
        if table + 1 >= len(self.table_first):
            self.table_first = grown(self.table_first, table + 2)
            self.table_codes = grown(self.table_codes, table + 2)
        self.table_first[table] = base
        self.table_codes[table] = size
        self._table_count += 1
        return table
