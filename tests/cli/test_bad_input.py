"""Damaged files each get a clear outcome, and the sound ones beside them are done all the same."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section

from tests.cli.conftest import Symup
from uploader.errors import ExitCode

STEP_BYTES = 97
SH_OFFSET_AT = 24
SH_SIZE_AT = 32
"""Where ``sh_offset`` and ``sh_size`` stand in a 64-bit section header (gABI)."""


def with_section_field(program: Path, target: Path, section_name: str, field_at: int, value: int) -> Path:
    """A copy of the program in which one section header says something else."""
    with program.open("rb") as stream:
        elf = ELFFile(stream)
        index = elf.get_section_index(section_name)
        header_at = elf["e_shoff"] + index * elf["e_shentsize"]
    data = bytearray(program.read_bytes())
    data[header_at + field_at : header_at + field_at + 8] = value.to_bytes(8, "little")
    target.write_bytes(data)
    return target


def section(program: Path, name: str) -> Section:
    with program.open("rb") as stream:
        found = ELFFile(stream).get_section_by_name(name)
        assert found is not None
        return found


def build_id(program: Path) -> bytes:
    with program.open("rb") as stream:
        found = ELFFile(stream).get_section_by_name(".note.gnu.build-id")
        assert found is not None
        return bytes(found.data()[16:])


def outcome_of(document: dict[str, Any], name: str) -> dict[str, Any]:
    (outcome,) = [one for one in document["outcomes"] if Path(one["path"]).name == name]
    return dict(outcome)


def no_traceback(text: str) -> bool:
    return "Traceback" not in text and "stumbled" not in text and "bug in symup" not in text


def test_a_program_cut_at_every_97th_byte(symup: Symup, program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    folder.mkdir()
    whole = program.read_bytes()
    lengths = range(STEP_BYTES, len(whole), STEP_BYTES)
    for length in lengths:
        (folder / f"cut-{length:06}").write_bytes(whole[:length])
    shutil.copy(program, folder / "sound")

    ran = symup("upload", folder, "--to", tmp_path / "store", "--json")

    assert ran.code == 1, ran.err
    assert no_traceback(ran.err + ran.out)
    outcomes = ran.document["outcomes"]
    assert len(outcomes) == len(lengths) + 1
    assert outcome_of(ran.document, "sound")["decision"] == "stored"
    for outcome in outcomes:
        if not outcome["path"].endswith("sound"):
            assert outcome["decision"] == "failed"
            assert outcome["exit_code"] == 1
            assert "ends within" in outcome["reason"] or "damaged" in outcome["reason"]


def test_empty_files_and_text_are_left_alone_with_a_reason(symup: Symup, program: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    text = tmp_path / "notes.txt"
    text.write_text("no binary at all, but longer than the header of an ELF file would be\n")

    ran = symup("upload", empty, text, program, "--to", tmp_path / "store", "--json")

    assert ran.code == 0, ran.err
    assert outcome_of(ran.document, "empty")["reason"] == "is empty"
    assert outcome_of(ran.document, "notes.txt")["reason"] == "is not an ELF file"
    assert outcome_of(ran.document, program.name)["decision"] == "stored"

    alone = symup("upload", empty, text, "--to", tmp_path / "store")
    assert alone.code == 3
    assert "nothing with symbols found" in alone.err


@pytest.mark.parametrize("section", [".debug_info", ".debug_line", ".debug_abbrev", ".symtab", ".strtab", ".text"])
def test_a_section_that_reaches_past_the_end(symup: Symup, program: Path, tmp_path: Path, section: str) -> None:
    broken = with_section_field(program, tmp_path / "broken", section, SH_OFFSET_AT, 1 << 40)

    ran = symup("convert", broken, program, "-o", tmp_path / "out", "--json")

    assert no_traceback(ran.err + ran.out)
    assert not outcome_of(ran.document, program.name)["reason"].startswith("symup stumbled")
    # Both have one id: the damaged one is a companion, a conflict, or a warning, but never a silent success.
    alone = symup("convert", broken, "-o", tmp_path / "alone.gsym", "--json")
    assert no_traceback(alone.err + alone.out)
    outcome = outcome_of(alone.document, "broken")
    if section == ".text":
        assert outcome["decision"] in ("converted", "failed")
    else:
        assert outcome["warnings"] or outcome["decision"] == "failed"
    assert alone.code == (1 if outcome["decision"] == "failed" else 0)


def test_a_cut_line_program_costs_lines_only(symup: Symup, program: Path, tmp_path: Path) -> None:
    size_bytes = section(program, ".debug_line")["sh_size"]
    cut = with_section_field(program, tmp_path / "cut", ".debug_line", SH_SIZE_AT, size_bytes * 2 // 3)

    ran = symup("convert", cut, "-o", tmp_path / "cut.gsym", "--json")

    assert ran.code == 0, ran.err
    outcome = outcome_of(ran.document, "cut")
    assert outcome["decision"] == "converted"
    assert outcome["figures"]["functions"] >= 13
    assert outcome["warnings"], "what was lost is told"
    assert no_traceback(ran.err)


def test_two_programs_under_one_id_are_an_error_that_names_both(symup: Symup, programs: Path, tmp_path: Path) -> None:
    wanted, own = build_id(programs / "program-01"), build_id(programs / "program-02")
    first, second = tmp_path / "first", tmp_path / "second"
    shutil.copy(programs / "program-01", first)
    second.write_bytes((programs / "program-02").read_bytes().replace(own, wanted))

    ran = symup("upload", first, second, "--to", tmp_path / "store", "--json")

    assert ran.code == 1
    assert str(second) in outcome_of(ran.document, "first")["reason"]
    assert str(first) in outcome_of(ran.document, "second")["reason"]
    assert ran.document["counts"]["failed"] == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("words", [["inspect"], ["lookup"]])
def test_a_pipe_or_a_device_in_a_files_place_is_told_and_not_waited_for(
    symup: Symup, tmp_path: Path, words: list[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("pipe", "device"):
        addresses = ["0x1000"] if words == ["lookup"] else []
        ran = symup(*words, tmp_path / name, *addresses)
        assert ran.code == ExitCode.SOME_FAILED
        assert f"{tmp_path / name} is not a regular file" in ran.err
