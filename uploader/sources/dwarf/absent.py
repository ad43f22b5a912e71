"""Sections that DWARF refers to and that are not in its file: what is lost with each."""

from __future__ import annotations

from collections.abc import Iterable

from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.constants import (
    ASKED_GNU_ADDR_INDEX,
    ASKED_GNU_STR_INDEX,
    ASKED_RANGES,
    FORM_ADDRX,
    FORM_ADDRX1,
    FORM_ADDRX4,
    FORM_LINE_STRP,
    FORM_RNGLISTX,
    FORM_STRP,
    FORM_STRX,
    FORM_STRX1,
    FORM_STRX4,
)
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.units import Unit
from uploader.values import frozen


def _bits(first: int, last: int) -> int:
    return sum(1 << form for form in range(first, last + 1))


_INDEXED = 1 << FORM_STRX | _bits(FORM_STRX1, FORM_STRX4) | ASKED_GNU_STR_INDEX
_STRINGS = 1 << FORM_STRP | _INDEXED
_LINE_STRINGS = 1 << FORM_LINE_STRP
_ADDRESSES = 1 << FORM_ADDRX | _bits(FORM_ADDRX1, FORM_ADDRX4) | ASKED_GNU_ADDR_INDEX
_LISTS = ASKED_RANGES | 1 << FORM_RNGLISTX


NAMES_ARE_LOST = "names of functions and of inlined calls are lost"


@frozen
class Absent:
    """One section that is missing, by its name."""

    section: str
    loss: str
    names: bool = False
    """What is lost are names of functions and of inlined calls."""

    def __str__(self) -> str:
        return f"{self.section} is missing: {self.loss}"


def absent_sections(
    sections: DwarfSections, units: Iterable[Unit], abbrevs: Abbrevs, *, split: bool = False
) -> list[Absent]:
    """The sections that the units' names, addresses and ranges are to be read from, and that are empty or not there."""
    if len(sections.info) and not len(sections.abbrev):
        return [
            Absent(section=".debug_abbrev" + (".dwo" if split else ""), loss="functions and inlined calls are lost")
        ]
    old = new = 0
    with_lines = False
    for unit in units:
        if unit.is_type_unit:
            continue
        if unit.version < 5:
            old |= abbrevs.asked(unit.table)
        else:
            new |= abbrevs.asked(unit.table)
        with_lines = with_lines or unit.line_offset >= 0
    asked = old | new
    own = ".dwo" if split else ""
    wanted = (
        (asked & _STRINGS, sections.strings, ".debug_str" + own, NAMES_ARE_LOST),
        (
            asked & _INDEXED,
            sections.string_offsets,
            ".debug_str_offsets" + own,
            NAMES_ARE_LOST,
        ),
        (asked & _ADDRESSES, sections.addresses, ".debug_addr", "where functions and inlined calls lie is lost"),
        (
            new & _LISTS,
            sections.rnglists,
            ".debug_rnglists" + own,
            "where functions and inlined calls of several parts lie is lost",
        ),
        (
            old & ASKED_RANGES,
            sections.ranges,
            ".debug_ranges",
            "where functions and inlined calls of several parts lie is lost",
        ),
        (asked & _LINE_STRINGS and not split, sections.line_strings, ".debug_line_str", "names of files are lost"),
        (with_lines and not split, sections.line, ".debug_line", "all lines are lost"),
    )
    return [
        Absent(section=name, loss=loss, names=loss is NAMES_ARE_LOST)
        for needed, data, name, loss in wanted
        if needed and not len(data)
    ]
