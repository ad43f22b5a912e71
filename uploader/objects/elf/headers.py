"""The headers of an ELF file, of its sections and of its segments, in either class and byte order (gABI, "Object Files").

Nothing that a header says is believed before it is checked against the file's size. What sections and segments refer to is not
looked at here.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from uploader.errors import MalformedElf
from uploader.objects.file_bytes import FetchedBytes
from uploader.values import frozen

MAGIC = b"\x7fELF"
MIN_SIZE_BYTES = 52
"""The size of the smaller of the two ELF headers: nothing shorter is an ELF file."""

ET_REL, ET_EXEC, ET_DYN, ET_CORE = 1, 2, 3, 4
(
    SHT_NULL,
    SHT_PROGBITS,
    SHT_SYMTAB,
    SHT_STRTAB,
    SHT_RELA,
    SHT_NOTE,
    SHT_NOBITS,
    SHT_REL,
    SHT_DYNSYM,
    SHT_SYMTAB_SHNDX,
) = 0, 1, 2, 3, 4, 7, 8, 9, 11, 18
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 0x1, 0x2, 0x4, 0x800
PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
PF_X, PF_W = 1, 2

EM_386, EM_MIPS, EM_PPC64, EM_S390, EM_ARM, EM_X86_64, EM_AARCH64, EM_RISCV = (
    3,
    8,
    21,
    22,
    40,
    62,
    183,
    243,
)

MAX_HEADERS = 1 << 18
"""Sections, and segments, that are believed: compilers give a function a section, but no file known comes near."""

_ELF_HEADER = {
    32: "HHIIIIIHHHHHH",
    64: "HHIQQQIHHHHHH",
}
"""What follows ``e_ident``: type, machine, version, entry, phoff, shoff, flags, ehsize, phentsize, phnum, shentsize, shnum, shstrndx."""

_SECTION_HEADER = {32: "10I", 64: "IIQQQQIIQQ"}
"""name, type, flags, addr, offset, size, link, info, addralign, entsize."""

_PROGRAM_HEADER = {32: "8I", 64: "IIQQQQQQ"}
"""32 bits: type, offset, vaddr, paddr, filesz, memsz, flags, align. 64 bits: the flags come second."""

_IDENT_SIZE_BYTES = 16
SHN_XINDEX = 0xFFFF
_PN_XNUM = 0xFFFF

MAX_NAME_OVERLAP_BYTES = 64 << 20
"""By how much the names of all sections together may be longer than the table that they lie in: names may share their tails."""


@frozen
class Section:
    """One section header (gABI, "Section Header"). Addresses, offsets and sizes are in bytes, as the file states them."""

    name: str
    index: int
    type: int
    flags: int
    address: int
    offset: int
    size_bytes: int
    """``sh_size``: the compressed size where the section is compressed."""
    link: int
    info: int
    entry_size: int
    alignment: int

    @property
    def is_code(self) -> bool:
        """It is loaded and executable; its bytes may still be elsewhere (`has_bytes`)."""
        return self.flags & (SHF_ALLOC | SHF_EXECINSTR) == SHF_ALLOC | SHF_EXECINSTR

    @property
    def has_bytes(self) -> bool:
        """Its bytes are in this file: in a ``.debug`` file those of code and data are not."""
        return self.type not in (SHT_NULL, SHT_NOBITS)

    @property
    def compressed(self) -> bool:
        """Its bytes are compressed, in the standard or the legacy way."""
        return self.has_bytes and (bool(self.flags & SHF_COMPRESSED) or self.name.startswith(".zdebug_"))


@frozen
class Segment:
    """One program header (gABI, "Program Header"). In a ``.debug`` file it may tell of bytes that aren't there."""

    type: int
    flags: int
    offset: int
    address: int
    size_bytes: int
    """``p_filesz``."""
    memory_size_bytes: int
    alignment: int


@frozen
class Headers:
    """All headers of one file."""

    bits: int
    """32 or 64."""
    little_endian: bool
    kind: int
    """``e_type``."""
    machine: int
    flags: int
    sections: tuple[Section, ...]
    segments: tuple[Segment, ...]


