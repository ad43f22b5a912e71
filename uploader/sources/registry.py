"""All sources of symbols, the richest first. A new one is a folder beside this file and a line in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from uploader.model import Quality
from uploader.sources.dwarf.source import Dwarf, DwarfLines
from uploader.sources.elf_symbols.source import DynamicSymbols, MiniDebuginfo, SymbolTable
from uploader.sources.go.source import GoTable
from uploader.sources.plt.source import PltStubs

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.sources.port import SymbolSource, Worth

SOURCES: tuple[SymbolSource, ...] = (
    Dwarf(),
    DwarfLines(),
    GoTable(),
    SymbolTable(),
    MiniDebuginfo(),
    DynamicSymbols(),
    PltStubs(),
)


def present_in(elf: ElfFile) -> tuple[str, ...]:
    """The names of the sources that a file seems to have, the richest first."""
    return tuple(source.name for source in SOURCES if source.present_in(elf))


def worth_of(name: str) -> Worth | None:
    """What a source gives; None for one that this symup doesn't know."""
    return next((source.worth for source in SOURCES if source.name == name), None)


def sought() -> tuple[str, ...]:
    """The sources for which a debug file is looked for."""
    return tuple(source.name for source in SOURCES if source.worth.sought)


def _read(names: Iterable[str], *, dwarf: bool) -> Iterator[tuple[str, Worth]]:
    for name in names:
        worth = worth_of(name)
        if worth is not None and worth.gives and (dwarf or not worth.debug):
            yield name, worth


def read(names: Iterable[str], *, dwarf: bool = True) -> tuple[str, ...]:
    """Those of the sources that are read and give anything."""
    return tuple(name for name, _ in _read(names, dwarf=dwarf))


def expected(names: Iterable[str], *, dwarf: bool = True) -> Quality:
    """The quality that they should give together; decoding may yet prove it wrong."""
    return max((worth.gives for _, worth in _read(names, dwarf=dwarf)), default=Quality.NONE)


def adds(names: Iterable[str], known: Collection[str], *, dwarf: bool = True) -> bool:
    """Whether one of the sources tells what those ``known`` don't."""
    return any(
        name not in known and not any(better in known for better in worth.covered_by)
        for name, worth in _read(names, dwarf=dwarf)
    )


def in_order(names: Collection[str]) -> tuple[str, ...]:
    """Those of the sources that are known, the richest first."""
    return tuple(source.name for source in SOURCES if source.name in names)
