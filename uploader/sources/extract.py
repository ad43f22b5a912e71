"""extract and merge: from the files of one binary to one symbol table, reading every source they have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

from uploader.errors import InputError
from uploader.model import Figures, Source
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.identity import dwarf_size_bytes
from uploader.sources.dwarf.linked import LinkedFiles
from uploader.sources.dwarf.read import read_dwarf
from uploader.sources.elf_symbols.read import ElfSymbols
from uploader.sources.symbol_sources import read_all_symbols
from uploader.symbols.aliases import attach_aliases
from uploader.symbols.columns import NONE, NameTable, SourceColumns, SymbolTable
from uploader.symbols.figures import count_functions, measure
from uploader.symbols.merge import Plan, SymbolPieces, merge
from uploader.symbols.nested import name_with_scopes
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.shape import shape
from uploader.values import frozen


@frozen
class Extracted:
    """One binary's symbols. ``warnings`` say what was lost to damage, one line each."""

    table: SymbolTable
    figures: Figures
    warnings: tuple[str, ...]
    lacks_files: bool = False
    """Files that the DWARF refers to were not found."""


def build(
    elf: ElfFile,
    *,
    companions: Sequence[ElfFile] = (),
    linked: LinkedFiles | None = None,
    dwarf: bool = True,
    keep_aliases: bool = False,
    threads: int = 1,
) -> Extracted:
    """Reads DWARF (unless told not to) and the symbol tables, and merges them: the richest source speaks for each address.

    ``companions`` are files of the same binary (its ``.debug`` file, say): DWARF is read from the first file that has it, symbols
    from all of them; where the code lies is for ``elf`` to say. That they belong together is the caller's to know. ``linked``
    tells where files may lie that the DWARF refers to. With ``keep_aliases`` the other names that symbol tables have for a
    function's start are kept, too.

    Damage in one source costs what is damaged and is told in the warnings; the others still count.
    """
    warnings: list[str] = []
    names = NameTable()
    executable = elf.executable_ranges()
    columns: SourceColumns | None = None
    whole = True
    lacks_files = False

    @cache
    def symbols_ready() -> tuple[SymbolPieces, ElfSymbols, Sequence[str]]:
        symbols, trouble = read_all_symbols((elf, *companions))
        return SymbolPieces(symbols, names), symbols, trouble

    for file in _richest_first((elf, *companions)) if dwarf else ():
        try:
            read = read_dwarf(file, executable, names, threads=threads, files=linked, meanwhile=symbols_ready)
        except InputError as error:
            warnings.append(f"DWARF could not be read: {error.message}")
            continue
        if read is not None:
            columns = read.columns
            whole, lacks_files = read.whole, read.lacks_files
            warnings.extend(read.warnings)
            break
    pieces, symbols, trouble = symbols_ready()
    warnings.extend(trouble)
    if columns is not None and names.nested:
        name_with_scopes(columns, pieces, names)
    plan = merge(columns, pieces)
    source = columns if columns is not None else SourceColumns(names=names, file_at=lambda _: (b"", b""), file_slots=0)
    counts = plan.range_counts
    counts.add(source.range_counts)
    table, origin = shape(source, plan, threads=threads, warnings=warnings, range_counts=counts)
    if counts.dropped or counts.cut:
        warnings.append(_told_of(counts))
    if keep_aliases:
        attach_aliases(table, plan, origin, lambda symbol: symbols.aliases(symbols.start[symbol]), names)
    figures = measure(
        table,
        executable,
        _functions_by_source(plan, symbols.source_of),
        origin=origin if whole else None,
        function=plan.function,
        range_counts=counts,
    )
    return Extracted(table=table, figures=figures, warnings=tuple(warnings), lacks_files=lacks_files)


def _told_of(counts: RangeCounts) -> str:
    lost = [f"{number} {what}" for number, what in ((counts.dropped, "dropped"), (counts.cut, "cut")) if number]
    return (
        f"ranges of functions or inlined calls were lost ({', '.join(lost)}): the debug information is malformed there, or contradicts "
        "itself; their code bears the name of what else is known there"
    )


def _functions_by_source(plan: Plan, source_of: Callable[[int], str]) -> dict[str, int]:
    """How many functions each source gave, none of them counted twice but for parts with names of their own."""
    by_source: Counter[str] = Counter()
    from_dwarf = count_functions(plan.function, plan.name)
    if from_dwarf:
        by_source[Source.DWARF] = from_dwarf
    alone = {symbol for function, symbol in zip(plan.function, plan.symbol, strict=True) if function == NONE}
    by_source.update(map(source_of, sorted(alone)))
    return dict(by_source)


def _richest_first(files: Sequence[ElfFile]) -> list[ElfFile]:
    """The files with DWARF, those with the most of it first: a binary may have that of one assembler file, its debug file all the rest."""

    def richness(file: ElfFile) -> tuple[int, int]:
        return dwarf_size_bytes(file, ".debug_info"), dwarf_size_bytes(file, ".debug_line")

    return sorted((file for file in files if any(richness(file))), key=richness, reverse=True)
