"""The page of costs says what was measured, which of it is better, and what could not be had."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import builds
import page
import performance
import speed
from speed import PLAIN, Sample

ARGUMENTS = ("--runs", "1", "--inputs", "gcc-dwarf5")


def converted(
    *, ours: float = 1.0, theirs: float | None = 4.0, plain: float | None = None, digests: Any = None
) -> dict[str, Any]:
    """One input's figures: wall seconds as given, 100 MB of memory and 10 MB of output for us, twice that for others."""

    def samples(wall: float, scale: int) -> list[Sample]:
        sizes = {"peak_bytes": scale * 100_000_000, "output_bytes": scale * 10_000_000, "output_files": 1}
        return [Sample(wall_seconds=wall, cpu_seconds=wall, **sizes, output_digest=f"{wall}")]

    taken = {"symup": samples(ours, 1)}
    if theirs is not None:
        taken["llvm-gsymutil"] = samples(theirs, 2)
    if plain is not None:
        taken[PLAIN] = samples(plain, 1)
    return {
        "files": 1,
        "input_bytes": 5_000_000,
        "info_bytes": 9_000_000,
        "failures": {},
        "digests": digests or {"compiled": {"1": "a", "2": "a", "8": "a"}},
        **speed.summarize(taken, "symup"),
    }


def test_a_row_says_how_many_times_faster_and_which_share() -> None:
    text = page.conversion({"found": {"x": converted()}})
    assert (
        "| x | 1 | 5.0 | 9.0 | 1.00 / 4.00 | 4.00× | 1.00 / 4.00 | 4.00× | 100 / 200 | 0.50 | 10.00 / 20.00 | 0.50 | 1 |"
        in text
    )


def test_a_slower_run_is_not_made_to_look_faster() -> None:
    assert "| 4.00 / 1.00 | 0.25× |" in page.conversion({"found": {"x": converted(ours=4.0, theirs=1.0)}})


def test_what_fails_and_what_is_not_here_is_told() -> None:
    found = {"stripped": converted(theirs=None), "elsewhere": {"unavailable": "the network is gone"}}
    text = page.conversion({"found": found})
    assert "| 1.00 / fails | – |" in text
    assert "| elsewhere | not measured: the network is gone |" in text


def test_the_uncompiled_core_stands_beside_both() -> None:
    assert "| x | 40.0 | 10.0× | 40× | 100 | 1 |" in page.conversion({"found": {"x": converted(plain=40.0)}})


def test_different_bytes_stand_out() -> None:
    same = {"compiled": {"1": "a", "2": "a", "8": "a"}, "plain": {"2": "a"}}
    assert "- x: the same, compiled with --jobs 1, 2, 8; plain with --jobs 2" in page.conversion(
        {"found": {"x": converted(digests=same)}}
    )
    odd = {"compiled": {"1": "a", "2": "a", "8": "a"}, "plain": {"2": "b"}}
    assert "- x: **DIFFERENT**: compiled, --jobs 1: a" in page.conversion({"found": {"x": converted(digests=odd)}})


@pytest.mark.parametrize(
    ("name", "figures", "verdict"),
    [
        ("librados2", converted(ours=1.0, theirs=4.0), "share of wall time 0.25, at most 0.333: met"),
        ("librados2", converted(ours=2.0, theirs=4.0), "share of wall time 0.50, at most 0.333: **missed**"),
        ("libc6-dbg", converted(ours=1.0, theirs=4.0), "times faster 4.00, at least 4: met"),
        ("valgrind-dbg", converted(ours=1.1, theirs=4.0), "times faster 3.64, at least 4: **missed**"),
        (
            "x",
            converted(theirs=4.0, plain=100.0),
            "uncompiled, times llvm-gsymutil's wall time 25.00, at most 20: **missed**",
        ),
    ],
)
def test_figures_are_held_to_their_targets(name: str, figures: dict[str, Any], verdict: str) -> None:
    assert f"- {name}: {verdict}" in page.targets({name: figures})


def test_the_median_start_is_judged() -> None:
    text = page.start(
        {"found": {"symup --version": {"seconds": [0.1, 0.2, 0.9]}, "symup convert x": {"seconds": [0.5]}}}
    )
    assert "| `symup --version` | 0.200 | 0.100 | under 0.25: met | 3 |" in text
    assert "| `symup convert x` | 0.500 | 0.500 | under 0.4: **missed** | 1 |" in text


