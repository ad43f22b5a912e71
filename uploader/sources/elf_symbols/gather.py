"""Reads the entries of ELF symbol tables and keeps those that name code. Part of the core: compiled or not, the same results.

Source: gABI, "Symbol Table".
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import cython

from uploader.errors import MalformedElf
from uploader.objects.elf.headers import EM_ARM, EM_RISCV, SHN_XINDEX
from uploader.sources.elf_symbols.candidates import (
    RANK_LOCAL,
    RANK_OF_DATA,
    RANK_OF_LABELS,
    RANK_WEAK,
    CandidateColumns,
    Candidates,
    room_for,
)
from uploader.sources.elf_symbols.code_map import CodeMap
from uploader.sources.elf_symbols.names import SymbolNames
from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile

WIDE_WORDS = 3
NARROW_WORDS = 4
"""How many words of its class a symbol of a 64-bit file is read as, and one of a 32-bit file."""

LOW_32_BITS = 0xFFFFFFFF
THUMB_BIT = 1
DESCRIPTOR_SHIFT = 3

KIND_MASK = 15
BINDING_SHIFT = 4

STT_OBJECT = 1
STT_FUNC = 2
STT_GNU_IFUNC = 10
STT_ARM_TFUNC = 13

STB_LOCAL = 0
STB_GLOBAL = 1
STB_WEAK = 2
STB_GNU_UNIQUE = 10

SHN_UNDEF = 0
SHN_LORESERVE = 0xFF00
SHN_ABS = 0xFFF1


@frozen
class Descriptors:
    """The function descriptors of ppc64 ELFv1, ``.opd``: what a function's symbol points at there instead of code."""

    section_index: int
    address: int
    words: array[int]
    """The section as 64-bit words; the entry point is a descriptor's first (64-bit PowerPC ELF ABI §3.2.4)."""


