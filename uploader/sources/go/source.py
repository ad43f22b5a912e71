"""Go's own table behind the port of sources: its presence is known, and nothing is read of it yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uploader.model import Quality, Source
from uploader.sources.port import Worth

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile

SECTIONS = (".gopclntab", ".data.rel.ro.gopclntab")
"""Where Go's linker puts its pc-line table: the second in position-independent executables."""


class GoTable:
    """``.gopclntab``."""

    name = Source.GO.value
    worth = Worth(gives=Quality.NONE)

    def present_in(self, elf: ElfFile) -> bool:
        """By its section."""
        return any(map(elf.has_filled, SECTIONS))
