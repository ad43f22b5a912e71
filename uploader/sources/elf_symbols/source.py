"""The symbol tables of ELF behind the port of sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uploader.model import Quality, Source
from uploader.objects.elf.dynamic import dynamic_symbols
from uploader.objects.elf.headers import SHT_DYNSYM, SHT_SYMTAB
from uploader.sources.port import Worth

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.sources.elf_symbols.read import SymbolSet

ENTRY_BYTES = {32: 16, 64: 24}
"""The size of a symbol, by the file's class."""


class SymbolTable:
    """``.symtab``: all functions, those of one file alone among them."""

    name = Source.SYMTAB.value
    worth = Worth(gives=Quality.FUNCTIONS, sought=True)
    what = "the symbol table"
    of_the_binary_alone = False

    def present_in(self, elf: ElfFile) -> bool:
        """By its section."""
        return _has_table(elf, SHT_SYMTAB)

    def read_symbols(self, elf: ElfFile, binary: ElfFile) -> SymbolSet | None:
        """See `TableSource`."""
        from uploader.sources.elf_symbols.read import read_table

        return read_table(elf, SHT_SYMTAB, binary=binary)


class MiniDebuginfo:
    """``.gnu_debugdata``: a compressed file with the ``.symtab`` that stripping took away."""

    name = Source.MINI_DEBUGINFO.value
    worth = Worth(gives=Quality.FUNCTIONS, covered_by=(Source.SYMTAB.value,))
    what = "mini-debuginfo"
    of_the_binary_alone = False

    def present_in(self, elf: ElfFile) -> bool:
        """By its section."""
        return elf.has_filled(".gnu_debugdata")

    def read_symbols(self, elf: ElfFile, binary: ElfFile) -> SymbolSet | None:
        """See `TableSource`."""
        from uploader.objects.elf.mini_debuginfo import open_mini_debuginfo
        from uploader.sources.elf_symbols.read import read_table

        inner = open_mini_debuginfo(elf)
        if inner is None:
            return None
        with inner:
            return read_table(inner, SHT_SYMTAB, binary=binary)


class DynamicSymbols:
    """``.dynsym``: what a file shows to others. Where no section headers lead to it, PT_DYNAMIC does."""

    name = Source.DYNSYM.value
    worth = Worth(gives=Quality.FUNCTIONS)
    what = "the dynamic symbol table"
    of_the_binary_alone = False

    def present_in(self, elf: ElfFile) -> bool:
        """By its section, or by PT_DYNAMIC."""
        if elf.sections:
            return _has_table(elf, SHT_DYNSYM)
        table = dynamic_symbols(elf)
        return table is not None and table.size_bytes >= _least_size_bytes(elf)

    def read_symbols(self, elf: ElfFile, binary: ElfFile) -> SymbolSet | None:
        """See `TableSource`."""
        from uploader.sources.elf_symbols.read import read_table

        return read_table(elf, SHT_DYNSYM, binary=binary)


def _has_table(elf: ElfFile, kind: int) -> bool:
    return any(section.type == kind and section.size_bytes >= _least_size_bytes(elf) for section in elf.sections)


def _least_size_bytes(elf: ElfFile) -> int:
    # The first entry of a symbol table is the undefined symbol.
    return 2 * ENTRY_BYTES[elf.bits]