class SymbolGatherer:
    """Reads one table after the other into one set of columns."""

    def __init__(self, elf: ElfFile, text: bytes, capacity: int, descriptors: Descriptors | None) -> None:
        """Takes the strings of all tables, one after the other, and how many symbols the tables have together."""
        self.wide = elf.bits == 64
        self.little_endian = elf.little_endian
        self.is_arm = elf.machine == EM_ARM
        self.code = CodeMap(elf)
        self.names = SymbolNames(text, capacity, is_riscv=elf.machine == EM_RISCV)
        self.found = CandidateColumns(room_for(capacity), 0)
        self.opd_index = -1
        self.opd_address = 0
        self.opd_count = 0
        self.opd = array("Q")
        if descriptors is not None and descriptors.words:
            self.opd_index = descriptors.section_index
            self.opd_address = descriptors.address
            self.opd_count = len(descriptors.words)
            self.opd = descriptors.words

    def read(
        self,
        words: array[int],
        wide_indexes: array[int],
        text_begin: int,
        text_end: int,
    ) -> None:
        """Gathers one table: its entries as words of the file's class, its names in ``text[text_begin:text_end]``.

        Raises `MalformedElf` where names overlap so much that no compiler made them.
        """
        self.words = words
        self.wide_count = len(wide_indexes)
        self.wide_index = wide_indexes
        symbols: cython.Py_ssize_t = len(words) // (WIDE_WORDS if self.wide else NARROW_WORDS)
        begin: cython.Py_ssize_t = text_begin
        end: cython.Py_ssize_t = text_end
        with cython.nogil:
            self.gather(symbols, begin, end)
        if self.names.budget_bytes < 0:
            raise MalformedElf("the names of a symbol table overlap without end")

    def candidates(self) -> Candidates:
        """What has been gathered."""
        return self.found.known()

    def gather(self, symbols: cython.Py_ssize_t, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Goes through one table's entries and appends those that count; ends early where the name budget is spent."""
        index: cython.Py_ssize_t
        limit: cython.ulonglong
        for index in range(symbols):
            if self.wide:
                self.read_wide(WIDE_WORDS * index)
            else:
                self.read_narrow(NARROW_WORDS * index)
            # Old ARM has functions of a kind of their own; NOTYPE counts by where it lies.
            self.is_function = (
                self.kind == STT_FUNC or self.kind == STT_GNU_IFUNC or (self.kind == STT_ARM_TFUNC and self.is_arm)
            )
            if (not self.is_function and self.kind > STT_OBJECT) or not self.find_section(index):
                continue
            limit = self.find_code()
            if limit == 0 or self.name >= end - begin:
                continue
            self.names.find(begin + self.name, end)
            if self.names.budget_bytes < 0:
                return 0
            if self.names.counts(self.is_function, self.binding == STB_LOCAL):
                self.put(limit)
        return 0

    def read_wide(self, at: cython.Py_ssize_t) -> cython.int:
        """Reads an Elf64_Sym: name 4, info 1, other 1, section 2 in one word, then value, size."""
        head: cython.ulonglong = self.words[at]
        info: cython.uint
        if self.little_endian:
            self.name = head & LOW_32_BITS
            info = (head >> 32) & 0xFF
            self.section = head >> 48
        else:
            self.name = head >> 32
            info = (head >> 24) & 0xFF
            self.section = head & 0xFFFF
        return self.take(info, self.words[at + 1], self.words[at + 2])

    def read_narrow(self, at: cython.Py_ssize_t) -> cython.int:
        """Reads an Elf32_Sym: name, value, size, then info, other and section in one word."""
        tail: cython.ulonglong = self.words[at + 3]
        info: cython.uint
        if self.little_endian:
            info = tail & 0xFF
            self.section = tail >> 16
        else:
            info = tail >> 24
            self.section = tail & 0xFFFF
        self.name = self.words[at]
        return self.take(info, self.words[at + 1], self.words[at + 2])

    def take(self, info: cython.uint, value: cython.ulonglong, size: cython.ulonglong) -> cython.int:
        """Takes what both classes have alike."""
        self.kind = info & KIND_MASK
        self.binding = info >> BINDING_SHIFT
        self.value = value
        self.size = size
        return 0

    def find_section(self, index: cython.Py_ssize_t) -> cython.bint:
        """Whether the symbol has a section; ``section_count`` stands for that of a linker script's own functions."""
        count: cython.uint = self.code.section_count
        if self.section == SHN_XINDEX:
            if index >= self.wide_count:
                return False
            self.section = self.wide_index[index]
            if self.section >= count:
                return False
        elif self.section >= SHN_LORESERVE:
            # What isn't a function is a mere number there.
            if self.section != SHN_ABS or not self.is_function:
                return False
            self.section = count
        elif self.section >= count and count:
            return False
        return self.section != SHN_UNDEF

    def find_code(self) -> cython.ulonglong:
        """Makes the symbol's value the address of its code; gives the end of the section that holds it, or 0."""
        count: cython.uint = self.code.section_count
        slot: cython.ulonglong
        if self.is_function and self.is_arm:
            self.value &= LOW_32_BITS - THUMB_BIT
        if self.is_function and self.section == self.opd_index:
            slot = self.opd_count
            if self.value >= self.opd_address:
                slot = (self.value - self.opd_address) >> DESCRIPTOR_SHIFT
            if slot >= self.opd_count:
                return 0
            self.value = self.opd[slot]
            self.section = count
        if self.code.relocatable:
            if self.section == count:
                return 0
            if self.value > self.code.section_end[self.section] - self.code.section_start[self.section]:
                return 0
            self.value += self.code.section_start[self.section]
        return self.code.limit_of(self.section, self.value, self.is_function)

    def put(self, limit: cython.ulonglong) -> cython.int:
        """Appends the symbol, by the name that was found last."""
        at: cython.Py_ssize_t = self.found.count
        rank: cython.uchar = RANK_LOCAL
        if self.binding == STB_GLOBAL or self.binding == STB_GNU_UNIQUE:
            rank = 0
        elif self.binding == STB_WEAK:
            rank = RANK_WEAK
        if not self.is_function:
            rank = RANK_OF_DATA if self.kind == STT_OBJECT else rank + RANK_OF_LABELS
        self.found.start[at] = self.value
        self.found.size[at] = self.size
        self.found.limit[at] = limit
        self.found.name_offset[at] = self.names.begin
        self.found.name_length[at] = self.names.end - self.names.begin
        self.found.rank[at] = rank
        self.found.count = at + 1
        return 0
