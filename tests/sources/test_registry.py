"""One table says what a source is worth, and every part of the street goes by it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources.go.test_go_tables import INLINED
from tests.writers.elf_writer import CODE, NOBITS, Note, Section, Symbol, elf
from tests.writers.pclntab_writer import program
from uploader.destinations.folder import FolderDestination
from uploader.model import Concern, Decision, Quality, Source
from uploader.objects.input import FileInput
from uploader.pipeline.convert import convert
from uploader.pipeline.gather import gather
from uploader.pipeline.pair import DebugSources, paired
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.sources.registry import SOURCES, adds, expected
from uploader.values import replace

NOWHERE = DebugSources(system_dirs=())
TEXT = Section(".text", b"\x90" * 64, address=0x1000, flags=CODE)


def test_every_source_has_its_worth() -> None:
    assert {source.name for source in SOURCES} == set(Source)


def test_debug_information_is_of_no_use_where_it_is_not_to_be_read() -> None:
    everything = tuple(Source)
    assert expected(everything) is Quality.FULL
    assert expected(everything, dwarf=False) is Quality.FULL, "Go's table is no DWARF"
    assert expected(set(everything) - {Source.GO}, dwarf=False) is Quality.FUNCTIONS
    assert expected([Source.DWARF, Source.DWARF_LINES], dwarf=False) is Quality.NONE
    assert not adds([Source.DWARF], [Source.SYMTAB], dwarf=False)


def test_what_is_covered_by_better_sources_adds_nothing() -> None:
    assert not adds([Source.MINI_DEBUGINFO], [Source.SYMTAB])
    assert adds([Source.MINI_DEBUGINFO], [Source.DYNSYM])
    assert not adds([Source.DWARF_LINES], [Source.DWARF])
    assert adds([Source.GO], [Source.SYMTAB])


def test_a_stripped_go_program_gives_what_it_promises(tmp_path: Path) -> None:
    path = tmp_path / "gone"
    path.write_bytes(program([INLINED]))
    command = [sys.executable, "-m", "uploader", "inspect", "--json", str(path)]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    assert told["files"][0]["expected_quality"] == "full"
    (outcome,) = convert(
        Plan(paths=[path], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "o.gsym", progress=Silent()
    ).outcomes
    assert (outcome.decision, outcome.quality) == (Decision.CONVERTED, Quality.FULL)
    assert outcome.warnings == (
        "no build-id: these symbols are found for this very file only, not for a copy of it that is stripped",
    )


def test_a_go_program_whose_table_is_damaged_is_told_to_be_that(tmp_path: Path) -> None:
    path = tmp_path / "gone"
    path.write_bytes(elf([TEXT, Section(".gopclntab", b"\xf1\xff\xff\xff" + bytes(60))]))
    (outcome,) = convert(
        Plan(paths=[path], jobs=1, conversion=Conversion(debug=NOWHERE)), tmp_path / "o.gsym", progress=Silent()
    ).outcomes
    assert (outcome.decision, outcome.quality) == (Decision.SKIPPED, Quality.NONE)
    assert any("Go's table could not be read" in warning for warning in outcome.warnings)


@pytest.mark.parametrize("name", ["", "f"])
def test_a_dry_run_plans_what_the_upload_sends(name: str, tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    # Two undefined symbols are a table, and no function.
    symbols = [Symbol("f", 0x1000, 16)] if name else [Symbol("u", 0, section=0), Symbol("v", 0, section=0)]
    path.write_bytes(elf([TEXT], dynamic_symbols=symbols))

    def decided(*, dry_run: bool) -> Decision:
        destination = FolderDestination(tmp_path / "store", "p")
        run = upload(
            Plan(paths=[path], jobs=1, conversion=Conversion(debug=NOWHERE)),
            destination,
            progress=Silent(),
            dry_run=dry_run,
            environ={},
        )
        return run.outcomes[0].decision

    planned, done = decided(dry_run=True), decided(dry_run=False)
    assert (planned, done) == ((Decision.PLANNED, Decision.STORED) if name else (Decision.SKIPPED, Decision.SKIPPED))


def test_of_files_with_one_id_that_with_more_tables_is_the_main_one(tmp_path: Path) -> None:
    symbols = [Symbol("f", 0x1000, 16)]
    (tmp_path / "a").write_bytes(elf([TEXT], symbols=symbols) + bytes(5000))
    (tmp_path / "b").write_bytes(elf([TEXT], symbols=symbols, dynamic_symbols=symbols))
    one, two = (
        gather(Plan(paths=[tmp_path / name], conversion=Conversion(debug=NOWHERE)), progress=Silent()).artifacts[0].main
        for name in "ab"
    )
    assert one.size_bytes > two.size_bytes
    assert set(one.sources) < set(two.sources)
    for files in ([one, two], [two, one]):
        artifact, _ = paired(files, dwarf=True)
        assert artifact.main == two, "not the larger, but the one that tells from more tables"


def test_mini_debuginfo_beside_a_symbol_table_is_no_gain(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(elf([TEXT], symbols=[Symbol("f", 0x1000, 16)]))
    (artifact,) = gather(
        Plan(paths=[tmp_path / "a"], conversion=Conversion(debug=NOWHERE)), progress=Silent()
    ).artifacts
    main = replace(artifact.main, size_bytes=9_000_000)
    mini = replace(main, input=FileInput(path="mini"), sources=(Source.MINI_DEBUGINFO,), size_bytes=1)
    both, outcomes = paired([main, mini], dwarf=True)
    assert both.inputs == (main,)
    assert [outcome.reason for outcome in outcomes] == [f"has the id of {main.path}, which is read instead"]
    dynamic = replace(main, sources=(Source.DYNSYM,))
    both, outcomes = paired([dynamic, mini], dwarf=True)
    assert set(both.inputs) == {dynamic, mini}


def test_other_code_sections_under_one_id_are_a_conflict_though_one_holds_no_bytes(tmp_path: Path) -> None:
    notes = [Note("GNU", 3, bytes(range(20)))]
    elsewhere = Section(".text", address=0x2000, flags=CODE, type=NOBITS, size_bytes=64)
    (tmp_path / "a").write_bytes(elf([TEXT], notes=notes, symbols=[Symbol("f", 0x1000, 16)]))
    (tmp_path / "a.debug").write_bytes(elf([elsewhere], notes=notes, symbols=[Symbol("f", 0x2000, 16)]))
    gathered = gather(Plan(paths=[tmp_path], conversion=Conversion(debug=NOWHERE)), progress=Silent())
    assert gathered.artifacts == ()
    assert {outcome.concern for outcome in gathered.outcomes} == {Concern.CONFLICT}
    elsewhere = elsewhere._replace(address=0x1000)
    (tmp_path / "a.debug").write_bytes(elf([elsewhere], notes=notes, symbols=[Symbol("f", 0x1000, 16)]))
    gathered = gather(Plan(paths=[tmp_path], conversion=Conversion(debug=NOWHERE)), progress=Silent())
    assert [artifact.path for artifact in gathered.artifacts] == [str(tmp_path / "a")]


def test_inspect_names_nothing_that_a_go_program_lacks(tmp_path: Path) -> None:
    path = tmp_path / "gone"
    path.write_bytes(program([INLINED]))
    command = [sys.executable, "-m", "uploader", "inspect", "--json", str(path)]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)
    assert told["files"][0]["lacks"] == []
