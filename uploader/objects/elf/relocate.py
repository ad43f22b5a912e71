"""Applies the relocations of debug sections in relocatable files (gABI, "Relocation"; each machine's ELF supplement).

Only what data relocations do is done: absolute values of 8 to 64 bits, and the sums that RISC-V and LoongArch spell out one operation
at a time. Nothing else stands in ``.rela.debug_*``. Part of the core: compiled or not, the same results.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import cython

from uploader.errors import MalformedElf
from uploader.objects.elf.crel import SHT_CREL, CrelTable
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import (
    EM_386,
    EM_AARCH64,
    EM_ARM,
    EM_MIPS,
    EM_PPC64,
    EM_RISCV,
    EM_S390,
    EM_X86_64,
    ET_REL,
    SHT_REL,
    SHT_RELA,
    SHT_SYMTAB_SHNDX,
    Section,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ENTRIES_AT_A_TIME = 1 << 16
MASK_64 = 0xFFFFFFFFFFFFFFFF

_STORE, _ADD, _SUB, _STORE_LEB, _SUB_LEB, _STORE_6, _ADD_6, _SUB_6, _NOTHING = (
    0x00,
    0x10,
    0x20,
    0x30,
    0x40,
    0x50,
    0x60,
    0x70,
    0x80,
)
"""What a relocation does; the low four bits say to how many bytes."""

_UNKNOWN = 0xFF

_PPC, _SPARC, _SPARC64, _LOONGARCH = 20, 2, 43, 258

_ADDS_AND_SUBS = {8: 1, 16: 2, 32: 4, 64: 8}

_OPERATIONS: Mapping[int, Mapping[int, int]] = {
    EM_X86_64: {1: 8, 10: 4, 11: 4, 12: 2, 14: 1, 17: 8, 21: 4},
    EM_386: {1: 4, 20: 2, 22: 1, 32: 4},
    EM_AARCH64: {1: 4, 257: 8, 258: 4, 259: 2, 1029: 8},
    EM_ARM: {2: 4, 5: 2, 8: 1, 38: 4, 106: 4},
    EM_RISCV: {
        1: 4,
        2: 8,
        33: _ADD | 1,
        34: _ADD | 2,
        35: _ADD | 4,
        36: _ADD | 8,
        37: _SUB | 1,
        38: _SUB | 2,
        39: _SUB | 4,
        40: _SUB | 8,
        51: _NOTHING,
        52: _SUB_6 | 1,
        53: _STORE_6 | 1,
        54: 1,
        55: 2,
        56: 4,
        60: _STORE_LEB | 1,
        61: _SUB_LEB | 1,
    },
    EM_PPC64: {1: 4, 3: 2, 24: 4, 38: 8, 43: 8, 78: 8},
    _PPC: {1: 4, 3: 2, 24: 4, 78: 4},
    EM_S390: {1: 1, 3: 2, 4: 4, 22: 8, 52: 4, 53: 8},
    EM_MIPS: {2: 4, 18: 8, 39: 4, 41: 8},
    _SPARC: {1: 1, 2: 2, 3: 4, 23: 4, 54: 8},
    _SPARC64: {1: 1, 2: 2, 3: 4, 23: 4, 32: 8, 54: 8},
    _LOONGARCH: {
        1: 4,
        2: 8,
        47: _ADD | 1,
        48: _ADD | 2,
        50: _ADD | 4,
        51: _ADD | 8,
        52: _SUB | 1,
        53: _SUB | 2,
        55: _SUB | 4,
        56: _SUB | 8,
        100: _NOTHING,
        105: _ADD_6 | 1,
        106: _SUB_6 | 1,
        107: _STORE_LEB | 1,
        108: _SUB_LEB | 1,
    },
}
"""What the relocations of each machine do, by their type. LoongArch adds to what it has set to 0, which storing does as well."""


@dataclass(slots=True, kw_only=True)
class SymbolValues:
    """The value of every symbol of one table, and whether anything defines it."""

    value: array[int]
    defined: array[int]


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
        if self._elf.machine not in _OPERATIONS:
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
            self._symbols[index] = _values_of(self._elf, index)
        except MalformedElf as error:
            self._trouble.append(f"no relocation can be applied: {error.message}")
            self._symbols[index] = SymbolValues(value=array("Q"), defined=array("B"))

    def _apply(self, target: bytearray, section: Section, table: Section) -> int:
        """Applies one table; gives how many of its entries had to be passed over."""
        elf = self._elf
        operations = bytearray([_UNKNOWN] * 2048)
        operations[0] = _NOTHING
        for kind, operation in _OPERATIONS.get(elf.machine, {}).items():
            operations[kind] = operation
        symbols = self._symbols[table.link]
        # A range list ends where both ends are 0, and all ones choose a base: the dead are marked by 1, as LLD marks them.
        tombstone = 1 if section.name.endswith("debug_ranges") else (1 << elf.bits) - 1
        lost = 0
        if table.type == SHT_CREL:
            compact = CrelTable(data=elf.contents(table), is_64=elf.bits == 64, entries_at_a_time=ENTRIES_AT_A_TIME)
            chunks, has_addends = compact.chunks(), compact.has_addends
        else:
            chunks, has_addends = _entries(elf, table), table.type == SHT_RELA
        mips_64 = 0
        if elf.machine == EM_MIPS and elf.bits == 64:
            mips_64 = 1 if elf.little_endian and table.type != SHT_CREL else 2
        for words in chunks:
            lost += apply(
                target,
                words,
                3 if has_addends else 2,
                elf.bits == 64,
                mips_64,
                elf.little_endian,
                bytes(operations),
                symbols.value or array("Q", [0]),
                symbols.defined or array("B", [0]),
                tombstone,
            )
        return lost


def _entries(elf: ElfFile, table: Section) -> Iterator[array[int]]:
    """The entries of a relocation table as words, some at a time; a part of an entry at its end is dropped."""
    data = elf.contents(table)
    word_size = 8 if elf.bits == 64 else 4
    entry_size = word_size * (3 if table.type == SHT_RELA else 2)
    usable = len(data) - len(data) % entry_size
    for start in range(0, usable, entry_size * ENTRIES_AT_A_TIME):
        words = array("Q" if word_size == 8 else "I")
        words.frombytes(data[start : min(start + entry_size * ENTRIES_AT_A_TIME, usable)])
        if elf.little_endian != (sys.byteorder == "little"):
            words.byteswap()
        yield words if word_size == 8 else array("Q", words)


def _values_of(elf: ElfFile, index: int) -> SymbolValues:
    """Where each symbol of a table lies: its value, from its section's address on."""
    if index >= len(elf.sections):
        raise MalformedElf("has relocations without a symbol table", path=elf.called)
    table = elf.sections[index]
    data = elf.contents(table)
    words = array("Q" if elf.bits == 64 else "I")
    entry_size = 24 if elf.bits == 64 else 16
    words.frombytes(data[: len(data) - len(data) % entry_size])
    if elf.little_endian != (sys.byteorder == "little"):
        words.byteswap()
    wide = array("I")
    for section in elf.sections:
        if section.type == SHT_SYMTAB_SHNDX and section.link == index:
            indexes = elf.contents(section)
            wide.frombytes(indexes[: len(indexes) - len(indexes) % 4])
            if elf.little_endian != (sys.byteorder == "little"):
                wide.byteswap()
            break
    return symbol_values(
        words if elf.bits == 64 else array("Q", words),
        wide or array("I", [0]),
        array("Q", [elf.address_of(section) for section in elf.sections]),
        elf.bits == 64,
        elf.little_endian,
        elf.machine == EM_ARM,
    )


