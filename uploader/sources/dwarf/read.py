"""DWARF as a source of symbols: one file in, columns out (`symbols.columns.SourceColumns`).

The order of work is made for two cores or more: `.debug_info` is inflated while the line programs run, and names are resolved, which needs
the interpreter, while the next batch of units is walked, which doesn't. The result does not depend on how it was spread.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

from uploader.core.columns import NONE
from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import ET_REL
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.absent import Absent, absent_sections
from uploader.sources.dwarf.batches import Code, Part, join_named
from uploader.sources.dwarf.join import Joined
from uploader.sources.dwarf.line_tables import LineTables, read_line_tables
from uploader.sources.dwarf.linked import LinkedFiles, NoLinkedFiles
from uploader.sources.dwarf.sections import DwarfSections, SectionLoader
from uploader.sources.dwarf.source_columns import source_columns
from uploader.sources.dwarf.supplementary import Supplementary, opened_supplementary
from uploader.sources.dwarf.unit_headers import read_units
from uploader.sources.elf_symbols.read import read_symbols
from uploader.sources.port import ColumnsRead
from uploader.symbols.columns import NameTable
from uploader.values import replace

LINE_STRINGS = ".debug_line_str"
UNNAMED = b"??"
"""What an inlined call is named whose name is lost; readers of DWARF show it so."""

MAX_WARNINGS = 20
"""How many warnings of one file are told: a thousand broken units are one piece of news."""


def read_dwarf(
    elf: ElfFile,
    executable: Sequence[tuple[int, int]],
    names: NameTable,
    *,
    threads: int = 1,
    files: LinkedFiles | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> ColumnsRead | None:
    """Reads all functions, inlines and lines that lie in the executable ranges, or None where the file has no DWARF.

    ``files`` tells where split units and supplementary files may lie. ``meanwhile`` is called while a thread inflates.
    Damage, and what could not be found, is told in the warnings. Raises `MalformedElf` where a section that is needed can't be had at all.
    """
    linked = files if files is not None else NoLinkedFiles()
    loader = SectionLoader(elf)
    with _workers(threads) as pool:
        info: Future[bytes | memoryview] | None = pool.submit(loader.load, "info") if pool else None
        sections = loader.load_all_but_info()
        if not sections.line and elf.section(".debug_info") is None:
            return None
        code = code_of(elf, executable)
        tables = read_line_tables(sections, code.executable, 8 if elf.bits == 64 else 4)
        abbrevs = Abbrevs(sections.abbrev)
        abbrevs.compile_ahead(8 if elf.bits == 64 else 4)
        if info is not None:
            meanwhile()
            tables.name_files_ahead()
        sections.info = info.result() if info is not None else loader.load("info")
        with opened_supplementary(elf, linked, names) as supplementary:
            read = read_sections(
                sections,
                tables,
                code,
                names,
                pool,
                threads,
                abbrevs=abbrevs,
                supplementary=supplementary,
                files=linked,
            )
        return replace(read, warnings=capped([*loader.warnings, *read.warnings]))


def code_of(elf: ElfFile, executable: Sequence[tuple[int, int]]) -> Code:
    """Where code lies. Linkers send what they drop to address 0: it counts only where a symbol says that a function is there."""
    ranges = list(executable)
    if not ranges or ranges[0][0] != 0:
        return Code(executable=ranges)
    try:
        symbols = read_symbols(elf)
    except InputError:
        symbols = None
    if symbols is not None and len(symbols) and symbols.start[0] == 0:
        return Code(executable=ranges, end_of_first=0 if symbols.extended[0] else symbols.end[0])
    if elf.kind != ET_REL:
        ranges[0] = (1, ranges[0][1])
    return Code(executable=ranges)


def capped(warnings: Sequence[str]) -> tuple[str, ...]:
    """The first warnings of a file, and how many more there are."""
    if len(warnings) <= MAX_WARNINGS:
        return tuple(warnings)
    return (*warnings[:MAX_WARNINGS], f"and {len(warnings) - MAX_WARNINGS} more of the kind")


def read_sections(
    sections: DwarfSections,
    tables: LineTables,
    code: Code | list[tuple[int, int]],
    names: NameTable,
    pool: Executor | None = None,
    threads: int = 1,
    *,
    abbrevs: Abbrevs | None = None,
    supplementary: Supplementary | None = None,
    files: LinkedFiles | None = None,
) -> ColumnsRead:
    """The same for sections and line tables already in memory; all warnings are kept."""
    where = code if isinstance(code, Code) else Code(executable=code)
    other = supplementary if supplementary is not None else Supplementary()
    sections.supplementary_strings = other.strings
    abbrevs = abbrevs if abbrevs is not None else Abbrevs(sections.abbrev)
    units = read_units(sections, abbrevs)
    if not where.executable or where.executable[0][0] != 0:
        for unit in units.units:
            unit.walked = unit.walked and not unit.from_zero
    unit_table = array("I", [NONE if (table := tables.table_for(unit)) < 0 else table for unit in units.units])
    absent = absent_sections(sections, units.units, abbrevs)
    if tables.lack_file_names and not any(one.section == LINE_STRINGS for one in absent):
        absent.append(Absent(section=LINE_STRINGS, loss="names of files are lost"))

    joined = Joined()
    join = partial(join_named, joined, code=where, names=names, supplementary=other.names, pool=pool, threads=threads)
    split = None
    if any(unit.dwo_name for unit in units.units):
        from uploader.sources.dwarf.split import SplitUnits

        split = SplitUnits(sections=sections, units=units.units, files=files if files is not None else NoLinkedFiles())
        for half in split.parts():
            walked = (unit for unit in half.part.units.units if unit.walked)
            absent += absent_sections(half.part.sections, walked, half.part.abbrevs, split=True)
            join(half.part, unit_numbers=half.skeleton)
    join(Part(sections=sections, abbrevs=abbrevs, units=units))
    # Left out, lines of inlined calls without a name would be told of the function around them.
    unnamed = names.intern(UNNAMED) if other.missing or any(one.names for one in absent) else 0
    columns = source_columns(joined, tables, unit_table, names, unnamed)
    # Only names of files are still to be read; .debug_info is the largest thing in memory.
    sections.info = b""
    warnings = [
        *dict.fromkeys(map(str, absent)),
        *tables.warnings,
        *units.warnings,
        *(split.warnings if split is not None else ()),
        *other.warnings,
        *joined.warnings,
    ]
    return ColumnsRead(
        columns=columns,
        warnings=tuple(warnings),
        whole=not absent and not other.missing,
        lacks_files=(split is not None and split.missing > 0) or other.missing,
    )


@contextmanager
def _workers(threads: int) -> Iterator[ThreadPoolExecutor | None]:
    if threads < 2:
        yield None
        return
    with ThreadPoolExecutor(threads - 1, thread_name_prefix="symup-dwarf") as pool:
        yield pool
