"""``.gnu_debugdata``: the xz-compressed ELF file with a ``.symtab`` that distributions leave in stripped binaries ("MiniDebugInfo")."""

from __future__ import annotations

import lzma

from uploader.errors import InputError, MalformedElf
from uploader.objects.elf.elf_file import ElfFile

SECTION = ".gnu_debugdata"

MAX_RATIO = 64
"""The most that it is believed to shrink: symbol tables shrink three- to tenfold."""

SLACK_BYTES = 8 << 20
"""What it may inflate to whatever its compressed size."""

MAX_SIZE_BYTES = 256 << 20
"""What it may inflate to at most."""

MAX_DICTIONARY_BYTES = 128 << 20
"""Memory for the decoder itself: ``xz -9`` takes 65 MiB."""


def open_mini_debuginfo(elf: ElfFile) -> ElfFile | None:
    """The ELF file within ``elf``, in memory; None where there is none.

    Raises `MalformedElf` where it is damaged, cut, or would inflate to more than `MAX_RATIO` times its size and `SLACK_BYTES`, or
    than `MAX_SIZE_BYTES`. Never holds more than that, twice over while it is put together.
    """
    section = elf.section(SECTION)
    if section is None or not section.has_bytes or not section.size_bytes:
        return None
    data = elf.contents(section)
    limit = min(MAX_SIZE_BYTES, MAX_RATIO * len(data) + SLACK_BYTES)
    try:
        stream = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=MAX_DICTIONARY_BYTES)
        inflated = stream.decompress(data, max_length=limit)
    except (lzma.LZMAError, MemoryError) as error:
        raise MalformedElf(f"{SECTION} can't be inflated: {error}") from error
    if not stream.eof:
        if len(inflated) == limit:
            raise MalformedElf(f"{SECTION} of {len(data)} bytes inflates to more than {limit}")
        raise MalformedElf(f"{SECTION} is cut short")
    try:
        return ElfFile.from_bytes(inflated, name=f"{SECTION} of {elf.path}" if elf.path else SECTION)
    except InputError as error:
        raise MalformedElf(f"{SECTION} holds no sound ELF file: {error.message}") from error
