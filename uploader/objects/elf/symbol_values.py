"""The values of symbols that relocations refer to, before any linker has given them addresses (gABI, "Symbol Table").

Part of the core: compiled or not, the same results.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import cython

from uploader.core.columns import read_items
from uploader.errors import MalformedElf
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import EM_ARM, SHT_SYMTAB_SHNDX


@dataclass(slots=True, kw_only=True)
class SymbolValues:
    """The value of every symbol of one table, and whether anything defines it."""

    value: array[int]
    defined: array[int]


def values_of(elf: ElfFile, index: int) -> SymbolValues:
    """Where each symbol of a table lies: its value, from its section's address on."""
    if index >= len(elf.sections):
        raise MalformedElf("has relocations without a symbol table", path=elf.called)
    table = elf.sections[index]
    data = elf.contents(table)
    # Elf64_Sym takes three words of 64 bits, Elf32_Sym four of 32.
    code, group = ("Q", 3) if elf.bits == 64 else ("I", 4)
    words = read_items(code, data, elf.little_endian, group=group)
    wide = array("I")
    for section in elf.sections:
        if section.type == SHT_SYMTAB_SHNDX and section.link == index:
            wide = read_items("I", elf.contents(section), elf.little_endian)
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
