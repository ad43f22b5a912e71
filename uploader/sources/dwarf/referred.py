"""Where the files may lie that a file's DWARF refers to, without reading more of it than the first DIE of each unit."""

from __future__ import annotations

from collections.abc import Sequence

from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.abbrev import Abbrevs
from uploader.sources.dwarf.linked import LinkedFiles
from uploader.sources.dwarf.sections import load_sections
from uploader.sources.dwarf.supplementary import read_link
from uploader.sources.dwarf.unit_headers import read_units


def places(elf: ElfFile, files: LinkedFiles) -> list[str]:
    """The paths at which its split units and its supplementary file would be looked for. Raises `MalformedElf`."""
    found: list[str] = []
    link = read_link(elf)
    if link is not None:
        found += files.supplementary(link.name, link.id)
    sections = load_sections(elf)
    units = read_units(sections, Abbrevs(sections.abbrev)).units
    skeletons = [unit for unit in units if unit.dwo_name and unit.dwo_id is not None]
    if skeletons:
        found += files.packages()
    for unit in skeletons:
        found += files.split(unit.comp_dir, unit.dwo_name)
    return list(dict.fromkeys(found))


def missing_split_units(elf: ElfFile, executable: Sequence[tuple[int, int]], files: LinkedFiles) -> str | None:
    """Which split units decoding would not find, in its own words; None where it finds all. Raises `MalformedElf`.

    A file counts by its id, as in decoding: a name in DWARF must not tell what else lies at a path.
    """
    from uploader.sources.dwarf.split import SplitUnits

    sections = load_sections(elf)
    units = read_units(sections, Abbrevs(sections.abbrev)).units
    if not executable or executable[0][0] != 0:
        for unit in units:
            unit.walked = unit.walked and not unit.from_zero
    split = SplitUnits(sections=sections, units=units, files=files)
    for _ in split.parts():
        pass
    return split.warnings[0] if split.missing else None
