"""Renders what a run of `upload` or `convert` came to, for a person or for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uploader.cli import terminal
from uploader.report import json as json_report
from uploader.report import text as text_report

if TYPE_CHECKING:
    from uploader.pipeline.outcomes import Finished


def run(
    command: str,
    finished: Finished,
    *,
    seconds: float,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    destination: str | None = None,
    project: str | None = None,
) -> int:
    """Writes the report and gives the exit code. With ``quiet`` only what has one of its own is told."""
    if as_json:
        terminal.document(
            json_report.report(
                command,
                finished.outcomes,
                exit_code=finished.exit_code,
                seconds=seconds,
                destination=destination,
                project=project,
                extracted=finished.extracted,
                unreached=finished.unreached,
                error=finished.error,
            )
        )
    shown = [outcome for outcome in finished.outcomes if outcome.exit_code] if quiet else finished.outcomes
    if shown:
        for line in text_report.summary(shown, seconds=seconds, verbose=verbose, error=finished.error):
            terminal.say(line)
    if finished.error is not None:
        terminal.error(finished.error)
    return int(finished.exit_code)
