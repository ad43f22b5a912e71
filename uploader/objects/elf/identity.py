"""What a binary is, from headers and notes alone: nothing is decoded or inflated."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

from uploader.errors import MalformedElf
from uploader.model import Identity, IdScheme, SymbolId
from uploader.objects.elf.compression import MAX_RATIO, SLACK_BYTES
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import PF_X, PT_LOAD
from uploader.values import frozen

NT_GNU_BUILD_ID = 3
NT_GO_BUILD_ID = 4

NO_GO_ID = "redacted"
"""What Bazel's rules write in place of every Go build id."""

_MADE_OF_NO_GO_ID = frozenset(
    digest[1:20]
    for whole in (hashlib.sha256(NO_GO_ID.encode()).digest(),)
    for digest in (whole, bytes(byte ^ 0xFF for byte in whole))
)
"""A GNU build-id that Go's linker makes of its own id (``-B gobuildid``), without the first byte, which differs by version: it stands for
every program that has none."""

FILE_ID_PART_BYTES = 4096

MAX_DEBUG_LINK_BYTES = 1 << 16
"""A file name, its padding and a CRC; names on disk are far shorter."""

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
        raise MalformedElf("has more code than bytes", path=elf.called)
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


def identity(elf: ElfFile) -> Identity:
    """The GNU build-id, else the Go build id, else the file id; the others are aliases.

    An id that is damaged or unheard of is passed over.
    """
    found: dict[IdScheme, SymbolId] = {}
    for name, kind, desc in elf.notes():
        if name == "GNU" and kind == NT_GNU_BUILD_ID:
            # A linker that was told to leave room for an id and never filled it leaves zeros: the id of nothing.
            stands_for_none = not any(desc) or desc[1:] in _MADE_OF_NO_GO_ID
            candidate = None if stands_for_none else _symbol_id(IdScheme.GNU, desc.hex())
        elif name == "Go" and kind == NT_GO_BUILD_ID:
            text = desc.rstrip(b"\0").decode("latin-1")
            candidate = None if text == NO_GO_ID else _symbol_id(IdScheme.GO, text.replace("/", "~"))
        else:
            continue
        if candidate is not None:
            found.setdefault(candidate.scheme, candidate)
    found[IdScheme.FILE] = file_id(elf)
    primary, *aliases = (found[scheme] for scheme in IdScheme if scheme in found)
    return Identity(primary=primary, aliases=tuple(aliases))


def has_redacted_id(elf: ElfFile) -> bool:
    """Whether its Go build id is the word that stands in many programs instead of one, or its GNU build-id is made of that word."""
    return has_id_of_redacted(elf) or any(
        name == "Go" and kind == NT_GO_BUILD_ID and desc.rstrip(b"\0") == NO_GO_ID.encode()
        for name, kind, desc in elf.notes()
    )


def has_id_of_redacted(elf: ElfFile) -> bool:
    """Whether it has the GNU build-id that Go's linker makes of that word."""
    return any(
        name == "GNU" and kind == NT_GNU_BUILD_ID and desc[1:] in _MADE_OF_NO_GO_ID for name, kind, desc in elf.notes()
    )


def _symbol_id(scheme: IdScheme, value: str) -> SymbolId | None:
    try:
        return SymbolId(scheme=scheme, value=value)
    except ValueError:
        return None


def has_code_bytes(elf: ElfFile) -> bool:
    """Whether the code is in this file, and not only told of, as in a ``.debug`` file."""
    if not elf.sections:
        return any(each.type == PT_LOAD and each.flags & PF_X and each.size_bytes for each in elf.segments)
    return any(section.is_code and section.has_bytes and section.size_bytes for section in elf.sections)


def code_sections(elf: ElfFile) -> tuple[CodeSection, ...]:
    """The shape of the code, by address."""
    return tuple(
        CodeSection(name=section.name, address=section.address, size_bytes=section.size_bytes)
        for section in sorted(elf.sections, key=lambda section: (section.address, section.index))
        if section.is_code and section.size_bytes
    )


def inflated_size_bytes(elf: ElfFile) -> int:
    """The size of debug information and symbols once they are inflated, as far as what they declare is believable."""
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


def debug_link(elf: ElfFile) -> DebugLink | None:
    """What its ``.gnu_debuglink`` names; None where it has none, or a damaged one."""
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
