"""Where a file's dynamic symbols lie by what the loader reads (gABI, "Dynamic Section"): it knows no section headers.

How many symbols there are is said nowhere: hash tables tell, which lead to all of them.
"""

from __future__ import annotations

import struct
from array import array
from typing import TYPE_CHECKING

from uploader.core.columns import read_items
from uploader.errors import MalformedElf
from uploader.objects.elf.headers import EM_S390, PT_DYNAMIC, PT_LOAD
from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile

DT_NULL, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT = 0, 4, 5, 6, 10, 11
DT_MIPS_SYMTABNO, DT_GNU_HASH = 0x70000011, 0x6FFFFEF5

EM_ALPHA = 0x9026

MAX_DYNAMIC_BYTES = 1 << 20
"""Programs have some thirty entries, and one more for each library."""


@frozen
class DynamicSymbols:
    """Where the table and its strings lie in the file."""

    offset: int
    size_bytes: int
    strings_offset: int
    strings_size_bytes: int


def dynamic_symbols(elf: ElfFile) -> DynamicSymbols | None:
    """The dynamic symbol table as PT_DYNAMIC leads to it; None where it leads to none, or out of the file."""
    try:
        tags = dynamic_tags(elf)
        symbols, strings = place_of(elf, tags[DT_SYMTAB]), place_of(elf, tags[DT_STRTAB])
        if symbols is None or strings is None:
            return None
        entry_size = 24 if elf.bits == 64 else 16
        if tags.get(DT_SYMENT, entry_size) != entry_size:
            return None
        count = _count(elf, tags, entry_size)
    except (KeyError, IndexError, struct.error, MalformedElf):
        return None
    return DynamicSymbols(
        offset=symbols[0],
        size_bytes=min(count, symbols[1] // entry_size) * entry_size,
        strings_offset=strings[0],
        strings_size_bytes=min(tags.get(DT_STRSZ, strings[1]), strings[1]),
    )


def dynamic_tags(elf: ElfFile) -> dict[int, int]:
    """The entries of PT_DYNAMIC that stand there first, by their tags."""
    found: dict[int, int] = {}
    word = "Q" if elf.bits == 64 else "I"
    for segment in elf.segments:
        if segment.type == PT_DYNAMIC:
            size_bytes = min(segment.size_bytes, MAX_DYNAMIC_BYTES, max(elf.size_bytes - segment.offset, 0))
            entry = struct.Struct(f"{'<' if elf.little_endian else '>'}2{word}")
            data = elf.bytes_at(segment.offset, size_bytes - size_bytes % entry.size)
            for tag, value in entry.iter_unpack(data):
                if tag == DT_NULL:
                    break
                found.setdefault(tag, value)
            break
    return found


def place_of(elf: ElfFile, address: int) -> tuple[int, int] | None:
    """Where in the file an address lies, and how many bytes are there from it on; None where it isn't loaded from the file."""
    for segment in elf.segments:
        if segment.type == PT_LOAD and segment.address <= address < segment.address + segment.size_bytes:
            skipped = address - segment.address
            room = min(segment.size_bytes - skipped, elf.size_bytes - segment.offset - skipped)
            return (segment.offset + skipped, room) if room > 0 else None
    return None


def _count(elf: ElfFile, tags: dict[int, int], entry_size: int) -> int:
    """How many symbols there are, as far as tables tell; what they claim is not yet compared with the file."""
    if DT_MIPS_SYMTABNO in tags:
        return tags[DT_MIPS_SYMTABNO]
    if DT_GNU_HASH in tags and (place := place_of(elf, tags[DT_GNU_HASH])) is not None:
        return _count_by_gnu_hash(elf, *place)
    if DT_HASH in tags and (place := place_of(elf, tags[DT_HASH])) is not None:
        wide = elf.bits == 64 and elf.machine in (EM_S390, EM_ALPHA)
        code = ("<" if elf.little_endian else ">") + ("QQ" if wide else "II")
        _, chains = struct.unpack_from(code, elf.bytes_at(place[0], min(place[1], 16)))
        return int(chains)
    # Linkers lay the strings behind the symbols.
    return max(tags[DT_STRTAB] - tags[DT_SYMTAB], 0) // entry_size


def _count_by_gnu_hash(elf: ElfFile, offset: int, room: int) -> int:
    """The end of the last chain: symbols that are looked up stand last, in the order of their buckets."""
    order = "<" if elf.little_endian else ">"
    buckets, first, bloom, _ = struct.unpack_from(order + "IIII", elf.bytes_at(offset, min(room, 16)))
    at = 16 + bloom * (elf.bits // 8)
    if at + 4 * buckets > room:
        raise MalformedElf("a hash table is cut off")
    last = max(_numbers(elf, offset + at, 4 * buckets), default=0)
    if last < first:
        return int(first)
    at += 4 * buckets + 4 * (last - first)
    if at >= room:
        raise MalformedElf("a hash table is cut off")
    chain = _numbers(elf, offset + at, (room - at) // 4 * 4)
    return int(last) + next((length for length, value in enumerate(chain, 1) if value & 1), len(chain))


def _numbers(elf: ElfFile, offset: int, size_bytes: int) -> array[int]:
    return read_items("I", elf.bytes_at(offset, size_bytes), elf.little_endian)
