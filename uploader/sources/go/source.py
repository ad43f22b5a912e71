"""Go's own table behind the port of sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uploader.errors import MalformedGoTable
from uploader.model import Quality, Source
from uploader.objects.elf.headers import ET_CORE, ET_REL
from uploader.objects.elf.identity import has_code_bytes
from uploader.sources.port import ColumnsRead, Reading, Worth

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile


SECTIONS = (".gopclntab", ".data.rel.ro.gopclntab")
"""Where Go's linker puts the table: the second in position-independent executables."""

MARKS = (".go.buildinfo", ".go.module", ".noptrdata", ".noptrbss")
"""Sections that only Go's linker makes."""

NOT_THERE = "is not in the file, though Go's linker wrote it: removed, or overwritten"


class GoTable:
    """``.gopclntab``: functions, lines and inlined calls of Go code, which every Go program carries for its own stack traces."""

    name = Source.GO.value
    worth = Worth(gives=Quality.FULL)
    what = "Go's table"

    def present_in(self, elf: ElfFile) -> bool:
        """By its section; where there is none of that name, a program with Go's note or other sections of Go has the table somewhere.

        That of an object file (in c-archives) leads nowhere before it is linked, and in a core dump is none of its own.
        """
        if elf.kind in (ET_REL, ET_CORE):
            return False
        if any(map(elf.section, SECTIONS)):
            return any(map(elf.has_filled, SECTIONS))
        marked = any(map(elf.section, MARKS)) or any(name == "Go" for name, *_ in elf.notes())
        return marked and has_code_bytes(elf)

    def richness(self, elf: ElfFile) -> tuple[int, ...]:
        """By the size of its section."""
        sections = (elf.section(name) for name in SECTIONS)
        size_bytes = max((one.size_bytes for one in sections if one is not None and one.has_bytes), default=0)
        return (size_bytes or int(self.present_in(elf)),)

    def read_columns(self, elf: ElfFile, reading: Reading) -> ColumnsRead | None:
        """See `ColumnSource`."""
        from uploader.sources.go.find import find_table
        from uploader.sources.go.read import read_go

        table = find_table(elf)
        if table is None and self.present_in(elf) and reading.spoken_for is None:
            raise MalformedGoTable(NOT_THERE)
        return None if table is None else read_go(table, reading)
