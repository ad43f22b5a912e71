"""How Go's linkers have laid out the pc-line table: what changed between versions, apart from what it means.

The header's magic tells the layout (Go's ``internal/abi`` and ``debug/gosym``). Versions of the compiler that share one differ in nothing
that is read here.
"""

from __future__ import annotations

from collections.abc import Iterator

from uploader.errors import MalformedGoTable
from uploader.values import frozen

MAGIC_GO_1_2 = 0xFFFFFFFB
MAGIC_GO_1_16 = 0xFFFFFFFA
MAGIC_GO_1_18 = 0xFFFFFFF0
MAGIC_GO_1_20 = 0xFFFFFFF1
LEAST_MAGIC = 0xFFFFFF00
"""Magics have counted down, so that a later Go's would lie here, too; garble takes any number at all."""

QUANTA = (1, 2, 4)
"""How many bytes the shortest instruction of a machine takes."""

HEADER_BYTES = 8
"""Magic, two zero bytes, the quantum, the size of a pointer."""


@frozen
class Layout:
    """What one magic stands for. Offsets of a function's record count from behind its entry."""

    magic: int
    name: str
    """The first version of Go that writes it."""
    words: int
    """How many words the header has behind its first eight bytes."""
    relative: bool
    """Entries are 32-bit offsets from the start of Go's code; else they are addresses."""
    unit_files: bool
    """Files are numbered in each compilation unit (``cutab``); else in the whole table."""
    tables_at: int
    """Where the offsets of a function's further tables begin; the byte before says how many references follow them."""
    start_line_at: int
    """Where the line of the declaration is; -1 where it isn't told."""
    inline_bytes: int
    """The size of an entry of the inline tree."""

    @property
    def callers_by_pc(self) -> bool:
        """An inlined call leads to its caller by a pc of the function; else by the caller's number in the tree."""
        return self.start_line_at >= 0


def _of_words(
    magic: int, name: str, words: int, tables_at: int, *, start_line_at: int = -1, inline_bytes: int = 20
) -> Layout:
    return Layout(
        magic=magic, name=name, words=words, relative=words > 7, unit_files=words > 1,
        tables_at=tables_at, start_line_at=start_line_at, inline_bytes=inline_bytes,
    )  # fmt: skip


GO_1_2 = _of_words(MAGIC_GO_1_2, "1.2", 1, 32)
GO_1_16 = _of_words(MAGIC_GO_1_16, "1.16", 7, 36)
GO_1_18 = _of_words(MAGIC_GO_1_18, "1.18", 8, 36)
GO_1_20 = _of_words(MAGIC_GO_1_20, "1.20", 8, 40, start_line_at=32, inline_bytes=16)
LAYOUTS = (GO_1_20, GO_1_18, GO_1_16, GO_1_2)


@frozen
class Header:
    """What a table says of itself. Offsets count from its first byte."""

    layout: Layout
    garbled: bool
    """Garble made the magic its own, and the entries in functions' records; those of ``ftab`` it leaves."""
    size_bytes: int
    """The size of the whole table, as far as it is known."""
    little_endian: bool
    quantum: int
    pointer_bytes: int
    function_count: int
    text_start: int
    """Where Go's code begins, as the header has it: 0 where it leaves that to the module's data (from Go 1.26 on), or to a relocation."""
    names_at: int
    """Function names, each ended by a zero byte."""
    units_at: int
    """``cutab``: where the name of a unit's file lies in the names of files."""
    units_end: int
    files_at: int
    """Names of files; in Go 1.2's layout the table of their offsets."""
    files_end: int
    values_at: int
    """``pctab``: what the tables of pcs and values count from."""
    functions_at: int
    """``ftab``: (entry, record) of each function, and the end of the last."""

    @property
    def names_end(self) -> int:
        """Where the names of functions end: in Go 1.2's layout only the table does."""
        return self.units_at or self.size_bytes

    @property
    def records_at(self) -> int:
        """What the records of functions are counted from."""
        return self.functions_at if self.layout.unit_files else 0

    @property
    def file_slots(self) -> int:
        """How many files are numbered."""
        start, end = (self.units_at, self.units_end) if self.layout.unit_files else (self.files_at, self.files_end)
        return (end - start) // 4

    @property
    def entry_bytes(self) -> int:
        """The size of a number in ``ftab``, and of the entry in a function's record."""
        return 4 if self.layout.relative else self.pointer_bytes


def magics(*, little_endian: bool) -> Iterator[bytes]:
    """What tables begin with."""
    order = "little" if little_endian else "big"
    for layout in LAYOUTS:
        yield layout.magic.to_bytes(4, order)  # type: ignore[arg-type]  # one of the two words


def read_header(data: memoryview, *, little_endian: bool, garbled: bool = False) -> Header:
    """The header of a table, which ``data`` begins with. Raises `MalformedGoTable` where it contradicts itself or the bytes.

    One that may be ``garbled`` is of the newest layout where its magic is far from all that Go has had.
    """
    order = "little" if little_endian else "big"

    def number(at: int, size_bytes: int) -> int:
        return int.from_bytes(data[at : at + size_bytes], order)  # type: ignore[arg-type]  # one of the two words

    if len(data) < HEADER_BYTES:
        raise MalformedGoTable("is cut off in its header")
    magic = number(0, 4)
    layout = next((one for one in LAYOUTS if one.magic == magic), None)
    if layout is None and garbled and magic < LEAST_MAGIC:
        layout = GO_1_20
    quantum, pointer_bytes = data[6], data[7]
    if layout is None or data[4] or data[5] or quantum not in QUANTA or pointer_bytes not in (4, 8):
        raise MalformedGoTable("has a header of no version that is known")
    words_end = HEADER_BYTES + layout.words * pointer_bytes
    if len(data) < words_end:
        raise MalformedGoTable("is cut off in its header")
    words = [number(HEADER_BYTES + index * pointer_bytes, pointer_bytes) for index in range(layout.words)]
    count = words[0]
    entry_bytes = 4 if layout.relative else pointer_bytes
    if layout is GO_1_2:
        functions_at = words_end
        files_offset_at = functions_at + (2 * count + 1) * entry_bytes
        if files_offset_at + 4 > len(data):
            raise MalformedGoTable(f"is too short for its {count} functions")
        files_at = number(files_offset_at, 4)
        if files_at + 4 > len(data):
            raise MalformedGoTable("has its files beyond its end")
        return Header(
            layout=layout, garbled=False, size_bytes=len(data), little_endian=little_endian, quantum=quantum,
            pointer_bytes=pointer_bytes, function_count=count,
            text_start=0, names_at=0, units_at=0, units_end=0, files_at=files_at,
            files_end=min(files_at + 4 * number(files_at, 4), len(data)), values_at=0, functions_at=functions_at,
        )  # fmt: skip
    text_start = words[2] if layout.relative else 0
    names_at, units_at, files_at, values_at, functions_at = words[-5:]
    if not words_end <= names_at <= units_at <= files_at <= values_at <= functions_at < len(data):
        raise MalformedGoTable("has its parts out of order, or beyond its end")
    if functions_at + (2 * count + 1) * entry_bytes > len(data):
        raise MalformedGoTable(f"is too short for its {count} functions")
    return Header(
        layout=layout, garbled=magic != layout.magic, size_bytes=len(data), little_endian=little_endian, quantum=quantum,
        pointer_bytes=pointer_bytes, function_count=count,
        text_start=text_start, names_at=names_at, units_at=units_at, units_end=files_at, files_at=files_at,
        files_end=values_at, values_at=values_at, functions_at=functions_at,
    )  # fmt: skip