def test_what_travels_is_compared_with_the_least_that_others_send() -> None:
    sizes = {
        "files": 2,
        "symup": 1_000_000,
        "symup_gsym": 3_000_000,
        "debug_file": 20_000_000,
        "debug_file_zstd3": 18_000_000,
        "inflated": 50_000_000,
        "inflated_zstd3": 16_000_000,
        "inflated_zstd19": 10_000_000,
        "llvm_gsym": 4_000_000,
        "llvm_gsym_zstd": 1_250_000,
        "llvm_files": 2,
    }
    text = page.wire({"found": {"x": sizes, "y": sizes | {"llvm_files": 1}}})
    assert "| x | 2 | **1.00** | 20.0 | 18.0 | 50.0 | 16.0 | 10.0 | 4.00 | 1.25 | 0.100 | 0.80 |" in text
    assert "of 1 files only" in text


def test_levels_are_told_as_sums_and_as_real_uploads() -> None:
    one = {
        "gsym_bytes": 10_000_000,
        "levels": {"3": {"seconds": 0.1, "bytes": 2_000_000}, "15": {"seconds": 2.0, "bytes": 1_000_000}},
        "uploads": {"10": {"3": [3.0, 2.0, 9.0]}},
    }
    text = page.levels({"level": 3, "found": {"x": one}})
    assert "symup takes level **3**" in text
    assert "| 3 | 0.100 | 2.000 | 1.700 | 3.00 |" in text
    assert "| 15 | 2.000 | 1.000 | 2.800 | – |" in text


def test_a_tool_that_is_missing_is_named_before_anything_is_measured(tmp_path: Path) -> None:
    done = run("wire", "--docs", str(tmp_path), environment={"LLVM_GSYMUTIL": "no-such-gsymutil"})
    assert done.returncode == 2
    assert re.search("not installed here: .*no-such-gsymutil", done.stderr)
    assert not list(tmp_path.iterdir())


def test_an_unknown_section_is_refused(tmp_path: Path) -> None:
    done = run("nonsense", "--docs", str(tmp_path))
    assert done.returncode == 2
    assert "no section is called 'nonsense'" in done.stderr


def test_one_command_measures_and_writes_the_page(tmp_path: Path, peer: Callable[[str], str]) -> None:
    for tool in (speed.GSYMUTIL, "objcopy", builds.LLVM_OBJCOPY, "gcc", "g++"):
        peer(tool)
    (tmp_path / "performance.md").write_text("# Costs\n\n<!-- wire: begin -->\nold\n<!-- wire: end -->\n\nthe end\n")
    done = run("conversion", "start", "wire", "growth", *ARGUMENTS, "--docs", str(tmp_path))
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "performance.md").read_text()
    assert text.startswith("# Costs\n\n<!-- wire: begin -->\n| input |")
    assert "old" not in text
    assert "the end" in text
    assert "- gcc-dwarf5: the same, compiled with --jobs 1, 2, 8; plain with --jobs 1, 2, 8" in text
    assert (tmp_path / "growth.svg").read_text().startswith("<svg")
    results = json.loads((tmp_path / "performance.json").read_text())
    assert results["conversion"]["measured"]["cpus"] == os.cpu_count()
    assert 0 < results["wire"]["found"]["gcc-dwarf5"]["symup"] < results["wire"]["found"]["gcc-dwarf5"]["debug_file"]
    kept = run("wire", "--runs", "1", "--inputs", "no-such-input", "--docs", str(tmp_path))
    assert kept.returncode == 1
    found = json.loads((tmp_path / "performance.json").read_text())["wire"]["found"]
    assert found["gcc-dwarf5"] == results["wire"]["found"]["gcc-dwarf5"]
    assert "no input and no file is called" in found["no-such-input"]["unavailable"]


def test_the_page_in_docs_is_what_its_data_says(tmp_path: Path) -> None:
    """It is written by the command alone: ``python bench/performance.py --only-page`` after a change to how it is told."""
    for name in (page.NAME, page.PLOT):
        (tmp_path / name).write_text((performance.DOCS / name).read_text())
    page.write(tmp_path, json.loads((performance.DOCS / "performance.json").read_text()))
    for name in (page.NAME, page.PLOT):
        assert (tmp_path / name).read_text() == (performance.DOCS / name).read_text()


def run(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, performance.__file__, *arguments],
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
