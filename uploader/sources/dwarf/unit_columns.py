"""The units of one file as columns: what walks, ranges and names need to know of them without the GIL."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import cython

from uploader.sources.dwarf.units import Unit

MOST_ADDRESSES = cython.declare(cython.ulonglong, 0x10000000)
"""No index of an address is as large."""


class UnitColumns:
    """An item a unit, ascending by offset; the fields are those of `units.Unit`. Not to be changed once made."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self.count = len(units)
        self.offset = array("q", [unit.offset for unit in units])
        self.end = array("q", [unit.end for unit in units])
        self.first_die = array("q", [unit.first_die for unit in units])
        self.version = array("i", [unit.version for unit in units])
        self.table = array("i", [unit.table for unit in units])
        self.address_size = array("i", [unit.address_size for unit in units])
        self.offset_size = array("i", [unit.offset_size for unit in units])
        self.walked = array("i", [unit.walked for unit in units])
        self.low_pc = array("Q", [unit.low_pc for unit in units])
        self.addr_base = array("q", [unit.addr_base for unit in units])
        self.address_stride = array("i", [unit.address_stride for unit in units])
        self.rnglists_base = array("q", [unit.rnglists_base for unit in units])
        self.ranges_start = array("q", [unit.ranges_start for unit in units])

    def __len__(self) -> int:
        return self.count

    def span(self, index: int) -> tuple[int, int]:
        """(offset, end) of a unit."""
        return self.offset[index], self.end[index]

    def address_place(
        self, unit: cython.Py_ssize_t, index: cython.ulonglong, available_bytes: cython.longlong
    ) -> cython.longlong:
        """Where in `.debug_addr`, which has so many bytes, the address lies that a unit means by an index; -1 where it has none."""
        if index >= MOST_ADDRESSES:
            return -1
        at: cython.longlong = self.addr_base[unit] + cython.cast(cython.longlong, index) * self.address_stride[unit]
        return at if 0 <= at <= available_bytes - self.address_size[unit] else -1

    def containing(self, offset: cython.longlong) -> cython.Py_ssize_t:
        """The unit that an offset lies in, -1 for none."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.count
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.offset[middle] <= offset:
                low = middle + 1
            else:
                high = middle
        if low == 0 or offset >= self.end[low - 1]:
            return -1
        return low - 1
