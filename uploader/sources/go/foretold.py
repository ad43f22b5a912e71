"""What Go's table will tell, as far as its header and the module's data say: nothing is decoded."""

from __future__ import annotations

from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.go.find import find_table
from uploader.sources.go.read import GARBLED
from uploader.sources.go.source import NOT_THERE, SECTIONS
from uploader.values import frozen


@frozen
class Foretold:
    """Whether the table can be read, and why it tells less than it should; empty where it doesn't."""

    readable: bool
    trouble: str = ""


def foretold(elf: ElfFile) -> Foretold:
    """What is to be expected of the table of a Go program."""
    try:
        table = find_table(elf)
    except InputError as error:
        return Foretold(readable=False, trouble=f"Go's table {error.message}")
    if table is None:
        absent = "" if any(map(elf.section, SECTIONS)) else f"no {SECTIONS[0]}: "
        return Foretold(readable=False, trouble=f"{absent}Go's table {NOT_THERE}")
    return Foretold(readable=True, trouble=GARBLED if table.header.garbled else "")
