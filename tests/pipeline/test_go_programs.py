"""Go programs on the street: who has one that tells less than it could hears what of it is missing and what helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.writers.elf_writer import ALLOC, CODE, NT_GNU_BUILD_ID, Note, Section, Symbol, elf
from tests.writers.pclntab_writer import GoFunction, Row, program
from uploader.judgement import GO_TABLE_ADVICE
from uploader.model import Concern, Decision, Quality
from uploader.pipeline.convert import convert
from uploader.pipeline.gather import gather
from uploader.pipeline.missing import REMEDY_REDACTED
from uploader.pipeline.plan import Plan
from uploader.progress import Silent

CODE_SECTION = Section(".text", bytes(16), flags=CODE, address=0x1000)
FUNCTIONS = [
    GoFunction(f"main.f{number}", 64 * number, 64 * number + 64, [Row(0, "/src/main.go", number + 1)])
    for number in range(64)
]
MISSING_TABLE = "Go's table could not be read: is not in the file, though Go's linker wrote it: removed, or overwritten"


def without_header(data: bytes) -> bytes:
    return data.replace(b"\xf1\xff\xff\xff\0\0", b"\xf1\xff\xff\xff\1\1")


def with_functions_lost(data: bytes) -> bytes:
    """Half of the functions have records that speak of other ones."""
    damaged = bytearray(data)
    table = data.index(b"\xf1\xff\xff\xff\0\0")
    functions = table + int.from_bytes(data[table + 64 : table + 72], "little")
    for number in range(0, len(FUNCTIONS), 2):
        record = int.from_bytes(data[functions + 8 * number + 4 : functions + 8 * number + 8], "little")
        damaged[functions + record] ^= 1
    return bytes(damaged)


@pytest.mark.parametrize(
    ("data", "decision", "warning"),
    [
        (
            elf([CODE_SECTION, Section(".noptrdata", bytes(64), flags=ALLOC)], symbols=[Symbol("f", 0x1000, 16)]),
            Decision.CONVERTED,
            MISSING_TABLE,
        ),
        (without_header(program(FUNCTIONS, noted=True, section=".renamed")), Decision.SKIPPED, MISSING_TABLE),
        (
            without_header(program(FUNCTIONS, noted=True)),
            Decision.SKIPPED,
            "Go's table could not be read: has a header of no version that is known",
        ),
        (
            with_functions_lost(program(FUNCTIONS, noted=True)),
            Decision.CONVERTED,
            "32 of 64 functions of Go's table could not be read",
        ),
    ],
    ids=["no table", "no table and no symbols", "damaged header", "damaged body"],
)
def test_who_gives_a_go_program_without_a_sound_table_is_asked_for_the_one_that_the_linker_wrote(
    tmp_path: Path, data: bytes, decision: Decision, warning: str
) -> None:
    (tmp_path / "app").write_bytes(data)
    (outcome,) = convert(
        Plan(paths=[tmp_path / "app"], allow_empty=True), tmp_path / "app.gsym", progress=Silent()
    ).outcomes
    assert outcome.decision is decision
    assert warning in outcome.warnings
    assert outcome.remedy == GO_TABLE_ADVICE


def test_a_sound_go_program_is_asked_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "app").write_bytes(program(FUNCTIONS, noted=True))
    (outcome,) = convert(Plan(paths=[tmp_path / "app"]), tmp_path / "app.gsym", progress=Silent()).outcomes
    assert (outcome.quality, outcome.warnings, outcome.remedy) == (Quality.FULL, (), None)


def conflicting(tmp_path: Path, *programs: bytes) -> str:
    """The one remedy for programs of one id."""
    for number, data in enumerate(programs):
        (tmp_path / f"app{number}").write_bytes(data)
    outcomes = gather(Plan(paths=[tmp_path]), progress=Silent()).outcomes
    assert [outcome.concern for outcome in outcomes] == [Concern.CONFLICT] * len(programs)
    (remedy,) = {outcome.remedy or "" for outcome in outcomes}
    return remedy


def test_programs_of_one_id_are_told_the_flags_of_their_own_linker(tmp_path: Path) -> None:
    for folder in ("c", "go"):
        (tmp_path / folder).mkdir()
    noted = [Note("GNU", NT_GNU_BUILD_ID, bytes(range(20)))]
    code = [elf([CODE_SECTION._replace(data=byte * 16)], notes=noted) for byte in (b"a", b"b")]
    assert "(-Wl,--build-id)" in conflicting(tmp_path / "c", *code)
    told = conflicting(tmp_path / "go", program(FUNCTIONS[:9], noted=True), program(FUNCTIONS, noted=True))
    assert '-ldflags="-B gobuildid"' in told
    assert "-Wl" not in told


def test_programs_of_one_id_that_have_a_word_for_an_id_are_told_what_helps_then(tmp_path: Path) -> None:
    word = [Note("Go", 4, b"redacted")]
    filling = Section(".noptrdata", bytes(0x4000), flags=ALLOC)
    made = [
        elf([filling, CODE_SECTION._replace(data=byte * 16), filling._replace(name=".data")], notes=word)
        for byte in (b"a", b"b")
    ]
    assert conflicting(tmp_path, *made) == REMEDY_REDACTED
