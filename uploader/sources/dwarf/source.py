"""DWARF behind the port of sources: `.debug_info` with all it knows, and line tables that stand alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uploader.model import Quality, Source
from uploader.objects.elf.identity import dwarf_size_bytes
from uploader.sources.port import ColumnsRead, Reading, Worth

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile


class Dwarf:
    """Functions, lines and inlined calls from ``.debug_info`` and what it refers to."""

    name = Source.DWARF.value
    worth = Worth(gives=Quality.FULL, debug=True, sought=True)
    what = "DWARF"

    def present_in(self, elf: ElfFile) -> bool:
        """By its section."""
        return elf.has_filled(".debug_info")

    def richness(self, elf: ElfFile) -> tuple[int, ...]:
        """A binary may have that of one assembler file, its debug file all the rest."""
        return dwarf_size_bytes(elf, ".debug_info"), dwarf_size_bytes(elf, ".debug_line")

    def read_columns(self, elf: ElfFile, reading: Reading) -> ColumnsRead | None:
        """See `ColumnSource`."""
        from uploader.sources.dwarf.read import read_dwarf

        return read_dwarf(
            elf,
            reading.executable,
            reading.names,
            threads=reading.threads,
            files=reading.linked,
            meanwhile=reading.meanwhile,
        )


class DwarfLines(Dwarf):
    """Line tables without ``.debug_info``: what `strip` and some assemblers leave."""

    name = Source.DWARF_LINES.value
    worth = Worth(gives=Quality.LINES, debug=True, sought=True, covered_by=(Source.DWARF.value,))

    def present_in(self, elf: ElfFile) -> bool:
        """By its section."""
        return elf.has_filled(".debug_line") and not elf.has_filled(".debug_info")
