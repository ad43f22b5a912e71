"""Every source of plain symbols that the files of one binary have, chosen into one set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import SHT_DYNSYM, SHT_SYMTAB
from uploader.objects.elf.mini_debuginfo import open_mini_debuginfo
from uploader.sources.elf_symbols.read import (
    FROM_DYNSYM,
    FROM_MINI_DEBUGINFO,
    FROM_SYMTAB,
    ElfSymbols,
    SymbolSet,
    choose,
    read_table,
    stubs_as_symbols,
)
from uploader.sources.plt import read_plt


def read_all_symbols(files: Sequence[ElfFile]) -> tuple[ElfSymbols, tuple[str, ...]]:
    """The functions that the symbol tables of all files name, and what could not be read, one line each.

    Of equal names those of ``.symtab`` count before mini-debuginfo's, those before ``.dynsym``'s, and an earlier file's before a
    later one's; PLT stubs of the first file fill what is left.
    """
    warnings: list[str] = []

    def reading(read: Callable[[ElfFile, ElfFile], SymbolSet | None], file: ElfFile, what: str) -> SymbolSet | None:
        try:
            return read(file, files[0])
        except InputError as error:
            warnings.append(f"{what} could not be read: {error.message}")
            return None

    sets = [
        *(reading(_symtab, file, "the symbol table") for file in files),
        *(reading(_mini_debuginfo, file, "mini-debuginfo") for file in files),
        *(reading(_dynsym, file, "the dynamic symbol table") for file in files),
        *(reading(_stubs, file, "PLT stubs") for file in files[:1]),
    ]
    return choose(sets), tuple(warnings)


def _symtab(file: ElfFile, binary: ElfFile) -> SymbolSet | None:
    return read_table(file, SHT_SYMTAB, FROM_SYMTAB, binary=binary)


def _dynsym(file: ElfFile, binary: ElfFile) -> SymbolSet | None:
    return read_table(file, SHT_DYNSYM, FROM_DYNSYM, binary=binary)


def _mini_debuginfo(file: ElfFile, binary: ElfFile) -> SymbolSet | None:
    inner = open_mini_debuginfo(file)
    if inner is None:
        return None
    with inner:
        return read_table(inner, SHT_SYMTAB, FROM_MINI_DEBUGINFO, binary=binary)


def _stubs(_: ElfFile, binary: ElfFile) -> SymbolSet | None:
    stubs = read_plt(binary)
    return stubs_as_symbols(stubs) if stubs.names else None
