"""What captured DIEs say of code: functions, and the calls that are inlined into them. Nothing is resolved but single addresses."""

from __future__ import annotations

from collections.abc import Sequence

import cython

from uploader.core.numbers import NumberReader
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.code_ranges import CodeRanges
from uploader.sources.dwarf.die import DieReader
from uploader.sources.dwarf.tables import FunctionTable, NodeTable
from uploader.sources.dwarf.unit_columns import UnitColumns

HAS_RANGES = cython.declare(cython.longlong, 1 << constants.SLOT_RANGES)
HAS_BOUNDS = cython.declare(cython.longlong, 1 << constants.SLOT_LOW_PC | 1 << constants.SLOT_HIGH_PC)


WILD = cython.declare(cython.ulonglong, 0x7FFFFFFF)
"""No file index or line is as large."""
ALL_ONES = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)


class CodeFound:
    """The tables of functions and nodes, filled from the DIEs that ``reader`` has captured; ``unit`` is theirs."""

    def __init__(
        self,
        reader: DieReader,
        addresses: bytes | memoryview,
        executable: Sequence[tuple[int, int]],
        end_of_first: int,
        size_bytes: int,
    ) -> None:
        """``end_of_first`` is where the one function ends that may start at address 0; 0 where any may.

        ``size_bytes`` is about how much of `.debug_info` will be walked in one go.
        """
        self.reader = reader
        self.units = UnitColumns([])
        self.unit = 0
        self.addresses = NumberReader(addresses, little_endian=reader.little_endian)
        self.code = CodeRanges(executable)
        self.end_of_first = end_of_first
        # Seldom more are found.
        self.functions = FunctionTable(64 + size_bytes // 128)
        self.nodes = NodeTable(64 + size_bytes // 64)
        self.dropped = 0
        self.pc = constants.PC_NONE
        self.a = 0
        self.b = 0

    def function(self, die: cython.ulonglong) -> cython.longlong:
        """Keeps a subprogram; gives its index, or -1 where it is plainly dead."""
        self._read_place()
        if self.pc == constants.PC_NONE:
            return -1
        if self.pc == constants.PC_BOUNDS:
            if self.b <= self.a or self.b > self.code.end_at(self.a):
                if self.b != self.a and not self._dead(self.a):
                    self.dropped += 1
                return -1
            if self.a == 0 and self.end_of_first != 0 and self.b != self.end_of_first:
                return -1
        return self.functions.put(
            die,
            self.unit,
            self.pc,
            self.a,
            self.b,
            self._small(constants.SLOT_DECL_FILE),
            self._small(constants.SLOT_DECL_LINE),
        )

    def node(self, function: cython.longlong, depth: cython.uint) -> cython.uint:
        """Keeps an inlined subroutine; gives its depth. One that states no code is kept until nothing was found in it, either."""
        self._read_place()
        if self.pc == constants.PC_BOUNDS and self.b <= self.a:
            self.pc = constants.PC_NONE
            if self.b < self.a and not self._dead(self.a):
                self.dropped += 1
        self.forget_empty_nodes(function, depth)
        self.nodes.put(
            cython.cast(cython.uint, function),
            depth + 1,
            self.reader.reference(constants.SLOT_ABSTRACT_ORIGIN),
            self._small(constants.SLOT_CALL_FILE),
            self._small(constants.SLOT_CALL_LINE),
            self.pc,
            self.a,
            self.b,
        )
        return depth + 1

    def forget_empty_nodes(self, function: cython.longlong, depth: cython.uint) -> cython.int:
        """Drops the nodes kept last that state no code and are closed, where a node of that function comes next, ``depth`` deep."""
        last: cython.Py_ssize_t = self.nodes.count - 1
        while last >= 0 and self.nodes.pc[last] == constants.PC_NONE:
            if self.nodes.function[last] < function or (
                self.nodes.function[last] == function and self.nodes.depth[last] <= depth
            ):
                break
            last -= 1
        self.nodes.count = last + 1
        return 0

    def forget_last_nodes(self) -> None:
        """Drops the nodes kept last that state no code, as nothing comes behind them."""
        self.forget_empty_nodes(-1, 0)

    def _read_place(self) -> cython.int:
        """Reads how the DIE says where its code lies, into ``pc``, ``a`` and ``b`` (`tables.FunctionTable`)."""
        self.pc = constants.PC_NONE
        self.a = 0
        self.b = 0
        if self.reader.present & HAS_RANGES:
            self.pc = constants.PC_RANGES
            self.a = self.reader.value[constants.SLOT_RANGES]
            self.b = self.reader.form[constants.SLOT_RANGES]
        elif self.reader.present & HAS_BOUNDS == HAS_BOUNDS:
            self.pc = constants.PC_BOUNDS
            self.a = self._address(self.reader.form[constants.SLOT_LOW_PC], self.reader.value[constants.SLOT_LOW_PC])
            self.b = self._high(self.a)
        return 0

    def _small(self, slot: cython.int) -> cython.uint:
        """A file index or a line number: 0 where it is absent or wild."""
        if not self.reader.present >> slot & 1 or self.reader.value[slot] >= WILD:
            return 0
        return cython.cast(cython.uint, self.reader.value[slot])

    def _address(self, form: cython.int, raw: cython.ulonglong) -> cython.ulonglong:
        """The address that an address-class value means (DWARF 5 §7.5.5); 0 where `.debug_addr` does not hold it."""
        if form == constants.FORM_ADDR:
            return raw
        if not _is_index(form):
            return 0
        at: cython.longlong = self.units.address_place(self.unit, raw, self.addresses.data_size)
        return self.addresses.fixed(at, self.reader.address_size) if at >= 0 else 0

    def _high(self, low: cython.ulonglong) -> cython.ulonglong:
        """DW_AT_high_pc as an address: a constant counts from the low pc (DWARF 4 §2.17.2)."""
        form: cython.int = self.reader.form[constants.SLOT_HIGH_PC]
        raw: cython.ulonglong = self.reader.value[constants.SLOT_HIGH_PC]
        if form == constants.FORM_ADDR or _is_index(form):
            return self._address(form, raw)
        return low + raw if raw <= ALL_ONES - low else 0

    def _dead(self, start: cython.ulonglong) -> cython.bint:
        """Whether an address is one that linkers give to code that they drop: below all code, or the last but one or two there are."""
        top: cython.ulonglong = ALL_ONES >> (64 - 8 * self.reader.address_size)
        return start >= top - 1 or start < self.code.start[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _is_index(form: cython.int) -> cython.bint:
    """Whether a form gives an address by its index in `.debug_addr`."""
    return (
        form == constants.FORM_ADDRX
        or constants.FORM_ADDRX1 <= form <= constants.FORM_ADDRX4
        or form == constants.FORM_GNU_ADDR_INDEX
    )
