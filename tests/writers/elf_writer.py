"""Builds small ELF files for tests from named tuples: both word sizes, both byte orders, compressed sections, notes, symbols.

::

    elf(
        [Section(".text", b"\\xc3" * 64, flags=CODE, address=0x1000)],
        symbols=[Symbol("main", 0x1000, 16, section=".text")],
        notes=[Note("GNU", NT_GNU_BUILD_ID, bytes(20))],
    )
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

PROGBITS, SYMTAB, STRTAB, NOTE, NOBITS, DYNSYM, SYMTAB_SHNDX = 1, 2, 3, 7, 8, 11, 18
WRITE, ALLOC, EXEC, COMPRESSED = 0x1, 0x2, 0x4, 0x800
CODE = ALLOC | EXEC
LOAD, NOTE_SEGMENT = 1, 4
LOCAL, GLOBAL, WEAK, UNIQUE = 0, 1, 2, 10
NOTYPE, OBJECT, FUNC, SECTION, FILE, IFUNC = 0, 1, 2, 3, 4, 10
UNDEF, ABS, XINDEX = 0, 0xFFF1, 0xFFFF
RELOCATABLE, EXECUTABLE, SHARED = 1, 2, 3
X86_64, I386, ARM, ARM64, PPC64, RISCV = 62, 3, 40, 183, 21, 243
NT_GNU_BUILD_ID, NT_GO_BUILD_ID = 3, 4


class Section(NamedTuple):
    name: str
    data: bytes = b""
    type: int = PROGBITS
    flags: int = 0
    address: int = 0
    size_bytes: int | None = None
    """Overrides what ``data`` gives: the size of a NOBITS section, or a lie."""
    link: str | int = 0
    info: int = 0
    entry_size: int = 0
    alignment: int = 1
    compress: str = ""
    """``zlib``, ``zstd`` or ``zlib-gnu``."""
    declared_size_bytes: int | None = None
    """What the compression header says instead of the truth."""
    offset: int | None = None
    """Overrides where the header says that the bytes lie."""


class Segment(NamedTuple):
    type: int = LOAD
    flags: int = 0
    section: str = ""
    """Takes address, offset and size from this section where they aren't given."""
    address: int | None = None
    offset: int | None = None
    size_bytes: int | None = None
    alignment: int = 4


class Symbol(NamedTuple):
    name: str | bytes
    value: int
    size_bytes: int = 0
    type: int = FUNC
    binding: int = GLOBAL
    section: str | int = ".text"
    other: int = 0


class Note(NamedTuple):
    name: str
    type: int
    desc: bytes


def note_bytes(notes: Iterable[Note], *, little_endian: bool = True, alignment: int = 4) -> bytes:
    """The body of a note section, each part padded to ``alignment``."""
    order = "<" if little_endian else ">"
    body = bytearray()
    for note in notes:
        name = note.name.encode() + b"\0"
        body += struct.pack(order + "III", len(name), len(note.desc), note.type) + name
        body += bytes(-len(body) % alignment) + note.desc
        body += bytes(-len(body) % alignment)
    return bytes(body)


