"""The JSON report: valid against its published schema, whatever came of a run."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
from hypothesis import given

from tests.report.runs import FEW, broken, full, poor, run_of, runs
from uploader.judgement import NO_DEBUG_ADVICE
from uploader.report.json import SCHEMA, report
from uploader.report.model import RunReport

PUBLISHED = json.loads((Path(__file__).parents[2] / "docs" / "report.schema.json").read_text())


@FEW
@given(runs)
def test_every_run_gives_a_valid_document(run: RunReport) -> None:
    back = json.loads(json.dumps(report(run)))
    jsonschema.validate(back, PUBLISHED)
    assert back["schema"] == SCHEMA == PUBLISHED["$id"]
    assert sum(back["counts"].values()) == back["totals"]["files"] == len(run.outcomes)


def test_the_schema_itself_is_sound() -> None:
    jsonschema.Draft202012Validator.check_schema(PUBLISHED)


def test_a_file_with_a_warning_has_the_remedy_that_people_are_told() -> None:
    outcomes = report(run_of([full(), poor()]))["outcomes"]
    assert [outcome["remedy"] for outcome in outcomes] == [None, NO_DEBUG_ADVICE]


def test_a_document_tells_what_gates_could_stop_a_file_for() -> None:
    told = {one["path"]: one["concerns"] for one in report(run_of([full(), poor(), broken()]))["outcomes"]}
    assert told == {"build/app": [], "build/plain": ["missing-debug", "warnings"], "build/broken": ["failed"]}
