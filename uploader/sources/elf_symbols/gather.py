"""Reads the entries of ELF symbol tables and keeps those that name code. Part of the core: compiled or not, the same results."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

import cython

from uploader.errors import MalformedElf
from uploader.objects.elf.headers import EM_ARM, EM_RISCV, ET_REL
from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile

LOW_32_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFF)

MAX_NAME_BYTES_PER_SYMBOL = 1024
"""Names may share bytes, so a crafted table could make reading them cost the square of its size; this bounds their average."""


@frozen
class Descriptors:
    """The function descriptors of ppc64 ELFv1, ``.opd``: what a function's symbol points at there instead of code."""

    section_index: int
    address: int
    words: array[int]
    """The section as 64-bit words; the entry point is a descriptor's first (64-bit PowerPC ELF ABI §3.2.4)."""


@frozen
class Candidates:
    """Symbols that name code, in the tables' order, as columns. ``limit`` is the end of the section that the symbol lies in.

    ``rank`` is 0 for global, 1 for weak, 2 for local, and 4 more for NOTYPE: the lower the better. 8 marks data within code: it names
    nothing, but an unsized label ends there.
    """

    start: array[int]
    size: array[int]
    limit: array[int]
    name_offset: array[int]
    name_length: array[int]
    rank: array[int]


def trimmed(kind: str, column: Any, count: int) -> array[int]:
    """The first ``count`` items of a column of that item type, as an array of their own."""
    items = array(kind)
    items.frombytes(memoryview(column).cast("B")[: count * items.itemsize])
    return items


