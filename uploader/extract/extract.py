"""extract and merge: from one ELF file to one symbol table, reading every source it has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from uploader.binary.elf import ElfFile
from uploader.errors import InputError
from uploader.extract.dwarf.read import read_dwarf
from uploader.extract.elf_symbols import read_symbols
from uploader.model import Figures, Source
from uploader.symbols.columns import NONE, NameTable, SourceColumns, SymbolTable
from uploader.symbols.figures import measure
from uploader.symbols.merge import merge
from uploader.symbols.shape import shape


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """One binary's symbols. ``warnings`` say what was lost to damage, one line each."""

    table: SymbolTable
    figures: Figures
    warnings: tuple[str, ...]


def build(elf: ElfFile, *, dwarf: bool = True, threads: int = 1) -> Extracted:
    """Reads DWARF (unless told not to) and the symbol tables, and merges them: the richest source speaks for each address.

    Damage in one source costs what is damaged and is told in the warnings; the others still count.
    """
    warnings: list[str] = []
    names = NameTable()
    executable = elf.executable_ranges()
    columns: SourceColumns | None = None
    if dwarf:
        try:
            read = read_dwarf(elf, executable, names, threads=threads)
            if read is not None:
                columns = read.columns
                warnings.extend(read.warnings)
        except InputError as error:
            warnings.append(f"DWARF could not be read: {error.message}")
    try:
        symbols = read_symbols(elf)
    except InputError as error:
        symbols = None
        warnings.append(f"symbol tables could not be read: {error.message}")
    plan = merge(columns, symbols, names)
    source = columns if columns is not None else SourceColumns(names=names, file_at=lambda _: (b"", b""), file_slots=0)
    table, _ = shape(source, plan, threads=threads)
    by_source: Counter[str] = Counter()
    seen: set[int] = set()
    for function, symbol in zip(plan.function, plan.symbol, strict=True):
        if function != NONE:
            if function not in seen:
                seen.add(function)
                by_source[Source.DWARF] += 1
        elif symbols is not None:
            key = -1 - symbol
            if key not in seen:
                seen.add(key)
                by_source[symbols.source_of(symbol)] += 1
    return Extracted(table=table, figures=measure(table, executable, by_source), warnings=tuple(warnings))
