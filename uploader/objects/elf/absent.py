"""Why a file holds no symbols of a kind: what the tables that it lacks tell of how it was made."""

from __future__ import annotations

from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import SHT_DYNSYM, SHT_SYMTAB
from uploader.objects.elf.packed import PACKED, packed_by_upx

GCCGO_SECTION = ".go_export"
TINYGO_NAME = b"\0tinygo_"
NO_GO_TABLE = "built by {}, which writes no table of Go's own: DWARF and symbol tables are all that tell of its code"


def absences(elf: ElfFile) -> list[str]:
    """A sentence for each source of symbols that one would look for first and that is not in this file."""
    if packed_by_upx(elf):
        return [PACKED]
    if not elf.sections:
        return [
            "no section headers, so that debug information can't be found, and of symbols only what the loader uses"
        ]
    told = []
    info = elf.section(".debug_info")
    if info is None:
        lines = elf.section(".debug_line")
        if lines is not None and lines.has_bytes:
            told.append("no .debug_info, only line tables: assembled with -g, or debug information in part stripped")
        else:
            told.append("no .debug_info: built without -g, stripped, or its debug information is in another file")
    elif not info.has_bytes or not info.size_bytes:
        told.append(".debug_info is empty here: its bytes are in another file")
    tables = {section.type: section for section in elf.sections if section.type in (SHT_SYMTAB, SHT_DYNSYM)}
    if SHT_SYMTAB not in tables:
        told.append("no .symtab: stripped" + (", only exported symbols are left" if SHT_DYNSYM in tables else ""))
    compiler = _other_go_compiler(elf)
    return told + [NO_GO_TABLE.format(compiler)] * bool(compiler)


def _other_go_compiler(elf: ElfFile) -> str:
    """The compiler of Go that left its marks, if it isn't Go's own: gccgo a section that strip keeps, TinyGo symbols of its runtime."""
    if elf.section(GCCGO_SECTION) is not None:
        return "gccgo"
    names = elf.section(".strtab")
    return "TinyGo" if names is not None and TINYGO_NAME in bytes(elf.contents(names)) else ""