@cython.final
@cython.cclass
class SymbolGatherer:
    """Reads one table after the other into one set of columns."""

    raw: bytes
    text: cython.const[cython.uchar][::1]
    wide: cython.bint
    little_endian: cython.bint
    relocatable: cython.bint
    is_arm: cython.bint
    is_riscv: cython.bint
    section_start: cython.ulonglong[::1]
    section_end: cython.ulonglong[::1]
    section_is_code: cython.uchar[::1]
    section_count: cython.Py_ssize_t
    code_start: cython.ulonglong[::1]
    code_end: cython.ulonglong[::1]
    code_count: cython.Py_ssize_t
    opd_index: cython.Py_ssize_t
    opd_address: cython.ulonglong
    opd: cython.ulonglong[::1]
    opd_count: cython.ulonglong
    words: cython.ulonglong[::1]
    wide_index: cython.uint[::1]
    wide_count: cython.Py_ssize_t
    name_budget: cython.longlong
    name_begin: cython.Py_ssize_t
    name_end: cython.Py_ssize_t
    count: cython.Py_ssize_t
    start: cython.ulonglong[::1]
    size: cython.ulonglong[::1]
    limit: cython.ulonglong[::1]
    offset: cython.ulonglong[::1]
    length: cython.uint[::1]
    rank: cython.uchar[::1]

    def __init__(self, elf: ElfFile, text: bytes, capacity: int, descriptors: Descriptors | None) -> None:
        """Takes the strings of all tables, one after the other, and how many symbols the tables have together."""
        self.raw = text
        self.text = text
        self.wide = elf.bits == 64
        self.little_endian = elf.little_endian
        self.relocatable = elf.kind == ET_REL
        self.is_arm = elf.machine == EM_ARM
        self.is_riscv = elf.machine == EM_RISCV
        top = (1 << elf.bits) - 1
        starts = [elf.address_of(section) for section in elf.sections]
        ends = [min(start + section.size_bytes, top) for start, section in zip(starts, elf.sections, strict=True)]
        self.section_count = len(elf.sections)
        self.section_start = array("Q", starts or [0])
        self.section_end = array("Q", ends or [0])
        self.section_is_code = array("B", [int(section.is_code) for section in elf.sections] or [0])
        code = sorted(
            (start, end)
            for section, start, end in zip(elf.sections, starts, ends, strict=True)
            if section.is_code and section.size_bytes
        )
        if not elf.sections:
            code = elf.executable_ranges()
        self.code_count = len(code)
        self.code_start = array("Q", [start for start, _ in code] or [0])
        self.code_end = array("Q", [end for _, end in code] or [0])
        self.opd_index = -1
        self.opd_address = 0
        self.opd_count = 0
        self.opd = array("Q", [0])
        if descriptors is not None and descriptors.words:
            self.opd_index = descriptors.section_index
            self.opd_address = descriptors.address
            self.opd_count = len(descriptors.words)
            self.opd = descriptors.words
        self.name_budget = len(text) + capacity * MAX_NAME_BYTES_PER_SYMBOL
        self.name_begin = 0
        self.name_end = 0
        self.count = 0
        self.words = array("Q", [0])
        self.wide_index = array("I", [0])
        self.wide_count = 0
        room = max(capacity, 1)
        self.start = array("Q", [0]) * room
        self.size = array("Q", [0]) * room
        self.limit = array("Q", [0]) * room
        self.offset = array("Q", [0]) * room
        self.length = array("I", [0]) * room
        self.rank = array("B", bytes(room))

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
        self.words = words or array("Q", [0])
        self.wide_count = len(wide_indexes)
        self.wide_index = wide_indexes or array("I", [0])
        symbols: cython.Py_ssize_t = len(words) // (3 if self.wide else 4)
        begin: cython.Py_ssize_t = text_begin
        end: cython.Py_ssize_t = text_end
        with cython.nogil:
            self.gather(symbols, begin, end)
        if self.name_budget < 0:
            raise MalformedElf("the names of a symbol table overlap without end")

    def candidates(self) -> Candidates:
        """What has been gathered."""
        return Candidates(
            start=trimmed("Q", self.start, self.count),
            size=trimmed("Q", self.size, self.count),
            limit=trimmed("Q", self.limit, self.count),
            name_offset=trimmed("Q", self.offset, self.count),
            name_length=trimmed("I", self.length, self.count),
            rank=trimmed("B", self.rank, self.count),
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def gather(
        self,
        symbols: cython.Py_ssize_t,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.int:
        """Goes through one table's entries and appends those that count; ends early where the name budget is spent."""
        index: cython.Py_ssize_t = 0
        for index in range(symbols):
            head: cython.ulonglong = 0
            value: cython.ulonglong = 0
            size: cython.ulonglong = 0
            name: cython.Py_ssize_t = 0
            info: cython.uint = 0
            section: cython.uint = 0
            # Elf64_Sym: name 4, info 1, other 1, section 2 in one word, then value, size. Elf32_Sym: name, value, size, then info.
            if self.wide:
                head = self.words[3 * index]
                value = self.words[3 * index + 1]
                size = self.words[3 * index + 2]
                if self.little_endian:
                    name = head & LOW_32_BITS
                    info = (head >> 32) & 0xFF
                    section = head >> 48
                else:
                    name = head >> 32
                    info = (head >> 24) & 0xFF
                    section = head & 0xFFFF
            else:
                name = self.words[4 * index]
                value = self.words[4 * index + 1]
                size = self.words[4 * index + 2]
                head = self.words[4 * index + 3]
                if self.little_endian:
                    info = head & 0xFF
                    section = head >> 16
                else:
                    info = head >> 24
                    section = head & 0xFFFF
            kind: cython.uint = info & 15
            # STT_FUNC, STT_GNU_IFUNC, and old ARM's STT_ARM_TFUNC; STT_NOTYPE counts by where it lies.
            is_function: cython.bint = kind == 2 or kind == 10 or (kind == 13 and self.is_arm)
            if not is_function and kind > 1:
                continue
            if section == 0xFFFF:
                if index >= self.wide_count:
                    continue
                section = self.wide_index[index]
                if section >= self.section_count:
                    continue
            elif section >= 0xFF00:
                # SHN_ABS: a linker script's own functions; what isn't one is a mere number.
                if section != 0xFFF1 or not is_function:
                    continue
                section = self.section_count
            elif section >= self.section_count and self.section_count:
                continue
            if section == 0:
                continue
            if is_function and self.is_arm:
                value &= LOW_32_BITS - 1
            if is_function and section == self.opd_index:
                slot: cython.ulonglong = (
                    (value - self.opd_address) >> 3 if value >= self.opd_address else self.opd_count
                )
                if slot >= self.opd_count:
                    continue
                value = self.opd[slot]
                section = self.section_count
            if self.relocatable:
                if section == self.section_count or value > self.section_end[section] - self.section_start[section]:
                    continue
                value += self.section_start[section]
            limit: cython.ulonglong = self.limit_of(section, value, is_function)
            if limit == 0:
                continue
            if name >= end - begin:
                continue
            self.find_name(begin + name, end)
            if self.name_budget < 0:
                return 0
            if not self.name_counts(is_function, info >> 4):
                continue
            at: cython.Py_ssize_t = self.count
            self.start[at] = value
            self.size[at] = size
            self.limit[at] = limit
            self.offset[at] = self.name_begin
            self.length[at] = self.name_end - self.name_begin
            # STB_GLOBAL and STB_GNU_UNIQUE, STB_WEAK, then STB_LOCAL and the unheard-of.
            binding: cython.uint = info >> 4
            rank: cython.uchar = 0 if binding == 1 or binding == 10 else (1 if binding == 2 else 2)
            self.rank[at] = rank if is_function else (8 if kind == 1 else rank + 4)
            self.count = at + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(0, check=True)
    def limit_of(self, section: cython.uint, value: cython.ulonglong, is_function: cython.bint) -> cython.ulonglong:
        """The end of the executable section that holds the address, 0 where none does."""
        if (
            section < self.section_count
            and self.section_is_code[section]
            and self.section_start[section] <= value < self.section_end[section]
        ):
            return self.section_end[section]
        if not is_function or self.relocatable:
            return 0
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.code_count
        while low < high:
            middle: cython.Py_ssize_t = (low + high) >> 1
            if self.code_start[middle] <= value:
                low = middle + 1
            else:
                high = middle
        if low > 0 and value < self.code_end[low - 1]:
            return self.code_end[low - 1]
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def find_name(self, begin: cython.Py_ssize_t, limit: cython.Py_ssize_t) -> cython.int:
        """Sets ``name_begin`` and ``name_end``, the latter before an ``@VERSION``, and before a ``.__part.N``."""
        end: cython.Py_ssize_t = begin
        version: cython.Py_ssize_t = limit
        if cython.compiled:
            letter: cython.uchar = 0
            while end < limit:
                letter = self.text[end]
                if letter == 0:
                    break
                if letter == 64 and version == limit and end > begin:
                    version = end
                end += 1
        else:
            end = self.raw.find(b"\0", begin, limit)
            if end < 0:
                end = limit
            version = self.raw.find(b"@", begin + 1, end)
            if version < 0:
                version = limit
        self.name_budget -= end - begin
        self.name_begin = begin
        self.name_end = version if version < end and not self.is_plt(version, end) else end
        self.name_end = self.before_part(begin, self.name_end)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def before_part(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where the name of the function ends of which ``.__part.N`` says that a section holds one basic block; else ``end``."""
        at: cython.Py_ssize_t = end
        while at > begin and 48 <= self.text[at - 1] <= 57:
            at -= 1
        at -= 8
        if (
            at > begin
            and at + 8 < end
            and self.text[at] == 46
            and self.text[at + 1] == 95
            and self.text[at + 2] == 95
            and self.text[at + 3] == 112
            and self.text[at + 4] == 97
            and self.text[at + 5] == 114
            and self.text[at + 6] == 116
            and self.text[at + 7] == 46
        ):
            return at
        return end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def is_plt(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Whether ``@plt`` stands there: a stub's name, not a version."""
        return (
            end - begin == 4
            and self.text[begin + 1] == 112
            and self.text[begin + 2] == 108
            and self.text[begin + 3] == 116
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def name_counts(self, is_function: cython.bint, binding: cython.uint) -> cython.bint:
        """Whether the name is one that people gave: not empty, no ``.L`` label, no mapping symbol."""
        length: cython.Py_ssize_t = self.name_end - self.name_begin
        if length == 0:
            return False
        first: cython.uchar = self.text[self.name_begin]
        second: cython.uchar = self.text[self.name_begin + 1] if length > 1 else 0
        if first == 46 and second == 76 and binding == 0:
            return False
        # $a $d $t $x of ARM, AArch64, C-SKY and RISC-V, alone or before a dot; RISC-V appends the instruction set at once.
        return not (
            first == 36
            and not is_function
            and (second == 97 or second == 100 or second == 116 or second == 120)
            and (length == 2 or self.is_riscv or self.text[self.name_begin + 2] == 46)
        )
