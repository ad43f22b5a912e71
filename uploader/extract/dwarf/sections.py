"""The DWARF sections of one file, inflated side by side."""

from __future__ import annotations

from dataclasses import dataclass

from uploader.binary.elf import ElfFile

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


@dataclass(slots=True, kw_only=True)
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
    little_endian: bool = True


def load_sections(elf: ElfFile) -> DwarfSections:
    """Inflates the sections that the decoder needs, and no others, all but `.debug_info`. Raises `MalformedElf`."""
    contents = {field: load_section(elf, field) for field in _SECTION_OF if field != "info"}
    return DwarfSections(**contents, little_endian=elf.little_endian)


def load_section(elf: ElfFile, field: str) -> bytes | memoryview:
    """The section behind one field of `DwarfSections`, empty where the file lacks it; inflating releases the GIL."""
    section = elf.section(_SECTION_OF[field])
    if section is None:
        return b""
    data = elf.contents(section)
    # Slices and searches of bytes are much faster than those of a view.
    whole = data.obj
    return whole if isinstance(whole, bytes) and len(whole) == len(data) else data
