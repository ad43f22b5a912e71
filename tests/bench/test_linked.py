"""A relocatable file is linked where it is laid out, so that every reader counts the same addresses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from uploader.objects.elf.elf_file import ElfFile

import agreement
import linked

SOURCE = """
extern int outside(int);
__attribute__((section(".init.text"))) int first(int x) { return outside(x) + 1; }
int second(int x) { return first(x) * 2; }
"""


@pytest.fixture
def object_file(tmp_path: Path) -> Path:
    source, out = tmp_path / "x.c", tmp_path / "x.o"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-g", "-O1", "-c", str(source), "-o", str(out)], check=True)
    return out


def test_code_sections_stand_where_the_layout_says(object_file: Path, tmp_path: Path) -> None:
    layout = [(".text", 0x4000), (".init.text", 0x1230)]
    out = tmp_path / "linked"
    linked.link(object_file, layout, out)
    with out.open("rb") as stream:
        placed = {section.name: section["sh_addr"] for section in ELFFile(stream).iter_sections()}
    assert {name: placed[name] for name, _ in layout} == dict(layout)
    assert linked.is_relocatable(object_file)
    assert not linked.is_relocatable(out)


def test_the_reference_names_functions_and_lines_at_the_addresses_that_symup_lays_out(
    object_file: Path, tmp_path: Path
) -> None:
    with ElfFile.open(object_file) as elf:
        layout = list(elf.layout)
    out = tmp_path / "linked"
    linked.link(object_file, layout, out)
    start = dict(layout)
    answers = agreement.ask_symbolizer(out, sorted(start.values()))
    assert [frame.function for frame in answers[start[".text"]].frames] == ["second"]
    assert [frame.function for frame in answers[start[".init.text"]].frames] == ["first"]
    assert answers[start[".init.text"]].frames[0].line == 3


def test_sections_that_share_a_name_are_refused(object_file: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"several sections called \.text"):
        linked.link(object_file, [(".text", 0), (".text", 64)], tmp_path / "linked")
