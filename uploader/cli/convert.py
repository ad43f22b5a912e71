"""``symup convert``."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uploader.cli import options, terminal
from uploader.cli.groups import Gated, Output, Selected, grouped, plan
from uploader.errors import UsageError

if TYPE_CHECKING:
    from uploader.pipeline.outcomes import Finished

STDOUT = "-"


@grouped
def command(
    inputs: options.Paths,
    target: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="OUT", help="The .gsym file to write, a folder for several, or - for stdout."
        ),
    ],
    selected: Selected,
    gated: Gated,
    output: Output,
) -> int:
    """Write the symbols of binaries to GSYM files. Nothing leaves this machine.

    OUT is a folder where it exists as one or ends in '/', and for several inputs or a folder of them. A pipe or a device is written
    into, and stays; a pipe that has no reader within 10 seconds is an error.

    Example: symup convert build/server -o server.gsym
    """
    started = time.monotonic()
    chosen = options.settings(**selected.flags(), **gated.flags())
    to_stdout = target == STDOUT
    reports = output.reports(*inputs, *([] if to_stdout else [target]))
    if to_stdout:
        _insist_on_stdout(inputs, as_json=output.as_json)
    if not output.quiet:
        terminal.tell_core()

    from uploader.pipeline.convert import convert

    observer = terminal.progress(quiet=output.quiet)
    with contextlib.ExitStack() as kept:
        place = _aside(kept) if to_stdout else Path(target)
        try:
            asked = plan(inputs, chosen, observer=observer, selected=selected, allow_empty=gated.allow_empty)
            finished = convert(asked, place, to_folder=target.endswith(os.sep), progress=observer)
        finally:
            terminal.close(observer)
        if to_stdout:
            finished = _delivered(finished, place)
    # Imported once there is something to tell: until then nothing should keep the files waiting.
    from uploader.cli import tell
    from uploader.pipeline.gates import judged

    return tell.run(
        "convert",
        judged(finished, options.gates(chosen)),
        output=output,
        reports=reports,
        seconds=time.monotonic() - started,
        plan=asked,
    )


def _insist_on_stdout(inputs: Sequence[str], *, as_json: bool) -> None:
    """Raises `UsageError` where stdout can't take a GSYM file."""
    if as_json:
        raise UsageError("--json and -o - both want stdout", remedy="Write the report with --report-json FILE instead.")
    if len(inputs) > 1 or os.path.isdir(inputs[0]):
        raise UsageError("stdout takes the symbols of one file only", remedy="Name a folder with -o.")
    if sys.stdout.isatty():
        raise UsageError(
            "a GSYM file is not written to a terminal",
            remedy="Send it on (-o - | ..., -o - >FILE), or name a file with -o.",
        )


def _aside(kept: contextlib.ExitStack) -> Path:
    """A file in a folder that goes with ``kept``."""
    import tempfile

    return Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="symup-")), "stdout.gsym")


def _delivered(finished: Finished, target: Path) -> Finished:
    """Writes the file to stdout, and says so."""
    from uploader.model import Decision
    from uploader.values import replace

    if not target.exists():
        return finished
    terminal.raw(target.read_bytes())
    outcomes = [
        replace(one, reason="written to stdout") if one.decision is Decision.CONVERTED else one
        for one in finished.outcomes
    ]
    return replace(finished, outcomes=tuple(outcomes))
