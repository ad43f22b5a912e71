"""Go programs and their ids at the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.writers.elf_writer import ALLOC, CODE, Note, Section, Symbol, elf
from tests.writers.pclntab_writer import GoFunction, Row, program
from uploader.judgement import GO_TABLE_ADVICE
from uploader.sources.go.read import GARBLED

if TYPE_CHECKING:
    from tests.cli.conftest import Symup

FUNCTIONS = [GoFunction("main.main", 0, 0x40, [Row(0, "/src/main.go", 7)])]
WHOLE = program(FUNCTIONS, noted=True)
MAGIC = b"\xf1\xff\xff\xff\0\0"
PRINTED = "zlQo4ca6Cx4gIwxLKZdw/CZYKDRTmX4xJNRxj6Lmy/ARlbcRn5cmtcAWRhRtp-/cgrZ6X0UpxHJ8voxby39"


@pytest.mark.parametrize(
    ("data", "quality", "reasons"),
    [
        (WHOLE, "full", []),
        (program(FUNCTIONS, noted=True, section=".renamed"), "full", []),
        (WHOLE.replace(MAGIC, b"\x27\xcd\x87\x6d\0\0"), "full", [GARBLED]),
        (WHOLE.replace(MAGIC, MAGIC[:4] + b"\1\1"), "none", ["Go's table has a header of no version that is known"]),
        (
            program(FUNCTIONS, noted=True, section=".renamed").replace(MAGIC, bytes(6)),
            "none",
            ["no .gopclntab: Go's table is not in the file, though Go's linker wrote it: removed, or overwritten"],
        ),
    ],
    ids=["whole", "renamed", "garbled", "damaged", "missing"],
)
def test_inspect_promises_of_gos_table_what_its_header_bears_out(
    symup: Symup, tmp_path: Path, data: bytes, quality: str, reasons: list[str]
) -> None:
    (tmp_path / "app").write_bytes(data)
    (page,) = symup("inspect", tmp_path / "app", "--json").document["files"]
    assert page["expected_quality"] == quality
    assert [reason for reason in page["lacks"] if "Go" in reason] == reasons
    assert page["lacks_remedy"] == (GO_TABLE_ADVICE if quality == "none" else None)
    text = symup("inspect", tmp_path / "app").out
    assert all(f"why not more       {reason}"[:60] in text for reason in reasons)
    # A debug file would add nothing to a sound table.
    assert ("debug file         none in" in text) == (quality == "none")


def test_inspect_tells_of_a_build_id_that_was_made_of_a_word(symup: Symup, tmp_path: Path) -> None:
    notes = [Note("Go", 4, b"redacted"), Note("GNU", 3, bytes.fromhex("498919aff001d8366249403a2544fba2d833084f"))]
    code = Section(".text", bytes(16), flags=CODE, address=0x1000)
    (tmp_path / "app").write_bytes(elf([code, Section(".noptrdata", bytes(16), flags=ALLOC)], notes=notes))
    (page,) = symup("inspect", tmp_path / "app", "--json").document["files"]
    assert page["id"].startswith("file:")
    assert "a GNU build-id that Go's linker made of that word, the same in all of them" in page["id_troubles"][0]


@pytest.mark.parametrize("prefix", ["", "go:"])
def test_an_id_is_asked_for_as_go_prints_it(symup: Symup, tmp_path: Path, prefix: str) -> None:
    code = Section(".text", bytes(16), flags=CODE, address=0x1000)
    app = elf([code], symbols=[Symbol("main.main", 0x1000, 16)], notes=[Note("Go", 4, PRINTED.encode())])
    (tmp_path / "app").write_bytes(app)
    store = ("--to", tmp_path / "store")
    assert symup("upload", tmp_path / "app", *store, "--fail-on", "none").code == 0
    (entry,) = symup("status", prefix + PRINTED, *store, "--json").document["entries"]
    assert (entry["id"], entry["state"]) == ("go:" + PRINTED.replace("/", "~"), "stored")


def test_a_path_that_exists_is_no_id(symup: Symup, tmp_path: Path) -> None:
    path = tmp_path / PRINTED
    path.parent.mkdir(parents=True)
    path.write_bytes(WHOLE)
    store = ("--to", tmp_path / "store")
    assert symup("upload", tmp_path, *store).code == 0
    (entry,) = symup("status", PRINTED, *store, "--json", cwd=tmp_path).document["entries"]
    assert entry["state"] == "stored"
