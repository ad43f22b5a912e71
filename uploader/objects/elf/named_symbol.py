"""Where a symbol of one name lies, without reading all the others (gABI, "Symbol Table")."""

from __future__ import annotations

import struct

from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import SHT_SYMTAB

MAX_FOUND = 64
"""So many places that look like an entry of that name are tried; a name's offset is found by chance in a few values and sizes."""


def address_of_symbol(elf: ElfFile, name: bytes) -> int | None:
    """The value of the first symbol of that name in the file's own symbol table; None where it has none. Raises `MalformedElf`."""
    order = "<" if elf.little_endian else ">"
    entry_bytes, value_at, word = (24, 8, "Q") if elf.bits == 64 else (16, 4, "I")
    for table in elf.sections:
        if table.type != SHT_SYMTAB or not table.has_bytes or table.link >= len(elf.sections):
            continue
        names = elf.sections[table.link]
        text = bytes(elf.contents(names)) if names.has_bytes else b""
        offset = text.find(b"\0" + name + b"\0") + 1
        if not offset:
            continue
        entries = bytes(elf.contents(table))
        wanted = struct.pack(order + "I", offset)
        at = entries.find(wanted)
        for _ in range(MAX_FOUND):
            if at < 0:
                break
            if at % entry_bytes == 0 and at + entry_bytes <= len(entries):
                (value,) = struct.unpack_from(order + word, entries, at + value_at)
                return int(value)
            at = entries.find(wanted, at + 1)
    return None
