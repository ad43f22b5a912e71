"""``symup push``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from uploader.cli import options, tell, terminal
from uploader.errors import UsageError
from uploader.words import printable

if TYPE_CHECKING:
    from uploader.store.store import SymbolStore


def command(
    store: Annotated[
        Path, typer.Argument(help="The folder of a store, as upload --to FOLDER fills one.", metavar="STORE")
    ],
    to: options.To = None,
    project: options.Project = None,
    dry_run: options.DryRun = False,
    force: options.Force = False,
    require: options.Require = None,
    min_line_coverage: options.MinLineCoverage = None,
    fail_on: options.FailOn = None,
    allow_empty: options.AllowEmpty = False,
    report_json: options.ReportJson = None,
    report_html: options.ReportHtml = None,
    gitlab_report: options.GitlabReport = None,
    junit: options.Junit = None,
    dotenv: options.Dotenv = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> int:
    """Bring what one store holds of a project to another: only what is missing there travels.

    So one job can fill a folder and keep it as its artifact, and a later job, which may do so, send it on. Only gates given as
    flags or in the environment count here: those of symup.toml speak of paths, which a store does not know.

    Example: symup push symbols/ --to https://symbols.example.com
    """
    started = time.monotonic()
    chosen = options.settings(to=to, project=project)
    gates = options.gates_without_files(require=require, min_line_coverage=min_line_coverage, fail_on=fail_on)
    reports = options.reports(
        json=report_json, html=report_html, code_quality=gitlab_report, junit=junit, dotenv=dotenv
    )
    if chosen.to is None:
        raise UsageError("push needs a destination", remedy="Name it with --to or SYMUP_TO.")
    source = _opened(store, chosen.project)
    destination = options.open_destination(chosen)
    if to is None and not quiet:
        terminal.say(f"symup: pushing to {printable(destination.url)}")

    from uploader.pipeline.gates import judged
    from uploader.pipeline.push import push

    observer = terminal.progress(quiet=quiet)
    try:
        finished = push(
            source,
            destination,
            progress=observer,
            force=force,
            dry_run=dry_run,
            allow_empty=allow_empty,
            label=f"project {chosen.project} of {store}",
        )
    finally:
        terminal.close(observer)
    return tell.run(
        "push",
        judged(finished, gates),
        seconds=time.monotonic() - started,
        destination=destination.url,
        project=chosen.project,
        as_json=as_json,
        quiet=quiet,
        verbose=verbose,
        reports=reports,
    )


def _opened(folder: Path, project: str) -> SymbolStore:
    """The store in a folder that has to be there. Raises `UsageError`."""
    from uploader.store.folder import FolderBlobs
    from uploader.store.store import SymbolStore as Store

    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", remedy="Name a store's folder: what upload --to FOLDER has filled.")
    store = Store(FolderBlobs(folder), project)
    if not (folder / project).is_dir():
        others = sorted(path.parent.name for path in folder.glob("*/artifacts"))[:5]
        remedy = (
            f"It holds {', '.join(others)}: name one with --project."
            if others
            else "Name a store's folder: what upload --to FOLDER has filled."
        )
        if others or any(folder.iterdir()):
            raise UsageError(f"{folder} holds nothing of the project {project}", remedy=remedy)
    return store
