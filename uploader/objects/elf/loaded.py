"""What a program finds at an address once it is loaded at the address it was linked for: the file's bytes, and what the loader adds.

Position-independent programs leave their pointers to the loader: where its tables have addends of their own (RELA), the file's bytes
say nothing (gABI, "Relocation"). What is counted from the program's own start is taken; what needs other files is not. Tables without
addends (REL, RELR) leave them where they are added, so that the file's bytes say all.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, pairwise

from uploader.errors import MalformedElf
from uploader.objects.elf.android_relocations import unpack
from uploader.objects.elf.dynamic import dynamic_tags, place_of
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import PF_X, PT_LOAD, Segment

DT_RELA, DT_RELASZ = 7, 8
DT_ANDROID_RELA, DT_ANDROID_RELASZ = 0x60000011, 0x60000012

MAX_RELOCATIONS = 1 << 21
"""A position-independent Go program of 100 MB has 400,000. So many take 32 MB."""

WORD_BITS = 64


class LoadedImage:
    """The loaded segments of a file, as words and bytes by address."""

    def __init__(self, elf: ElfFile) -> None:
        self._elf = elf
        self.word_bytes = elf.bits // 8
        self._order = "<" if elf.little_endian else ">"
        self._code = "Q" if elf.bits == 64 else "I"

    def segments(self, *, code: bool) -> Iterator[tuple[int, memoryview]]:
        """(address, bytes) of what is loaded from the file: of code, or of everything else. Bytes are the file's own."""
        for one, size_bytes in self.extents(code=code):
            yield one.address, self._elf.bytes_at(one.offset, size_bytes)

    def extents(self, *, code: bool) -> Iterator[tuple[Segment, int]]:
        """The segments that are loaded from the file, of code or of everything else, with how many bytes the file has of each.

        Segments that together are more than twice the file are no linker's, and the rest of them is left out.
        """
        left_bytes = 2 * self._elf.size_bytes
        for one in self._elf.segments:
            size_bytes = min(one.size_bytes, self._elf.size_bytes - one.offset)
            if one.type == PT_LOAD and bool(one.flags & PF_X) is code and 0 < size_bytes <= left_bytes:
                left_bytes -= size_bytes
                yield one, size_bytes

    def bytes_from(self, address: int, most_bytes: int) -> memoryview:
        """The file's own bytes from an address on, up to the end of its segment; none where it isn't loaded."""
        place = place_of(self._elf, address)
        return memoryview(b"") if place is None else self._elf.bytes_at(place[0], min(place[1], most_bytes))

    def segment_of(self, address: int) -> tuple[int, memoryview]:
        """(address, bytes) of the segment that an address lies in; no bytes where none has it."""
        found = (
            one
            for one in (*self.segments(code=False), *self.segments(code=True))
            if one[0] <= address < one[0] + len(one[1])
        )
        return next(found, (0, memoryview(b"")))

    def word(self, value: int) -> bytes:
        """How the file writes a word."""
        return struct.pack(self._order + self._code, value)

    def words(self, address: int, count: int) -> list[int]:
        """So many words from an address on, as the loader leaves them; fewer where the file has no more there."""
        data = self.bytes_from(address, count * self.word_bytes)
        found = list(struct.unpack_from(f"{self._order}{len(data) // self.word_bytes}{self._code}", data))
        put = dict(self._put_there.within(address, address + len(data)))
        return [put.get(address + index * self.word_bytes, word) for index, word in enumerate(found)]

    def pointers_to(self, value: int) -> Iterator[int]:
        """The addresses of words that lead to ``value``: what isn't code is searched, and what the loader adds."""
        if value >> 8 * self.word_bytes:
            return
        yield from self._put_there.places_of(value)
        wanted = self.word(value)
        for address, view in self.segments(code=False):
            data = bytes(view)
            at = data.find(wanted)
            while at >= 0:
                if not (address + at) % self.word_bytes:
                    yield address + at
                at = data.find(wanted, at + 1)

    def patched(self, address: int, data: memoryview) -> memoryview:
        """The file's bytes at an address with what the loader puts there; the same where it puts nothing."""
        within = list(self._put_there.within(address, address + len(data) - self.word_bytes + 1))
        if not within:
            return data
        copy = bytearray(data)
        for at, value in within:
            struct.pack_into(self._order + self._code, copy, at - address, value)
        return memoryview(copy).toreadonly()

    @cached_property
    def _put_there(self) -> _Put:
        """What the loader puts where, by relocations that name no symbol."""
        symbol_shift = 32 if self._elf.bits == 64 else 8
        # Each fills a word of its own that the file has.
        loaded_bytes = sum(size_bytes for code in (False, True) for _, size_bytes in self.extents(code=code))
        most = min(loaded_bytes // self.word_bytes, MAX_RELOCATIONS)
        relocation = struct.Struct(f"{self._order}3{self._code}")
        table = self._table(DT_RELA, DT_RELASZ)
        plain = relocation.iter_unpack(table[: min(len(table) // relocation.size, most) * relocation.size])
        packed = unpack(self._table(DT_ANDROID_RELA, DT_ANDROID_RELASZ), most)
        values = 1 << 8 * self.word_bytes
        return _Put(
            (offset, addend % values) for offset, info, addend in chain(plain, packed) if not info >> symbol_shift
        )

    def _table(self, place_tag: int, size_tag: int) -> memoryview:
        """The bytes of a table that the dynamic section leads to, as far as the file has them."""
        try:
            tags = dynamic_tags(self._elf)
            place = place_of(self._elf, tags[place_tag])
            if place is not None:
                most_bytes = 3 * self.word_bytes * MAX_RELOCATIONS
                return self._elf.bytes_at(place[0], min(tags.get(size_tag, 0), place[1], most_bytes))
        except (KeyError, struct.error, MalformedElf):
            pass
        return memoryview(b"")


class _Put:
    """Addresses and the words that the loader puts there, as two columns in the order of addresses."""

    def __init__(self, put: Iterable[tuple[int, int]]) -> None:
        self._addresses = array("Q")
        self._words = array("Q")
        for address, word in put:
            self._addresses.append(address)
            self._words.append(word)
        if any(following < one for one, following in pairwise(self._addresses)):
            # One number for both: a tuple for each would take three times the memory.
            both = sorted(
                address << WORD_BITS | word for address, word in zip(self._addresses, self._words, strict=True)
            )
            self._addresses = array("Q", (one >> WORD_BITS for one in both))
            self._words = array("Q", (one & (1 << WORD_BITS) - 1 for one in both))

    def within(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """(address, word) of those from ``start`` to before ``end``."""
        first, behind = bisect_left(self._addresses, start), bisect_left(self._addresses, end)
        return zip(self._addresses[first:behind], self._words[first:behind], strict=True)

    def places_of(self, word: int) -> Iterator[int]:
        """The addresses where that word is put."""
        return (address for address, there in zip(self._addresses, self._words, strict=True) if there == word)
