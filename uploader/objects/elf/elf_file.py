"""ELF files: the bytes of sections, notes, where code lies, and what `headers` reads. Opening a file reads its headers only."""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
import threading
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from types import TracebackType
from typing import Self

from uploader.errors import MalformedElf, NotElf
from uploader.objects.elf.compression import (
    MAX_HEADER_BYTES,
    CompressionHeader,
    inflate,
    read_gnu_header,
    read_header,
)
from uploader.objects.elf.headers import (
    EM_386,
    EM_AARCH64,
    EM_ARM,
    EM_MIPS,
    EM_PPC64,
    EM_RISCV,
    EM_S390,
    EM_X86_64,
    ET_REL,
    MAGIC,
    PF_X,
    PT_LOAD,
    PT_NOTE,
    SHF_COMPRESSED,
    SHT_NOTE,
    Section,
    read_headers,
)
from uploader.objects.elf.layout import lay_out
from uploader.objects.file_bytes import OpenBytes
from uploader.objects.input import BytesInput, FileInput, Input

_MACHINE_NAMES = {
    2: "sparc",
    EM_386: "386",
    EM_MIPS: "mips",
    20: "ppc",
    EM_PPC64: "ppc64",
    EM_S390: "s390",
    EM_ARM: "arm",
    43: "sparc64",
    EM_X86_64: "x86-64",
    EM_AARCH64: "arm64",
    190: "cuda",
    224: "amdgpu",
    EM_RISCV: "riscv",
    247: "bpf",
    258: "loongarch",
}

PIECE_BYTES = 1 << 20

MAX_NOTE_BYTES = 16 << 20
"""Bytes of notes that are read in one file; an executable's take a few hundred."""

MAX_NOTES = 1 << 17
"""Notes that are kept of one file."""


