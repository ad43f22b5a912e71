"""What an ELF file says of itself, in the words of pyelftools: for people who ask what a file is. The street needs none of it.

pyelftools believes what a file says, so it reads through a stream that gives it a ration: no damage makes it read without end.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, cast

from uploader.errors import MalformedElf
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import SHF_COMPRESSED, SHT_NOTE
from uploader.values import frozen

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

SHT_DYNAMIC = 6
PT_DYNAMIC, PT_INTERP, PT_NOTE = 2, 3, 4

MAX_READS = 200_000
MAX_READ_BYTES = 4 << 20
"""The ration of one part of a description: reads, and bytes by them. Real files take a hundredth."""

MAX_SECTIONS = 4096
"""Sections that are described: of a C++ object, which may have more, the first."""


@frozen
class DescribedSection:
    """One line of the section table."""

    name: str
    type: str
    """Without its ``SHT_``."""
    flags: str
    """The letters of readelf."""
    address: int
    size_bytes: int
    inflated_size_bytes: int | None
    """What a compressed section claims to inflate to; None for any other."""


@frozen
class DescribedNote:
    """One note: who wrote it, and what it says."""

    owner: str
    text: str


@dataclass(slots=True, kw_only=True)
class Description:
    """What could be read; what could not is empty, and `left_out` says so."""

    type: str = ""
    machine: str = ""
    abi: str = ""
    interpreter: str = ""
    soname: str = ""
    needed: list[str] = field(default_factory=list)
    search_path: list[str] = field(default_factory=list)
    """DT_RUNPATH and DT_RPATH."""
    sections: list[DescribedSection] = field(default_factory=list)
    notes: list[DescribedNote] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Parts that are missing or cut short here, each with the reason."""


def describe(elf: ElfFile) -> Description:
    """Describes an open file. Never raises for what is in it; time and memory are bounded whatever it says."""
    return _Describing(elf).run()


