"""What speaks of symbols stands behind this port; `uploader.sources.registry` lists all that do.

A source is a small object without state. Its module is imported at every start, so it imports its reader where it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from uploader.model import Quality
from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.sources.dwarf.linked import LinkedFiles
    from uploader.sources.elf_symbols.read import SymbolSet
    from uploader.symbols.columns import NameTable, SourceColumns
    from uploader.symbols.spoken_for import SpokenFor


@frozen
class Worth:
    """What one source gives, and when it is of use."""

    gives: Quality
    """``none`` for what nobody reads yet, and for what is no symbol of the file's own."""
    debug: bool = False
    """It is debug information, which `--no-dwarf` leaves unread."""
    sought: bool = False
    """A debug file is looked for to get it."""
    covered_by: tuple[str, ...] = ()
    """Beside one of these it tells nothing new."""


class SymbolSource(Protocol):
    """One kind of evidence in object files that speaks of symbols."""

    @property
    def name(self) -> str:
        """What reports, manifests and `Figures.by_source` call it; it never changes."""

    @property
    def worth(self) -> Worth:
        """What it gives: identity, expected quality, pairing, warnings and reports derive from this."""

    def present_in(self, elf: ElfFile, /) -> bool:
        """Whether a file seems to have it, from headers alone: nothing is inflated or decoded. Never raises."""


@frozen
class Reading:
    """What a source of columns may use beside the file that it reads."""

    executable: Sequence[tuple[int, int]]
    """Where the binary's code lies: ascending, disjoint. What lies elsewhere is no function."""
    names: NameTable
    """All sources of one binary put their names here."""
    threads: int = 1
    linked: LinkedFiles | None = None
    """Where files may lie that the source refers to."""
    spoken_for: SpokenFor | None = None
    """What better sources speak for: of that, nothing needs to be read. None where there are none."""
    meanwhile: Callable[[], object] = lambda: None
    """To be called once while another thread works, if ever: what else there is to do for this binary."""


@frozen
class ColumnsRead:
    """The columns of one source, and what had to be left out of them."""

    columns: SourceColumns
    warnings: tuple[str, ...]
    whole: bool = True
    """Nothing is missing that names and places of functions and inlined calls lie in."""
    lacks_files: bool = False
    """A file that it refers to was not found."""


@runtime_checkable
class ColumnSource(SymbolSource, Protocol):
    """A source that knows functions, and perhaps their lines and inlined calls."""

    @property
    def what(self) -> str:
        """What a warning calls it where it can't be read."""

    def richness(self, elf: ElfFile, /) -> tuple[int, ...]:
        """Orders the files of one binary: the richest is read. Only zeros where a file has nothing of it. Never raises."""

    def read_columns(self, elf: ElfFile, reading: Reading, /) -> ColumnsRead | None:
        """Reads all of it, or gives None where the file has none. Damage is told in the warnings.

        Raises `InputError` where nothing sound can be had.
        """


@runtime_checkable
class TableSource(SymbolSource, Protocol):
    """A source that knows names and where each begins, with or without its end."""

    @property
    def what(self) -> str:
        """What a warning calls it where it can't be read."""

    @property
    def of_the_binary_alone(self) -> bool:
        """It is read from a binary itself, and from none of its companions."""

    def read_symbols(self, elf: ElfFile, binary: ElfFile, /) -> SymbolSet | None:
        """The candidates of ``elf``, a file of ``binary``, or None where it has none. Raises `InputError`."""
