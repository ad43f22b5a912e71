"""What a Go program says of its own build."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.elf_writer import ALLOC, COMPRESSED, EXEC, EXECUTABLE, Note, Section, Segment, elf
from tests.writers.go_build_info_writer import AT, modules, program, texts_behind, texts_pointed_to
from uploader.model import Build
from uploader.objects.elf import go_build_info as go_build_info_module
from uploader.objects.elf.elf_file import PIECE_BYTES, ElfFile
from uploader.objects.elf.go_build_info import MAX_CHARACTERS, MAX_INFO_BYTES, GoBuildInfo, Module, go_build_info

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


def scattered(*parts: tuple[bytes, int], kind: int = EXECUTABLE) -> bytes:
    """A program without section headers, of segments with the given bytes and flags. The first is at `AT` + 8."""
    sections = [
        Section(f".{index}", data, flags=ALLOC, address=AT + 8 + (index << 28)) for index, (data, _) in enumerate(parts)
    ]
    segments = [Segment(flags=flags, section=f".{index}") for index, (_, flags) in enumerate(parts)]
    return elf(sections, segments=segments, section_headers=False, kind=kind)


@pytest.mark.parametrize("place", [8, PIECE_BYTES - 8, PIECE_BYTES + 8, 2 * PIECE_BYTES - 8])
def test_large_data_is_searched_by_pieces(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    asked_bytes = []
    bytes_at = ElfFile.bytes_at

    def counted(file: ElfFile, offset: int, size_bytes: int) -> memoryview:
        asked_bytes.append(size_bytes)
        return bytes_at(file, offset, size_bytes)

    monkeypatch.setattr(ElfFile, "bytes_at", counted)
    data = scattered((bytes(place) + texts_behind(b"go1.27.3", b"") + bytes(8 * PIECE_BYTES), 6))
    found = read(data)
    assert found is not None
    assert found.toolchain == "go1.27.3"
    assert max(asked_bytes) <= MAX_INFO_BYTES


def test_what_can_be_written_is_searched_first_and_the_rest_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (bytes(8) + texts_behind(version, b"") + bytes(64) for version in (b"go1.26", b"go1.27"))
    found = read(scattered((one, 4), (other, 6)))
    assert found is not None
    assert found.toolchain == "go1.27"
    monkeypatch.setattr(go_build_info_module, "MAX_SCANNED_BYTES", 100)
    assert read(scattered((one, 4), (bytes(80), 6))) is None
    assert read(scattered((one, 4), (bytes(70), 6))) is not None


def test_a_section_that_claims_to_be_large_is_read_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_build_info_module, "MAX_INFO_BYTES", 40)
    assert read(program(texts_behind(b"go1.27", b"") + bytes(100))) is not None
    assert read(program(texts_behind(b"go1.27", b"x" * 20) + bytes(100))) is None


@pytest.mark.parametrize(("kind", "tells"), [(1, False), (2, True), (3, True), (4, False)])
def test_only_what_is_linked_tells_of_itself(kind: int, tells: bool) -> None:
    found = read(scattered((bytes(8) + texts_behind(b"go1.27.3", b""), 6), kind=kind))
    assert (found is not None) is tells


def test_what_is_kept_is_one_short_line() -> None:
    revision = "vcs.revision=" + "\x1b[31m" + "a" * 5000
    found = read(program(texts_behind(b"go1.27\xff\n", modules(("build", revision)))))
    assert found is not None
    assert len(found.build.revision) == MAX_CHARACTERS
    assert found.build.revision.isprintable()
    assert found.build.toolchain.isprintable()


def test_what_is_kept_of_each_fact_is_printable() -> None:
    found = read(
        program(texts_behind(b"go1\x1b", modules(("mod", "a\x1b", "v1\x1b", ""), ("build", "vcs.revision=\x1b"))))
    )
    assert found is not None
    kept = found.build
    assert all(text.isprintable() for text in (kept.toolchain, kept.module, kept.module_version, kept.revision))


def test_a_section_that_is_compressed_tells_nothing() -> None:
    info = Section(".go.buildinfo", texts_behind(b"go1.27.3", b""), flags=ALLOC | COMPRESSED, address=AT)
    assert read(elf([info])) is None
    assert read(elf([info._replace(flags=ALLOC)])) is not None


@pytest.mark.parametrize("size_bytes", [19, 20, 21])
@pytest.mark.parametrize("pointers", [True, False])
def test_texts_that_are_longer_than_any_are_not_read(
    monkeypatch: pytest.MonkeyPatch, size_bytes: int, pointers: bool
) -> None:
    monkeypatch.setattr(go_build_info_module, "MAX_TEXT_BYTES", 20)
    found = read(program((texts_pointed_to if pointers else texts_behind)(b"g" * size_bytes, b"")))
    assert (found is not None) is (size_bytes <= 20)


def test_a_text_that_is_cut_off_tells_nothing() -> None:
    assert read(program(texts_behind(b"go1.27.3", b"")[:-2])) is None


def test_of_many_facts_the_first_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(go_build_info_module, "MAX_FACTS", 3)
    found = read(program(texts_behind(b"go1.27.3", modules(*(("dep", f"m{index}") for index in range(5))))))
    assert found is not None
    assert [module.path for module in found.dependencies] == ["m0", "m1", "m2"]


def test_a_replacement_of_nothing_is_passed_over() -> None:
    found = read(program(texts_behind(b"go1.27.3", modules(("=>", "../fuel"), ("dep", "a"), ("=>", "b", "v2")))))
    assert found is not None
    assert found.dependencies == (Module(path="a", replaced_by="b v2"),)


@pytest.mark.parametrize(
    ("escaped", "character"),
    [
        (r"\x41", "A"),
        (r"\101", "A"),
        (r"\n", "\n"),
        (r"\\", "\\"),
        (r"\ud7ff", "\ud7ff"),
        (r"\ud800", "\ufffd"),
        (r"\udfff", "\ufffd"),
        (r"\ue000", "\ue000"),
        (r"\U0010ffff", "\U0010ffff"),
        (r"\U00110000", "\ufffd"),
        (r"\Uffffffff", "\ufffd"),
    ],
)
def test_escapes_are_characters_and_never_half_of_one(escaped: str, character: str) -> None:
    found = read(program(texts_behind(b"go1.27.3", modules(("build", f'name="{escaped}"')))))
    assert found is not None
    assert found.setting("name") == character


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
