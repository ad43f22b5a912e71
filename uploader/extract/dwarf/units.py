"""The units of `.debug_info`: their headers (DWARF 5 §7.5.1) and what their first DIEs say for all the others."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field

from uploader.errors import MalformedDwarf
from uploader.extract.dwarf.abbrev import Abbrevs
from uploader.extract.dwarf.constants import (
    FORM_ADDR,
    FORM_GNU_STR_INDEX,
    FORM_GNU_STRP_ALT,
    FORM_LINE_STRP,
    FORM_STRING,
    FORM_STRP,
    FORM_STRP_SUP,
    FORM_STRX,
    FORM_STRX1,
    FORM_STRX4,
    SLOT_ADDR_BASE,
    SLOT_COMP_DIR,
    SLOT_DWO_NAME,
    SLOT_ENTRY_PC,
    SLOT_GNU_DWO_ID,
    SLOT_GNU_RANGES_BASE,
    SLOT_LANGUAGE,
    SLOT_LOW_PC,
    SLOT_NAME,
    SLOT_RNGLISTS_BASE,
    SLOT_STMT_LIST,
    SLOT_STR_OFFSETS_BASE,
    UNIT_COMPILE,
    UNIT_SKELETON,
    UNIT_SPLIT_COMPILE,
    UNIT_SPLIT_TYPE,
    UNIT_TYPE,
)
from uploader.extract.dwarf.die import DieReader
from uploader.extract.dwarf.sections import DwarfSections

NO_OFFSET = -1

FARTHEST_BASE = 1 << 62
"""No section is as large: a wilder base means just as little, and this one can be added to without overflow."""


@dataclass(slots=True, kw_only=True)
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
    language: int = 0
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


@dataclass(slots=True, kw_only=True)
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


class StringReader:
    """Reads the strings that string forms point at.

    Strings may overlap, and a hostile file's can be read at every byte: after a multiple of the sections' size there are only empty ones.
    """

    def __init__(self, sections: DwarfSections) -> None:
        self._sections = sections
        self._order = "little" if sections.little_endian else "big"
        self._budget_bytes = 16 * self.size_bytes + 16777216

    @property
    def size_bytes(self) -> int:
        """The size of all sections that hold strings."""
        sections = self._sections
        held = (sections.info, sections.strings, sections.line_strings, sections.supplementary_strings)
        return sum(len(each) for each in held)

    def locate(self, form: int, value: int, unit: Unit | None) -> tuple[int, int] | None:
        """(which section, offset) of a string; None where it can't be known.

        Sections: 0 .debug_info, 1 .debug_str, 2 .debug_line_str, 3 .debug_str of the supplementary file.
        """
        if form == FORM_STRP:
            return 1, value
        if form == FORM_STRING:
            return 0, value
        if form == FORM_LINE_STRP:
            return 2, value
        if form in (FORM_STRP_SUP, FORM_GNU_STRP_ALT):
            return 3, value
        if unit is not None and (form == FORM_STRX or FORM_STRX1 <= form <= FORM_STRX4 or form == FORM_GNU_STR_INDEX):
            at = unit.str_offsets_base + value * unit.offset_size
            raw = self._sections.string_offsets[at : at + unit.offset_size]
            if len(raw) < unit.offset_size:
                return None
            return 1, int.from_bytes(raw, self._order)  # type: ignore[arg-type]  # a str that is one of the two literals
        return None

    def read(self, place: tuple[int, int] | None) -> bytes:
        """The string at a place, without its NUL; empty where there is none."""
        if place is None:
            return b""
        if self._budget_bytes < 0:
            return b""
        which, offset = place
        sections = self._sections
        data = sections.strings
        if which != 1:
            data = (sections.info, b"", sections.line_strings, sections.supplementary_strings)[which]
        found = string_at(data, offset)
        self._budget_bytes -= len(found)
        return found


def string_at(data: bytes | memoryview, offset: int) -> bytes:
    """The NUL-terminated string at ``offset``; empty where it has no end or lies outside."""
    if offset >= len(data):
        return b""
    if isinstance(data, bytes):
        end = data.find(b"\0", offset)
        return data[offset:end] if end >= 0 else b""
    size = 256
    while True:
        piece = bytes(data[offset : offset + size])
        end = piece.find(b"\0")
        if end >= 0:
            return piece[:end]
        if len(piece) < size:
            return b""
        size *= 4


def read_units(sections: DwarfSections, abbrevs: Abbrevs, prepare: Callable[[Unit], None] | None = None) -> Units:
    """Reads every unit header and first DIE. A broken unit costs that unit; a broken length costs the rest.

    ``prepare`` may complete a unit between the two: what its offsets count from, where the unit itself doesn't say it.
    """
    result = Units()
    data = sections.info
    reader = DieReader(data, abbrevs, little_endian=sections.little_endian)
    strings = StringReader(sections)
    offset = 0
    while offset < len(data):
        try:
            unit, end, trouble = _read_header(data, offset, sections.little_endian)
        except (struct.error, MalformedDwarf) as error:
            result.warnings.append(
                f".debug_info at 0x{offset:x}: {error}; the {len(data) - offset} bytes from there on are lost"
            )
            break
        if unit is None:
            if trouble:
                result.warnings.append(f"unit at 0x{offset:x}: {trouble}; its {end - offset} bytes are lost")
        else:
            try:
                if prepare is not None:
                    prepare(unit)
                unit.table = abbrevs.table(unit.table, unit.address_size, unit.offset_size, unit.version)
                _read_first_die(unit, reader, strings)
                result.units.append(unit)
            except MalformedDwarf as error:
                result.warnings.append(
                    f"unit at 0x{offset:x}: {error.message}; its {unit.end - unit.offset} bytes are lost"
                )
        offset = end
    return result


def _read_header(data: bytes | memoryview, offset: int, little_endian: bool) -> tuple[Unit | None, int, str]:
    order = "<" if little_endian else ">"
    (length,) = struct.unpack_from(order + "I", data, offset)
    at = offset + 4
    offset_size = 4
    if length == 0xFFFFFFFF:
        (length,) = struct.unpack_from(order + "Q", data, at)
        at += 8
        offset_size = 8
    elif length >= 0xFFFFFFF0:
        raise MalformedDwarf("a reserved unit length")
    end = at + length
    if length == 0:
        return None, end, ""
    if end > len(data):
        raise MalformedDwarf("a unit runs past the end of the section")
    (version,) = struct.unpack_from(order + "H", data, at)
    at += 2
    offset_code = "I" if offset_size == 4 else "Q"
    unit_type = UNIT_COMPILE
    dwo_id = None
    if version == 5:
        unit_type, address_size, abbrev_offset = struct.unpack_from(order + "BB" + offset_code, data, at)
        at += 2 + offset_size
        if unit_type in (UNIT_SKELETON, UNIT_SPLIT_COMPILE):
            (dwo_id,) = struct.unpack_from(order + "Q", data, at)
            at += 8
        elif unit_type in (UNIT_TYPE, UNIT_SPLIT_TYPE):
            at += 8 + offset_size
    elif 2 <= version <= 4:
        abbrev_offset, address_size = struct.unpack_from(order + offset_code + "B", data, at)
        at += offset_size + 1
    else:
        return None, end, f"DWARF version {version} is unknown"
    if address_size not in (2, 4, 8):
        return None, end, f"an address size of {address_size} is unknown"
    if at > end:
        return None, end, "the header runs past the unit"
    unit = Unit(
        offset=offset,
        end=end,
        first_die=at,
        version=version,
        address_size=address_size,
        offset_size=offset_size,
        unit_type=unit_type,
        table=abbrev_offset,
        dwo_id=dwo_id,
        address_stride=address_size,
    )
    unit.walked = not unit.is_type_unit
    return unit, end, ""


def _read_first_die(unit: Unit, reader: DieReader, strings: StringReader) -> None:
    if unit.first_die >= unit.end:
        return
    reader.read(unit.first_die, unit.shape)
    for slot, attribute in (
        (SLOT_STR_OFFSETS_BASE, "str_offsets_base"),
        (SLOT_ADDR_BASE, "addr_base"),
        (SLOT_RNGLISTS_BASE, "rnglists_base"),
    ):
        if (found := reader.slot(slot)) is not None:
            setattr(unit, attribute, min(found[1], FARTHEST_BASE))
    _pass_selectors(unit, strings._sections)
    if (found := reader.slot(SLOT_STMT_LIST)) is not None:
        unit.line_offset = found[1]
    if (found := reader.slot(SLOT_LANGUAGE)) is not None:
        unit.language = found[1]
    if (found := reader.slot(SLOT_GNU_DWO_ID)) is not None:
        unit.dwo_id = found[1]
    if (found := reader.slot(SLOT_GNU_RANGES_BASE)) is not None and unit.version < 5:
        # It is for the split half alone: the skeleton's own DW_AT_ranges does not count from it.
        unit.rnglists_base = min(found[1], FARTHEST_BASE)
    if (found := reader.slot(SLOT_DWO_NAME)) is not None:
        unit.dwo_name = strings.read(strings.locate(*found, unit))
    if (found := reader.slot(SLOT_NAME)) is not None:
        unit.name = strings.read(strings.locate(*found, unit))
    if (found := reader.slot(SLOT_COMP_DIR)) is not None:
        unit.comp_dir = strings.read(strings.locate(*found, unit))
    # Without a low pc the entry pc is what ranges count from: GCC has written it so.
    if (found := reader.slot(SLOT_LOW_PC) or reader.slot(SLOT_ENTRY_PC)) is not None:
        form, value = found
        unit.low_pc = value if form == FORM_ADDR else address_at(strings, unit, value)


def _pass_selectors(unit: Unit, sections: DwarfSections) -> None:
    """Where a table's header says so, a segment selector stands before each address (DWARF 5 §7.27): passes over them."""
    header = bytes(sections.addresses[unit.addr_base - 4 : unit.addr_base]) if unit.addr_base >= 8 else b""
    version = b"\5\0" if sections.little_endian else b"\0\5"
    if unit.version >= 5 and header[:3] == version + bytes([unit.address_size]) and header[3:] != b"\0":
        unit.addr_base += header[3]
        unit.address_stride += header[3]


def address_at(strings: StringReader, unit: Unit, index: int) -> int:
    """The address that a unit's `.debug_addr` holds at ``index``, 0 where it holds none."""
    sections = strings._sections
    at = unit.addr_base + index * unit.address_stride
    raw = sections.addresses[at : at + unit.address_size]
    return int.from_bytes(raw, "little" if sections.little_endian else "big") if len(raw) == unit.address_size else 0
