"""Split units: what a skeleton left in `.dwo` files, or in the `.dwp` file that they were packed into (DWARF 5 §3.1.2, §7.3.5).

A split unit takes from its skeleton what a linker had to touch: addresses, the line table, the compilation directory, and in GNU's form
of version 4 the range lists. Everything else is in its own file.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from uploader.errors import InputError, MalformedDwarf
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.batches import Part
from uploader.sources.dwarf.linked import LinkedFiles, opened
from uploader.sources.dwarf.package_index import Contribution, read_index
from uploader.sources.dwarf.sections import DwarfSections, SectionLoader
from uploader.sources.dwarf.unit_headers import read_units
from uploader.sources.dwarf.units import Unit

INFO = ".debug_info.dwo"
INDEX = ".debug_cu_index"

TOLD = 3
"""How many missing units are named."""


@dataclass(slots=True, kw_only=True)
class SplitPart:
    """One file of split units, and which unit of the main file each stands for."""

    part: Part
    skeleton: array[int]


@dataclass(slots=True, kw_only=True)
class SplitUnits:
    """Finds the other halves of skeleton units. Each file is read at most once, whatever the skeletons say."""

    sections: DwarfSections
    units: Sequence[Unit]
    files: LinkedFiles
    warnings: list[str] = field(default_factory=list)
    missing: int = 0
    """How many were not found, once all were looked for."""
    _wanted: dict[int, int] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)

    def parts(self) -> Iterator[SplitPart]:
        """The files, one open at a time; skeletons whose other half is given are not to be walked themselves."""
        for index, unit in enumerate(self.units):
            if unit.walked and unit.dwo_name and unit.dwo_id is not None:
                self._wanted.setdefault(unit.dwo_id, index)
        if not self._wanted:
            return
        wanted = len(self._wanted)
        for path in self.files.packages():
            yield from self._read(path)
        lost: list[str] = []
        for dwo_id, index in list(self._wanted.items()):
            if dwo_id not in self._wanted:
                continue
            skeleton = self.units[index]
            for path in self.files.split(skeleton.comp_dir, skeleton.dwo_name):
                yield from self._read(path)
                if dwo_id not in self._wanted:
                    break
            else:
                name = skeleton.dwo_name.decode("utf-8", "backslashreplace")
                lost.append(f"{name} ({dwo_id:016x})")
        self.missing = len(lost)
        if lost:
            more = f" and {len(lost) - TOLD} more" if len(lost) > TOLD else ""
            self.warnings.insert(
                0,
                f"{len(lost)} of {wanted} split units were not found: {', '.join(lost[:TOLD])}{more}; "
                "their functions come from symbol tables only, without inlined calls",
            )

    def _read(self, path: str) -> Iterator[SplitPart]:
        real = os.path.realpath(path)
        if real in self._seen:
            return
        self._seen.add(real)
        elf = opened(path)
        if elf is None:
            return
        with elf:
            if elf.section(INFO) is None:
                return
            try:
                found = self._matching(elf)
            except InputError as error:
                if self.files.may_tell_of(path):
                    self.warnings.append(f"{path}: {error.message}")
                return
            if found is not None:
                yield found

    def _matching(self, elf: ElfFile) -> SplitPart | None:
        """The file's units that some skeleton waits for; None where there are none."""
        sections = SectionLoader(elf).load_split(self.sections)
        if sections.little_endian != self.sections.little_endian:
            raise MalformedDwarf("has the other byte order than the file that names it")
        index = elf.section(INDEX)
        contributions = (
            read_index(elf.contents(index), little_endian=elf.little_endian)
            if index is not None and index.size_bytes
            else None
        )
        abbrevs = Abbrevs(sections.abbrev)
        units = read_units(sections, abbrevs, lambda unit: _prepare(unit, contributions))
        kept: list[Unit] = []
        skeletons = array("I")
        for unit in units.units:
            position = None if unit.is_type_unit or unit.dwo_id is None else self._wanted.pop(unit.dwo_id, None)
            if position is None:
                unit.walked = False
            else:
                _complete(unit, self.units[position])
            kept.append(unit)
            skeletons.append(position or 0)
        ours = any(unit.walked for unit in kept)
        if ours or self.files.may_tell_of(elf.path):
            self.warnings.extend(f"{elf.path}: {warning}" for warning in units.warnings)
        if not ours:
            return None
        return SplitPart(part=Part(sections=sections, abbrevs=abbrevs, units=units), skeleton=skeletons)


def _prepare(unit: Unit, contributions: dict[int, Contribution] | None) -> None:
    """Tells a unit where its strings and lists begin, which it does not say itself (DWARF 5 §7.26, §7.28)."""
    own = contributions.get(unit.offset) if contributions is not None else None
    header_size = 8 if unit.offset_size == 4 else 16
    unit.str_offsets_base = header_size if unit.version >= 5 else 0
    unit.rnglists_base = 12 if unit.offset_size == 4 else 20
    if own is not None:
        unit.table += own.abbrev
        unit.str_offsets_base += own.string_offsets
        unit.rnglists_base += own.rnglists
        unit.ranges_start = own.rnglists


def _complete(unit: Unit, skeleton: Unit) -> None:
    """Gives a split unit what its skeleton holds for it."""
    skeleton.walked = False
    unit.low_pc = skeleton.low_pc
    unit.addr_base = skeleton.addr_base
    unit.address_stride = skeleton.address_stride
    unit.line_offset = skeleton.line_offset
    unit.comp_dir = skeleton.comp_dir
    if unit.version < 5:
        unit.ranges_start = skeleton.rnglists_base
