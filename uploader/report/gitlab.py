"""A run as GitLab's widgets read it: a Code Quality report, and JUnit XML."""

from __future__ import annotations

import hashlib
import html
from typing import Any

from uploader.errors import ExitCode
from uploader.model import Decision, Outcome
from uploader.report.groups import Group, group_of, sentences, worst_first
from uploader.report.model import RunReport
from uploader.words import printable

ISSUES_LIMIT = 1000
"""A widget with more issues helps no one; the JSON report has all."""

_ISSUES = {
    Group.FAILED: ("symup/failed", "critical"),
    Group.BELOW_GATE: ("symup/quality", "major"),
    Group.POOR: ("symup/missing-debug", "minor"),
    Group.EMPTY: ("symup/missing-debug", "minor"),
    Group.WARNED: ("symup/warning", "info"),
}
"""The check that finds the files of a group, and its severity."""


def code_quality(run: RunReport) -> list[dict[str, Any]]:
    """The issues of a Code Quality report: one for each file that needs care, the worst `ISSUES_LIMIT` of them.

    A fingerprint depends on the path and the kind of trouble alone, so that GitLab knows an old issue from a new one.
    """
    issues: list[dict[str, Any]] = []
    for outcome in worst_first(run.outcomes):
        group = group_of(outcome)
        if not group.needs_care or len(issues) == ISSUES_LIMIT:
            break
        check, severity = _ISSUES[group]
        path = printable(outcome.path).removeprefix("./")
        issues.append(
            {
                "description": printable(_told(outcome)),
                "check_name": check,
                "fingerprint": hashlib.sha256(f"{check}\n{path}".encode()).hexdigest(),
                "severity": severity,
                "location": {"path": path, "lines": {"begin": 1}},
            }
        )
    return issues


def junit(run: RunReport) -> str:
    """JUnit XML: each file is a test case, failed where its outcome has an exit code, skipped where the file was."""
    cases = worst_first(run.outcomes)
    failures = sum(bool(outcome.exit_code) for outcome in cases)
    skipped = sum(_is_skipped(outcome) for outcome in cases)
    errors = 0 if run.error is None or run.error.exit_code is ExitCode.QUALITY else 1
    head = (
        f'tests="{len(cases) + errors}" failures="{failures}" errors="{errors}" skipped="{skipped}" '
        f'time="{run.seconds:.3f}"'
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites {head}>"]
    lines.append(f"<testsuite name={_attribute(f'symup {run.command}')} {head}>")
    if errors and run.error is not None:
        lines.append(f'<testcase classname="symup" name={_attribute(f"symup {run.command}")}>')
        lines.append(
            f"<error message={_attribute(run.error.message)}>{_text(run.error.remedy or '')}</error></testcase>"
        )
    lines.extend(_case(outcome, f"symup.{run.command}") for outcome in cases)
    lines.append("</testsuite></testsuites>\n")
    return "\n".join(lines)


def _case(outcome: Outcome, classname: str) -> str:
    start = (
        f"<testcase classname={_attribute(classname)} name={_attribute(outcome.path)} file={_attribute(outcome.path)} "
        f'time="{outcome.seconds:.3f}"'
    )
    if outcome.exit_code:
        kind = group_of(outcome).value
        return (
            f"{start}><failure message={_attribute(outcome.reason)} type={_attribute(kind)}>"
            f"{_text(_told(outcome))}</failure></testcase>"
        )
    if _is_skipped(outcome):
        return f"{start}><skipped message={_attribute(outcome.reason)}/></testcase>"
    return f"{start}/>"


def _is_skipped(outcome: Outcome) -> bool:
    return outcome.decision is Decision.SKIPPED and not outcome.exit_code


def _told(outcome: Outcome) -> str:
    return ". ".join(sentences(outcome, warnings=3))


def _text(text: str) -> str:
    # XML can't hold control characters at all; `printable` leaves none, and no lone surrogates.
    return html.escape(printable(text))


def _attribute(text: str) -> str:
    return f'"{_text(text)}"'
