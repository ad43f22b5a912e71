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
from uploader.errors import UsageError

if TYPE_CHECKING:
    from uploader.pipeline.outcomes import Finished

STDOUT = "-"


def command(
    inputs: options.Paths,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="OUT", help="The .gsym file to write, a folder for several, or - for stdout."
        ),
    ],
    no_dwarf: options.NoDwarf = False,
    include: options.Include = None,
    exclude: options.Exclude = None,
    build_internals: options.BuildInternals = False,
    debug_dir: options.DebugDir = None,
    debuginfod: options.DebugInfoD = False,
    gsym_version: options.GsymVersion = None,
    keep_aliases: options.KeepAliases = False,
    require: options.Require = None,
    min_line_coverage: options.MinLineCoverage = None,
    fail_on: options.FailOn = None,
    allow_empty: options.AllowEmpty = False,
    allow_missing: options.AllowMissing = False,
    jobs: options.Jobs = None,
    max_memory: options.MaxMemory = None,
    shard: options.Shard = None,
    report_json: options.ReportJson = None,
    report_html: options.ReportHtml = None,
    gitlab_report: options.GitlabReport = None,
    junit: options.Junit = None,
    dotenv: options.Dotenv = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Write the symbols of binaries to GSYM files. Nothing leaves this machine.

    OUT is a folder where it exists as one or ends in '/', and for several inputs or a folder of them. A pipe or a device is written
    into, and stays; a pipe that has no reader within 10 seconds is an error.

    Example: symup convert build/server -o server.gsym
    """
    started = time.monotonic()
    chosen = options.settings(
        include=include,
        exclude=exclude,
        require=require,
        min_line_coverage=min_line_coverage,
        fail_on=fail_on,
        jobs=jobs,
        max_memory=max_memory,
        dwarf=False if no_dwarf else None,
        debug_dir=debug_dir,
        debuginfod=debuginfod or None,
        gsym_version=gsym_version,
        keep_aliases=keep_aliases or None,
        allow_missing=allow_missing or None,
        build_internals=build_internals or None,
    )
    part = options.shard(shard)
    reports = options.reports(
        *inputs,
        *([] if output == STDOUT else [output]),
        json=report_json,
        html=report_html,
        code_quality=gitlab_report,
        junit=junit,
        dotenv=dotenv,
    )
    to_stdout = output == STDOUT
    if to_stdout:
        _insist_on_stdout(inputs, as_json=as_json)
    if not quiet:
        terminal.tell_core()

    from uploader.pipeline.convert import convert

    observer = terminal.progress(quiet=quiet)
    with contextlib.ExitStack() as kept:
        target = _aside(kept) if to_stdout else Path(output)
        try:
            finished = convert(
                inputs,
                target,
                to_folder=output.endswith(os.sep),
                progress=observer,
                jobs=chosen.jobs,
                max_memory_bytes=options.max_memory_bytes(chosen),
                include=chosen.include,
                exclude=chosen.exclude,
                dwarf=chosen.dwarf,
                allow_empty=allow_empty,
                debug=options.debug_sources(chosen, observer),
                form=options.gsym_form(chosen),
                shard=part,
                allow_missing=chosen.allow_missing,
                build_internals=chosen.build_internals,
            )
        finally:
            terminal.close(observer)
        if to_stdout:
            finished = _delivered(finished, target)
    # Imported once there is something to tell: until then nothing should keep the files waiting.
    from uploader.cli import tell
    from uploader.pipeline.gates import judged

    return tell.run(
        "convert",
        judged(finished, options.gates(chosen)),
        seconds=time.monotonic() - started,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
        shard=None if part is None else str(part),
        dwarf=chosen.dwarf,
        reports=reports,
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
    from uploader.values import replace

    if not target.exists():
        return finished
    terminal.raw(target.read_bytes())
    told = f"written to {target}"
    outcomes = [replace(one, reason=one.reason.replace(told, "written to stdout")) for one in finished.outcomes]
    return replace(finished, outcomes=tuple(outcomes))
