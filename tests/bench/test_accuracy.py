"""The page of figures says what was measured, and no more."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import accuracy
import inputs
import linked
from agreement import DISAGREEMENTS


def result(
    name: str, *, agree: int = 1000, ours: int = 0, reference: int = 0, size: int = 2_000_000, **facts: Any
) -> dict[str, Any]:
    """One input's figures: of 1000 addresses, those that don't agree differ in the name."""
    covered = {"function_percent": 98.5, "line_percent": 97.25, "function_bytes": 985, "line_bytes": 972}
    return {
        "input": name,
        "size_bytes": size,
        "kind": "shared",
        "machine": "x86-64",
        "compilers": ["gcc 12.2"],
        "dwarf": [5],
        "agreement": {
            "counted": 1000,
            "chains_percent": agree / 10,
            "functions_percent": agree / 10,
            "lines_percent": 100.0,
            "verdicts": dict.fromkeys(DISAGREEMENTS, 0) | {"agree": agree, "name differs": 1000 - agree},
            "third": {"name differs": {"ours": ours, "reference": reference}},
        },
        "ours": covered,
        "llvm": covered | {"line_percent": 11.0},
        **facts,
    }


def test_a_row_sets_our_coverage_beside_the_others() -> None:
    row = accuracy._row(result("x"))
    assert row.startswith("| x | shared, x86-64 | gcc 12.2 | 5 | 2.0 | 1000 | 100.000 |")
    assert row.endswith("| 98.50 / 98.50 | 97.25 / 11.00 |")
    assert "/ fails |" in accuracy._row(result("x", llvm={"error": "no functions"}))


def test_only_where_the_third_voice_sides_with_ours_a_difference_is_settled() -> None:
    row = accuracy._row(result("x", agree=900, ours=60, reference=40)).split(" | ")
    assert row[6:8] == ["90.000", "96.000"]


def test_differences_are_told_of_every_file_below_and_of_no_other() -> None:
    text = accuracy.table([result("good", agree=999), result("poor", agree=900, ours=60, reference=40)])
    assert "- poor: name differs: 100 (ours 60, reference 40)" in text
    assert "- good" not in text
    assert "lowest 90.000 %; 1 files at 99.9 % or above" in text
    assert accuracy.table([result("good")]).endswith("No file is below.")


def test_the_table_takes_its_place_in_the_page_and_leaves_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "accuracy.md"
    monkeypatch.setattr(accuracy, "PAGE", page)
    page.write_text(f"before\n{accuracy.BEGIN}\nold\n{accuracy.END}\nafter\n")
    accuracy.write_page([result("x")])
    once = page.read_text()
    accuracy.write_page([result("x")])
    assert page.read_text() == once
    assert once.startswith("before\n") and once.endswith("\nafter\n")
    assert "| x |" in once and "old" not in once


def test_the_makers_of_a_real_binary_are_told(built_binary: Callable[[str], Path]) -> None:
    facts = accuracy.origin(built_binary("gcc-dwarf4"))
    assert facts["dwarf"] == [4]
    assert facts["compilers"][0].startswith("gcc ")
    assert not linked.is_relocatable(built_binary("gcc-dwarf4"))


@pytest.mark.parametrize("packed", [False, True], ids=["dwo", "dwp"])
def test_the_makers_of_split_units_are_told(peer: Callable[[str], str], tmp_path: Path, packed: bool) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 0; }\n")
    subprocess.run([peer("gcc"), "-g", "-gdwarf-4", "-gsplit-dwarf", "a.c", "-o", "a"], cwd=tmp_path, check=True)
    if packed:
        subprocess.run([peer("dwp"), "-e", "a", "-o", "a.dwp"], cwd=tmp_path, check=True)
        for part in tmp_path.glob("*.dwo"):
            part.unlink()
    facts = accuracy.origin(tmp_path / "a")
    (maker,) = facts["compilers"]
    assert maker.startswith("gcc ")
    assert facts["dwarf"] == [4]


def test_a_file_without_a_supplement_is_read_as_it_is(built_binary: Callable[[str], Path], tmp_path: Path) -> None:
    assert accuracy.with_supplement(built_binary("gcc-dwarf5"), tmp_path / "x") is None


def test_every_input_of_the_page_is_known_to_the_inputs() -> None:
    page = accuracy.PAGE.read_text()
    table = page.split(accuracy.BEGIN)[1].split(accuracy.END)[0]
    named = {
        line.split(" | ")[0].removeprefix("| ").removesuffix(" (dwz)")
        for line in table.splitlines()
        if line[:2] == "| "
    }
    assert named - {"file"} <= set(inputs.expand(["accuracy"]))
    assert len(named) > 25


def test_what_is_said_to_be_missing_is_told_and_has_to_be_what_was_taken_away() -> None:
    said = {"quality": "lines", "missing": ["32 of 32 split units were not found: a.dwo"]}
    assert "- lua-no-dwp: lines; 32 of 32 split units" in accuracy.table([result("lua-no-dwp", told=said)])
    assert accuracy.misjudged("lua-no-dwp", said) == ""
    assert accuracy.misjudged("lua-no-debug-str", said) != ""
    assert accuracy.misjudged("lua-no-dwp", said | {"quality": "full"}) != ""
    assert accuracy.misjudged("python3.11", {"quality": "full", "missing": []}) == ""
