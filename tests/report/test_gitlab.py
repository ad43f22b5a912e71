"""What GitLab is given: a Code Quality report, and JUnit XML that holds whatever files are called."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given

from tests.report.runs import FEW, HOSTILE, below_gate, broken, full, poor, run_of, runs, skipped
from uploader.errors import ExitCode, NetworkGaveOut
from uploader.report.gitlab import ISSUES_LIMIT, code_quality, junit
from uploader.report.model import RunReport
from uploader.report.results import dotenv, github_outputs, results
from uploader.values import replace
from uploader.words import printable


def test_an_issue_for_each_file_that_needs_care_worst_first() -> None:
    issues = code_quality(run_of([full(), poor(), skipped(), below_gate(), broken()]))
    assert [(issue["location"]["path"], issue["severity"]) for issue in issues] == [
        ("build/broken", "critical"),
        ("build/below", "major"),
        ("build/plain", "minor"),
    ]
    assert issues[0]["description"] == "ends within its section headers. Build it again."


def test_a_fingerprint_lasts_from_run_to_run_and_is_each_issues_own() -> None:
    first = code_quality(run_of([broken("./a"), broken("b")]))
    again = code_quality(run_of([replace(broken("a"), reason="differently told"), broken("b")]))
    assert [issue["fingerprint"] for issue in first] == [issue["fingerprint"] for issue in again]
    assert len({issue["fingerprint"] for issue in first}) == 2


def test_a_widget_gets_no_more_issues_than_it_can_show() -> None:
    assert len(code_quality(run_of([broken(f"b{i}") for i in range(ISSUES_LIMIT + 5)]))) == ISSUES_LIMIT


@FEW
@given(runs)
def test_junit_is_well_formed_and_counts_right(run: RunReport) -> None:
    suites = ET.fromstring(junit(run))
    suite = suites[0]
    cases = suite.findall("testcase")
    assert int(suite.attrib["tests"]) == len(cases)
    assert int(suite.attrib["failures"]) == sum(case.find("failure") is not None for case in cases)
    assert int(suite.attrib["skipped"]) == sum(case.find("skipped") is not None for case in cases)
    assert int(suite.attrib["errors"]) == sum(case.find("error") is not None for case in cases)
    names = sorted(case.attrib["name"] for case in cases if "file" in case.attrib)
    assert names == sorted(printable(outcome.path) for outcome in run.outcomes)


def test_a_case_keeps_its_identity_when_its_symbols_get_better() -> None:
    before, after = (ET.fromstring(junit(run_of([one])))[0].find("testcase") for one in (poor("a"), full("a")))
    assert before is not None
    assert after is not None
    assert before.attrib["classname"] == after.attrib["classname"] == "symup.upload"


def test_junit_tells_the_trouble_of_the_run_as_a_case() -> None:
    suite = ET.fromstring(junit(run_of([full(HOSTILE)], error=NetworkGaveOut("the host is gone"))))[0]
    error = suite.find("testcase/error")
    assert error is not None
    assert error.attrib["message"] == "the host is gone"


@FEW
@given(runs)
def test_results_are_lines_of_a_name_and_a_value(run: RunReport) -> None:
    values = results(run, report_json="r.json")
    outputs = dict(line.split("=", 1) for line in github_outputs(values).splitlines())
    variables = dict(line.split("=", 1) for line in dotenv(values).splitlines())
    assert outputs == values
    assert len(variables) == len(values) <= 20, "GitLab takes no more of a job"
    assert variables["SYMUP_RESULT_EXIT_CODE"] == str(int(run.exit_code))


def test_results_name_the_worst_file_that_has_symbols() -> None:
    values = results(run_of([full(), poor(), broken(), skipped()]))
    assert values["worst-quality"] == "functions"
    assert (values["files"], values["stored"], values["failed"], values["skipped"]) == ("4", "2", "1", "1")
    assert values["exit-code"] == str(int(ExitCode.SOME_FAILED))
    assert values["report-html"] == ""
