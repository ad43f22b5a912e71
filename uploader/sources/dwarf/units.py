"""The units of `.debug_info` (DWARF 5 §7.5.1) as values: where each lies, and what its first DIE says for all the others."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from uploader.sources.dwarf.constants import (
    UNIT_SPLIT_TYPE,
    UNIT_TYPE,
)

NO_OFFSET = -1


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Unit:
    """One unit: where it lies in `.debug_info`, how it is to be read, and its first DIE's attributes."""

    offset: int
    end: int
    first_die: int
    version: int
    address_size: int
    offset_size: int
    unit_type: int
    table: int
    low_pc: int = 0
    line_offset: int = NO_OFFSET
    addr_base: int = 0
    """Where its first address lies in `.debug_addr`."""
    address_stride: int = 8
    """How far its addresses lie apart there."""
    str_offsets_base: int = 0
    rnglists_base: int = 0
    ranges_start: int = 0
    """What the offsets of its range lists count from: in split units, the part of the section that is theirs."""
    name: bytes = b""
    comp_dir: bytes = b""
    dwo_id: int | None = None
    dwo_name: bytes = b""
    """The file that holds the rest of a skeleton unit."""
    from_zero: bool = False
    """All its code is said to begin at address 0: where that is none, a linker dropped it. Gold leaves its functions at 0 plus their
    offsets, which may be addresses of code that was kept."""
    walked: bool = True
    """Its DIEs are to be walked: those of type units are not, nor those of a skeleton whose other half is there."""

    @property
    def is_type_unit(self) -> bool:
        """It describes a type only, and holds no code."""
        return self.unit_type in (UNIT_TYPE, UNIT_SPLIT_TYPE)

    @property
    def shape(self) -> tuple[int, int, int, int, int]:
        """The unit as `DieReader.read` takes it."""
        return self.offset, self.end, self.table, self.address_size, self.offset_size


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Units:
    """All sound units, ascending by offset, and what was wrong with the others."""

    units: list[Unit] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=list)

    def containing(self, offset: int) -> Unit | None:
        """The unit that a `.debug_info` offset lies in."""
        if len(self._offsets) != len(self.units):
            self._offsets = [unit.offset for unit in self.units]
        index = bisect_right(self._offsets, offset) - 1
        if index < 0 or offset >= self.units[index].end:
            return None
        return self.units[index]
