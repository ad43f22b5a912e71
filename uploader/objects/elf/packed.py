"""Whether a program was packed: the file then has its code, notes and tables compressed, and a small program that unpacks them."""

from __future__ import annotations

from uploader.objects.elf.elf_file import ElfFile

PACKED = "packed by UPX: its code and all that speaks of it lie compressed in the file"
UPX = b"UPX!"
LAST_BYTES = 64
"""UPX's header is the last thing in the file, in 36 bytes, and what fills up a word."""


def packed_by_upx(elf: ElfFile) -> bool:
    """By the mark that ``upx -d`` goes by, in a file without section headers, which UPX leaves none of."""
    size_bytes = min(LAST_BYTES, elf.size_bytes)
    return not elf.sections and UPX in bytes(elf.bytes_at(elf.size_bytes - size_bytes, size_bytes))
