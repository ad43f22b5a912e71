"""Range lists: `.debug_ranges` (DWARF 4 §2.17.3) and `.debug_rnglists` (DWARF 5 §7.25), decoded into columns."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.core.numbers import NumberReader
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.code_ranges import CodeRanges
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.tables import FunctionTable, NodeTable, RangeTable
from uploader.sources.dwarf.unit_columns import UnitColumns
from uploader.symbols.touching import join_touching

ALL_ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)


@cython.final
@cython.cclass
class RangeReader:
    """Turns the range references of a walk into ascending, disjoint ranges.

    A bad entry costs that entry, a list that is cut off or leaves its section costs the rest of that list. The total work is bounded by a
    multiple of the sections' size, however often a hostile file refers to one list.
    """

    ranges: NumberReader
    ranges_size: cython.longlong
    rnglists: NumberReader
    rnglists_size: cython.longlong
    leb_end: cython.longlong
    addresses: NumberReader
    budget: cython.longlong

    units: UnitColumns

    found: RangeTable
    position: cython.longlong
    dropped: cython.Py_ssize_t
    top: cython.ulonglong

    def __init__(self, sections: DwarfSections, units: UnitColumns, size_bytes: int = 0) -> None:
        """``size_bytes`` is about how much of `.debug_info` will ask in one go."""
        little_endian = sections.little_endian
        self.ranges = NumberReader(sections.ranges, little_endian=little_endian)
        self.ranges_size = len(sections.ranges)
        self.rnglists = NumberReader(sections.rnglists, little_endian=little_endian)
        self.rnglists_size = len(sections.rnglists)
        # A LEB128 that begins before here ends in the section.
        self.leb_end = self.rnglists_size
        while self.leb_end > 0 and sections.rnglists[self.leb_end - 1] >= 0x80:
            self.leb_end -= 1
        self.addresses = NumberReader(sections.addresses, little_endian=little_endian)
        self.budget = 0
        self.units = units
        # Seldom more are found.
        self.found = RangeTable(64 + size_bytes // 48)
        self.position = 0
        self.dropped = 0
        self.top = 0xFFFFFFFFFFFFFFFF
        self.allot(1.0)

    def allot(self, share: float) -> None:
        """Bounds the work that is to come. ``share`` is how much of the file's DIEs will ask, from 0 to 1."""
        self.budget = int(4 * share * (self.ranges_size + self.rnglists_size)) + 65536
        self.dropped = 0

    def dropped_count(self) -> int:
        """How many ranges, and rests of lists, could not be used since the last `allot`. What linkers drop is not counted."""
        return self.dropped

    def resolve(
        self,
        table: FunctionTable | NodeTable,
        unit: cython.uint[::1],
        executable: Sequence[tuple[int, int]] | None,
        end_of_first: int = 0,
    ) -> tuple[array[int], memoryview, memoryview]:
        """(first, start, end): the ranges of item ``i`` of a walk's table are ``first[i]:first[i + 1]``.

        ``unit`` gives each item's unit. With ``executable``, only ranges that lie in executable code count, and of those that
        start at address 0 only such as end at ``end_of_first``, unless that is 0. The next call uses the memory of what this one gave.
        """
        n: cython.Py_ssize_t = len(unit)
        first_column = array("I", [0]) * (n + 1)
        first: cython.uint[::1] = first_column
        pc: cython.uint[::1] = table.pc
        a: cython.ulonglong[::1] = table.a
        b: cython.ulonglong[::1] = table.b
        code: CodeRanges = CodeRanges(executable or ())
        first_end: cython.ulonglong = end_of_first
        checked: cython.bint = executable is not None
        self.found.count = 0
        i: cython.Py_ssize_t
        before: cython.Py_ssize_t
        with cython.nogil:
            for i in range(n):
                before = self.found.count
                first[i] = before
                if pc[i] == constants.PC_BOUNDS:
                    self._keep(a[i], b[i])
                elif pc[i] == constants.PC_RANGES:
                    self._read_list(unit[i], a[i], cython.cast(cython.int, b[i]))
                    if checked:
                        self._only_executable(before, code, first_end)
                    self._tidy(before)
            first[n] = self.found.count
        return first_column, *self.found.columns()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _keep(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.int:
        if start >= end:
            # Of an entry that is cut off the list's end tells.
            if start > end and start < self.top - 1 and self.position >= 0:
                self.dropped += 1
            return 0
        return self.found.put(start, end)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _read_list(self, unit: cython.uint, raw: cython.ulonglong, form: cython.int) -> cython.int:
        if raw >> 62:
            return self._drop()
        value: cython.longlong = cython.cast(cython.longlong, raw)
        if form != constants.FORM_RNGLISTX:
            value += self.units.ranges_start[unit]
        if self.units.version[unit] < 5:
            if form != constants.FORM_RNGLISTX:
                return self._read_pairs(unit, value)
            return self._drop()
        if form == constants.FORM_RNGLISTX:
            base: cython.longlong = self.units.rnglists_base[unit]
            size: cython.int = self.units.offset_size[unit]
            if base == 0:
                base = 12 if size == 4 else 20
            if value >= self.rnglists_size or base + value * size + size > self.rnglists_size:
                return self._drop()
            at: cython.ulonglong = self.rnglists.fixed(base + value * size, size)
            if at >= cython.cast(cython.ulonglong, self.rnglists_size):
                return self._drop()
            value = base + cython.cast(cython.longlong, at)
        if value >= self.rnglists_size:
            return self._drop()
        return self._read_entries(unit, value)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _read_pairs(self, unit: cython.uint, p: cython.longlong) -> cython.int:
        """A list of `.debug_ranges`."""
        size: cython.int = self.units.address_size[unit]
        top: cython.ulonglong = self._top(size)
        self.top = top
        base: cython.ulonglong = self.units.low_pc[unit]
        start: cython.ulonglong
        end: cython.ulonglong
        self.position = p
        while p + 2 * size <= self.ranges_size and self.budget > 0:
            self.budget -= 1
            start = self.ranges.fixed(p, size)
            end = self.ranges.fixed(p + size, size)
            p += 2 * size
            if start == 0 and end == 0:
                return 0
            if start == top:
                base = end
            elif start < end and base != top:
                self._keep(self._sum(base, start, top), self._sum(base, end, top))
            elif start > end:
                self.dropped += 1
        return self._drop()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _drop(self) -> cython.int:
        """Counts what is left of a list that is cut off or leads out of its section."""
        self.dropped += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _read_entries(self, unit: cython.uint, p: cython.longlong) -> cython.int:
        """A list of `.debug_rnglists`."""
        size: cython.int = self.units.address_size[unit]
        top: cython.ulonglong = self._top(size)
        self.top = top
        base: cython.ulonglong = self.units.low_pc[unit]
        kind: cython.int
        start: cython.ulonglong
        end: cython.ulonglong
        while p < self.rnglists_size and self.budget > 0:
            self.budget -= 1
            kind = self.rnglists.data[p]
            self.position = p + 1
            if kind == constants.RLE_END_OF_LIST:
                return 0
            if kind == constants.RLE_BASE_ADDRESSX:
                base = self._indexed(unit, self._leb())
            elif kind == constants.RLE_STARTX_ENDX:
                start = self._indexed(unit, self._leb())
                end = self._indexed(unit, self._leb())
                self._keep(start, end)
            elif kind == constants.RLE_STARTX_LENGTH:
                start = self._indexed(unit, self._leb())
                end = self._sum(start, self._leb(), top)
                self._keep(start, end)
            elif kind == constants.RLE_OFFSET_PAIR:
                start = self._leb()
                end = self._leb()
                if base != top and start < end:
                    self._keep(self._sum(base, start, top), self._sum(base, end, top))
                elif base != top and start > end:
                    self.dropped += 1
            elif kind == constants.RLE_BASE_ADDRESS:
                base = self._plain(size)
            elif kind == constants.RLE_START_END:
                start = self._plain(size)
                end = self._plain(size)
                self._keep(start, end)
            elif kind == constants.RLE_START_LENGTH:
                start = self._plain(size)
                end = self._sum(start, self._leb(), top)
                self._keep(start, end)
            else:
                break
            if self.position < 0:
                break
            p = self.position
        return self._drop()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _top(self, size: cython.int) -> cython.ulonglong:
        return ALL_ONES >> (64 - 8 * size)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _sum(self, one: cython.ulonglong, other: cython.ulonglong, top: cython.ulonglong) -> cython.ulonglong:
        """The sum, 0 where it overflows the address size."""
        if one > top or other > top - one:
            return 0
        return one + other

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _leb(self) -> cython.ulonglong:
        """An unsigned LEB128 of `.debug_rnglists`; ``position`` becomes -1 where it is cut off."""
        p: cython.longlong = self.position
        if p < 0 or p >= self.leb_end:
            self.position = -1
            return 0
        value: cython.ulonglong = self.rnglists.data[p]
        self.position = p + 1
        if value >= 0x80:
            value = self.rnglists.uleb(p)
            self.position = self.rnglists.position
        return value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _plain(self, size: cython.int) -> cython.ulonglong:
        """An address of `.debug_rnglists`; ``position`` becomes -1 where it is cut off."""
        p: cython.longlong = self.position
        if p < 0 or p + size > self.rnglists_size:
            self.position = -1
            return 0
        self.position = p + size
        return self.rnglists.fixed(p, size)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
    def _indexed(self, unit: cython.uint, index: cython.ulonglong) -> cython.ulonglong:
        """An address of `.debug_addr`, 0 where it holds none."""
        at: cython.longlong = self.units.address_place(unit, index, self.addresses.data_size)
        if at < 0:
            self.dropped += 1
            return 0
        return self.addresses.fixed(at, self.units.address_size[unit])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _only_executable(self, before: cython.Py_ssize_t, code: CodeRanges, first_end: cython.ulonglong) -> cython.int:
        """Drops the ranges from ``before`` on that don't lie in executable code."""
        kept: cython.Py_ssize_t = before
        i: cython.Py_ssize_t
        code_end: cython.ulonglong
        for i in range(before, self.found.count):
            if self.found.start[i] == 0 and first_end != 0 and self.found.end[i] != first_end:
                continue
            code_end = code.end_at(self.found.start[i])
            if self.found.end[i] <= code_end:
                self.found.start[kept] = self.found.start[i]
                self.found.end[kept] = self.found.end[i]
                kept += 1
            elif code_end > 0 and self.found.start[i] < self.top - 1:
                # What begins below all code, or at the top of what can be addressed, a linker has dropped.
                self.dropped += 1
        self.found.count = kept
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _tidy(self, before: cython.Py_ssize_t) -> cython.int:
        """Sorts the ranges from ``before`` on and joins those that touch or overlap."""
        self.found.count = join_touching(self.found.start, self.found.end, before, self.found.count)
        return 0
