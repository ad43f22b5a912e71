"""What a binary is and which sources of symbols it holds, from headers and notes alone: nothing is decoded or inflated."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

from uploader.errors import MalformedElf
from uploader.model import Identity, IdScheme, Source, SymbolId
from uploader.objects.elf.compression import MAX_RATIO, SLACK_BYTES
from uploader.objects.elf.dynamic import dynamic_symbols
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import PF_X, PT_LOAD, SHT_DYNSYM, SHT_SYMTAB
from uploader.values import frozen

NT_GNU_BUILD_ID = 3
NT_GO_BUILD_ID = 4

NO_GO_ID = "redacted"
"""What Bazel's rules write in place of every Go build id."""

FILE_ID_PART_BYTES = 4096

MAX_DEBUG_LINK_BYTES = 1 << 16
"""A file name, its padding and a CRC; names on disk are far shorter."""

GO_TABLE_SECTIONS = (".gopclntab", ".data.rel.ro.gopclntab")
"""Where Go's linker puts its pc-line table: the second in position-independent executables."""

_INFLATED = (".debug_", ".zdebug_", ".symtab", ".strtab", ".dynsym", ".dynstr", ".gnu_debugdata")


@frozen
class DebugLink:
    """What ``.gnu_debuglink`` names: a debug file's base name and the CRC-32 of its bytes."""

    name: bytes
    crc32: int


@frozen
class CodeSection:
    """One executable section. A binary and its debug file have the same ones, whichever holds the bytes."""

    name: str
    address: int
    size_bytes: int


def prelinked(one: Sequence[CodeSection], other: Sequence[CodeSection]) -> bool:
    """Whether both are the same code and all of one stands elsewhere by one distance, as prelink moves a library."""
    if len(one) != len(other) or not one or one[0].address == other[0].address:
        return False
    distance = one[0].address - other[0].address
    return all(
        (a.name, a.size_bytes, a.address - b.address) == (b.name, b.size_bytes, distance)
        for a, b in zip(one, other, strict=True)
    )


@frozen
class Identified:
    """What `identify` tells of one file."""

    path: str
    size_bytes: int
    identity: Identity
    machine: str
    kind: int
    """``e_type``: ET_REL 1, ET_EXEC 2, ET_DYN 3."""
    sources: tuple[Source, ...]
    """What can be read from this very file, the richest first."""
    code_sections: tuple[CodeSection, ...]
    """The shape of the code, by address. Under one id, equal shapes are companions and different ones a conflict."""
    has_code_bytes: bool
    """The code is in this file; False for ``.debug`` files."""
    debug_link: DebugLink | None = None
    dwarf_size_bytes: int = 0
    """How long its ``.debug_info`` claims to be once it is inflated: of two files, the one that tells more."""
    inflated_size_bytes: int = 0
    """The size of its debug information and symbols once they are inflated, as far as what they declare is believable."""


def identify(elf: ElfFile) -> Identified:
    """The ids of a file and what it holds.

    The primary id is the GNU build-id, else the Go build id, else the file id; the others are aliases. An id that
    is damaged or unheard of is passed over. An open `ElfFile` has all that this needs: it raises `InputError` only where the file changes
    meanwhile.
    """
    sources = _sources(elf)
    code = _code_sections(elf)
    return Identified(
        path=elf.path,
        size_bytes=elf.size_bytes,
        identity=_identity(elf),
        machine=elf.machine_name,
        kind=elf.kind,
        sources=sources,
        code_sections=code,
        has_code_bytes=_has_code_bytes(elf),
        debug_link=_debug_link(elf),
        dwarf_size_bytes=dwarf_size_bytes(elf, ".debug_info"),
        inflated_size_bytes=_inflated_size_bytes(elf),
    )


def dwarf_size_bytes(elf: ElfFile, name: str) -> int:
    """How long a debug section claims to be once it is inflated; all of that name together, 0 where there is none."""
    total = 0
    for section in elf.sections_named(name):
        if section.has_bytes:
            try:
                total += elf.inflated_size_bytes(section)
            except MalformedElf:
                total += section.size_bytes
    return total


def code_digest(elf: ElfFile) -> str | None:
    """The SHA-256 of the code (names, addresses and bytes of executable sections) in hex; None where its bytes aren't here.

    Stripping leaves it unchanged; two builds under one id differ in it. Raises `MalformedElf` where a section lies beyond the
    file's end, or sections overlap.
    """
    digest = hashlib.sha256()
    sections = sorted(
        (section for section in elf.sections if section.is_code and section.size_bytes),
        key=lambda section: (section.address, section.index),
    )
    if not any(section.has_bytes for section in sections):
        return None
    if sum(section.size_bytes for section in sections if section.has_bytes) > elf.size_bytes:
        raise MalformedElf(f"{elf.path or 'the input'} has more code than bytes")
    for section in sections:
        name = section.name.encode("utf-8", "surrogateescape")
        digest.update(struct.pack(">QQQ", len(name), section.address, section.size_bytes) + name)
        if section.has_bytes:
            for piece in elf.pieces_at(section.offset, section.size_bytes):
                digest.update(piece)
    return digest.hexdigest()


