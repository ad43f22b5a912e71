"""The DWARF sections of one file, inflated side by side, relocated and, where a file has several of one name, joined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from uploader.errors import MalformedElf
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import ET_REL

if TYPE_CHECKING:
    from uploader.objects.elf.relocate import Relocator

_SECTION_OF = {
    "info": ".debug_info",
    "abbrev": ".debug_abbrev",
    "line": ".debug_line",
    "strings": ".debug_str",
    "line_strings": ".debug_line_str",
    "ranges": ".debug_ranges",
    "rnglists": ".debug_rnglists",
    "addresses": ".debug_addr",
    "string_offsets": ".debug_str_offsets",
}

_SPLIT = ("info", "abbrev", "strings", "string_offsets", "rnglists")
"""What a `.dwo` or `.dwp` file has of its own; all else is in the file that it was split from (DWARF 5 §7.3.2)."""


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class DwarfSections:
    """The bytes that the decoder reads; absent sections are empty."""

    info: bytes | memoryview = b""
    abbrev: bytes | memoryview = b""
    line: bytes | memoryview = b""
    strings: bytes | memoryview = b""
    line_strings: bytes | memoryview = b""
    ranges: bytes | memoryview = b""
    rnglists: bytes | memoryview = b""
    addresses: bytes | memoryview = b""
    string_offsets: bytes | memoryview = b""
    supplementary_strings: bytes | memoryview = b""
    """`.debug_str` of the supplementary file (dwz), where there is one."""
    little_endian: bool = True


class SectionLoader:
    """Loads sections of one file by the fields of `DwarfSections`; from several threads at once, if need be."""

    def __init__(self, elf: ElfFile) -> None:
        self._elf = elf
        self._relocator: Relocator | None = None
        if elf.kind == ET_REL:
            # In files that are linked nothing is left to relocate.
            from uploader.objects.elf.relocate import Relocator

            self._relocator = Relocator(elf)

    @property
    def warnings(self) -> list[str]:
        """What relocating has met so far."""
        return self._relocator.warnings if self._relocator is not None else []

    def load(self, field: str, suffix: str = "") -> bytes | memoryview:
        """The section behind a field, empty where the file lacks it; inflating releases the GIL. Raises `MalformedElf`."""
        contents = self._elf.contents if self._relocator is None else self._relocator.contents
        sections = self._elf.sections_named(_SECTION_OF[field] + suffix)
        if len(sections) > 1 and sum(one.size_bytes for one in sections if one.has_bytes) > self._elf.size_bytes:
            raise MalformedElf(f"sections called {sections[0].name} hold more than the file does")
        parts = [contents(section) for section in sections]
        if len(parts) == 1:
            # Slices and searches of bytes are much faster than those of a view.
            whole = parts[0].obj if isinstance(parts[0], memoryview) else parts[0]
            return whole if isinstance(whole, bytes) and len(whole) == len(parts[0]) else parts[0]
        return b"".join(parts)

    def load_all_but_info(self) -> DwarfSections:
        """Inflates the sections that the decoder needs, and no others, all but `.debug_info`. Raises `MalformedElf`."""
        contents = {field: self.load(field) for field in _SECTION_OF if field != "info"}
        return DwarfSections(**contents, little_endian=self._elf.little_endian)

    def load_split(self, main: DwarfSections) -> DwarfSections:
        """The ``.dwo`` sections of this file, beside those that stayed in the file which it was split from. Raises `MalformedElf`."""
        own = {field: self.load(field, ".dwo") for field in _SPLIT}
        return DwarfSections(
            **own,
            ranges=main.ranges,
            addresses=main.addresses,
            supplementary_strings=main.supplementary_strings,
            little_endian=self._elf.little_endian,
        )


def load_sections(elf: ElfFile) -> DwarfSections:
    """All sections of a file that the decoder needs. Raises `MalformedElf`."""
    loader = SectionLoader(elf)
    sections = loader.load_all_but_info()
    sections.info = loader.load("info")
    return sections