def symbol_values(
    words: Sequence[int],
    wide_indexes: Sequence[int],
    addresses: Sequence[int],
    is_64: bool,
    little_endian: bool,
    is_arm: bool,
) -> SymbolValues:
    """The values of a symbol table's entries, given as words of the file's class. ``addresses`` are those of the sections."""
    n: cython.Py_ssize_t = len(words) // (3 if is_64 else 4)
    value_column = array("Q", [0]) * n
    defined_column = array("B", bytes(n))
    if n == 0:
        return SymbolValues(value=value_column, defined=defined_column)
    value: cython.ulonglong[::1] = value_column
    defined: cython.uchar[::1] = defined_column
    word: cython.ulonglong[::1] = words
    wide_index: cython.uint[::1] = wide_indexes
    wide_count: cython.Py_ssize_t = len(wide_indexes)
    start: cython.ulonglong[::1] = addresses
    sections: cython.ulonglong = len(addresses)
    wide: cython.bint = is_64
    little: cython.bint = little_endian
    arm: cython.bint = is_arm
    top: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    i: cython.Py_ssize_t
    head: cython.ulonglong
    own: cython.ulonglong
    section: cython.ulonglong
    info: cython.ulonglong
    with cython.nogil:
        for i in range(n):
            # Elf64_Sym: name 4, info 1, other 1, section 2 in one word, then value, size. Elf32_Sym: name, value, size, then info.
            if wide:
                head = word[3 * i]
                own = word[3 * i + 1]
                section = head >> 48 if little else head & 0xFFFF
                info = (head >> 32) & 0xFF if little else (head >> 24) & 0xFF
            else:
                own = word[4 * i + 1]
                head = word[4 * i + 3]
                section = head >> 16 if little else head & 0xFFFF
                info = head & 0xFF if little else head >> 24
            if section == 0xFFFF:
                section = wide_index[i] if i < wide_count else 0
            elif section >= 0xFF00:
                value[i] = own
                defined[i] = 1
                continue
            if section == 0 or section >= sections:
                # Symbol 0 stands for "no symbol": the addend alone counts.
                defined[i] = 1 if i == 0 else 0
                continue
            if arm and info & 15 == 2:
                own = own & (top - 1)
            if own <= top - start[cython.cast(cython.Py_ssize_t, section)]:
                value[i] = start[cython.cast(cython.Py_ssize_t, section)] + own
                defined[i] = 1
    return SymbolValues(value=value_column, defined=defined_column)


