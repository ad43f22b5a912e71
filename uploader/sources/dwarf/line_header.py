"""Headers of line number tables (DWARF 5 §6.2.4): how to run the program, and where its files' names are."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from uploader.errors import MalformedDwarf
from uploader.sources.dwarf.file_entries import FileEntries
from uploader.sources.dwarf.initial_length import read_initial_length
from uploader.sources.dwarf.sections import DwarfSections


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class LineHeader:
    """One header. Files and directories are kept as places of strings: most are never asked for."""

    offset: int
    end: int
    program_offset: int
    version: int
    address_size: int
    minimum_instruction_length: int
    maximum_operations: int
    line_base: int
    line_range: int
    opcode_base: int
    opcode_lengths: bytes
    entries: FileEntries
    first_directory: int = 0
    directory_count: int = 0
    """How many directories it lists; from version 5 on, the first is the compilation directory."""
    first_file: int = 0
    file_count: int = 0
    """How many files it lists; a program may define more."""

    def directory(self, index: int) -> tuple[int, int]:
        """(form, value) of a directory's path."""
        return self.entries.entry(self.first_directory + index)[:2]

    def file(self, index: int) -> tuple[int, int, int]:
        """(form, value, directory index) of a file, the first entry first."""
        return self.entries.entry(self.first_file + index)


def read_line_header(
    sections: DwarfSections, offset: int, unit_address_size: int, entries: FileEntries | None = None
) -> LineHeader:
    """Reads the header at ``offset`` of `.debug_line`, its lists into ``entries``, which holds those of this section's headers.

    Before version 5 the address size comes from the unit. Raises `MalformedDwarf`.
    """
    if entries is None:
        entries = FileEntries(sections.line, little_endian=sections.little_endian)
    known = len(entries)
    try:
        return _read(sections, offset, unit_address_size, entries)
    except MalformedDwarf:
        entries.cut(known)
        raise
    except (struct.error, IndexError):
        entries.cut(known)
        raise MalformedDwarf(f"line table at 0x{offset:x}: the header is cut off") from None


def _read(sections: DwarfSections, offset: int, unit_address_size: int, entries: FileEntries) -> LineHeader:
    data = sections.line
    order = "<" if sections.little_endian else ">"
    if offset >= len(data):
        raise MalformedDwarf(f"line table at 0x{offset:x} lies outside .debug_line")
    length, at, offset_size = read_initial_length(data, offset, order)
    end = at + length
    if end > len(data):
        raise MalformedDwarf(f"line table at 0x{offset:x} runs past the end of .debug_line")
    (version,) = struct.unpack_from(order + "H", data, at)
    at += 2
    if not 2 <= version <= 5:
        raise MalformedDwarf(f"line table at 0x{offset:x} has the unknown version {version}")
    address_size = unit_address_size
    if version >= 5:
        address_size = data[at]
        at += 2
        if address_size not in (2, 4, 8):
            raise MalformedDwarf(f"line table at 0x{offset:x} has the unknown address size {address_size}")
    (header_length,) = struct.unpack_from(order + ("I" if offset_size == 4 else "Q"), data, at)
    at += offset_size
    program_offset = at + header_length
    if program_offset > end:
        raise MalformedDwarf(f"line table at 0x{offset:x}: the header runs past the table")
    minimum_instruction_length = data[at]
    at += 1
    maximum_operations = 1
    if version >= 4:
        maximum_operations = data[at] or 1
        at += 1
    line_base = struct.unpack_from("b", data, at + 1)[0]
    line_range = data[at + 2]
    opcode_base = data[at + 3]
    at += 4
    opcode_lengths = bytes(data[at : at + max(opcode_base - 1, 0)])
    at += max(opcode_base - 1, 0)
    header = LineHeader(
        offset=offset,
        end=end,
        program_offset=program_offset,
        version=version,
        address_size=address_size,
        minimum_instruction_length=minimum_instruction_length,
        maximum_operations=maximum_operations,
        line_base=line_base,
        line_range=line_range,
        opcode_base=opcode_base,
        opcode_lengths=opcode_lengths,
        entries=entries,
    )
    try:
        _read_lists(header, at, offset_size)
    except MalformedDwarf as error:
        raise MalformedDwarf(f"line table at 0x{offset:x}: {error.message}") from None
    return header


def _read_lists(header: LineHeader, at: int, offset_size: int) -> None:
    """The directories and the files, as the version has them."""
    entries = header.entries
    end = header.program_offset
    header.first_directory = len(entries)
    if header.version >= 5:
        entries.read_described(at, end, header.address_size, offset_size, "directories")
        header.first_file = len(entries)
        entries.read_described(entries.behind(), end, header.address_size, offset_size, "files")
    else:
        entries.add_unnamed()
        entries.read_directories(at, end)
        header.first_file = len(entries)
        entries.read_files(entries.behind(), end)
    header.directory_count = header.first_file - header.first_directory
    header.file_count = len(entries) - header.first_file
