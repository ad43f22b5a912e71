"""The worth of outcomes: which exit code a run has, what gates could stop a file for, and what to do about it."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from tests.report.runs import full, poor
from uploader.errors import ExitCode
from uploader.judgement import (
    CGO_ADVICE,
    GO_TABLE_ADVICE,
    NO_DEBUG_ADVICE,
    NO_INLINES_ADVICE,
    PADDING_ADVICE,
    PARTLY_ADVICE,
    PRECEDENCE,
    UNSTRIPPED_ADVICE,
    advice,
    concerns,
    exit_code,
    line_advice,
)
from uploader.model import Concern, Decision, Outcome, Quality
from uploader.values import replace


def outcome(code: ExitCode) -> Outcome:
    return Outcome(path="x", decision=Decision.STORED, reason="x", exit_code=code)


def test_every_exit_code_has_its_place_in_the_precedence() -> None:
    assert sorted(PRECEDENCE) == sorted(ExitCode)
    for first, second in itertools.combinations(PRECEDENCE, 2):
        assert exit_code([outcome(second), outcome(first)]) is first
    assert exit_code([]) is ExitCode.DONE
    assert exit_code([outcome(ExitCode.DONE)], ExitCode.NETWORK) is ExitCode.NETWORK


def test_missing_files_of_debug_information_are_missing_debug_and_warnings_of_a_file_that_is_none_the_poorer() -> None:
    lacking = replace(full(), warnings=("1 of 9 split units were not found: a.dwo",), lacks_files=True)
    assert concerns(lacking) == {Concern.MISSING_DEBUG, Concern.WARNINGS}


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (full(), None),
        (poor(), NO_DEBUG_ADVICE),
        (full(lines=0.4), None),
        (replace(full(), quality=Quality.FUNCTIONS), PARTLY_ADVICE),
        (replace(full(), quality=Quality.LINES), NO_INLINES_ADVICE),
        (replace(poor(), quality=Quality.NONE, warnings=("no DWARF: stripped",)), UNSTRIPPED_ADVICE),
        (replace(poor(), remedy="Give its debug file."), "Give its debug file."),
    ],
)
def test_a_file_of_which_more_could_be_had_comes_with_advice(outcome: Outcome, told: str | None) -> None:
    assert advice(outcome) == told


def test_nobody_is_told_to_build_with_lines_what_has_lines_wherever_it_is_named() -> None:
    whole = full()
    assert whole.figures is not None
    all_lines = replace(whole.figures, line_bytes=whole.figures.function_bytes)
    some_lines = replace(whole.figures, line_bytes=whole.figures.function_bytes - 1)
    assert line_advice(replace(whole, figures=all_lines)) == PADDING_ADVICE
    assert line_advice(replace(whole, figures=some_lines)) == PARTLY_ADVICE
    assert line_advice(poor()) == NO_DEBUG_ADVICE


@pytest.mark.parametrize(
    ("by_source", "told"),
    [({"go": 9}, PADDING_ADVICE), ({"go": 9, "plt": 1}, CGO_ADVICE), ({"go": 9, "dwarf": 1}, PARTLY_ADVICE)],
    ids=["pure", "with cgo", "with debug information"],
)
def test_what_has_no_lines_in_a_go_program_is_no_fault_of_its_go_code(by_source: dict[str, int], told: str) -> None:
    whole = full()
    assert whole.figures is not None
    figures = replace(whole.figures, line_bytes=whole.figures.function_bytes - 1, by_source=by_source)
    assert line_advice(replace(whole, figures=figures)) == told


@pytest.mark.parametrize(
    "lost",
    ["Go's table could not be read: is cut off in its header", "9 inlined calls of Go's table could not be read"],
)
def test_a_go_program_that_was_stored_with_a_damaged_table_is_not_advised_to_be_built_with_debug_information(
    lost: str,
) -> None:
    assert advice(replace(poor(), warnings=(lost,))) == GO_TABLE_ADVICE
    assert advice(replace(full(), quality=Quality.LINES, warnings=(lost,))) == GO_TABLE_ADVICE
    assert advice(replace(full(), warnings=(lost,))) is None


def test_what_is_said_of_c_in_a_go_program_holds_for_one_with_hardly_any() -> None:
    assert "padding between functions" in CGO_ADVICE
    assert "only if it is built with -g" in CGO_ADVICE


def test_the_order_of_exit_codes_is_the_one_that_the_readme_tells() -> None:
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")
    told = re.search(r"the code is the first of ([\d, ]+):", readme)
    assert told is not None
    assert [int(code) for code in told.group(1).split(", ")] == [int(code) for code in PRECEDENCE if code]
