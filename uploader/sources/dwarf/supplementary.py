"""The supplementary file that dwz moves common DIEs and strings to (DWARF 5 §7.3.6; ``.gnu_debugaltlink`` before it)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from uploader.core.numbers import NumberReader
from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.batches import Code, Part, walked
from uploader.sources.dwarf.linked import LinkedFiles, opened
from uploader.sources.dwarf.names import NameReader
from uploader.sources.dwarf.sections import load_sections
from uploader.sources.dwarf.unit_headers import read_units
from uploader.symbols.columns import NameTable
from uploader.values import frozen

NT_GNU_BUILD_ID = 3
MAX_LINK_BYTES = 1 << 16


@frozen
class Link:
    """What a file says of its supplementary one."""

    name: bytes
    id: bytes
    """Its build-id or, in DWARF 5's own way, its checksum."""

    def __str__(self) -> str:
        return f"{self.name.decode('utf-8', 'backslashreplace')} ({self.id.hex()})"


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class Supplementary:
    """The supplementary file as far as names need it. ``names`` is None and ``strings`` empty where there is none."""

    names: NameReader | None = None
    strings: bytes | memoryview = b""
    warnings: tuple[str, ...] = ()
    missing: bool = False
    """The file refers to one, and none was found."""


@contextmanager
def opened_supplementary(elf: ElfFile, files: LinkedFiles, table: NameTable) -> Iterator[Supplementary]:
    """The supplementary file of ``elf``, open as long as the context is; where it is missing or damaged, the warnings say so."""
    link = read_link(elf)
    if link is None:
        yield Supplementary()
        return
    trouble = ""
    for path in files.supplementary(link.name, link.id):
        other = opened(path)
        if other is None:
            continue
        with other:
            if link.id not in _ids(other):
                trouble = f"; {path} has another id" if files.may_tell_of(path) else trouble
                continue
            try:
                found = _read(other, table)
            except InputError as error:
                trouble = f"; {error.message}"
                continue
            yield found
            return
    yield Supplementary(
        warnings=(f"the supplementary debug file {link} was not found{trouble}: names that lie in it are lost",),
        missing=True,
    )


def read_link(elf: ElfFile) -> Link | None:
    """The supplementary file that a file refers to; None where it refers to none, or its link is damaged."""
    for section_name, reader in ((".gnu_debugaltlink", _altlink), (".debug_sup", _sup)):
        section = elf.section(section_name)
        if section is None or not 0 < section.size_bytes <= MAX_LINK_BYTES:
            continue
        try:
            found = reader(bytes(elf.contents(section)), elf.little_endian)
        except (InputError, IndexError):
            continue
        if found is not None and not found[0] and found[1].name and found[1].id:
            return found[1]
    return None


def _altlink(data: bytes, _: bool) -> tuple[bool, Link] | None:
    """``.gnu_debugaltlink``: a path, NUL, the build-id."""
    name, end, build_id = data.partition(b"\0")
    return (False, Link(name=name, id=build_id)) if end else None


def _sup(data: bytes, little_endian: bool) -> tuple[bool, Link] | None:
    """`.debug_sup` (DWARF 5 §7.3.6): (whether the file is itself the supplementary one, name and checksum)."""
    if int.from_bytes(data[:2], "little" if little_endian else "big") != 5:
        return None
    name, end, _ = data[3:].partition(b"\0")
    if not end:
        return None
    size, at = NumberReader(data).read_uleb(4 + len(name))
    return data[2] != 0, Link(name=name, id=data[at : at + size])


def _ids(elf: ElfFile) -> set[bytes]:
    ids = {desc for name, kind, desc in elf.notes() if name == "GNU" and kind == NT_GNU_BUILD_ID}
    section = elf.section(".debug_sup")
    if section is not None and 0 < section.size_bytes <= MAX_LINK_BYTES:
        try:
            found = _sup(bytes(elf.contents(section)), elf.little_endian)
        except (InputError, IndexError):
            found = None
        if found is not None and found[0]:
            ids.add(found[1].id)
    return ids


def _read(elf: ElfFile, table: NameTable) -> Supplementary:
    sections = load_sections(elf)
    abbrevs = Abbrevs(sections.abbrev)
    part = Part(sections=sections, abbrevs=abbrevs, units=read_units(sections, abbrevs))
    names = part.name_reader(table, None)
    warnings = list(part.units.warnings)
    for batch in walked(part, Code(executable=[])):
        names.learn_scopes(batch.scopes, batch.end)
        warnings.extend(batch.warnings)
    names.know_all_scopes()
    return Supplementary(
        names=names,
        strings=sections.strings,
        warnings=tuple(f"{elf.path}: {warning}" for warning in warnings),
    )
