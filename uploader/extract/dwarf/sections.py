"""The DWARF sections of one file, inflated side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from uploader.binary.elf import ElfFile

_FIELDS = {
    ".debug_info": "info",
    ".debug_abbrev": "abbrev",
    ".debug_line": "line",
    ".debug_str": "strings",
    ".debug_line_str": "line_strings",
    ".debug_ranges": "ranges",
    ".debug_rnglists": "rnglists",
    ".debug_addr": "addresses",
    ".debug_str_offsets": "string_offsets",
}


@dataclass(frozen=True, slots=True, kw_only=True)
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


def load_sections(elf: ElfFile, *, threads: int = 1) -> DwarfSections:
    """Inflates the sections that the decoder needs, and no others, largest first. Raises `MalformedElf`."""
    found = {field: section for name, field in _FIELDS.items() if (section := elf.section(name)) is not None}
    largest_first = sorted(found, key=lambda field: -found[field].size_bytes)
    if threads > 1 and len(found) > 1:
        with ThreadPoolExecutor(threads) as pool:
            contents = dict(
                zip(largest_first, pool.map(lambda field: elf.contents(found[field]), largest_first), strict=True)
            )
    else:
        contents = {field: elf.contents(found[field]) for field in largest_first}
    return DwarfSections(**{field: _whole(data) for field, data in contents.items()}, little_endian=elf.little_endian)


def _whole(data: memoryview) -> bytes | memoryview:
    """The object behind a view of all of it: slices and searches of bytes are much faster than those of a view."""
    whole = data.obj
    return whole if isinstance(whole, bytes) and len(whole) == len(data) else data
