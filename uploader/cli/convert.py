"""``symup convert``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from uploader.cli import options, terminal


def command(
    inputs: options.Paths,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="The .gsym file to write, or a folder for several."),
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

    OUT is a folder where it exists as one or ends in '/', and for several inputs or a folder of them.

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
        json=report_json, html=report_html, code_quality=gitlab_report, junit=junit, dotenv=dotenv
    )
    if not quiet:
        terminal.tell_core()

    from uploader.pipeline.convert import convert

    observer = terminal.progress(quiet=quiet)
    try:
        finished = convert(
            inputs,
            Path(output),
            to_folder=output.endswith(os.sep),
            progress=observer,
            jobs=chosen.jobs,
            max_memory_bytes=chosen.max_memory,
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
        reports=reports,
    )
