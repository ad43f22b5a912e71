"""Where the files may lie that a file's DWARF refers to, without reading more of it than the first DIE of each unit."""

from __future__ import annotations

from uploader.binary.elf import ElfFile
from uploader.extract.dwarf.abbrev import Abbrevs
from uploader.extract.dwarf.linked import LinkedFiles
from uploader.extract.dwarf.sections import load_sections
from uploader.extract.dwarf.supplementary import read_link
from uploader.extract.dwarf.unit_headers import read_units


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
