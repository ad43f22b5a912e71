"""What a file is said to be worth is what it can tell, at the first run and at the second."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.destinations.folder import FolderDestination
from uploader.errors import ExitCode
from uploader.gsym.decode import decode
from uploader.model import START_UP_SIZE_BYTES, Concern, Decision, Figures, Quality
from uploader.pipeline.gates import Gates, judged
from uploader.pipeline.gather import gather
from uploader.pipeline.make import make
from uploader.pipeline.missing import REMEDY_BUILD_ID, REMEDY_FILES
from uploader.pipeline.outcomes import Finished
from uploader.pipeline.plan import Plan
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.protocol.words import Manifest
from uploader.sources.dwarf.read import UNNAMED

SOURCE = """
static inline __attribute__((always_inline)) int innermost_one(int x) { volatile int y = x; return y * 3; }
__attribute__((noinline, cold)) int outer_function(int a) { return innermost_one(a) + innermost_one(a + 1); }
int main(int n, char **w) { (void)w; return outer_function(n) + innermost_one(n); }
"""
WITH_COLD_PART = """
__attribute__((cold, noinline)) static void bad(int n) { if (n) __builtin_abort(); }
int main(int n, char **w) { if (n > 3) { bad(n); return w[1][0]; } return n; }
"""
BULK = "".join(f"int bulk_{n}(int x) {{ return x * {n} + x / ({n} + 1); }}\n" for n in range(200))


def run(*command: object, at: Path, stdin: str = "") -> None:
    subprocess.run([str(each) for each in command], input=stdin, text=True, check=True, cwd=at)


@pytest.fixture(params=["-gdwarf-4", "-gdwarf-5"])
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    run("gcc", "-O2", request.param, "-Wl,--build-id", "-x", "c", "-", "-o", "app", at=tmp_path, stdin=SOURCE)
    return tmp_path / "app"


def uploaded(path: Path, store: Path, **options: object) -> Finished:
    return upload(Plan(paths=[path], jobs=1), FolderDestination(store, "p"), progress=Silent(), environ={}, **options)  # type: ignore[arg-type]  # as given


def stored(store: Path, finished: Finished) -> Manifest:
    (outcome,) = finished.outcomes
    assert outcome.identity is not None
    manifest = FolderDestination(store, "p").manifest(outcome.identity.primary)
    assert manifest is not None
    return manifest


def figures(function_bytes: int, line_bytes: int, inline_bytes: int) -> Figures:
    return Figures(functions=1, function_bytes=function_bytes, line_bytes=line_bytes, inline_bytes=inline_bytes)


def test_a_level_counts_where_it_holds_for_most_of_the_named_code() -> None:
    assert Figures().quality is Quality.NONE
    assert figures(100_000, 0, 0).quality is Quality.FUNCTIONS
    assert figures(100_000, 100, 100).quality is Quality.FUNCTIONS, "0.1 % of lines are no lines"
    assert figures(100_000, 40_000, 40_000).quality is Quality.FUNCTIONS
    assert figures(100_000, 50_000, 24_999).quality is Quality.LINES
    assert figures(100_000, 50_000, 25_000).quality is Quality.FULL


def test_a_cold_part_is_counted_alike_by_who_converts_by_the_store_and_in_the_file(tmp_path: Path) -> None:
    run("gcc", "-O2", "-g", "-Wl,--build-id", "-x", "c", "-", "-o", "app", at=tmp_path, stdin=WITH_COLD_PART)
    finished = uploaded(tmp_path / "app", tmp_path / "store")
    assert finished.outcomes[0].figures is not None
    (artifact,) = gather(Plan(paths=[tmp_path / "app"]), progress=Silent()).artifacts
    _, table = decode(memoryview(make(artifact, threads=1).gsym))
    assert "main.cold" in {bytes(table.names[name]).decode() for name in table.name}
    assert (
        finished.outcomes[0].figures.functions == stored(tmp_path / "store", finished).figures.functions == len(table)
    )


def test_the_start_up_code_of_a_small_program_is_left_out_of_the_account() -> None:
    assert figures(23 + START_UP_SIZE_BYTES, 23, 23).quality is Quality.FULL
    assert figures(2 * 23 + START_UP_SIZE_BYTES + 1, 23, 23).quality is Quality.FUNCTIONS


@given(*[st.integers(0, 1 << 40)] * 4)
def test_more_lines_or_inlines_never_make_it_worse(functions: int, lines: int, inlines: int, more: int) -> None:
    worse = figures(functions, min(lines, functions), min(inlines, lines, functions))
    lines = min(worse.line_bytes + more, functions)
    assert figures(functions, lines, worse.inline_bytes + lines - worse.line_bytes).quality >= worse.quality
    assert figures(functions, worse.line_bytes, worse.line_bytes).quality >= worse.quality


def test_a_program_mostly_built_without_g_has_functions_only(tmp_path: Path) -> None:
    run("gcc", "-O2", "-c", "-x", "c", "-", "-o", "bulk.o", at=tmp_path, stdin=BULK)
    run("gcc", "-O2", "-g", "-c", "-x", "c", "-", "-o", "main.o", at=tmp_path, stdin=SOURCE)
    run("gcc", "-Wl,--build-id", "main.o", "bulk.o", "-o", "app", at=tmp_path)
    first = uploaded(tmp_path / "app", tmp_path / "store")
    assert [outcome.quality for outcome in first.outcomes] == [Quality.FUNCTIONS]
    assert judged(first, Gates(require=Quality.FULL)).exit_code is ExitCode.QUALITY
    second = uploaded(tmp_path / "app", tmp_path / "store")
    assert second.extracted == 0, "it is not converted again for what its sources can't give"
    assert judged(second, Gates(require=Quality.FULL)).exit_code is ExitCode.QUALITY


def test_a_c_program_without_any_inline_is_full(tmp_path: Path) -> None:
    run("gcc", "-O0", "-g", "-Wl,--build-id", "-x", "c", "-", "-o", "app", at=tmp_path, stdin=BULK + "int main(){}")
    (outcome,) = uploaded(tmp_path / "app", tmp_path / "store").outcomes
    assert outcome.figures is not None
    assert (outcome.figures.inlines, outcome.quality, outcome.warnings) == (0, Quality.FULL, ())


@pytest.mark.parametrize(
    "section", [".debug_str", ".debug_line_str", ".debug_line", ".debug_abbrev", ".debug_rnglists", ".debug_ranges"]
)
def test_a_section_that_is_missing_is_named_and_lowers_the_quality(program: Path, tmp_path: Path, section: str) -> None:
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    if f" {section} " not in sections:
        pytest.skip("not in this version of DWARF")
    (whole,) = uploaded(program, tmp_path / "whole").outcomes
    assert (whole.quality, whole.warnings) == (Quality.FULL, ())
    run("objcopy", f"--remove-section={section}", program, program, at=tmp_path)
    first = uploaded(program, tmp_path / "store")
    (outcome,) = first.outcomes
    assert outcome.quality is (Quality.FUNCTIONS if section.startswith(".debug_line") else Quality.LINES)
    assert any(warning.startswith(f"{section} is missing: ") for warning in outcome.warnings)
    second = uploaded(program, tmp_path / "store")
    assert second.extracted == 0
    assert [again.quality for again in second.outcomes] == [outcome.quality]


def test_a_table_of_addresses_that_is_missing_is_named_too(tmp_path: Path) -> None:
    run("clang-22", "-O1", "-gdwarf-5", "-Wl,--build-id", "-x", "c", "-", "-o", "app", at=tmp_path, stdin=SOURCE)
    run("objcopy", "--remove-section=.debug_addr", "app", at=tmp_path)
    (outcome,) = uploaded(tmp_path / "app", tmp_path / "store").outcomes
    assert outcome.quality is Quality.LINES
    assert ".debug_addr is missing: where functions and inlined calls lie is lost" in outcome.warnings


@pytest.fixture
def split(tmp_path: Path) -> Path:
    (tmp_path / "one.c").write_text(SOURCE)
    run("gcc", "-O2", "-g", "-gsplit-dwarf", "-c", "one.c", at=tmp_path)
    run("gcc", "-Wl,--build-id", "one.o", "-o", "app", at=tmp_path)
    return tmp_path / "app"


def test_missing_split_units_lower_the_quality_until_they_turn_up(split: Path, tmp_path: Path) -> None:
    away, store = tmp_path / "away", tmp_path / "store"
    (tmp_path / "one.dwo").rename(away)
    first = uploaded(split, store)
    assert [outcome.quality for outcome in first.outcomes] == [Quality.LINES]
    assert "1 of 1 split units were not found" in first.outcomes[0].warnings[0]
    second = uploaded(split, store)
    assert (second.extracted, second.outcomes[0].decision) == (0, Decision.PRESENT)
    assert "all that these files give" in second.outcomes[0].reason
    (tmp_path / "one.dwo").write_bytes(split.read_bytes())
    uploaded(split, store)
    third = uploaded(split, store)
    assert third.extracted == 0, "a file that doesn't fit is tried once"
    away.replace(tmp_path / "one.dwo")
    fourth = uploaded(split, store)
    assert [(outcome.decision, outcome.quality) for outcome in fourth.outcomes] == [(Decision.STORED, Quality.FULL)]
    assert stored(store, fourth).shortfall is None
    (tmp_path / "one.dwo").unlink()
    fifth = uploaded(split, store)
    assert (fifth.extracted, fifth.outcomes[0].quality) == (0, Quality.FULL)


def test_a_package_that_turns_up_is_read(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(SOURCE)
    run("gcc", "-O2", "-gdwarf-4", "-gsplit-dwarf", "-c", "one.c", at=tmp_path)
    run("gcc", "-Wl,--build-id", "one.o", "-o", "app", at=tmp_path)
    run("dwp", "-e", "app", "-o", "away", at=tmp_path)
    (tmp_path / "one.dwo").unlink()
    assert uploaded(tmp_path / "app", tmp_path / "store").outcomes[0].quality is Quality.LINES
    (tmp_path / "away").rename(tmp_path / "app.dwp")
    assert uploaded(tmp_path / "app", tmp_path / "store").outcomes[0].quality is Quality.FULL


def test_a_newer_symup_tries_again(split: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.dwo").unlink()
    uploaded(split, tmp_path / "store")
    monkeypatch.setattr("uploader.pipeline.shortfall.__version__", "99.0")
    again = [uploaded(split, tmp_path / "store").extracted for _ in range(2)]
    assert again == [1, 0], "and that it got no more is kept, too"


def test_what_dwz_moved_out_lowers_the_quality_where_it_is_missing(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run("gcc", "-O2", "-g", f"-DN_{name}", "-Wl,--build-id", "-x", "c", "-", "-o", name, at=tmp_path, stdin=SOURCE)
    run("dwz", "-m", "common.debug", "one", "two", at=tmp_path)
    if b"gnu_debugaltlink" not in (tmp_path / "one").read_bytes():
        pytest.skip("dwz found nothing to share")
    assert uploaded(tmp_path / "one", tmp_path / "whole").outcomes[0].quality is Quality.FULL
    (tmp_path / "common.debug").rename(tmp_path / "away")
    assert uploaded(tmp_path / "one", tmp_path / "store").outcomes[0].quality is Quality.LINES
    assert uploaded(tmp_path / "one", tmp_path / "store").extracted == 0
    (tmp_path / "away").rename(tmp_path / "common.debug")
    assert uploaded(tmp_path / "one", tmp_path / "store").outcomes[0].quality is Quality.FULL


def test_warnings_stay_with_the_artifact_and_gate_the_second_run_too(split: Path, tmp_path: Path) -> None:
    (tmp_path / "one.dwo").unlink()
    gates = Gates(fail_on=frozenset({Concern.WARNINGS}))
    first = judged(uploaded(split, tmp_path / "store"), gates)
    second = judged(uploaded(split, tmp_path / "store"), gates)
    assert first.outcomes[0].decision is Decision.STORED
    assert second.outcomes[0].decision is Decision.PRESENT
    assert first.outcomes[0].warnings == second.outcomes[0].warnings != ()
    assert first.exit_code is second.exit_code is ExitCode.SOME_FAILED


def test_the_remedy_for_missing_split_units_is_told_again_where_they_are_stored_without(
    split: Path, tmp_path: Path
) -> None:
    (tmp_path / "one.dwo").unlink()
    gates = Gates(require=Quality.FULL)
    first, second = (judged(uploaded(split, tmp_path / "store"), gates) for _ in range(2))
    assert second.outcomes[0].decision is Decision.PRESENT
    assert ".dwo files" in (first.outcomes[0].remedy or "")
    assert second.outcomes[0].remedy == first.outcomes[0].remedy
    assert first.error is not None
    assert second.error is not None
    assert ".dwo files" in (second.error.remedy or "")
    assert second.error.remedy == first.error.remedy


def test_the_remedy_for_the_one_of_many_split_units_is_told_again_of_what_is_full_without_it(
    split: Path, tmp_path: Path
) -> None:
    run(
        "gcc",
        "-g",
        "-gsplit-dwarf",
        "-x",
        "c",
        "-c",
        "-",
        "-o",
        "two.o",
        at=tmp_path,
        stdin="int two(void) { return 2; }",
    )
    run("gcc", "-Wl,--build-id", "one.o", "two.o", "-o", "app", at=tmp_path)
    (tmp_path / "two.dwo").unlink()
    first, second = (uploaded(split, tmp_path / "store").outcomes[0] for _ in range(2))
    assert (second.decision, second.quality) == (Decision.PRESENT, Quality.FULL)
    assert first.remedy == second.remedy == REMEDY_FILES


def test_the_remedy_for_a_program_without_a_build_id_is_told_again(tmp_path: Path) -> None:
    run("gcc", "-O1", "-g", "-Wl,--build-id=none", "-x", "c", "-", "-o", "app", at=tmp_path, stdin=SOURCE)
    first, second = (uploaded(tmp_path / "app", tmp_path / "store").outcomes[0] for _ in range(2))
    assert second.decision is Decision.PRESENT
    assert first.remedy == second.remedy == REMEDY_BUILD_ID


def test_force_converts_again_whatever_is_known(split: Path, tmp_path: Path) -> None:
    (tmp_path / "one.dwo").unlink()
    assert [uploaded(split, tmp_path / "store", force=True).extracted for _ in range(2)] == [1, 1]


def test_lines_of_inlined_calls_without_a_name_are_not_told_of_the_function_around_them(tmp_path: Path) -> None:
    run("gcc", "-O2", "-g", "-Wl,--build-id", "-x", "c", "-", "-o", "app", at=tmp_path, stdin=SOURCE)
    run("objcopy", "--remove-section=.debug_str", "app", "bare", at=tmp_path)

    def inlines(name: str) -> tuple[int, set[bytes]]:
        (artifact,) = gather(Plan(paths=[tmp_path / name]), progress=Silent()).artifacts
        _, table = decode(memoryview(make(artifact, threads=1).gsym))
        return len(table.node_name), {table.names[each] for each in table.node_name}

    count, names = inlines("app")
    assert (count > 0, names) == (True, {b"innermost_one"})
    assert inlines("bare") == (count, {UNNAMED})
