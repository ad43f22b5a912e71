"""Applies the relocations of debug sections in relocatable files (gABI, "Relocation").

Only what data relocations do is done: absolute values of 8 to 64 bits, and the sums that RISC-V and LoongArch spell out one operation
at a time. Nothing else stands in ``.rela.debug_*``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from uploader.core.columns import read_items
from uploader.errors import MalformedElf
from uploader.objects.elf.crel import SHT_CREL, CrelTable
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import (
    EM_MIPS,
    ET_REL,
    SHT_REL,
    SHT_RELA,
    Section,
)
from uploader.objects.elf.patch import LAYOUT_32, LAYOUT_64, LAYOUT_MIPS_BIG, LAYOUT_MIPS_LITTLE, Patcher
from uploader.objects.elf.relocation_types import OPERATIONS, operations_of
from uploader.objects.elf.symbol_values import SymbolValues, values_of

ENTRIES_AT_A_TIME = 1 << 16


class Relocator:
    """Gives the debug sections of one file as a linker would leave them. Sections may be asked for from several threads.

    In files that are linked already, and where nothing is to be relocated, the bytes are those of the file.
    """

    def __init__(self, elf: ElfFile) -> None:
        self._elf = elf
        self._of: dict[int, list[Section]] = {}
        self._symbols: dict[int, SymbolValues] = {}
        self._trouble: list[str] = []
        self._trouble_of: dict[int, list[str]] = {}
        if elf.kind != ET_REL:
            return
        for section in elf.sections:
            if (
                section.type in (SHT_RELA, SHT_REL, SHT_CREL)
                and section.size_bytes
                and section.info < len(elf.sections)
            ):
                target = elf.sections[section.info]
                if target.name.startswith((".debug_", ".zdebug_")):
                    self._of.setdefault(target.index, []).append(section)
                    self._learn(section.link)

    @property
    def warnings(self) -> list[str]:
        """What went wrong up to now, in the order of the sections, whichever was asked for first."""
        return [*self._trouble, *(told for index in sorted(self._trouble_of) for told in self._trouble_of[index])]

    def contents(self, section: Section) -> bytes | memoryview:
        """The bytes of a section, inflated and relocated.

        Raises `MalformedElf` as `ElfFile.contents` does, and for a machine whose relocations are not known.
        """
        data = self._elf.contents(section)
        tables = self._of.get(section.index)
        if not tables:
            return data
        if self._elf.machine not in OPERATIONS:
            raise MalformedElf(f"the relocations of a {self._elf.machine_name} file are not known")
        changed = bytearray(data)
        trouble = []
        for table in tables:
            lost = self._apply(changed, section, table)
            if lost:
                trouble.append(f"{lost} relocation{'s' * (lost > 1)} of {section.name} could not be applied")
        if trouble:
            self._trouble_of[section.index] = trouble
        return memoryview(changed).toreadonly()

    def _learn(self, index: int) -> None:
        """Reads the symbol table that relocations refer to, once."""
        if index in self._symbols:
            return
        try:
            self._symbols[index] = values_of(self._elf, index)
        except MalformedElf as error:
            self._trouble.append(f"no relocation can be applied: {error.message}")
            self._symbols[index] = SymbolValues(value=array("Q"), defined=array("B"))

    def _apply(self, target: bytearray, section: Section, table: Section) -> int:
        """Applies one table; gives how many of its entries had to be passed over."""
        elf = self._elf
        if table.type == SHT_CREL:
            compact = CrelTable(data=elf.contents(table), is_64=elf.bits == 64, entries_at_a_time=ENTRIES_AT_A_TIME)
            chunks, has_addends = compact.chunks(), compact.has_addends
        else:
            chunks, has_addends = _entries(elf, table), table.type == SHT_RELA
        layout = LAYOUT_64 if elf.bits == 64 else LAYOUT_32
        if elf.machine == EM_MIPS and elf.bits == 64:
            layout = LAYOUT_MIPS_LITTLE if elf.little_endian and table.type != SHT_CREL else LAYOUT_MIPS_BIG
        patcher = Patcher(
            target,
            self._symbols[table.link],
            operations_of(elf.machine),
            layout=layout,
            has_addends=has_addends,
            address_bytes=elf.bits // 8,
            little_endian=elf.little_endian,
            # A range list ends where both ends are 0, and all ones choose a base: the dead are marked by 1, as LLD marks them.
            tombstone=1 if section.name.endswith("debug_ranges") else (1 << elf.bits) - 1,
        )
        return sum(map(patcher.apply, chunks))


def _entries(elf: ElfFile, table: Section) -> Iterator[array[int]]:
    """The entries of a relocation table as words, some at a time; a part of an entry at its end is dropped."""
    data = elf.contents(table)
    word_size = 8 if elf.bits == 64 else 4
    entry_size = word_size * (3 if table.type == SHT_RELA else 2)
    usable = len(data) - len(data) % entry_size
    for start in range(0, usable, entry_size * ENTRIES_AT_A_TIME):
        end = min(start + entry_size * ENTRIES_AT_A_TIME, usable)
        words = read_items("Q" if word_size == 8 else "I", data[start:end], elf.little_endian)
        yield words if word_size == 8 else array("Q", words)
