"""Functions from ELF symbol tables (gABI, "Symbol Table"): ``.symtab`` and ``.dynsym`` become one sorted set of code ranges."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from uploader.core.columns import read_items
from uploader.errors import MalformedElf
from uploader.objects.elf.dynamic import dynamic_symbols
from uploader.objects.elf.headers import EM_PPC64, ET_REL, SHT_DYNSYM, SHT_SYMTAB, SHT_SYMTAB_SHNDX
from uploader.sources.elf_symbols.candidates import RANK_OF_DATA, RANK_OF_STUBS, Candidates, room_for
from uploader.sources.elf_symbols.choice import SymbolChooser
from uploader.sources.elf_symbols.gather import Descriptors, SymbolGatherer
from uploader.sources.elf_symbols.source import ENTRY_BYTES
from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile
    from uploader.objects.elf.headers import Section
    from uploader.sources.elf_symbols.choice import Choice
    from uploader.sources.plt.read import PltStubs


class ElfSymbols:
    """Functions of one file: ascending by start, one for each start address, never empty. Ranges may nest or overlap.

    ``start`` and ``end`` are ``array('Q')`` of addresses; ``extended`` is ``array('B')``, 1 where the table gives no size and the
    end is the next symbol's start or the section's end. The name of symbol ``i`` is
    ``text[name_offset[i] : name_offset[i] + name_length[i]]``, still mangled, without ``@VERSION``. Set ``s`` of those that they
    were chosen from has the candidates ``first_of_set[s]`` up to the next one's first.
    """

    def __init__(self, candidates: Candidates, choice: Choice, text: bytes, first_of_set: Sequence[int] = (0,)) -> None:
        self.text = text
        self.start = choice.start
        self.end = choice.end
        self.extended = choice.extended
        self.name_offset = array("Q", map(candidates.name_offset.__getitem__, choice.chosen))
        self.name_length = array("I", map(candidates.name_length.__getitem__, choice.chosen))
        self._first_of_set = first_of_set
        self._candidates = candidates
        self._choice = choice

    def __len__(self) -> int:
        return len(self.start)

    def name(self, index: int) -> bytes:
        """The name of symbol ``index``."""
        offset = self.name_offset[index]
        return self.text[offset : offset + self.name_length[index]]

    def names(self) -> Iterator[bytes]:
        """The names of all symbols."""
        text = self.text
        return (
            text[offset : offset + length] for offset, length in zip(self.name_offset, self.name_length, strict=True)
        )

    @property
    def sets(self) -> int:
        """How many sets they were chosen from, empty ones among them."""
        return len(self._first_of_set)

    def set_of(self, index: int) -> int:
        """The number of the set that symbol ``index`` was chosen from, as `choose` was given them."""
        return bisect_right(self._first_of_set, self._choice.chosen[index]) - 1

    def aliases(self, address: int) -> tuple[bytes, ...]:
        """The other names of the function that starts at ``address``, the better first; empty where there are none."""
        index = bisect_left(self.start, address)
        if index == len(self.start) or self.start[index] != address:
            return ()
        ranked: dict[bytes, int] = {}
        for candidate in self._choice.order[self._choice.first[index] : self._choice.last[index]]:
            offset = self._candidates.name_offset[candidate]
            name = self.text[offset : offset + self._candidates.name_length[candidate]]
            rank = self._candidates.rank[candidate]
            if rank == RANK_OF_DATA:
                continue
            ranked[name] = min(rank, ranked.get(name, rank))
        ranked.pop(self.name(index), None)
        return tuple(
            sorted(
                ranked,
                key=lambda name: (
                    ranked[name],
                    len(name) - len(name.lstrip(b"_")),
                    len(name),
                    name,
                ),
            )
        )


def read_symbols(elf: ElfFile, *, symtab: bool = True, dynsym: bool = True) -> ElfSymbols:
    """The functions of ``elf`` by its symbol tables; for a ``.debug`` file too, whose code bytes are elsewhere.

    - Counted are FUNC and GNU_IFUNC symbols, and NOTYPE ones that lie in executable sections (hand-written assembly); not
      those without a name, mapping symbols (``$a``, ``$x.foo``), local ``.L`` labels, and unsized NOTYPE labels
      inside a sized function, unless they are global: those are entry points (``entry_SYSCALL_64_after_hwframe``).
    - One name for each address: FUNC over NOTYPE, global over weak over local, then the fewest leading underscores, the
      shortest, the bytewise first. The others are its `ElfSymbols.aliases`.
    - The size is the largest that stays within the section; size 0 reaches to the next symbol, a label's to the next data as well, or
      to the end of the function or section around it.
    - On ARM the Thumb bit is masked; on ppc64 ELFv1 descriptors in ``.opd`` are followed where its bytes are in the file.

    In a relocatable file addresses count from where `ElfFile.layout` puts each section. Raises `MalformedElf` where a table
    or its strings lie beyond the file's end, or the table's entries have an impossible size.
    """
    wanted = ([SHT_SYMTAB] if symtab else []) + ([SHT_DYNSYM] if dynsym else [])
    return choose([read_table(elf, kind) for kind in wanted])


@frozen
class SymbolSet:
    """What one source tells, before names are chosen: the candidates' names lie in ``text``."""

    candidates: Candidates
    text: bytes


