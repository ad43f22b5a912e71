"""Names of functions: by abstract origins and specifications to a linkage name, or to a name with its scopes; each DIE read once.

The order is that of DWARF's own meaning (DWARF 5 §3.3.8.2, §2.13): the DIE, what it specifies or stems from, at most 16 steps.
A function that another one stands in is a scope of it, too, and a nameless class around an `operator()` a lambda.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.errors import MalformedDwarf
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.constants import (
    KIND_NAMED_ELSEWHERE,
    KIND_NAMESPACE,
    SLOT_ABSTRACT_ORIGIN,
    SLOT_LINKAGE_NAME,
    SLOT_NAME,
    SLOT_SPECIFICATION,
)
from uploader.sources.dwarf.die import DieReader
from uploader.sources.dwarf.linkage import scoped_name
from uploader.sources.dwarf.memo import Memo
from uploader.sources.dwarf.strings import StringReader
from uploader.sources.dwarf.tables import ScopeTable
from uploader.sources.dwarf.unit_columns import UnitColumns
from uploader.sources.dwarf.units import Unit
from uploader.symbols.columns import NameTable

WORK_FACTOR = 64
"""How many times their sections' size may be read for names; a compiler's files come to a few times."""

WORK_PER_SCOPE = 64
"""What reading a scope costs beside its name, in bytes of names."""

MAX_SCOPES = 64

IN_SUPPLEMENTARY = cython.declare(cython.longlong, constants.IN_SUPPLEMENTARY)

NAME = cython.declare(cython.int, SLOT_NAME)
LINKAGE_NAME = cython.declare(cython.int, SLOT_LINKAGE_NAME)
ORIGIN = cython.declare(cython.int, SLOT_ABSTRACT_ORIGIN)
SPECIFICATION = cython.declare(cython.int, SLOT_SPECIFICATION)


@cython.final
@cython.cclass
class NameReader:
    """Gives the number in a `NameTable` of the function that a DIE describes. Belongs to one thread.

    What it looks up again it finds without the GIL; only a name that is new is made into an object.
    """

    reader: DieReader
    units: list[Unit]
    columns: UnitColumns
    unit: cython.Py_ssize_t
    strings: StringReader
    text: cython.const[cython.uchar][::1]
    text_bytes: cython.Py_ssize_t
    scopes: dict[int, int]
    nested: dict[int, bytes]
    number_of: dict[bytes, int]
    names: list[bytes]
    memo: Memo
    strp_memo: Memo
    supplementary: NameReader | None
    known_end: cython.longlong
    waiting: cython.bint
    budget_bytes: cython.longlong
    work_bytes: cython.longlong
    at: cython.Py_ssize_t
    abbrev: cython.int
    named: cython.longlong
    name_form: cython.int
    name_value: cython.ulonglong
    name_unit: cython.Py_ssize_t

    def __init__(
        self,
        reader: DieReader,
        units: Sequence[Unit],
        columns: UnitColumns,
        strings: StringReader,
        table: NameTable,
        supplementary: NameReader | None = None,
    ) -> None:
        """``supplementary`` reads the file that dwz moved common DIEs to, and has the same ``table``."""
        self.reader = reader
        self.units = list(units)
        self.columns = columns
        self.unit = -1
        self.strings = strings
        self.text = strings.main_text or b"\0"
        self.text_bytes = len(strings.main_text)
        self.scopes = {}
        self.nested = table.nested
        self.number_of = table.number_of
        self.names = table.names
        # References lead into the unit that they stand in, or not far.
        self.memo = Memo(latest=True)
        self.strp_memo = Memo()
        self.supplementary = supplementary
        self.known_end = 0
        self.waiting = False
        self.budget_bytes = 2 * strings.size_bytes + 1048576
        # DIEs that many refer to, or stand in, are read for each of these anew: a long one would cost the square of the file.
        self.work_bytes = WORK_FACTOR * (strings.size_bytes + 1048576)
        self.at = 0
        self.abbrev = -1
        self.named = -1
        self.name_form = 0
        self.name_value = 0
        self.name_unit = 0

    def learn_scopes(self, scopes: ScopeTable, up_to: int) -> None:
        """Takes in which scope's DIE each of some DIEs stands in; those below ``up_to`` are then all known."""
        self.scopes.update(zip(memoryview(scopes.child), memoryview(scopes.parent), strict=True))
        self.known_end = up_to

    def know_all_scopes(self) -> None:
        """From now on no name waits for scopes."""
        self.known_end = IN_SUPPLEMENTARY

    def has_deferred(self) -> bool:
        """Whether the last ``numbers`` left a name at 0 whose scopes are not known yet: ask again once they are."""
        return bool(self.waiting)

    def numbers(self, offset: cython.ulonglong[::1]) -> array[int]:
        """The name numbers for a column of DIE offsets (0: no DIE), 0 where a name can't be found."""
        self.waiting = False
        n: cython.Py_ssize_t = len(offset)
        result = array("I", [0]) * n
        out: cython.uint[::1] = result
        damaged: cython.bint = False
        self.at = 0
        while self.at < n:
            try:
                with cython.nogil:
                    if damaged:
                        self._settle(offset, out)
                        damaged = False
                    self._run(offset, out, n)
            except (MalformedDwarf, IndexError):
                # The chain is damaged: what was found before the damage counts.
                if damaged:
                    self.at += 1
                damaged = not damaged
        return result

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _run(self, offset: cython.ulonglong[::1], out: cython.uint[::1], n: cython.Py_ssize_t) -> cython.int:
        """Numbers the items from ``at`` on."""
        known: cython.Py_ssize_t
        while self.at < n:
            if offset[self.at] == 0:
                self.at += 1
                continue
            known = self.memo.get(offset[self.at])
            if known >= 0:
                out[self.at] = known
                self.at += 1
                continue
            self.named = -1
            if offset[self.at] >> 62:
                self._keep(offset, out, 0)
            elif self._follow(cython.cast(cython.longlong, offset[self.at]), offset, out) == 0:
                self._settle(offset, out)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _keep(self, offset: cython.ulonglong[::1], out: cython.uint[::1], number: cython.uint) -> cython.int:
        """Sets the number of the item at ``at``, and goes on to the next."""
        self.memo.put(offset[self.at], number)
        out[self.at] = number
        self.at += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _follow(self, die: cython.longlong, offset: cython.ulonglong[::1], out: cython.uint[::1]) -> cython.bint:
        """Follows origins and specifications to a linkage name, and keeps it; else false, with the last plain name in ``name_*``."""
        number: cython.uint
        step: cython.int = 0
        while step < 16 and die > 0:
            if die & IN_SUPPLEMENTARY:
                with cython.gil:
                    number = self._elsewhere(die)
                if number:
                    self._keep(offset, out, number)
                    return True
                break
            if not self._read(die):
                break
            if self.reader.present >> LINKAGE_NAME & 1:
                number = self._number(self.reader.form[LINKAGE_NAME], self.reader.value[LINKAGE_NAME], self.unit)
                if number:
                    self._keep(offset, out, number)
                    return True
            if self.reader.present >> NAME & 1:
                self.name_form = self.reader.form[NAME]
                self.name_value = self.reader.value[NAME]
                self.name_unit = self.unit
                self.named = die
            die = self._next()
            step += 1
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _next(self) -> cython.longlong:
        """The DIE that the one read last stems from or specifies, 0 for none."""
        die: cython.longlong = self.reader.reference(ORIGIN)
        return die if die != 0 else self.reader.reference(SPECIFICATION)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _settle(self, offset: cython.ulonglong[::1], out: cython.uint[::1]) -> cython.int:
        """Keeps the plain name that a chain led to, with its scopes; where they are not known yet, the item waits."""
        number: cython.uint = 0
        if self.named >= 0:
            if self.named >= self.known_end:
                self.waiting = True
                self.at += 1
                return 0
            number = self._plain()
        self._keep(offset, out, number)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFE, check=True)
    def _plain(self) -> cython.uint:
        number: cython.uint
        with cython.gil:
            if self.named in self.scopes:
                number = self._qualified(
                    self.strings.read(self.strings.locate(self.name_form, self.name_value, self.units[self.name_unit])),
                    self.named,
                )
            else:
                number = self._number(self.name_form, self.name_value, self.name_unit)
        return number

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _read(self, offset: cython.longlong) -> cython.bint:
        """Captures the DIE at ``offset``; false where no unit holds it, it is a null entry, or too much was read already."""
        self.abbrev = -1
        if self.work_bytes < 0:
            return False
        if self.unit < 0 or offset < self.columns.offset[self.unit] or offset >= self.columns.end[self.unit]:
            found: cython.Py_ssize_t = self.columns.containing(offset)
            if found < 0:
                return False
            self.unit = found
        self.reader.enter_unit(self.columns, self.unit)
        self.abbrev = self.reader.abbrev_at(offset)
        if self.abbrev < 0:
            return False
        self.work_bytes -= self.reader.capture(self.reader.position, self.abbrev) - offset
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFE, check=True)
    def _number(self, form: cython.int, value: cython.ulonglong, unit: cython.Py_ssize_t) -> cython.uint:
        """The number of the string that a form means; 0 for an empty or unknown one."""
        known: cython.Py_ssize_t
        number: cython.uint
        if form == constants.FORM_STRP and value != 0:
            known = self.strp_memo.get(value)
            if known >= 0:
                return cython.cast(cython.uint, known)
            with cython.gil:
                number = self._intern(self._text_at(value))
            self.strp_memo.put(value, number)
            return number
        with cython.gil:
            number = self._intern(self.strings.read(self.strings.locate(form, value, self.units[unit])))
        return number

    @cython.cfunc
    def _text_at(self, offset: cython.ulonglong) -> bytes:
        """The string at an offset of `.debug_str`; empty where it has no end, lies outside, or too much was read already."""
        if not cython.compiled:
            return self.strings.read((1, offset))
        if offset >= cython.cast(cython.ulonglong, self.text_bytes) or self.strings.budget_bytes < 0:
            return b""
        begin: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, offset)
        end: cython.Py_ssize_t = begin
        while end < self.text_bytes and self.text[end] != 0:
            end += 1
        if end == self.text_bytes or end == begin:
            return b""
        self.strings.budget_bytes -= end - begin
        return cython.cast(cython.p_char, cython.address(self.text[begin]))[: end - begin]

    @cython.cfunc
    def _intern(self, name: bytes) -> cython.uint:
        """The number of a name; 0 for a new one where the names already outweigh the sections that they stand in."""
        known = self.number_of.get(name)
        if known is not None:
            return known
        self.budget_bytes -= len(name)
        if self.budget_bytes < 0:
            return 0
        # What `NameTable.intern` does, without the call: a large file has a million names.
        known = self.number_of[name] = len(self.names)
        self.names.append(name)
        return known

    def _elsewhere(self, offset: int) -> int:
        """The number of the name of a DIE in the supplementary file, whose references never lead back."""
        if self.supplementary is None:
            return 0
        return self.supplementary.numbers(memoryview(array("Q", [offset ^ IN_SUPPLEMENTARY])))[0]

    def _qualified(self, name: bytes, offset: int) -> int:
        """The number of ``name`` behind the names of the scopes that the DIE at ``offset`` stands in, as demanglers write them."""
        if self.work_bytes < 0:
            return 0
        parts = [name]
        child = offset
        nested = False
        while (scope := self.scopes.get(child)) is not None and len(parts) < MAX_SCOPES and scope < child:
            part = b""
            child = scope
            try:
                if self._read(scope):
                    if self.reader.abbrevs.kind[self.abbrev] >= KIND_NAMED_ELSEWHERE:
                        part, child = self._of_function(scope)
                        # Ada's compiler writes the scopes into the name.
                        if not part or parts[-1].startswith(part + b"__"):
                            break
                        nested = nested or len(parts) == 1
                    else:
                        part = self._own_name() or self._nameless(parts[-1])
            except (MalformedDwarf, IndexError):
                break
            self.work_bytes -= len(part) + WORK_PER_SCOPE
            parts.append(part or b"(anonymous)")
        number = self._intern(b"::".join(reversed(parts)))
        if nested:
            self.nested[number] = name
        return number

    def _own_name(self) -> bytes:
        """The plain name of the DIE that was read last."""
        if not self.reader.present >> NAME & 1:
            return b""
        return self._string(NAME)

    def _string(self, slot: int) -> bytes:
        return self.strings.read(
            self.strings.locate(self.reader.form[slot], self.reader.value[slot], self.units[self.unit])
        )

    def _of_function(self, die: int) -> tuple[bytes, int]:
        """The name of a function that others stand in, and the DIE whose scopes come before it (0: they are in the name)."""
        part, named = b"", die
        for _ in range(16):
            if self.reader.present >> LINKAGE_NAME & 1 and (scoped := scoped_name(self._string(LINKAGE_NAME))):
                return scoped, 0
            if own := self._own_name():
                part, named = own, die
            die = self._next()
            if die == 0 or die & IN_SUPPLEMENTARY or not self._read(die):
                break
        return part, named

    def _nameless(self, inner: bytes) -> bytes:
        """What stands for the scope that was read last, as it has no name; ``inner`` is what stands in it."""
        if self.reader.abbrevs.kind[self.abbrev] == KIND_NAMESPACE:
            return b"(anonymous namespace)"
        return b"{lambda}" if inner == b"operator()" else b"(anonymous)"
