"""Finds Go's pc-line table in a binary, and what the module's data says of it: where Go's code begins, and where inline trees lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from uploader.errors import MalformedGoTable
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.loaded import LoadedImage
from uploader.objects.elf.named_symbol import address_of_symbol
from uploader.sources.go.layouts import HEADER_BYTES, Header, magics, read_header
from uploader.sources.go.source import SECTIONS
from uploader.values import frozen

SYMBOL = b"runtime.pclntab"

MODULE_WORDS = 48
"""As far as words of the module's data are looked at."""

TEXT_WORD = 22
PARTS_AT = (1, 4, 7, 10, 13, 16)
"""Words that lead to the table's parts: names, units' files, files, values, functions, and functions again."""

GO_FUNC_WORD = {"1.18": 38, "1.20": 40}
"""Where ``go:func.*`` begins, by layout, up to Go 1.25."""

MAX_START = 0xFFFFFFFE00000000
"""Code that began behind it would run over the end of all addresses."""

MAX_PARTS = 4096
"""Linkers of ppc64 and Arm cut code into parts as long as branches reach, of which large programs have some."""

SCANNED_ALIGNMENT = 8

MAX_TRIED = 8
"""So many places that look like a table, and words that lead to one, are tried; a program has one of each."""


@frozen
class FoundTable:
    """The table and what belongs to it."""

    data: memoryview
    header: Header
    code: tuple[tuple[int, int], ...]
    """(entry, address) of each part of Go's code: entries from the first on count from the second. Ascending, the first from 0."""
    trees: memoryview | None
    """The bytes from where inline trees are counted; None where that isn't known."""
    trees_base: int = 0
    """What is taken off a reference to a tree before it counts from there."""


def find_table(elf: ElfFile) -> FoundTable | None:
    """The table of a binary; None where it has none. Raises `MalformedGoTable` where it is damaged, or can't be placed."""
    image = LoadedImage(elf)
    trouble: MalformedGoTable | None = None
    tried = 0
    told = list(_named(elf, image))
    for address, raw in told or _scanned(elf, image):
        try:
            # What the loader puts into a table may be its header's start of the code, and entries of older layouts.
            read_header(raw, little_endian=elf.little_endian, garbled=bool(told))
            tried += 1
            data = image.patched(address, raw)
            return _placed(image, address, data, read_header(data, little_endian=elf.little_endian, garbled=bool(told)))
        except MalformedGoTable as error:
            trouble = trouble or error
        if tried >= MAX_TRIED:
            break
    if trouble is not None:
        raise trouble
    return None


def _named(elf: ElfFile, image: LoadedImage) -> Iterator[tuple[int, memoryview]]:
    """(address, bytes) of the sections that are called so; where there are none, from the symbol of that name on."""
    sections = [
        section for section in map(elf.section, SECTIONS) if section is not None and elf.has_filled(section.name)
    ]
    for section in sections:
        yield section.address, elf.contents(section)
    if not sections:
        address = address_of_symbol(elf, SYMBOL)
        data = memoryview(b"") if address is None else image.bytes_from(address, elf.size_bytes)
        if address is not None and len(data) >= HEADER_BYTES:
            yield address, data


def _scanned(elf: ElfFile, image: LoadedImage) -> Iterator[tuple[int, memoryview]]:
    """(address, bytes) of whatever loaded data begins like a header."""
    for address, view in image.segments(code=False):
        data = bytes(view)
        for magic in magics(little_endian=elf.little_endian):
            at = data.find(magic + b"\0\0")
            while at >= 0:
                if not (address + at) % SCANNED_ALIGNMENT and at + HEADER_BYTES <= len(data):
                    yield address + at, view[at:]
                at = data.find(magic + b"\0\0", at + 1)


def _placed(image: LoadedImage, address: int, data: memoryview, header: Header) -> FoundTable:
    if not header.layout.relative:
        # Functions refer to their trees by address, and all of them lie in one segment with the table.
        base, trees = image.segment_of(address)
        return FoundTable(data=data, header=header, code=((0, 0),), trees=trees, trees_base=base)
    words = _module(image, address, header)
    if words is None:
        if header.garbled or not header.text_start:
            raise MalformedGoTable("has no module's data that says where its code begins")
        return FoundTable(data=data, header=header, code=_beginning(header.text_start), trees=None)
    at, behind = _trees_word(words, address, len(data), header)
    return FoundTable(
        data=data,
        header=header,
        code=_parts(image, words[behind : behind + 3]) or _beginning(words[TEXT_WORD]),
        trees=image.bytes_from(words[at], len(data)) or None,
    )


def _beginning(text_start: int) -> tuple[tuple[int, int], ...]:
    if text_start > MAX_START:
        raise MalformedGoTable("says that its code begins at the end of all addresses")
    return ((0, text_start),)


def _parts(image: LoadedImage, words: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The parts of the code (``textsectmap``: entry, its end, address), by their place and twice their number; none where it is one."""
    place, count, room = words
    if not 1 < count <= MAX_PARTS or count != room:
        return ()
    told = image.words(place, 3 * count)
    if len(told) < 3 * count:
        return ()
    parts = tuple(zip(told[0::3], told[2::3], strict=True))
    ascending = all(one < following for (one, _), (following, _) in pairwise(parts))
    return parts if ascending and not parts[0][0] and max(address for _, address in parts) <= MAX_START else ()


def _module(image: LoadedImage, address: int, header: Header) -> Sequence[int] | None:
    """The words of the module's data (``runtime.moduledata``): the first leads to the table, others to its parts."""
    parts = (
        header.names_at,
        header.units_at,
        header.files_at,
        header.values_at,
        header.functions_at,
        header.functions_at,
    )
    for place in islice(image.pointers_to(address), MAX_TRIED):
        words = image.words(place, MODULE_WORDS)
        if len(words) == MODULE_WORDS and all(
            words[at] == address + part for at, part in zip(PARTS_AT, parts, strict=True)
        ):
            return words
    return None


def _trees_word(words: Sequence[int], address: int, size_bytes: int, header: Header) -> tuple[int, int]:
    """Which word leads to inline trees, and which is the first behind it and what tells their end."""
    first = GO_FUNC_WORD[header.layout.name]
    end = address + size_bytes
    # From Go 1.26 on trees lie in the table; which word leads to them has moved since, but the table's end follows it.
    for at in range(first, MODULE_WORDS - 4):
        if address < words[at] <= words[at + 1] <= end and words[at] < end:
            return at, at + 2
    return first, first + 1