def file_id(elf: ElfFile) -> SymbolId:
    """The id that profilers of the OpenTelemetry family give a file.

    ``sha256(first 4096 bytes || last 4096 bytes || length as big-endian u64)[:16]``; the parts of a short file overlap.
    """
    digest = hashlib.sha256(elf.bytes_at(0, min(FILE_ID_PART_BYTES, elf.size_bytes)))
    tail_size = min(FILE_ID_PART_BYTES, elf.size_bytes)
    digest.update(elf.bytes_at(elf.size_bytes - tail_size, tail_size))
    digest.update(struct.pack(">Q", elf.size_bytes))
    return SymbolId(scheme=IdScheme.FILE, value=digest.digest()[:16].hex())


def _identity(elf: ElfFile) -> Identity:
    found: dict[IdScheme, SymbolId] = {}
    for name, kind, desc in elf.notes():
        if name == "GNU" and kind == NT_GNU_BUILD_ID:
            # A linker that was told to leave room for an id and never filled it leaves zeros: the id of nothing.
            candidate = _symbol_id(IdScheme.GNU, desc.hex()) if any(desc) else None
        elif name == "Go" and kind == NT_GO_BUILD_ID:
            text = desc.rstrip(b"\0").decode("latin-1")
            candidate = _symbol_id(IdScheme.GO, text.replace("/", "~")) if text != NO_GO_ID else None
        else:
            continue
        if candidate is not None:
            found.setdefault(candidate.scheme, candidate)
    found[IdScheme.FILE] = file_id(elf)
    primary, *aliases = (found[scheme] for scheme in IdScheme if scheme in found)
    return Identity(primary=primary, aliases=tuple(aliases))


def _symbol_id(scheme: IdScheme, value: str) -> SymbolId | None:
    try:
        return SymbolId(scheme=scheme, value=value)
    except ValueError:
        return None


def _sources(elf: ElfFile) -> tuple[Source, ...]:
    def filled(name: str) -> bool:
        section = elf.section(name)
        return section is not None and section.has_bytes and section.size_bytes > 0

    def symbols(kind: int) -> bool:
        # The first entry of a symbol table is the undefined symbol.
        least = 2 * (24 if elf.bits == 64 else 16)
        if kind == SHT_DYNSYM and not elf.sections:
            table = dynamic_symbols(elf)
            return table is not None and table.size_bytes >= least
        return any(section.type == kind and section.size_bytes >= least for section in elf.sections)

    sources = []
    if filled(".debug_info"):
        sources.append(Source.DWARF)
    elif filled(".debug_line"):
        sources.append(Source.DWARF_LINES)
    if any(filled(name) for name in GO_TABLE_SECTIONS):
        sources.append(Source.GO)
    if symbols(SHT_SYMTAB):
        sources.append(Source.SYMTAB)
    if symbols(SHT_DYNSYM):
        sources.append(Source.DYNSYM)
    if filled(".gnu_debugdata"):
        sources.append(Source.MINI_DEBUGINFO)
    return tuple(sources)


def _has_code_bytes(elf: ElfFile) -> bool:
    if not elf.sections:
        return any(each.type == PT_LOAD and each.flags & PF_X and each.size_bytes for each in elf.segments)
    return any(section.is_code and section.has_bytes and section.size_bytes for section in elf.sections)


def _code_sections(elf: ElfFile) -> tuple[CodeSection, ...]:
    return tuple(
        CodeSection(name=section.name, address=section.address, size_bytes=section.size_bytes)
        for section in sorted(elf.sections, key=lambda section: (section.address, section.index))
        if section.is_code and section.size_bytes
    )


def _inflated_size_bytes(elf: ElfFile) -> int:
    total = 0
    for section in elf.sections:
        if section.has_bytes and section.name.startswith(_INFLATED):
            try:
                declared = elf.inflated_size_bytes(section)
            except MalformedElf:
                continue
            # What claims more is refused when it is to be inflated.
            believable = declared <= section.size_bytes * MAX_RATIO + SLACK_BYTES
            total += declared if believable else section.size_bytes
    return total


def _debug_link(elf: ElfFile) -> DebugLink | None:
    section = elf.section(".gnu_debuglink")
    if section is None or not section.has_bytes or section.compressed or section.size_bytes > MAX_DEBUG_LINK_BYTES:
        return None
    try:
        data = bytes(elf.contents(section))
    except MalformedElf:
        return None
    name, end, _ = data.partition(b"\0")
    crc_offset = (len(name) + 4) & ~3
    if not name or not end or len(data) < crc_offset + 4:
        return None
    order = "<" if elf.little_endian else ">"
    return DebugLink(name=name, crc32=struct.unpack_from(order + "I", data, crc_offset)[0])
