"""Names in DWARF that lead to files which are none of its own: devices are not opened, and nothing is told of what is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.writers import dwarf_writer as dw
from tests.writers.dwarf_writer import As, assemble, compile_unit
from tests.writers.elf_writer import Note, Section, elf

COMP_DIR, GNU_DWO_NAME, GNU_DWO_ID = dw.COMP_DIR, 0x2130, 0x2131

READ = """
import sys
from uploader.objects.elf.elf_file import ElfFile
from uploader.inputs.linked import FilesBeside
from uploader.sources.dwarf.read import read_dwarf
from uploader.symbols.columns import NameTable
def tell(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        print("opened", arguments[0])
with ElfFile.open(sys.argv[1]) as elf:
    sys.addaudithook(tell)
    read = read_dwarf(elf, elf.executable_ranges(), NameTable(), files=FilesBeside(sys.argv[1]))
    print(*read.warnings, sep="\\n")
"""


def naming_split_units(*names: str) -> bytes:
    """A binary with a skeleton unit for each name."""
    skeletons = [
        dw.Unit(
            compile_unit(
                attributes={
                    GNU_DWO_NAME: As(dw.STRING, name),
                    GNU_DWO_ID: As(dw.DATA8, 0x1000 + index),
                    COMP_DIR: As(dw.STRING, "/"),
                }
            )
        )
        for index, name in enumerate(names)
    ]
    return dw.elf_with(assemble(*skeletons))


def told(folder: Path, binary: bytes) -> tuple[list[str], list[str]]:
    """(what was opened, the warnings)"""
    folder.mkdir(exist_ok=True)
    (folder / "app").write_bytes(binary)
    command = [sys.executable, "-c", READ, str(folder / "app")]
    lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()
    opened = [line.removeprefix("opened ") for line in lines if line.startswith("opened ")]
    return opened, [line for line in lines if line and not line.startswith("opened ")]


def test_devices_pipes_and_what_the_kernel_shows_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    names = [
        "/dev/zero",
        "/proc/self/maps",
        "/sys/kernel/notes",
        "../../dev/zero",
        str(tmp_path / "pipe"),
        str(tmp_path / "link"),
    ]
    opened, warnings = told(tmp_path / "out", naming_split_units(*names))
    assert [path for path in opened if path in names or path.startswith(("/dev", "/proc", "/sys"))] == []
    (warning,) = warnings
    assert warning.startswith(f"{len(names)} of {len(names)} split units were not found: ")


def test_nothing_is_told_of_a_file_elsewhere_that_is_not_the_one(tmp_path: Path) -> None:
    other = assemble(dw.Unit(compile_unit(attributes={GNU_DWO_ID: As(dw.DATA8, 77)})))
    secrets = {
        "other.dwo": elf(
            [Section(".debug_info.dwo", bytes(other.info)), Section(".debug_abbrev.dwo", bytes(other.abbrev))]
        ),
        "damaged.dwo": elf([Section(".debug_info.dwo", b"\1" * 64), Section(".debug_abbrev.dwo", b"\0")]),
        "cut.dwo": elf([Section(".debug_info.dwo", b"\1" * 64, size_bytes=1 << 40)]),
        "text": b"secret",
        "missing": b"",
    }
    (tmp_path / "home").mkdir()
    for name, data in secrets.items():
        if data:
            (tmp_path / "home" / name).write_bytes(data)
    names = [str(tmp_path / "home" / name) for name in secrets]
    for name in names:
        _, warnings = told(tmp_path / "out", naming_split_units(name))
        (warning,) = warnings
        assert warning == (
            f"1 of 1 split units were not found: {name} (0000000000001000); their functions come from symbol tables only, "
            "without inlined calls"
        )


@pytest.mark.parametrize(
    "there", [elf(notes=[Note("GNU", 3, b"\2" * 20)]), b"secret", b""], ids=["elf", "text", "missing"]
)
def test_nothing_is_told_of_what_lies_where_a_supplementary_file_is_named(there: bytes, tmp_path: Path) -> None:
    target = tmp_path / "home"
    if there:
        target.write_bytes(there)
    link = Section(".gnu_debugaltlink", os.fsencode(target) + b"\0" + b"\1" * 20)
    sections = assemble(dw.Unit(compile_unit()))
    binary = elf([Section(".debug_info", bytes(sections.info)), Section(".debug_abbrev", bytes(sections.abbrev)), link])
    _, warnings = told(tmp_path / "out", binary)
    assert warnings == [
        f"the supplementary debug file {target} ({'01' * 20}) was not found: names that lie in it are lost"
    ]
