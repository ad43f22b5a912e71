"""Functions from ELF symbol tables (gABI, "Symbol Table"): ``.symtab`` and ``.dynsym`` become one sorted set of code ranges."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING

from uploader.binary.elf import (
    EM_PPC64,
    ET_REL,
    SHT_DYNSYM,
    SHT_SYMTAB,
    SHT_SYMTAB_SHNDX,
)
from uploader.errors import MalformedElf
from uploader.extract.elf_symbol_choice import SymbolChooser
from uploader.extract.elf_symbol_gather import Descriptors, SymbolGatherer
from uploader.model import Source

if TYPE_CHECKING:
    from uploader.binary.elf import ElfFile, Section
    from uploader.extract.elf_symbol_choice import Choice
    from uploader.extract.elf_symbol_gather import Candidates

FROM_SYMTAB = 0
FROM_DYNSYM = 1

_SOURCES = (Source.SYMTAB, Source.DYNSYM)


class ElfSymbols:
    """Functions of one file: ascending by start, one for each start address, never empty. Ranges may nest or overlap.

    ``start`` and ``end`` are ``array('Q')`` of addresses; ``extended`` is ``array('B')``, 1 where the table gives no size and the
    end is the next symbol's start or the section's end. The name of symbol ``i`` is
    ``text[name_offset[i] : name_offset[i] + name_length[i]]``, still mangled, without ``@VERSION``. ``source`` is
    ``array('B')``: 0 from ``.symtab``, 1 from ``.dynsym``.
    """

    def __init__(self, candidates: Candidates, choice: Choice, text: bytes) -> None:
        self.text = text
        self.start = choice.start
        self.end = choice.end
        self.extended = choice.extended
        self.name_offset = array("Q", map(candidates.name_offset.__getitem__, choice.chosen))
        self.name_length = array("I", map(candidates.name_length.__getitem__, choice.chosen))
        self.source = array("B", map(candidates.source.__getitem__, choice.chosen))
        self._candidates = candidates
        self._choice = choice

    def __len__(self) -> int:
        return len(self.start)

    def name(self, index: int) -> bytes:
        """The name of symbol ``index``."""
        offset = self.name_offset[index]
        return self.text[offset : offset + self.name_length[index]]

    def source_of(self, index: int) -> Source:
        """The table that symbol ``index`` was chosen from."""
        return _SOURCES[self.source[index]]

    def aliases(self, address: int) -> tuple[bytes, ...]:
        """The other names of the function that starts at ``address``, the better first; empty where there are none."""
        index = bisect_left(self.start, address)
        if index == len(self.start) or self.start[index] != address:
            return ()
        ranked: dict[bytes, int] = {}
        for candidate in self._choice.order[self._choice.first[index] : self._choice.last[index]]:
            offset = self._candidates.name_offset[candidate]
            name = self.text[offset : offset + self._candidates.name_length[candidate]]
            rank = self._candidates.rank[candidate]
            ranked[name] = min(rank, ranked.get(name, rank))
        ranked.pop(self.name(index), None)
        return tuple(
            sorted(
                ranked,
                key=lambda name: (
                    ranked[name],
                    len(name) - len(name.lstrip(b"_")),
                    len(name),
                    name,
                ),
            )
        )


def read_symbols(elf: ElfFile, *, symtab: bool = True, dynsym: bool = True) -> ElfSymbols:
    """The functions of ``elf`` by its symbol tables; for a ``.debug`` file too, whose code bytes are elsewhere.

    - Counted are FUNC and GNU_IFUNC symbols, and NOTYPE ones that lie in executable sections (hand-written assembly); not
      those without a name, mapping symbols (``$a``, ``$x.foo``), local ``.L`` labels, and unsized NOTYPE labels
      inside a sized function.
    - One name for each address: FUNC over NOTYPE, global over weak over local, then the fewest leading underscores, the
      shortest, the bytewise first. The others are its `ElfSymbols.aliases`.
    - The size is the largest that stays within the section; size 0 reaches to the next symbol or the section's end.
    - On ARM the Thumb bit is masked; on ppc64 ELFv1 descriptors in ``.opd`` are followed where its bytes are in the file.

    In a relocatable file addresses count from each section's own address, which is mostly 0. Raises `MalformedElf` where a table
    or its strings lie beyond the file's end, or the table's entries have an impossible size.
    """
    wanted = ([(SHT_SYMTAB, FROM_SYMTAB)] if symtab else []) + ([(SHT_DYNSYM, FROM_DYNSYM)] if dynsym else [])
    tables = []
    for kind, source in wanted:
        section = next(
            (each for each in elf.sections if each.type == kind and each.size_bytes),
            None,
        )
        if section is not None:
            tables.append((section, source))
    text = bytearray()
    bases = [0]
    for section, _ in tables:
        text += _strings_of(elf, section)
        bases.append(len(text))
    strings = bytes(text)
    words = [_words(elf, section) for section, _ in tables]
    capacity = sum(len(each) for each in words) // (3 if elf.bits == 64 else 4)
    gatherer = SymbolGatherer(elf, strings, capacity, _descriptors(elf))
    for (section, source), entries, begin, end in zip(tables, words, bases[:-1], bases[1:], strict=True):
        gatherer.read(entries, _wide_indexes(elf, section), begin, end, source)
    candidates = gatherer.candidates()
    return ElfSymbols(candidates, SymbolChooser(candidates, strings).run(), strings)


def _strings_of(elf: ElfFile, table: Section) -> bytes:
    if table.link >= len(elf.sections):
        raise MalformedElf(f"{elf.path or 'the input'}: {table.name} has its strings in a section that isn't there")
    return bytes(elf.contents(elf.sections[table.link]))


def _words(elf: ElfFile, table: Section) -> array[int]:
    """The table as numbers: three 64-bit words a symbol, or four 32-bit ones."""
    entry_size = 24 if elf.bits == 64 else 16
    if table.entry_size not in (0, entry_size):
        raise MalformedElf(f"{elf.path or 'the input'}: {table.name} has entries of {table.entry_size} bytes")
    words = array("Q" if elf.bits == 64 else "I")
    data = elf.contents(table)
    words.frombytes(data[: len(data) - len(data) % entry_size])
    if elf.little_endian != (sys.byteorder == "little"):
        words.byteswap()
    return words if elf.bits == 64 else array("Q", words)


def _wide_indexes(elf: ElfFile, table: Section) -> array[int]:
    """The section numbers that don't fit into a symbol (SHT_SYMTAB_SHNDX), or nothing."""
    indexes = array("I")
    for section in elf.sections:
        if section.type == SHT_SYMTAB_SHNDX and section.link == table.index:
            data = elf.contents(section)
            indexes.frombytes(data[: len(data) - len(data) % 4])
            if elf.little_endian != (sys.byteorder == "little"):
                indexes.byteswap()
            break
    return indexes


def _descriptors(elf: ElfFile) -> Descriptors | None:
    section = elf.section(".opd") if elf.machine == EM_PPC64 and elf.bits == 64 else None
    if section is None or not section.has_bytes or elf.kind == ET_REL:
        return None
    data = elf.contents(section)
    words = array("Q")
    words.frombytes(data[: len(data) - len(data) % 8])
    if elf.little_endian != (sys.byteorder == "little"):
        words.byteswap()
    return Descriptors(section_index=section.index, address=section.address, words=words)
