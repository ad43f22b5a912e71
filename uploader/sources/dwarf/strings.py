"""The strings that DWARF's string forms point at (DWARF 5 §7.5.5)."""

from __future__ import annotations

from mmap import mmap

from uploader.sources.dwarf.constants import (
    FORM_GNU_STR_INDEX,
    FORM_GNU_STRP_ALT,
    FORM_LINE_STRP,
    FORM_STRING,
    FORM_STRP,
    FORM_STRP_SUP,
    FORM_STRX,
    FORM_STRX1,
    FORM_STRX4,
)
from uploader.sources.dwarf.sections import DwarfSections
from uploader.sources.dwarf.units import Unit


class StringReader:
    """Reads the strings that string forms point at.

    Strings may overlap, and a hostile file's can be read at every byte: after a multiple of the sections' size there are only empty ones.
    """

    def __init__(self, sections: DwarfSections) -> None:
        self._sections = sections
        self._order = "little" if sections.little_endian else "big"
        self.budget_bytes = 16 * self.size_bytes + 16777216

    @property
    def main_text(self) -> bytes | memoryview:
        """`.debug_str`, where nearly all names lie."""
        return self._sections.strings

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
        if self.budget_bytes < 0:
            return b""
        which, offset = place
        sections = self._sections
        data = sections.strings
        if which != 1:
            data = (sections.info, b"", sections.line_strings, sections.supplementary_strings)[which]
        found = string_at(data, offset)
        self.budget_bytes -= len(found)
        return found


def string_at(data: bytes | memoryview, offset: int) -> bytes:
    """The NUL-terminated string at ``offset``; empty where it has no end or lies outside."""
    if offset >= len(data):
        return b""
    whole = data.obj if isinstance(data, memoryview) else data
    if isinstance(whole, bytes | bytearray | mmap) and len(whole) == len(data):
        end = whole.find(b"\0", offset)
        return bytes(whole[offset:end]) if end >= 0 else b""
    size = 256
    while True:
        piece = bytes(data[offset : offset + size])
        end = piece.find(b"\0")
        if end >= 0:
            return piece[:end]
        if len(piece) < size:
            return b""
        size *= 4