def apply(
    target: bytearray,
    words: Sequence[int],
    words_per_entry: int,
    is_64: bool,
    mips_64: int,
    little_endian: bool,
    operations: bytes,
    symbol_value: Sequence[int],
    symbol_defined: Sequence[int],
    tombstone: int,
) -> int:
    """Applies relocation entries, given as words, to a section's bytes; gives how many can't be applied.

    ``mips_64`` is 1 for the little-endian way and 2 for the big-endian way in which that machine splits ``r_info``, 0 elsewhere.
    What refers to an undefined symbol by a whole address gets the tombstone: a linker dropped the code that it meant.
    """
    data: cython.uchar[::1] = target
    size: cython.ulonglong = len(target)
    word: cython.ulonglong[::1] = words
    step: cython.Py_ssize_t = words_per_entry
    n: cython.Py_ssize_t = len(words) // step
    wide: cython.bint = is_64
    mips: cython.int = mips_64
    little: cython.bint = little_endian
    known: cython.const[cython.uchar][::1] = operations
    value: cython.ulonglong[::1] = symbol_value
    defined: cython.uchar[::1] = symbol_defined
    symbols: cython.ulonglong = len(symbol_value)
    dead: cython.ulonglong = tombstone
    low_32: cython.ulonglong = 0xFFFFFFFF
    address_size: cython.int = 8 if is_64 else 4
    top: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
    lost: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t
    offset: cython.ulonglong
    info: cython.ulonglong
    symbol: cython.ulonglong
    kind: cython.ulonglong
    operation: cython.int
    action: cython.int
    width: cython.int
    result: cython.ulonglong
    stored: cython.ulonglong
    if size == 0:
        return int(n)
    with cython.nogil:
        for i in range(n):
            offset = word[step * i]
            info = word[step * i + 1]
            if not wide:
                symbol = info >> 8
                kind = info & 0xFF
            elif mips == 1:
                symbol = info & low_32
                kind = info >> 56
            elif mips == 2:
                symbol = info >> 32
                kind = info & 0xFF
            else:
                symbol = info >> 32
                kind = info & low_32
            operation = known[cython.cast(cython.Py_ssize_t, kind)] if kind < 2048 else 0xFF
            if operation == 0x80:
                continue
            width = operation & 15
            action = operation & 0xF0
            if (
                operation == 0xFF
                or symbol >= symbols
                or offset >= size
                or size - offset < cython.cast(cython.ulonglong, width)
            ):
                lost += 1
                continue
            at = offset
            stored = 0
            if action >= 0x50:
                stored = data[at]
            elif action == 0x40:
                stored = _leb(data, at)
            elif action != 0x30 and (action != 0 or step == 2):
                for k in range(width):
                    stored = (stored << 8) | data[at + width - 1 - k if little else at + k]
            result = value[cython.cast(cython.Py_ssize_t, symbol)]
            if step == 3:
                result = _wrapped(result, word[step * i + 2])
            elif action == 0:
                result = _wrapped(result, stored)
            if defined[cython.cast(cython.Py_ssize_t, symbol)] == 0 and action == 0 and width == address_size:
                result = dead
            if action == 0x10:
                result = _wrapped(stored, result)
            elif action == 0x20 or action == 0x40:
                result = _wrapped(stored, _wrapped(top ^ result, 1))
            elif action == 0x60:
                result = (stored & 0xC0) | (_wrapped(stored, result) & 0x3F)
            elif action == 0x70:
                result = (stored & 0xC0) | (_wrapped(stored, _wrapped(top ^ result, 1)) & 0x3F)
            elif action == 0x50:
                result = (stored & 0xC0) | (result & 0x3F)
            if action == 0x30 or action == 0x40:
                _store_leb(data, at, result)
                continue
            for k in range(width):
                data[at + k if little else at + width - 1 - k] = (result >> (8 * k)) & 0xFF
    return int(lost)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _wrapped(one: cython.ulonglong, other: cython.ulonglong) -> cython.ulonglong:
    """The sum modulo 2 to the 64."""
    total: cython.ulonglong = one + other
    return total if cython.compiled else total & MASK_64


