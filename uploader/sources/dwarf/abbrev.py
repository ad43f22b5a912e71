"""`.debug_abbrev` compiled into step lists (DWARF 5 §7.5.3).

Every abbreviation becomes two short programs. *Skip* steps over a DIE that nobody asks about: neighbouring fixed-size forms are merged,
so that most DIEs cost one addition. *Capture* keeps the attributes that have a slot (`constants.SLOT_OF_ATTRIBUTE`).
All tables of a section lie in one set of flat columns, which the walk reads without the GIL.

A step is a byte count, or one of the negative codes (`constants.STEP_LEB` and its like) for what can't be sized without looking.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import grown, zeros
from uploader.core.numbers import NumberReader
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.forms import form_step
from uploader.sources.dwarf.kinds import kind_of

TOO_MANY_OVERLAP = "too many overlapping abbreviation tables to be true"

MAX_STEP = cython.declare(cython.int, 1000000)
"""No attributes of fixed size in a row are so many bytes long."""

NO_SLOT = cython.declare(cython.int, -1)

STANDARD_FORMS = cython.declare(cython.ulonglong, 0x40)
"""The forms below are looked up in a column."""

STANDARD_ATTRIBUTES = cython.declare(cython.ulonglong, 0x80)
VENDOR_ATTRIBUTES = cython.declare(cython.ulonglong, 0x2000)
VENDOR_ATTRIBUTES_END = cython.declare(cython.ulonglong, 0x2180)
"""The attributes below the first, and between the other two, are looked up in a column, one group behind the other."""

ASKED_RANGES = cython.declare(cython.ulonglong, constants.ASKED_RANGES)
ASKED_GNU_ADDR_INDEX = cython.declare(cython.ulonglong, constants.ASKED_GNU_ADDR_INDEX)
ASKED_GNU_STR_INDEX = cython.declare(cython.ulonglong, constants.ASKED_GNU_STR_INDEX)


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
        self.capture_first = zeros("i", abbreviations)
        self.skip_step = zeros("i", steps)
        self.step = zeros("i", steps)
        self.step_slot = zeros("i", steps)
        self.step_form = zeros("i", steps)
        self.step_constant = zeros("Q", steps)
        self.codes = zeros("Q", 64)
        self.code_index = zeros("i", abbreviations)
        self.table_first = zeros("i", 64)
        self.table_codes = zeros("i", 64)
        self.form_steps = array("i", [constants.STEP_UNKNOWN] * STANDARD_FORMS)
        self.slot_of = array("i", [NO_SLOT] * (STANDARD_ATTRIBUTES + VENDOR_ATTRIBUTES_END - VENDOR_ATTRIBUTES))
        for attribute, slot in constants.SLOT_OF_ATTRIBUTE.items():
            self.slot_of[
                attribute if attribute < STANDARD_ATTRIBUTES else attribute - VENDOR_ATTRIBUTES + STANDARD_ATTRIBUTES
            ] = slot
        self.abbreviation_room = abbreviations
        self.skip_room = self.step_room = steps
        self.code_room = 64
        self.offset_size = 4
        self.declared = False
        self.count = 0
        self.skip_count = 0
        self.step_count = 0
        self.code_total = 0
        self.code_count = 0
        self.table_count = 0
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
        before = self.count, self.skip_count, self.step_count
        try:
            known = self._table_at[key] = self._compile(offset, address_size, offset_size, version)
        except MalformedDwarf as error:
            self._refused[key] = error.message
            self.count, self.skip_count, self.step_count = before
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
            self.form_steps[form] = constants.STEP_UNKNOWN if known is None else known
        self.offset_size = offset_size
        first = self.count
        self.code_total = 0
        self.forms = 0
        try:
            self._read_table(offset)
        except IndexError:
            # What is cut off has cost as much as what is whole.
            self.position = self.data_size
            raise MalformedDwarf(f"the abbreviation table at 0x{offset:x} is cut off") from None
        finally:
            self._budget -= self.position - offset
        if self._budget < 0:
            raise MalformedDwarf(TOO_MANY_OVERLAP)
        table = self._index_codes(first)
        self._asked.append(self.forms)
        return table

    def _read_table(self, begin: cython.longlong) -> cython.int:
        """Reads declarations up to the table's end. Raises `MalformedDwarf`, and `IndexError` where they are cut off."""
        p: cython.longlong = begin
        code: cython.ulonglong
        tag: cython.ulonglong
        n: cython.Py_ssize_t
        slots: cython.longlong
        while p < self.data_size:
            code = self.uleb(p)
            if code == 0:
                break
            tag = self.uleb(self.position)
            n = self.count
            self._make_room(n)
            self.children[n] = self.data[self.position] != 0
            self.declared = False
            slots = self._read_attributes(self.position + 1)
            if slots < 0:
                raise MalformedDwarf(f"unknown form in the abbreviation table at 0x{begin:x}")
            self.kind[n] = kind_of(tag, slots, self.declared)
            self.skip_first[n + 1] = self.skip_count
            self.capture_first[n + 1] = self.step_count
            self._add_code(code)
            self.count = n + 1
            p = self.position
        return 0

    def _read_attributes(self, p: cython.longlong) -> cython.longlong:
        """Appends the attributes listed from ``p`` on to both programs; gives their slots, a bit set, or -1 for an unknown form."""
        attribute: cython.ulonglong
        form: cython.ulonglong
        constant: cython.ulonglong
        step: cython.int
        slot: cython.int
        one: cython.longlong = 1
        slots: cython.longlong = 0
        while True:
            attribute = self.uleb(p)
            form = self.uleb(self.position)
            constant = self.sleb(self.position) if form == constants.FORM_IMPLICIT_CONST else 0
            p = self.position
            if attribute == 0 and form == 0:
                return slots
            step = self._step_of(form)
            if step == constants.STEP_UNKNOWN:
                return -1
            if attribute == constants.AT_DECLARATION:
                self.declared = True
            self._skip(step)
            slot = self._slot_of(attribute)
            if slot >= 0 and slots >> slot & 1 == 0:
                slots |= one << slot
                self.forms |= self._bit_of(form)
                if slot == constants.SLOT_RANGES:
                    self.forms |= ASKED_RANGES
                self._put_step(step, slot, cython.cast(cython.int, form), constant)
            else:
                self._pass(step)
        return slots

    def _skip(self, step: cython.int) -> cython.int:
        """Appends a step to the abbreviation's skip program, or to its last step."""
        n: cython.Py_ssize_t = self.skip_count
        if step == constants.STEP_CONSTANT or step == 0:
            return 0
        if step > 0 and n > self.skip_first[self.count] and self.skip_step[n - 1] > 0:
            self.skip_step[n - 1] += step
            return self._check(self.skip_step[n - 1])
        if n >= self.skip_room:
            self.skip_step = grown(self.skip_step, n + 1)
            self.skip_room = len(self.skip_step)
        self.skip_step[n] = step
        self.skip_count = n + 1
        return 0

    def _pass(self, step: cython.int) -> cython.int:
        """Appends a step over an attribute without a slot to the abbreviation's capture program, or to its last step."""
        last: cython.Py_ssize_t = self.step_count - 1
        if step == constants.STEP_CONSTANT or step == 0:
            return 0
        if step > 0 and last >= self.capture_first[self.count] and self.step_slot[last] < 0 and self.step[last] > 0:
            self.step[last] += step
            return self._check(self.step[last])
        return self._put_step(step, NO_SLOT, 0, 0)

    def _check(self, step: cython.int) -> cython.int:
        if step > MAX_STEP:
            raise MalformedDwarf(f"an abbreviation at 0x{self.position:x} is too large to be true")
        return 0

    def _put_step(self, step: cython.int, slot: cython.int, form: cython.int, constant: cython.ulonglong) -> cython.int:
        n: cython.Py_ssize_t = self.step_count
        if n >= self.step_room:
            self.step = grown(self.step, n + 1)
            self.step_slot = grown(self.step_slot, n + 1)
            self.step_form = grown(self.step_form, n + 1)
            self.step_constant = grown(self.step_constant, n + 1)
            self.step_room = len(self.step)
        self.step[n] = step
        self.step_slot[n] = slot
        self.step_form[n] = form
        self.step_constant[n] = constant
        self.step_count = n + 1
        return 0

    def _step_of(self, form: cython.ulonglong) -> cython.int:
        """The step of a form in the table being read."""
        if form < STANDARD_FORMS:
            return self.form_steps[form]
        if form == constants.FORM_GNU_ADDR_INDEX or form == constants.FORM_GNU_STR_INDEX:
            return constants.STEP_LEB
        if form == constants.FORM_GNU_REF_ALT or form == constants.FORM_GNU_STRP_ALT:
            return self.offset_size
        return constants.STEP_UNKNOWN

    def _slot_of(self, attribute: cython.ulonglong) -> cython.int:
        if attribute < STANDARD_ATTRIBUTES:
            return self.slot_of[attribute]
        if VENDOR_ATTRIBUTES <= attribute < VENDOR_ATTRIBUTES_END:
            return self.slot_of[attribute - VENDOR_ATTRIBUTES + STANDARD_ATTRIBUTES]
        return NO_SLOT

    def _bit_of(self, form: cython.ulonglong) -> cython.ulonglong:
        """The bit of a form in `asked`, none for those that no other section is needed for."""
        if form < constants.ASKED_FORMS:
            return cython.cast(cython.ulonglong, 1) << form
        if form == constants.FORM_GNU_ADDR_INDEX:
            return ASKED_GNU_ADDR_INDEX
        if form == constants.FORM_GNU_STR_INDEX:
            return ASKED_GNU_STR_INDEX
        return 0

    def _add_code(self, code: cython.ulonglong) -> cython.int:
        n: cython.Py_ssize_t = self.code_total
        if n >= self.code_room:
            self.codes = grown(self.codes, n + 1)
            self.code_room = len(self.codes)
        self.codes[n] = code
        self.code_total = n + 1
        return 0

    def _make_room(self, n: cython.Py_ssize_t) -> cython.int:
        """Lets there be an abbreviation ``n``, and a place for where the next one's programs begin."""
        if n + 1 >= self.abbreviation_room:
            self.kind = grown(self.kind, n + 2)
            self.children = grown(self.children, n + 2)
            self.skip_first = grown(self.skip_first, n + 2)
            self.capture_first = grown(self.capture_first, n + 2)
            self.abbreviation_room = len(self.kind)
        return 0

    def _index_codes(self, first: cython.Py_ssize_t) -> cython.int:
        """Lays a dense map from code to abbreviation; a table with wild codes is refused."""
        total: cython.Py_ssize_t = self.code_total
        highest: cython.ulonglong = 0
        i: cython.Py_ssize_t
        for i in range(total):
            if self.codes[i] > highest:
                highest = self.codes[i]
        if highest > 16 * cython.cast(cython.ulonglong, total) + 4096:
            raise MalformedDwarf(f"abbreviation code {highest} is out of all proportion")
        base: cython.Py_ssize_t = self.code_count
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
        self.code_count = base + size
        table: cython.Py_ssize_t = self.table_count
        if table + 1 >= len(self.table_first):
            self.table_first = grown(self.table_first, table + 2)
            self.table_codes = grown(self.table_codes, table + 2)
        self.table_first[table] = base
        self.table_codes[table] = size
        self.table_count += 1
        return table
