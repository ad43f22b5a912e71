"""``symup push``."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from uploader.cli import options, stores, tell, terminal
from uploader.cli.groups import Addressed, Gated, Output, grouped
from uploader.errors import UsageError
from uploader.words import printable


@grouped
def command(
    store: Annotated[
        str,
        typer.Argument(
            help="A store: a folder, as upload --to FOLDER fills one, or a bucket (s3://…).", metavar="STORE"
        ),
    ],
    addressed: Addressed,
    gated: Gated,
    output: Output,
) -> int:
    """Bring what one store holds of a project to another: only what is missing there travels.

    So one job can fill a folder and keep it as its artifact, and a later job, which may do so, send it on. Only gates given as
    flags or in the environment count here: those of symup.toml speak of paths, which a store does not know.

    Example: symup push symbols/ --to https://symbols.example.com
    """
    started = time.monotonic()
    chosen = options.settings(to=addressed.to, project=addressed.project)
    gates = options.gates_without_files(**gated.flags())
    reports = output.reports()
    if chosen.to is None:
        raise UsageError("push needs a destination", remedy="Name it with --to or SYMUP_TO.")
    source = stores.opened(store, chosen.project)
    destination = options.open_destination(chosen)
    if addressed.to is None and not output.quiet:
        terminal.say(f"symup: pushing to {printable(destination.url)}")

    from uploader.pipeline.gates import judged
    from uploader.pipeline.push import push

    observer = terminal.progress(quiet=output.quiet)
    try:
        finished = push(
            source,
            destination,
            progress=observer,
            force=addressed.force,
            dry_run=addressed.dry_run,
            allow_empty=gated.allow_empty,
            label=f"project {chosen.project} of {store}",
        )
    finally:
        terminal.close(observer)
    return tell.run(
        "push",
        judged(finished, gates),
        output=output,
        reports=reports,
        seconds=time.monotonic() - started,
        destination=destination.url,
        project=chosen.project,
    )