def read_headers(data: memoryview | FetchedBytes) -> Headers:
    """Reads the headers of a file that begins with `MAGIC`. Raises `MalformedElf`; its message begins with a verb."""
    if len(data) < MIN_SIZE_BYTES:
        raise MalformedElf("ends within its ELF header")
    identification = bytes(data[:_IDENT_SIZE_BYTES])
    bits = {1: 32, 2: 64}.get(identification[4])
    order = {1: "<", 2: ">"}.get(identification[5])
    if bits is None or order is None:
        raise MalformedElf(
            f"has damaged ELF headers: no class {identification[4]} or byte order {identification[5]} is known"
        )
    layout = struct.Struct(order + _ELF_HEADER[bits])
    if len(data) < _IDENT_SIZE_BYTES + layout.size:
        raise MalformedElf("ends within its ELF header")
    (
        kind,
        machine,
        _version,
        _entry,
        program_offset,
        section_offset,
        flags,
        _header_size,
        program_size,
        program_count,
        section_size,
        section_count,
        names_index,
    ) = layout.unpack(data[_IDENT_SIZE_BYTES : _IDENT_SIZE_BYTES + layout.size])
    layout = struct.Struct(order + _SECTION_HEADER[bits])
    sections: tuple[Section, ...] = ()
    if section_offset:
        # More sections than the header can count are counted by the first of them.
        if not section_count:
            _check_table(data, "section", section_offset, 1, layout.size, layout.size)
            section_count = layout.unpack(data[section_offset : section_offset + layout.size])[5]
        if section_count:
            _check_table(data, "section", section_offset, section_count, section_size, layout.size)
            rows = list(_rows(data, layout, section_offset, section_count, section_size))
            sections = _sections(data, rows, rows[0][6] if names_index == SHN_XINDEX else names_index)
    segments: tuple[Segment, ...] = ()
    if program_count == _PN_XNUM and sections:
        program_count = sections[0].info
    if program_offset and program_count:
        layout = struct.Struct(order + _PROGRAM_HEADER[bits])
        _check_table(data, "program", program_offset, program_count, program_size, layout.size)
        segments = tuple(
            _segment(row, bits) for row in _rows(data, layout, program_offset, program_count, program_size)
        )
    return Headers(
        bits=bits,
        little_endian=order == "<",
        kind=kind,
        machine=machine,
        flags=flags,
        sections=sections,
        segments=segments,
    )


def _check_table(
    data: memoryview | FetchedBytes, what: str, offset: int, count: int, entry_size: int, least_size: int
) -> None:
    if entry_size < least_size:
        raise MalformedElf(f"has {what} headers of {entry_size} bytes, too small")
    if count > MAX_HEADERS:
        raise MalformedElf(f"claims {count} {what} headers")
    if offset + count * entry_size > len(data):
        raise MalformedElf(f"ends within its {what} headers")


def _rows(
    data: memoryview | FetchedBytes, layout: struct.Struct, offset: int, count: int, entry_size: int
) -> Iterator[tuple[int, ...]]:
    table = data[offset : offset + count * entry_size]
    return (layout.unpack_from(table, position) for position in range(0, count * entry_size, entry_size))


def _sections(data: memoryview | FetchedBytes, rows: list[tuple[int, ...]], names_index: int) -> tuple[Section, ...]:
    names = _name_table(data, rows, names_index)
    # Names may overlap: without a bound, a crafted table makes their sum grow with the square of the file.
    budget = len(names) + MAX_NAME_OVERLAP_BYTES
    sections = []
    for index, row in enumerate(rows):
        start, kind, flags, address, offset, size_bytes, link, info, alignment, entry_size = row
        end = names.find(b"\0", start) if start < len(names) else start
        raw = names[start : end if end >= 0 else len(names)]
        budget -= len(raw)
        if budget < 0:
            raise MalformedElf("has section names that overlap without end")
        sections.append(
            Section(
                name=raw.decode("utf-8", "backslashreplace"),
                index=index,
                type=kind,
                flags=flags,
                address=address,
                offset=offset,
                size_bytes=size_bytes,
                link=link,
                info=info,
                entry_size=entry_size,
                alignment=alignment,
            )
        )
    return tuple(sections)


def _name_table(data: memoryview | FetchedBytes, rows: list[tuple[int, ...]], index: int) -> bytes:
    if not index:
        return b""
    if index >= len(rows):
        raise MalformedElf("keeps its section names in a section that isn't there")
    _, kind, _, _, offset, size_bytes, *_ = rows[index]
    if kind == SHT_NOBITS or offset + size_bytes > len(data):
        raise MalformedElf("keeps its section names beyond its end")
    return bytes(data[offset : offset + size_bytes])


def _segment(row: tuple[int, ...], bits: int) -> Segment:
    if bits == 64:
        kind, flags, offset, address, _physical, size_bytes, memory_size_bytes, alignment = row
    else:
        kind, offset, address, _physical, size_bytes, memory_size_bytes, flags, alignment = row
    return Segment(
        type=kind,
        flags=flags,
        offset=offset,
        address=address,
        size_bytes=size_bytes,
        memory_size_bytes=memory_size_bytes,
        alignment=alignment,
    )
