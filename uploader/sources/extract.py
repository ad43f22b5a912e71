"""extract and merge: from the files of one binary to one symbol table, reading every source they have."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from uploader.core.columns import NONE
from uploader.errors import InputError
from uploader.model import Figures
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources import registry
from uploader.sources.dwarf.linked import LinkedFiles
from uploader.sources.elf_symbols.read import ElfSymbols, SymbolSet, choose
from uploader.sources.port import ColumnSource, ColumnsRead, Reading, TableSource
from uploader.symbols.aliases import attach_aliases
from uploader.symbols.columns import NameTable, SourceColumns, SymbolTable
from uploader.symbols.figures import count_functions, measure
from uploader.symbols.merge import SymbolPieces, merge
from uploader.symbols.nested import name_with_scopes
from uploader.symbols.piece_plan import PiecePlan
from uploader.symbols.range_counts import RangeCounts
from uploader.symbols.shape import shape
from uploader.values import frozen, replace

if TYPE_CHECKING:
    from uploader.symbols.spoken_for import SpokenFor


@frozen
class Extracted:
    """One binary's symbols. ``warnings`` say what was lost to damage, one line each."""

    table: SymbolTable
    figures: Figures
    warnings: tuple[str, ...]
    lacks_files: bool = False
    """Files that the DWARF refers to were not found."""
    unread: tuple[str, ...] = ()
    """Sources of columns that the files seem to have and that could not be read, or not whole."""


def build(
    elf: ElfFile,
    *,
    companions: Sequence[ElfFile] = (),
    linked: LinkedFiles | None = None,
    dwarf: bool = True,
    keep_aliases: bool = False,
    threads: int = 1,
) -> Extracted:
    """Reads every source that the files have, debug information unless told not to, and merges them: the richest speaks for each address.

    ``companions`` are files of the same binary (its ``.debug`` file, say): columns are read from the file that is richest in a source,
    symbols from all of them; where the code lies is for ``elf`` to say. That they belong together is the caller's to know. ``linked``
    tells where files may lie that debug information refers to. With ``keep_aliases`` the other names that symbol tables have for a
    function's start are kept, too.

    Damage in one source costs what is damaged and is told in the warnings; the others still count.
    """
    warnings: list[str] = []
    names = NameTable()
    executable = elf.executable_ranges()
    files = (elf, *companions)

    @cache
    def symbols_ready() -> tuple[SymbolPieces, ElfSymbols, Sequence[str]]:
        symbols, trouble = read_tables(files)
        return SymbolPieces(symbols, names), symbols, trouble

    reading = Reading(executable=executable, names=names, threads=threads, linked=linked, meanwhile=symbols_ready)
    unreadable: list[str] = []
    found = read_columns(files, reading, dwarf=dwarf, warnings=warnings, unreadable=unreadable)
    pieces, symbols, trouble = symbols_ready()
    warnings.extend(trouble)
    columns, first_functions = _stacked([read.columns for _, read in found])
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
    by_source = _functions_of_columns(plan, [name for name, _ in found], first_functions)
    by_source.update(_functions_of_tables(plan, symbols))
    figures = measure(
        table,
        executable,
        by_source,
        origin=origin if all(read.whole for _, read in found) else None,
        function=plan.function,
        range_counts=counts,
    )
    lacks_files = any(read.lacks_files for _, read in found)
    unread = (*unreadable, *(name for name, read in found if not read.whole))
    return Extracted(table=table, figures=figures, warnings=tuple(warnings), lacks_files=lacks_files, unread=unread)


def read_columns(
    files: Sequence[ElfFile], reading: Reading, *, dwarf: bool, warnings: list[str], unreadable: list[str]
) -> list[tuple[str, ColumnsRead]]:
    """What each source of columns says, with its name, the best source first; what could not be read is told in ``warnings``.

    Sources of which nothing could be read are put into ``unreadable``.

    A source is read from the richest file that it can be read from, and not at all where one was read that covers it.
    """
    found: dict[str, ColumnsRead] = {}
    for source in registry.SOURCES:
        if not isinstance(source, ColumnSource) or (source.worth.debug and not dwarf):
            continue
        if not found.keys().isdisjoint(source.worth.covered_by):
            continue
        having = [file for file in files if any(source.richness(file))]
        if having and found:
            reading = replace(reading, spoken_for=_spoken_for(read.columns for read in found.values()))
        for file in sorted(having, key=source.richness, reverse=True):
            try:
                read = source.read_columns(file, reading)
            except InputError as error:
                warnings.append(f"{source.what} could not be read: {error.message}")
                continue
            if read is not None:
                found[source.name] = read
                warnings.extend(read.warnings)
                break
        if having and source.name not in found:
            unreadable.append(source.name)
    return list(found.items())


def _stacked(sources: Sequence[SourceColumns]) -> tuple[SourceColumns | None, Sequence[int]]:
    """The columns of all sources in one, and the first function of each; None without any."""
    if len(sources) < 2:
        return (sources[0] if sources else None), (0,)
    from uploader.symbols.stack import stacked

    return stacked(sources)


def _spoken_for(sources: Iterable[SourceColumns]) -> SpokenFor:
    from uploader.symbols.spoken_for import SpokenFor

    told = SpokenFor()
    for source in sources:
        told.take(source)
    return told


def read_tables(files: Sequence[ElfFile]) -> tuple[ElfSymbols, tuple[str, ...]]:
    """The functions that all sources of plain symbols name, and what could not be read, one line each.

    Of equal names those of a better source count, and an earlier file's before a later one's. Set ``s`` of the symbols is of source
    ``_tables()[s // len(files)]``.
    """
    warnings: list[str] = []
    sets: list[SymbolSet | None] = []
    for source in _tables():
        for file in files:
            read = None
            if file is files[0] or not source.of_the_binary_alone:
                try:
                    read = source.read_symbols(file, files[0])
                except InputError as error:
                    warnings.append(f"{source.what} could not be read: {error.message}")
            sets.append(read)
    return choose(sets), tuple(warnings)


def _tables() -> tuple[TableSource, ...]:
    return tuple(source for source in registry.SOURCES if isinstance(source, TableSource))


def _functions_of_columns(plan: PiecePlan, names: Sequence[str], first_functions: Sequence[int]) -> dict[str, int]:
    """How many functions each source of columns gave, none of them counted twice but for parts with names of their own."""
    by_source = {}
    for number, name in enumerate(names):
        owned = plan.function
        if len(names) > 1:
            from uploader.symbols.stack import owner_of

            owned = array(
                "I",
                (one if one != NONE and owner_of(first_functions, one) == number else NONE for one in plan.function),
            )
        if count := count_functions(owned, plan.name):
            by_source[name] = count
    return by_source


def _functions_of_tables(plan: PiecePlan, symbols: ElfSymbols) -> Counter[str]:
    """How many functions each source of plain symbols gave that no columns have, none of them counted twice."""
    alone = {symbol for function, symbol in zip(plan.function, plan.symbol, strict=True) if function == NONE}
    tables = _tables()
    files = symbols.sets // len(tables)
    return Counter(tables[symbols.set_of(symbol) // files].name for symbol in sorted(alone))


def _told_of(counts: RangeCounts) -> str:
    lost = [f"{number} {what}" for number, what in ((counts.dropped, "dropped"), (counts.cut, "cut")) if number]
    return (
        f"ranges of functions or inlined calls were lost ({', '.join(lost)}): the debug information is malformed there, or contradicts "
        "itself; their code bears the name of what else is known there"
    )
