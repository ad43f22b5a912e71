"""Headers of line number tables (DWARF 5 §6.2.4): how to run the program, and where its files' names are."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from uploader.errors import MalformedDwarf
from uploader.extract.dwarf.abbrev import form_step
from uploader.extract.dwarf.constants import (
    FORM_LINE_STRP,
    FORM_STRING,
    FORM_STRP,
    FORM_UDATA,
)
from uploader.extract.dwarf.sections import DwarfSections
from uploader.extract.dwarf.strings import StringReader, string_at
from uploader.extract.dwarf.units import Unit

_CONTENT_PATH = 1
_CONTENT_DIRECTORY_INDEX = 2


@dataclass(slots=True, kw_only=True)
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
    directories: list[tuple[int, int]] = field(default_factory=list)
    """(form, value) of every directory; from version 5 on, entry 0 is the compilation directory."""
    files: list[tuple[int, int, int]] = field(default_factory=list)
    """(form, value, directory index) of every file, the first entry first."""

    @property
    def file_count(self) -> int:
        """How many files the header names; a program may define more."""
        return len(self.files)


def read_line_header(sections: DwarfSections, offset: int, unit_address_size: int) -> LineHeader:
    """Reads the header at ``offset`` of `.debug_line`; before version 5 the address size comes from the unit. Raises `MalformedDwarf`."""
    try:
        return _read(sections, offset, unit_address_size)
    except (struct.error, IndexError):
        raise MalformedDwarf(f"line table at 0x{offset:x}: the header is cut off") from None


def _read(sections: DwarfSections, offset: int, unit_address_size: int) -> LineHeader:
    data = sections.line
    order = "<" if sections.little_endian else ">"
    if offset >= len(data):
        raise MalformedDwarf(f"line table at 0x{offset:x} lies outside .debug_line")
    (length,) = struct.unpack_from(order + "I", data, offset)
    at = offset + 4
    offset_size = 4
    if length == 0xFFFFFFFF:
        (length,) = struct.unpack_from(order + "Q", data, at)
        at += 8
        offset_size = 8
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
    )
    if version >= 5:
        _read_entries(data, at, program_offset, offset_size, order, header)
    else:
        _read_old_entries(data, at, program_offset, header)
    return header


def _read_old_entries(data: bytes | memoryview, at: int, end: int, header: LineHeader) -> None:
    """The include directories and file names of versions 2 to 4."""
    header.directories.append((0, 0))
    while at < end and data[at] != 0:
        header.directories.append((FORM_STRING, at))
        at = _behind_string(data, at, end)
    at += 1
    while at < end and data[at] != 0:
        entry, at = _old_entry(data, at, end)
        header.files.append(entry)


def _old_entry(data: bytes | memoryview, at: int, end: int) -> tuple[tuple[int, int, int], int]:
    """One file as `LineHeader.files` keeps it, and the offset behind its name, directory, time and length."""
    name = at
    at = _behind_string(data, at, end)
    directory, at = read_uleb(data, at)
    _, at = read_uleb(data, at)
    _, at = read_uleb(data, at)
    return (FORM_STRING, name, directory), at


def defined_file(sections: DwarfSections, at: int, end: int) -> tuple[int, int, int]:
    """A file that a program defines (DWARF 4 §6.2.5.3), as `LineHeader.files` keeps it; one that is cut off has no name."""
    try:
        return _old_entry(sections.line, at, end)[0]
    except IndexError:
        return FORM_STRING, len(sections.line), 0


def _read_entries(
    data: bytes | memoryview, at: int, end: int, offset_size: int, order: str, header: LineHeader
) -> None:
    """The directory and file entries of version 5, in whatever forms they are described."""
    for wanted in ("directories", "files"):
        count = data[at]
        at += 1
        formats: list[tuple[int, int]] = []
        for _ in range(count):
            content, at = read_uleb(data, at)
            form, at = read_uleb(data, at)
            formats.append((content, form))
        entries, at = read_uleb(data, at)
        if entries > (end - at if count else 0):
            raise MalformedDwarf(f"line table at 0x{header.offset:x} claims {entries} {wanted}")
        plan = [(content, form, form_step(form, header.address_size, offset_size, 5)) for content, form in formats]
        # A form that takes no byte says nothing here, and entries of none would be free to claim by the billion.
        plan = [(content, form, step) for content, form, step in plan if step != 0]
        if entries and not plan:
            raise MalformedDwarf(f"line table at 0x{header.offset:x} describes {wanted} that take no byte")
        for _ in range(entries):
            path_form = path_value = directory = 0
            for content, form, step in plan:
                value, behind = _read_form(data, at, end, form, step, order)
                if content == _CONTENT_PATH:
                    path_form, path_value = form, value
                elif content == _CONTENT_DIRECTORY_INDEX:
                    directory = value
                at = behind
            if wanted == "directories":
                header.directories.append((path_form, path_value))
            else:
                header.files.append((path_form, path_value, directory))
            if at > end:
                raise MalformedDwarf(f"line table at 0x{header.offset:x}: the header runs past its end")


def _read_form(data: bytes | memoryview, at: int, end: int, form: int, step: int | None, order: str) -> tuple[int, int]:
    """(value, offset behind it); a string in place has its own offset as its value."""
    if form in (FORM_LINE_STRP, FORM_STRP):
        size = step or 4
        return int.from_bytes(data[at : at + size], "little" if order == "<" else "big"), at + size
    if form == FORM_UDATA:
        return read_uleb(data, at)
    if step is None or step in (-7, -8):
        raise MalformedDwarf(f"an unknown form 0x{form:x} in a line table")
    if step >= 0:
        return int.from_bytes(data[at : at + step], "little" if order == "<" else "big"), at + step
    if step == -1:
        return read_uleb(data, at)
    if step == -2:
        return at, _behind_string(data, at, end)
    if step == -3:
        return 0, at + 1 + data[at]
    if step == -6:
        length, at = read_uleb(data, at)
        return 0, at + min(length, end)
    size = 2 if step == -4 else 4
    return 0, at + size + int.from_bytes(data[at : at + size], "little" if order == "<" else "big")


def _behind_string(data: bytes | memoryview, at: int, end: int) -> int:
    if isinstance(data, bytes):
        found = data.find(b"\0", at, end)
        if found < 0:
            raise IndexError
        return found + 1
    while data[at]:
        at += 1
    return at + 1


def read_uleb(data: bytes | memoryview, at: int) -> tuple[int, int]:
    """(value, offset behind it) of an unsigned LEB128; raises `IndexError` where it is cut off."""
    value = data[at]
    at += 1
    if value < 0x80:
        return value, at
    value &= 0x7F
    shift = 7
    while True:
        byte = data[at]
        at += 1
        if shift < 64:
            value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at


class FileNames:
    """Turns files of line tables into (directory, base name) pairs."""

    def __init__(self, sections: DwarfSections) -> None:
        self._sections = sections
        self._strings = StringReader(sections)

    def pair(self, header: LineHeader, index: int, unit: Unit | None) -> tuple[bytes, bytes]:
        """The directory and base name of file ``index`` (0 is the first entry), joined with the compilation directory where relative."""
        if index >= len(header.files):
            return b"", b""
        form, value, directory_index = header.files[index]
        name = self._read(form, value, unit)
        directory = b""
        if not is_absolute(name):
            if directory_index < len(header.directories) and (directory_index or header.version >= 5):
                directory = self._read(*header.directories[directory_index], unit)
            if not is_absolute(directory):
                directory = join(unit.comp_dir if unit else b"", directory)
        return split(join(directory, name))

    def _read(self, form: int, value: int, unit: Unit | None) -> bytes:
        if form == FORM_STRING:
            return string_at(self._sections.line, value)
        return self._strings.read(self._strings.locate(form, value, unit))


def is_absolute(path: bytes) -> bool:
    """Whether a path stands on its own, by Unix's or Windows's rules."""
    return path[:1] in (b"/", b"\\") or (len(path) > 2 and path[1:2] == b":" and path[2:3] in (b"\\", b"/"))


def join(directory: bytes, name: bytes) -> bytes:
    """``name`` inside ``directory``, with the separator that the directory uses."""
    if not directory or is_absolute(name):
        return name
    if not name:
        return directory
    if directory[-1:] in (b"/", b"\\"):
        return directory + name
    windows = is_absolute(directory) and directory[:1] != b"/" and b"/" not in directory
    return directory + (b"\\" if windows else b"/") + name


def split(path: bytes) -> tuple[bytes, bytes]:
    """(directory, base name); the root keeps its separator."""
    cut = path.rfind(b"/")
    if is_absolute(path) and path[:1] != b"/":
        cut = max(cut, path.rfind(b"\\"))
    if cut < 0:
        return b"", path
    return path[:cut] or path[:1], path[cut + 1 :]