class _Describing:
    """One description under way."""

    def __init__(self, elf: ElfFile) -> None:
        self.elf = elf
        self.stream = _Ration(elf)
        self.told = Description()

    def run(self) -> Description:
        from elftools.elf.elffile import ELFFile

        with self._part("its header"):
            reader = ELFFile(cast("IO[bytes]", self.stream))
            for what, read in (
                ("its kind", self._header),
                ("the table of sections", self._sections),
                ("the interpreter", self._interpreter),
                ("what it is linked with", self._dynamic),
                ("notes", self._notes),
            ):
                with self._part(what):
                    read(reader)
        return self.told

    @contextlib.contextmanager
    def _part(self, what: str) -> Iterator[None]:
        self.stream.refill()
        try:
            yield
        except Exception as error:  # noqa: BLE001  # they have no common base: construct's, struct's, of index, key and encoding
            self.told.left_out.append(f"{what}: {str(error) or type(error).__name__}")

    def _header(self, reader: ELFFile) -> None:
        from elftools.elf import descriptions

        self.told.machine = _known(descriptions.describe_e_machine(reader["e_machine"]), self.elf.machine)
        self.told.abi = _known(
            descriptions.describe_ei_osabi(reader["e_ident"]["EI_OSABI"]), reader["e_ident"]["EI_OSABI"]
        )
        self.told.type = _known(descriptions.describe_e_type(reader["e_type"]), self.elf.kind)
        # Whether a shared object is a program is told by its dynamic section, which may be the damaged part.
        self.told.type = _known(descriptions.describe_e_type(reader["e_type"], reader), self.elf.kind)

    def _sections(self, reader: ELFFile) -> None:
        from elftools.elf import descriptions

        for section in self.elf.sections[:MAX_SECTIONS]:
            at = reader["e_shoff"] + section.index * reader["e_shentsize"]
            header = reader.structs.Elf_Shdr.parse(bytes(self.elf.bytes_at(at, reader["e_shentsize"])))
            letters = descriptions.describe_sh_flags(section.flags)
            self.told.sections.append(
                DescribedSection(
                    name=section.name,
                    type=_known(descriptions.describe_sh_type(header["sh_type"]), section.type),
                    flags=letters + "C" * bool(section.flags & SHF_COMPRESSED),
                    address=section.address,
                    size_bytes=section.size_bytes,
                    inflated_size_bytes=self._inflated(section.index) if section.compressed else None,
                )
            )
        if len(self.elf.sections) > MAX_SECTIONS:
            self.told.left_out.append(f"the table of sections: it has {len(self.elf.sections) - MAX_SECTIONS} more")

    def _inflated(self, index: int) -> int | None:
        try:
            return self.elf.inflated_size_bytes(self.elf.sections[index])
        except MalformedElf as error:
            self.told.left_out.append(f"the inflated size of {self.elf.sections[index].name}: {error.message}")
            return None

    def _interpreter(self, reader: ELFFile) -> None:
        if not self._has_its_bytes:
            return
        for index, segment in enumerate(self.elf.segments):
            if segment.type == PT_INTERP:
                interpreter: Any = reader.get_segment(index)
                self.told.interpreter = interpreter.get_interp_name()
                return

    def _dynamic(self, reader: ELFFile) -> None:
        dynamic: Any = None
        for section in self.elf.sections:
            if section.type == SHT_DYNAMIC:
                dynamic = reader.get_section(section.index)
                break
        if not self.elf.sections:
            for index, segment in enumerate(self.elf.segments):
                if segment.type == PT_DYNAMIC:
                    dynamic = reader.get_segment(index)
                    break
        if dynamic is None:
            return
        for tag in dynamic.iter_tags():
            kind = tag.entry.d_tag
            if kind == "DT_SONAME":
                self.told.soname = tag.soname
            elif kind == "DT_NEEDED":
                self.told.needed.append(tag.needed)
            elif kind == "DT_RUNPATH":
                self.told.search_path.append(tag.runpath)
            elif kind == "DT_RPATH":
                self.told.search_path.append(tag.rpath)

    def _notes(self, reader: ELFFile) -> None:
        from elftools.elf.descriptions import describe_note
        from elftools.elf.notes import iter_notes

        areas = [(each.offset, each.size_bytes) for each in self.elf.sections if each.type == SHT_NOTE]
        if not self.elf.sections:
            areas = [(each.offset, each.size_bytes) for each in self.elf.segments if each.type == PT_NOTE]
        for offset, size_bytes in areas:
            for note in iter_notes(reader, offset, size_bytes):
                # The names of types are those of GNU's notes, whoever wrote the note.
                if note["n_name"] == "GNU":
                    text = " ".join(describe_note(note, reader["e_machine"]).split())
                else:
                    raw = self.elf.bytes_at(note["n_offset"] + 8, 4)
                    kind = int.from_bytes(raw, "little" if self.elf.little_endian else "big")
                    text = f"type {kind:#x}, {note['n_descsz']} bytes"
                self.told.notes.append(DescribedNote(owner=note["n_name"] or "nobody", text=text))

    @property
    def _has_its_bytes(self) -> bool:
        """Whether segments tell of bytes that are here: in a ``.debug`` file they may point at those of something else."""
        return not any(section.is_code and not section.has_bytes for section in self.elf.sections)


class _Ration:
    """A stream over a file's bytes that gives only so much, and then an error."""

    def __init__(self, elf: ElfFile) -> None:
        self._elf = elf
        self._position = 0
        self.refill()

    def refill(self) -> None:
        """Grants a whole ration anew."""
        self._reads = MAX_READS
        self._bytes = MAX_READ_BYTES

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._elf.size_bytes}[whence]
        if base + offset < 0:
            raise ValueError("a place before the file's begin")
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def read(self, size_bytes: int = -1) -> bytes:
        end = self._elf.size_bytes if size_bytes < 0 else min(self._position + size_bytes, self._elf.size_bytes)
        count = max(end - self._position, 0)
        self._reads -= 1
        self._bytes -= count
        if self._reads < 0 or self._bytes < 0:
            raise ValueError("it is larger than any real one")
        data = bytes(self._elf.bytes_at(self._position, count)) if count else b""
        self._position += count
        return data


def _known(words: str, number: int | str) -> str:
    """Pyelftools' words, or the number where it has none."""
    return words if words != "<unknown>" else f"unknown ({number})"