@cython.cfunc
@cython.nogil
@cython.exceptval(0xFFFFFFFFFFFFFFFE, check=True)
def _leb(data: cython.uchar[::1], at: cython.Py_ssize_t) -> cython.ulonglong:
    """The unsigned LEB128 in place, as far as the section reaches."""
    result: cython.ulonglong = 0
    shift: cython.int = 0
    byte: cython.ulonglong
    size: cython.Py_ssize_t = data.shape[0] if cython.compiled else len(data)
    while at < size and shift < 64:
        byte = data[at]
        at += 1
        if shift < 63:
            result |= (byte & 0x7F) << shift
        else:
            result |= (byte & 1) << shift
        if byte < 0x80:
            break
        shift += 7
    return result


@cython.cfunc
@cython.nogil
@cython.exceptval(-1)
def _store_leb(data: cython.uchar[::1], at: cython.Py_ssize_t, value: cython.ulonglong) -> cython.int:
    """Stores an unsigned LEB128 in as many bytes as one takes there now; what doesn't fit is cut off."""
    size: cython.Py_ssize_t = data.shape[0] if cython.compiled else len(data)
    more: cython.bint = True
    while more and at < size:
        more = data[at] >= 0x80
        data[at] = (value & 0x7F) | (0x80 if more else 0)
        value >>= 7
        at += 1
    return 0
