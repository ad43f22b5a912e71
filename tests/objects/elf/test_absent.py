"""Why a file has no symbols of a kind."""

from __future__ import annotations

import pytest

from tests.writers.elf_writer import CODE, NOBITS, Section, Symbol, elf, upx_packed
from uploader.objects.elf.absent import absences
from uploader.objects.elf.elf_file import ElfFile

TEXT = Section(".text", b"\xc3" * 16, flags=CODE, address=0x1000)
INFO = Section(".debug_info", b"units")
MAIN = [Symbol("main", 0x1000, 16)]
NO_DEBUG = "no .debug_info: built without -g, stripped, or its debug information is in another file"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        pytest.param(elf([TEXT, INFO], symbols=MAIN), [], id="nothing is missing"),
        pytest.param(elf([TEXT], symbols=MAIN), [NO_DEBUG], id="without -g"),
        pytest.param(elf([TEXT]), [NO_DEBUG, "no .symtab: stripped"], id="stripped"),
        pytest.param(
            elf([TEXT, INFO], dynamic_symbols=MAIN),
            ["no .symtab: stripped, only exported symbols are left"],
            id="exported symbols alone",
        ),
        pytest.param(
            elf([TEXT, Section(".debug_info", type=NOBITS, size_bytes=9)], symbols=MAIN),
            [".debug_info is empty here: its bytes are in another file"],
            id="debug sections without bytes",
        ),
        pytest.param(
            elf([TEXT, Section(".debug_line", b"rows")], symbols=MAIN),
            ["no .debug_info, only line tables: assembled with -g, or debug information in part stripped"],
            id="lines alone",
        ),
        pytest.param(
            elf([TEXT], section_headers=False),
            ["no section headers, so that debug information can't be found, and of symbols only what the loader uses"],
            id="no section headers",
        ),
        pytest.param(
            elf([TEXT, INFO, Section(".go_export", b"v3;")], symbols=MAIN),
            [
                "built by gccgo, which writes no table of Go's own: DWARF and symbol tables are all that tell of its code"
            ],
            id="gccgo",
        ),
        pytest.param(
            elf([TEXT, INFO], symbols=[Symbol("tinygo_scanCurrentStack", 0x1000, 16)]),
            [
                "built by TinyGo, which writes no table of Go's own: DWARF and symbol tables are all that tell of its code"
            ],
            id="TinyGo",
        ),
        pytest.param(
            upx_packed(),
            ["packed by UPX: its code and all that speaks of it lie compressed in the file"],
            id="packed",
        ),
    ],
)
def test_each_table_that_is_not_there_has_its_reason(data: bytes, told: list[str]) -> None:
    assert absences(ElfFile.from_bytes(data)) == told
