"""Programs of others' sources are compiled so that what their debug information was split into is found where they stay."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import compiled
import pytest

from tests.sources.dwarf.reading import unfolded
from uploader.inputs.linked import FilesBeside
from uploader.objects.elf.elf_file import ElfFile
from uploader.sources.dwarf.read import read_dwarf
from uploader.symbols.columns import NameTable

import inputs

SMALL = dataclasses.replace(
    compiled.PROGRAMS["lua-dwo-clang-dwarf4"],
    requirement="small==1",
    sources=("*/src/*.c",),
    without=("left_out.c",),
    program="lua",
)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, with sources in it as the package index gives them."""
    monkeypatch.setenv("SYMUP_INPUTS", str(tmp_path / "cache"))
    folder = tmp_path / "cache" / "small-1-sources" / "small-1" / "src"
    folder.mkdir(parents=True)
    (folder / "one.c").write_text("int one(int a) { return a + 1; }\n")
    (folder / "two.c").write_text("int two(int a) { return a * 2; }\n")
    (folder / "left_out.c").write_text("this is no C\n")
    return tmp_path / "cache"


def test_split_files_are_found_where_the_program_stays(
    archive: Path, monkeypatch: pytest.MonkeyPatch, peer: Callable[[str], str]
) -> None:
    peer("clang-22")
    monkeypatch.setitem(compiled.PROGRAMS, "small", SMALL)
    program = inputs.input_path("small")
    assert program == archive / "compiled-small" / "lua"
    assert len(list(program.parent.glob("*.dwo"))) == 2
    with ElfFile.open(program) as elf:
        # From elsewhere: only what the debug information says of its own folder leads there.
        result = read_dwarf(elf, elf.executable_ranges(), NameTable(), files=FilesBeside("/nowhere/lua"))
    assert result is not None
    assert {function.name for function in unfolded(result).functions} == {"one", "two"}
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("command", "reason"),
    [(("no-such-compiler",), "no-such-compiler is not installed"), (("sh", "-c", "echo why >&2; exit 1"), "why")],
)
def test_what_fails_says_why_and_leaves_nothing(
    archive: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], reason: str
) -> None:
    monkeypatch.setitem(compiled.PROGRAMS, "small", dataclasses.replace(SMALL, commands=(command,)))
    with pytest.raises(inputs.InputUnavailable, match=reason):
        inputs.input_path("small")
    assert [path.name for path in archive.iterdir()] == ["small-1-sources"]
