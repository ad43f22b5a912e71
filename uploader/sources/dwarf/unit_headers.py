"""Reads the headers of units (DWARF 5 §7.5.1) and their first DIEs."""

from __future__ import annotations

import struct
from collections.abc import Callable

from uploader.errors import MalformedDwarf
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.constants import (
    FORM_ADDR,
    SLOT_ADDR_BASE,
    SLOT_COMP_DIR,
    SLOT_DWO_NAME,
    SLOT_ENTRY_PC,
    SLOT_GNU_DWO_ID,
    SLOT_GNU_RANGES_BASE,
    SLOT_HIGH_PC,
    SLOT_LOW_PC,
    SLOT_NAME,
    SLOT_RANGES,
    SLOT_RNGLISTS_BASE,
    SLOT_STMT_LIST,
    SLOT_STR_OFFSETS_BASE,
    UNIT_COMPILE,
    UNIT_SKELETON,
    UNIT_SPLIT_COMPILE,
    UNIT_SPLIT_TYPE,
    UNIT_TYPE,
)
from uploader.sources.dwarf.die import DieReader
from uploader.sources.dwarf.initial_length import read_initial_length
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.strings import StringReader
from uploader.sources.dwarf.units import Unit, Units

FARTHEST_BASE = 1 << 62
"""No section is as large: a wilder base means just as little, and this one can be added to without overflow."""

RESERVED_LENGTHS = 0xFFFFFFF0
"""Lengths of 32 bits from here on mean something else, or nothing yet (DWARF 5 §7.2.2)."""

_PADDING_BYTES = 4
"""A unit of length 0: the length alone."""

_ZEROS = bytes(1 << 14)


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
            if end == offset + _PADDING_BYTES:
                end = _end_of_padding(data, offset)
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


def _end_of_padding(data: bytes | memoryview, offset: int) -> int:
    """Where the units of length 0 end that begin at ``offset``: sections may be padded with them, and a section may be nothing else."""
    at = offset
    while at < len(data):
        block = bytes(data[at : at + len(_ZEROS)])
        if block != _ZEROS[: len(block)]:
            at += len(block) - len(block.lstrip(b"\0"))
            break
        at += len(block)
    return at - (at - offset) % _PADDING_BYTES


def _read_header(data: bytes | memoryview, offset: int, little_endian: bool) -> tuple[Unit | None, int, str]:
    order = "<" if little_endian else ">"
    length, at, offset_size = read_initial_length(data, offset, order)
    if offset_size == 4 and length >= RESERVED_LENGTHS:
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
        high = reader.slot(SLOT_HIGH_PC)
        unit.from_zero = unit.low_pc == 0 and high is not None and high[1] > 0 and reader.slot(SLOT_RANGES) is None


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