def elf(
    sections: Iterable[Section] = (),
    *,
    symbols: Sequence[Symbol] | None = None,
    dynamic_symbols: Sequence[Symbol] | None = None,
    notes: Sequence[Note] = (),
    segments: Iterable[Segment] = (),
    bits: int = 64,
    little_endian: bool = True,
    machine: int = X86_64,
    kind: int = EXECUTABLE,
    flags: int = 0,
    section_headers: bool = True,
) -> bytes:
    """One ELF file. ``symbols``, ``dynamic_symbols`` and ``notes`` become the sections that they are kept in."""
    order = "<" if little_endian else ">"
    everything = [Section("", type=0), *sections]
    if notes:
        note_body = note_bytes(notes, little_endian=little_endian)
        everything.append(Section(".note", note_body, type=NOTE, flags=ALLOC, alignment=4))
    for name, strings, kind_of_table, table in (
        (".symtab", ".strtab", SYMTAB, symbols),
        (".dynsym", ".dynstr", DYNSYM, dynamic_symbols),
    ):
        if table is not None:
            everything += _symbol_sections(name, strings, kind_of_table, table, everything, bits, order)
    everything.append(Section(".shstrtab", type=STRTAB))
    names, name_offsets = _strings(section.name.encode() for section in everything)
    everything[-1] = everything[-1]._replace(data=names)

    segments = list(segments)
    header_size, program_size, section_size = (64, 56, 64) if bits == 64 else (52, 32, 40)
    body = bytearray(header_size + program_size * len(segments))
    places: dict[str, tuple[int, Section, int]] = {}
    headers = bytearray()
    for section, name_offset in zip(everything, name_offsets, strict=True):
        data, extra_flags = _stored(section, bits, order)
        if section.type != NOBITS:
            body += bytes(-len(body) % 8)
        offset = len(body) if section.offset is None else section.offset
        if section.type != NOBITS:
            body += data
        size = len(data) if section.size_bytes is None else section.size_bytes
        places.setdefault(section.name, (offset, section, size))
        link = section.link if isinstance(section.link, int) else _index(everything, section.link)
        word = "Q" if bits == 64 else "I"
        headers += struct.pack(
            f"{order}II4{word}II2{word}",
            name_offset,
            section.type,
            section.flags | extra_flags,
            section.address,
            offset,
            size,
            link,
            section.info,
            section.alignment,
            section.entry_size,
        )
    body += bytes(-len(body) % 8)
    section_offset = len(body) if section_headers else 0
    many = len(everything) >= 0xFF00
    if many:
        headers = bytearray(_numbered_header(bytes(headers), len(everything), bits, order))
    identification = b"\x7fELF" + bytes([bits // 32, 1 if little_endian else 2, 1]) + bytes(9)
    body[:header_size] = identification + struct.pack(
        order + ("HHIQQQIHHHHHH" if bits == 64 else "HHIIIIIHHHHHH"),
        kind,
        machine,
        1,
        0,
        header_size if segments else 0,
        section_offset,
        flags,
        header_size,
        program_size if segments else 0,
        len(segments),
        section_size,
        (0 if many else len(everything)) if section_headers else 0,
        (XINDEX if many else len(everything) - 1) if section_headers else 0,
    )
    program_headers = b"".join(_program_header(segment, places, bits, order) for segment in segments)
    body[header_size : header_size + len(program_headers)] = program_headers
    return bytes(body) + (bytes(headers) if section_headers else b"")


def _index(sections: Sequence[Section], name: str) -> int:
    return next(index for index, section in enumerate(sections) if section.name == name)


def _strings(names: Iterable[bytes]) -> tuple[bytes, list[int]]:
    table = bytearray(b"\0")
    seen = {b"": 0}
    offsets = []
    for name in names:
        if name not in seen:
            seen[name] = len(table)
            table += name + b"\0"
        offsets.append(seen[name])
    return bytes(table), offsets


def _symbol_sections(
    name: str,
    strings: str,
    kind: int,
    table: Sequence[Symbol],
    before: Sequence[Section],
    bits: int,
    order: str,
) -> list[Section]:
    text, offsets = _strings(symbol.name.encode() if isinstance(symbol.name, str) else symbol.name for symbol in table)
    layout = struct.Struct(order + ("IBBHQQ" if bits == 64 else "IIIBBH"))
    body = bytearray(layout.size)
    indexes = [0]
    for symbol, offset in zip(table, offsets, strict=True):
        index = symbol.section if isinstance(symbol.section, int) else _index(before, symbol.section)
        wide = isinstance(symbol.section, str) and index >= 0xFF00
        indexes.append(index if wide else 0)
        info, short = symbol.binding << 4 | symbol.type, XINDEX if wide else index
        body += (
            layout.pack(offset, info, symbol.other, short, symbol.value, symbol.size_bytes)
            if bits == 64
            else layout.pack(offset, symbol.value, symbol.size_bytes, info, symbol.other, short)
        )
    made = [
        Section(
            name,
            bytes(body),
            type=kind,
            link=len(before) + 1,
            info=1,
            entry_size=layout.size,
            alignment=8,
        ),
        Section(strings, text, type=STRTAB),
    ]
    if any(indexes):
        packed = struct.pack(f"{order}{len(indexes)}I", *indexes)
        made.append(
            Section(
                name + "_shndx",
                packed,
                type=SYMTAB_SHNDX,
                link=len(before),
                entry_size=4,
                alignment=4,
            )
        )
    return made


def _stored(section: Section, bits: int, order: str) -> tuple[bytes, int]:
    if not section.compress:
        return section.data, 0
    size = len(section.data) if section.declared_size_bytes is None else section.declared_size_bytes
    if section.compress == "zlib-gnu":
        return b"ZLIB" + struct.pack(">Q", size) + zlib.compress(section.data), 0
    if section.compress == "zstd":
        import zstandard

        method, packed = 2, zstandard.ZstdCompressor().compress(section.data)
    else:
        method, packed = 1, zlib.compress(section.data)
    header = (
        struct.pack(order + "IIQQ", method, 0, size, 1) if bits == 64 else struct.pack(order + "III", method, size, 1)
    )
    return header + packed, COMPRESSED


def _numbered_header(headers: bytes, count: int, bits: int, order: str) -> bytes:
    layout = struct.Struct(order + ("II4QII2Q" if bits == 64 else "II4III2I"))
    fields = list(layout.unpack_from(headers))
    fields[5], fields[6] = count, count - 1
    return layout.pack(*fields) + headers[layout.size :]


def _program_header(segment: Segment, places: dict[str, tuple[int, Section, int]], bits: int, order: str) -> bytes:
    offset, section, size = places.get(segment.section, (0, Section(""), 0))
    address = section.address if segment.address is None else segment.address
    offset = offset if segment.offset is None else segment.offset
    size = size if segment.size_bytes is None else segment.size_bytes
    if bits == 64:
        return struct.pack(
            order + "IIQQQQQQ",
            segment.type,
            segment.flags,
            offset,
            address,
            address,
            size,
            size,
            segment.alignment,
        )
    return struct.pack(
        order + "IIIIIIII",
        segment.type,
        offset,
        address,
        address,
        size,
        size,
        segment.flags,
        segment.alignment,
    )


def upx_packed(*, notes: Sequence[Note] = ()) -> bytes:
    """A file as UPX leaves it: no section headers, what is loaded compressed, and at the end UPX's header with the place of all that."""
    code = Section(".text", bytes(range(256)) * 4, flags=CODE, address=0x401000)
    segments = [Segment(LOAD, 5, section=".text"), *[Segment(NOTE_SEGMENT, 4, section=".note")] * bool(notes)]
    header = b"UPX!" + bytes([13, 22, 2, 10]) + struct.pack("<5I4B", 1, 2, 4096, 1024, 4096, 0x49, 0, 0, 45)
    return elf([code], segments=segments, notes=notes, section_headers=False) + header + struct.pack("<I", 0xF4)