def read_table(elf: ElfFile, kind: int, *, binary: ElfFile | None = None) -> SymbolSet | None:
    """What the first symbol table of type ``kind`` tells, as `read_symbols` counts; None where there is none.

    Where no section headers lead to the dynamic symbols, PT_DYNAMIC does.

    ``binary`` is the file with the bytes that a ``.debug`` file lacks: ppc64's descriptors. Raises `MalformedElf`.
    """
    table = next((each for each in elf.sections if each.type == kind and each.size_bytes), None)
    if table is not None:
        text = _strings_of(elf, table)
        entries = _words(elf, table)
        wide_indexes = _wide_indexes(elf, table)
    elif kind == SHT_DYNSYM and not elf.sections and (place := dynamic_symbols(elf)) is not None:
        text = bytes(elf.bytes_at(place.strings_offset, place.strings_size_bytes))
        entries = _as_words(elf, elf.bytes_at(place.offset, place.size_bytes))
        wide_indexes = array("I")
    else:
        return None
    gatherer = SymbolGatherer(elf, text, len(entries) // _words_per_symbol(elf), _descriptors(elf, binary or elf))
    gatherer.read(entries, wide_indexes, 0, len(text))
    return SymbolSet(candidates=gatherer.candidates(), text=text)


def stubs_as_symbols(stubs: PltStubs) -> SymbolSet:
    """PLT stubs as the least of all symbols: they name what nothing else does."""
    count = len(stubs.start)
    lengths = array("I", map(len, stubs.names))
    return SymbolSet(
        candidates=Candidates(
            start=stubs.start,
            size=array("Q", map(int.__sub__, stubs.end, stubs.start)),
            limit=stubs.end,
            name_offset=array("Q", accumulate(lengths, initial=0))[:count],
            name_length=lengths,
            rank=array("B", bytes([RANK_OF_STUBS]) * count),
        ),
        text=b"".join(stubs.names),
    )


def choose(sets: Iterable[SymbolSet | None]) -> ElfSymbols:
    """One set of functions out of several, by the rules of `read_symbols`; of equal names that of the earlier set counts."""
    given = list(sets)
    text = b"".join(each.text for each in given if each is not None)
    joined = room_for(0)
    base = 0
    first_of_set = []
    for each in given:
        first_of_set.append(len(joined.start))
        if each is None:
            continue
        one = each.candidates
        joined.start.extend(one.start)
        joined.size.extend(one.size)
        joined.limit.extend(one.limit)
        joined.name_offset.extend(
            array("Q", [base + offset for offset in one.name_offset]) if base else one.name_offset
        )
        joined.name_length.extend(one.name_length)
        joined.rank.extend(one.rank)
        base += len(each.text)
    return ElfSymbols(joined, SymbolChooser(joined, text).run(), text, first_of_set)


def _strings_of(elf: ElfFile, table: Section) -> bytes:
    if table.link >= len(elf.sections):
        raise MalformedElf(f"has strings of {table.name} in a section that isn't there", path=elf.called)
    return bytes(elf.contents(elf.sections[table.link]))


def _words(elf: ElfFile, table: Section) -> array[int]:
    """The table as numbers: three 64-bit words a symbol, or four 32-bit ones."""
    if table.entry_size not in (0, ENTRY_BYTES[elf.bits]):
        raise MalformedElf(f"has entries of {table.entry_size} bytes in {table.name}", path=elf.called)
    return _as_words(elf, elf.contents(table))


def _words_per_symbol(elf: ElfFile) -> int:
    return ENTRY_BYTES[elf.bits] * 8 // elf.bits


def _as_words(elf: ElfFile, data: memoryview) -> array[int]:
    words = read_items("Q" if elf.bits == 64 else "I", data, elf.little_endian, group=_words_per_symbol(elf))
    return words if elf.bits == 64 else array("Q", words)


def _wide_indexes(elf: ElfFile, table: Section) -> array[int]:
    """The section numbers that don't fit into a symbol (SHT_SYMTAB_SHNDX), or nothing."""
    for section in elf.sections:
        if section.type == SHT_SYMTAB_SHNDX and section.link == table.index:
            return read_items("I", elf.contents(section), elf.little_endian)
    return array("I")


def _descriptors(elf: ElfFile, binary: ElfFile) -> Descriptors | None:
    section = elf.section(".opd") if elf.machine == EM_PPC64 and elf.bits == 64 else None
    filled = binary.section(".opd")
    if section is None or filled is None or not filled.has_bytes or elf.kind == ET_REL:
        return None
    words = read_items("Q", binary.contents(filled), binary.little_endian)
    return Descriptors(section_index=section.index, address=section.address, words=words)
