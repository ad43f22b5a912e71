"""What a Go program says of its own build."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.elf_writer import ALLOC, EXEC, Note, Section, Segment, elf
from tests.writers.go_build_info_writer import modules, program, texts_behind, texts_pointed_to
from uploader.model import Build
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.go_build_info import MAX_CHARACTERS, GoBuildInfo, Module, go_build_info

FACTS = (
    ("path", "example.com/rocket/cmd/fly"),
    ("mod", "example.com/rocket", "v1.2.3", "h1:abc="),
    ("dep", "example.com/fuel", "v0.1.0", "h1:def="),
    ("=>", "../fuel", ""),
    ("dep", "example.com/nozzle", "v2.0.0", ""),
    ("build", "-trimpath=true"),
    ("build", '-ldflags="-s -w -X \\"main.name=a\\tb\\""'),
    ("build", '"a name"=`as "it" is`'),
    ("build", "vcs.revision=0123abc"),
    ("build", "vcs.time=2026-10-13T16:42:50Z"),
    ("build", "vcs.modified=true"),
    ("kind of a later Go", "x"),
)


def read(data: bytes) -> GoBuildInfo | None:
    with ElfFile.from_bytes(data) as file:
        return go_build_info(file)


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("little_endian", [True, False])
@pytest.mark.parametrize("pointers", [True, False])
@pytest.mark.parametrize("section_headers", [True, False])
def test_toolchain_modules_revision_and_settings_are_told(
    bits: int, little_endian: bool, pointers: bool, section_headers: bool
) -> None:
    told = modules(*FACTS)
    if pointers:
        info = texts_pointed_to(b"go1.17.13", told, bits=bits, little_endian=little_endian)
    else:
        info = texts_behind(b"go1.17.13", told, bits=bits)
    found = read(program(info, bits=bits, little_endian=little_endian, section_headers=section_headers))
    assert found is not None
    assert found.toolchain == "go1.17.13"
    assert found.package == "example.com/rocket/cmd/fly"
    assert found.main == Module(path="example.com/rocket", version="v1.2.3")
    assert found.dependencies == (
        Module(path="example.com/fuel", version="v0.1.0", replaced_by="../fuel"),
        Module(path="example.com/nozzle", version="v2.0.0"),
    )
    assert dict(found.settings) == {
        "-trimpath": "true",
        "-ldflags": '-s -w -X "main.name=a\tb"',
        "a name": 'as "it" is',
        "vcs.revision": "0123abc",
        "vcs.time": "2026-10-13T16:42:50Z",
        "vcs.modified": "true",
    }
    assert found.build == Build(
        toolchain="go1.17.13",
        module="example.com/rocket",
        module_version="v1.2.3",
        revision="0123abc",
        modified=True,
    )


def test_without_modules_the_toolchain_and_the_package_are_told() -> None:
    found = read(program(texts_behind(b"go1.27.3", modules(("path", "command-line-arguments")))))
    assert found is not None
    assert found.build == Build(toolchain="go1.27.3", module="command-line-arguments")
    alone = read(program(texts_behind(b"go1.27.3", b"")))
    assert alone is not None
    assert alone.build == Build(toolchain="go1.27.3")


def test_linker_flags_which_may_hold_secrets_are_not_kept_with_symbols() -> None:
    found = read(program(texts_behind(b"go1.27.3", modules(("build", "-ldflags=-X main.token=hunter2")))))
    assert found is not None
    assert "hunter2" in found.setting("-ldflags")
    assert "hunter2" not in repr(found.build)


def test_a_section_of_another_name_is_found_in_a_file_with_gos_note_alone() -> None:
    info = Section(".renamed", texts_behind(b"go1.27.3", b""), flags=ALLOC, address=0x500000)
    text = Section(".text", b"\xc3", flags=ALLOC | EXEC, address=0x401000)

    def told(notes: list[Note]) -> GoBuildInfo | None:
        return read(elf([text, info], notes=notes, segments=[Segment(flags=4, section=".renamed")]))

    assert told([Note("Go", 4, b"a/b/c/d")]) is not None
    assert told([]) is None


def test_headers_that_are_not_aligned_are_something_else() -> None:
    info = texts_behind(b"go1.27.3", b"")
    assert read(program(info, section_headers=False, before=b"x" * 8)) is None
    assert read(program(info, section_headers=False, before=b"x" * 16)) is not None


def test_what_is_kept_is_one_short_line() -> None:
    revision = "vcs.revision=" + "\x1b[31m" + "a" * 5000
    found = read(program(texts_behind(b"go1.27\xff\n", modules(("build", revision)))))
    assert found is not None
    assert len(found.build.revision) == MAX_CHARACTERS
    assert found.build.revision.isprintable()
    assert found.build.toolchain.isprintable()


@pytest.mark.parametrize("pointers", [True, False])
def test_every_truncation_is_less_or_nothing(pointers: bool) -> None:
    whole = (texts_pointed_to if pointers else texts_behind)(b"go1.27.3", modules(*FACTS))
    for size_bytes in range(len(whole)):
        found = read(program(whole[:size_bytes]))
        assert found is None or found.toolchain == "go1.27.3"


@given(data=st.binary(max_size=200), place=st.integers(14, 80), pointers=st.booleans())
def test_any_bytes_are_an_answer(data: bytes, place: int, pointers: bool) -> None:
    whole = (texts_pointed_to if pointers else texts_behind)(b"go1.27.3", modules(*FACTS))
    found = read(program(whole[:place] + data + whole[place + len(data) :]))
    assert found is None or found.build.module.isprintable()


def test_it_is_what_go_says_of_itself(peer: Callable[[str], str]) -> None:
    program = os.path.realpath(peer("go"))
    said = subprocess.run([program, "version", "-m", program], check=True, capture_output=True, text=True).stdout
    found = read(Path(program).read_bytes())
    assert found is not None
    head, *lines = said.splitlines()
    assert head == f"{program}: {found.toolchain}"
    assert f"\tpath\t{found.package}" in lines
    assert [line.split("\t", 2)[2] for line in lines if line.startswith("\tbuild\t")] == [
        f"{name}={value}" for name, value in found.settings
    ]
