"""``symup upload``."""

from __future__ import annotations

import time

from uploader.cli import options, tell, terminal
from uploader.words import printable


def command(
    paths: options.Paths,
    to: options.To = None,
    project: options.Project = None,
    dry_run: options.DryRun = False,
    force: options.Force = False,
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
    """Send the symbols of binaries to a symbol store: only what is missing there, or better than what is there.

    Binaries and debug files are found by content in the files and folders given. Interrupted? Run the same command again: it
    sends only what is still missing.

    Example: symup upload build/ --to https://symbols.example.com --exclude '*_test'
    """
    started = time.monotonic()
    chosen = options.settings(
        to=to,
        project=project,
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
        *paths, json=report_json, html=report_html, code_quality=gitlab_report, junit=junit, dotenv=dotenv
    )
    destination = options.open_destination(chosen)
    if to is None and not quiet:
        terminal.say(f"symup: sending to {printable(destination.url)}")
    if not quiet:
        terminal.tell_core()

    from uploader.pipeline.gates import judged, stored_figures
    from uploader.pipeline.upload import upload

    observer = terminal.progress(quiet=quiet)
    try:
        finished = upload(
            paths,
            destination,
            progress=observer,
            jobs=chosen.jobs,
            max_memory_bytes=options.max_memory_bytes(chosen),
            include=chosen.include,
            exclude=chosen.exclude,
            dwarf=chosen.dwarf,
            force=force,
            dry_run=dry_run,
            allow_empty=allow_empty,
            debug=options.debug_sources(chosen, observer),
            form=options.gsym_form(chosen),
            shard=part,
            allow_missing=chosen.allow_missing,
            build_internals=chosen.build_internals,
        )
    finally:
        terminal.close(observer)
    return tell.run(
        "upload",
        judged(finished, options.gates(chosen), stored=lambda outcome: stored_figures(outcome, destination)),
        seconds=time.monotonic() - started,
        destination=destination.url,
        project=chosen.project,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
        shard=None if part is None else str(part),
        dwarf=chosen.dwarf,
        reports=reports,
    )