class ElfFile:
    """One open ELF file. Use it as a context manager, or call `close`.

    What `contents` gives of an uncompressed section is a view into the file and lives as long as it is referred to, even past
    `close`. All methods may be called from several threads at once.
    """

    def __init__(self, source: Input, file: OpenBytes) -> None:
        """Takes a file and its bytes; `of`, `open` and `from_bytes` are the ways in."""
        self.input = source
        self.path = source.path
        """What people know it by."""
        self._file = file
        self._data = file.data
        self.size_bytes = len(file.data)
        if bytes(file.data[:4]) != MAGIC:
            raise NotElf("is not an ELF file", path=self.called)
        try:
            headers = read_headers(file.data)
        except MalformedElf as error:
            raise MalformedElf(error.reason, path=self.called) from None
        self.bits = headers.bits
        self.little_endian = headers.little_endian
        self.kind = headers.kind
        self.machine = headers.machine
        self.flags = headers.flags
        self.sections = headers.sections
        self.segments = headers.segments
        self._ahead: dict[int, _Ahead] = {}
        self._found_notes: tuple[tuple[str, int, bytes], ...] | None = None

    @property
    def called(self) -> str:
        """What it is called in a sentence."""
        return self.path or "the input"

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, mapped: bool = True) -> ElfFile:
        """Opens the file at ``path`` as `of` does."""
        return cls.of(FileInput(path=os.fspath(path)), mapped=mapped)

    @classmethod
    def of(cls, source: Input, *, mapped: bool = True) -> ElfFile:
        """Opens a file read-only and reads its headers.

        A large file is mapped: that another process cuts it short while it is open may end this one (SIGBUS). Without ``mapped`` its
        bytes are read as they are asked for, which raises `InputError` then; that is for who wants headers and little more.
        Raises `NotElf` for what isn't a regular ELF file, `MalformedElf` for damaged headers, `InputError` where the file can't be
        opened or read.
        """
        file = source.open(mapped=mapped)
        try:
            return cls(source, file)
        except BaseException:
            file.close()
            raise

    @classmethod
    def from_bytes(cls, data: bytes | memoryview, name: str = "") -> ElfFile:
        """Reads an ELF file that is already in memory; ``name`` stands for it in messages. Errors as in `open`."""
        return cls.of(BytesInput(data=data, path=name))

    def close(self) -> None:
        """Lets the file go; views that `contents` gave stay valid and keep it mapped until they are dropped."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ElfFile({self.path!r}, {self.machine_name}, {len(self.sections)} sections)"

    def section(self, name: str) -> Section | None:
        """The first section of that name; ``.debug_x`` is found as ``.zdebug_x`` too. None where there is none."""
        found = self._by_name.get(name)
        if found is None and name.startswith(".debug_"):
            found = self._by_name.get(".z" + name[1:])
        return found

    def has_filled(self, name: str) -> bool:
        """Whether the first section of that name has bytes in this file."""
        section = self.section(name)
        return section is not None and section.has_bytes and section.size_bytes > 0

    def contents(self, section: Section) -> memoryview:
        """The bytes of a section, inflated where it is compressed; empty where they aren't in this file.

        Raises `MalformedElf` where the section reaches past the end of the file or its compression is a lie.
        """
        ahead = self._ahead.pop(section.index, None)
        return ahead.result() if ahead is not None else self._contents(section)

    def inflate_ahead(self, name: str) -> None:
        """Begins to inflate a section on a thread of its own; `contents` then waits for it, and has its errors."""
        section = self.section(name)
        if section is not None and section.compressed:
            self._ahead[section.index] = _Ahead(self._contents, section)

    def _contents(self, section: Section) -> memoryview:
        header = self._compression(section)
        stored = self._stored(section)
        if header is None:
            return stored
        inflated = inflate(header.compression, stored[header.payload_offset :], header.inflated_size_bytes)
        self._let_go_of_pages(section)
        return inflated

    def _let_go_of_pages(self, section: Section) -> None:
        """Takes a section's pages out of this process's memory: once inflated, the compressed bytes are not asked for again."""
        mapping = self._file.mapping
        if mapping is not None and hasattr(mmap, "MADV_DONTNEED"):
            start = section.offset - section.offset % mmap.PAGESIZE
            with contextlib.suppress(OSError, ValueError):
                mapping.madvise(mmap.MADV_DONTNEED, start, section.offset + section.size_bytes - start)

    def inflated_size_bytes(self, section: Section) -> int:
        """How long `contents` says it will be, from the headers alone: a claim, until `contents` has proven it.

        Raises `MalformedElf` as `contents` does, where the headers alone show it.
        """
        header = self._compression(section)
        start, end = self._span(section)
        return end - start if header is None else header.inflated_size_bytes

    def pieces_at(self, offset: int, size_bytes: int) -> Iterator[memoryview]:
        """The same as `bytes_at` gives, in pieces that are small enough to be held one at a time."""
        for start in range(offset, offset + size_bytes, PIECE_BYTES):
            yield self.bytes_at(start, min(PIECE_BYTES, offset + size_bytes - start))

    def bytes_at(self, offset: int, size_bytes: int) -> memoryview:
        """Raw bytes of the file. Raises `MalformedElf` where they reach past its end."""
        if offset < 0 or size_bytes < 0 or offset + size_bytes > self.size_bytes:
            raise MalformedElf(f"has no bytes {offset} to {offset + size_bytes}", path=self.called)
        return self._data[offset : offset + size_bytes]

    def executable_ranges(self) -> list[tuple[int, int]]:
        """Where code lies: ascending, disjoint ``(start, end)`` addresses, neighbours joined.

        From the executable sections, also those whose bytes are elsewhere; without any section, from the executable segments.
        In a relocatable file they lie where `layout` puts them.
        """
        if self.sections:
            ranges = [(self.address_of(section), section.size_bytes) for section in self.sections if section.is_code]
        else:
            ranges = [
                (segment.address, segment.memory_size_bytes)
                for segment in self.segments
                if segment.type == PT_LOAD and segment.flags & PF_X
            ]
        merged: list[tuple[int, int]] = []
        for start, size_bytes in sorted(ranges):
            end = start + size_bytes
            if not size_bytes or end > 1 << self.bits:
                continue
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

    def sections_named(self, name: str) -> list[Section]:
        """All sections of that name, in the order of their headers; ``.debug_x`` is found as ``.zdebug_x`` too."""
        first = self.section(name)
        return [section for section in self.sections if section.name == first.name] if first is not None else []

    def address_of(self, section: Section) -> int:
        """Where a section lies in memory: what its header says or, in a relocatable file, what `layout` gives it."""
        return self._laid_out.get(section.index, section.address) if self.kind == ET_REL else section.address

    @property
    def layout(self) -> list[tuple[str, int]]:
        """(name, address) of the executable sections of a relocatable file, as symbols count them; empty for other files."""
        if self.kind != ET_REL:
            return []
        return [
            (section.name, self.address_of(section))
            for section in self.sections
            if section.is_code and section.size_bytes
        ]

    @property
    def base_address(self) -> int:
        """The address that the file is linked to be loaded at: that of its first PT_LOAD, 0 without one."""
        return next((segment.address for segment in self.segments if segment.type == PT_LOAD), 0)

    @property
    def machine_name(self) -> str:
        """The machine in the words of the field (``x86-64``, ``arm64``), or ``machine-<number>`` for a rare one."""
        if self.machine == EM_X86_64 and self.bits == 32:
            return "x32"
        name = _MACHINE_NAMES.get(self.machine, f"machine-{self.machine}")
        if self.machine in (EM_RISCV, EM_S390) and self.bits == 64:
            return "riscv64" if self.machine == EM_RISCV else "s390x"
        if self.machine == EM_PPC64 and self.little_endian:
            return "ppc64le"
        return name

    def notes(self) -> tuple[tuple[str, int, bytes], ...]:
        """Every note as ``(name, type, desc)``, once each: those of SHT_NOTE sections first, then of PT_NOTE segments.

        Where code bytes are absent the file is a ``.debug`` one, whose segments may point at bytes of something else: then only
        sections count. Notes that are cut or contradict their area end that area; this never raises. gABI, "Note Section".
        """
        if self._found_notes is None:
            # Notes that are no different count too: each is work.
            self._found_notes = tuple(dict.fromkeys(islice(self._read_notes(), MAX_NOTES)))
        return self._found_notes

    def _read_notes(self) -> Iterator[tuple[str, int, bytes]]:
        areas: dict[tuple[int, int], int] = {}
        for section in self.sections:
            if section.type == SHT_NOTE:
                areas.setdefault((section.offset, section.size_bytes), section.alignment)
        if not any(section.is_code and not section.has_bytes for section in self.sections):
            for segment in self.segments:
                if segment.type == PT_NOTE:
                    areas.setdefault((segment.offset, segment.size_bytes), segment.alignment)
        # A linker's section of notes lies in one segment of notes at most.
        budget = min(MAX_NOTE_BYTES, 2 * self.size_bytes)
        for (offset, size_bytes), alignment in areas.items():
            if offset + size_bytes > self.size_bytes or size_bytes > budget:
                continue
            budget -= size_bytes
            yield from self._notes_in(self._data[offset : offset + size_bytes], 8 if alignment == 8 else 4)

    def _notes_in(self, area: memoryview, alignment: int) -> Iterator[tuple[str, int, bytes]]:
        header = struct.Struct("<III" if self.little_endian else ">III")
        position = 0
        while position + header.size <= len(area):
            name_size, desc_size, kind = header.unpack_from(area, position)
            desc = position + _align(header.size + name_size, alignment)
            end = desc + desc_size
            if end > len(area):
                return
            name = bytes(area[position + header.size : position + header.size + name_size])
            yield name.rstrip(b"\0").decode("latin-1"), kind, bytes(area[desc:end])
            position = _align(end, alignment)

    def _span(self, section: Section) -> tuple[int, int]:
        """Where the section's bytes lie in the file; nowhere, where they aren't in it."""
        if not section.has_bytes:
            return 0, 0
        end = section.offset + section.size_bytes
        if end > self.size_bytes:
            raise MalformedElf(
                f"has a section {section.name} that reaches to byte {end} of {self.size_bytes}", path=self.called
            )
        return section.offset, end

    def _stored(self, section: Section) -> memoryview:
        start, end = self._span(section)
        return self._data[start:end]

    def _compression(self, section: Section) -> CompressionHeader | None:
        start, end = self._span(section)
        if section.compressed:
            head = self._data[start : min(end, start + MAX_HEADER_BYTES)]
            if section.flags & SHF_COMPRESSED:
                return read_header(head, bits=self.bits, little_endian=self.little_endian)
            return read_gnu_header(head)
        return None

    @cached_property
    def _laid_out(self) -> dict[int, int]:
        return lay_out(self.sections, bits=self.bits, size_of=self._size_once_inflated)

    def _size_once_inflated(self, section: Section) -> int:
        try:
            return self.inflated_size_bytes(section)
        except MalformedElf:
            return section.size_bytes

    @cached_property
    def _by_name(self) -> dict[str, Section]:
        return {section.name: section for section in reversed(self.sections)}


class _Ahead:
    """A section that a thread of its own reads. Less than a future and a pool: these take longer to import than the section may to read."""

    def __init__(self, read: Callable[[Section], memoryview], section: Section) -> None:
        self._read = read
        self._section = section
        self._contents = memoryview(b"")
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="symup-inflate", daemon=True)
        self._thread.start()

    def result(self) -> memoryview:
        """The section's bytes, once they are there. Raises what reading them raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._contents

    def _run(self) -> None:
        try:
            self._contents = self._read(self._section)
        except BaseException as error:  # noqa: BLE001  # raised where the section is asked for
            self._error = error


def _align(value: int, alignment: int) -> int:
    return (value + alignment - 1) & ~(alignment - 1)
