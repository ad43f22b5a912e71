"""What each source of symbols is worth: the one table that says what reading a file should give."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from uploader.model import Quality, Source
from uploader.values import frozen


@frozen
class Worth:
    """What one source gives, and when it is of use."""

    gives: Quality
    """``none`` for what nobody reads yet, and for what is no symbol of the file's own."""
    debug: bool = False
    """It is debug information, which `--no-dwarf` leaves unread."""
    sought: bool = False
    """A debug file is looked for to get it."""
    covered_by: tuple[Source, ...] = ()
    """Beside one of these it tells nothing new."""


WORTH = {
    Source.DWARF: Worth(gives=Quality.FULL, debug=True, sought=True),
    Source.DWARF_LINES: Worth(gives=Quality.LINES, debug=True, sought=True, covered_by=(Source.DWARF,)),
    Source.GO: Worth(gives=Quality.NONE),
    Source.SYMTAB: Worth(gives=Quality.FUNCTIONS, sought=True),
    Source.DYNSYM: Worth(gives=Quality.FUNCTIONS),
    Source.MINI_DEBUGINFO: Worth(gives=Quality.FUNCTIONS, covered_by=(Source.SYMTAB,)),
    Source.PLT: Worth(gives=Quality.NONE),
}

SOUGHT = tuple(source for source, worth in WORTH.items() if worth.sought)


def read(sources: Iterable[Source], *, dwarf: bool = True) -> tuple[Source, ...]:
    """Those of the sources that are read and give anything."""
    return tuple(source for source in sources if WORTH[source].gives and (dwarf or not WORTH[source].debug))


def expected(sources: Iterable[Source], *, dwarf: bool = True) -> Quality:
    """The quality that they should give together; decoding may yet prove it wrong."""
    return max((WORTH[source].gives for source in read(sources, dwarf=dwarf)), default=Quality.NONE)


def adds(sources: Iterable[Source], known: Collection[Source], *, dwarf: bool = True) -> bool:
    """Whether one of ``sources`` tells what those ``known`` don't."""
    return any(
        source not in known and not any(better in known for better in WORTH[source].covered_by)
        for source in read(sources, dwarf=dwarf)
    )
