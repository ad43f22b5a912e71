"""Renders what a run over many files came to: for a person, for a program, and for the CI page that it runs under."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from uploader.cli import colour, terminal
from uploader.cli.reports import Reports
from uploader.errors import NotWritten, UsageError
from uploader.report.model import RunReport
from uploader.report.text import summary
from uploader.words import printable

if TYPE_CHECKING:
    from uploader.cli.groups import Output
    from uploader.pipeline.outcomes import Finished
    from uploader.pipeline.plan import Plan


def run(
    command: str,
    finished: Finished,
    *,
    output: Output,
    reports: Reports,
    seconds: float,
    destination: str | None = None,
    project: str | None = None,
    plan: Plan | None = None,
) -> int:
    """Writes every form of the report that is asked for and gives the exit code. Of a quiet run people are told failures only."""
    from uploader.pipeline.provenance import provenance

    told = RunReport(
        command=command,
        outcomes=finished.outcomes,
        exit_code=finished.exit_code,
        seconds=seconds,
        destination=destination,
        project=project,
        extracted=finished.extracted,
        unreached=finished.unreached,
        left_out=finished.left_out,
        error=finished.error,
        shard=None if plan is None or plan.shard is None else str(plan.shard),
        dwarf=plan is None or plan.conversion.dwarf,
        provenance=provenance(os.environ),
        ended_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    if output.as_json:
        from uploader.report.json import report

        terminal.document(report(told))
    _for_people(told, quiet=output.quiet, verbose=output.verbose, in_github=in_github(os.environ))
    try:
        reports.write(told, environ=os.environ)
    except (NotWritten, UsageError) as error:
        terminal.error(error)
        return int(finished.exit_code or error.exit_code)
    if reports.html is not None and not output.quiet:
        terminal.say(f"symup: the report is in {printable(reports.html)}")
    return int(finished.exit_code)


def in_github(environ: Mapping[str, str]) -> bool:
    """Whether a runner reads the output for workflow commands."""
    return environ.get("GITHUB_ACTIONS") == "true"


def _for_people(told: RunReport, *, quiet: bool, verbose: bool, in_github: bool) -> None:
    begin, end = "", ""
    if in_github:
        from uploader.report.github import muted

        begin, end = muted()
        terminal.say(begin)
    if told.outcomes or told.left_out:
        for line in summary(told, verbose=verbose, quiet=quiet):
            terminal.say(colour.state_first(line, sys.stderr))
    if told.error is not None:
        terminal.error(told.error)
    if in_github:
        from uploader.report.github import commands

        terminal.say(end)
        for line in commands(told):
            terminal.say(line)
