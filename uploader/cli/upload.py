"""``symup upload``."""

from __future__ import annotations

import time

from uploader.cli import options, tell, terminal
from uploader.cli.groups import Addressed, Gated, Output, Selected, grouped, plan
from uploader.words import printable


@grouped
def command(
    paths: options.Paths,
    addressed: Addressed,
    selected: Selected,
    gated: Gated,
    output: Output,
) -> int:
    """Send the symbols of binaries to a symbol store: only what is missing there, or better than what is there.

    Binaries and debug files are found by content in the files and folders given. Interrupted? Run the same command again: it
    sends only what is still missing.

    Example: symup upload build/ --to https://symbols.example.com --exclude '*_test'
    """
    started = time.monotonic()
    chosen = options.settings(to=addressed.to, project=addressed.project, **selected.flags(), **gated.flags())
    reports = output.reports(*paths)
    destination = options.open_destination(chosen)
    if addressed.to is None and not output.quiet:
        terminal.say(f"symup: sending to {printable(destination.url)}")
    if not output.quiet:
        terminal.tell_core()

    from uploader.pipeline.gates import judged, stored_figures
    from uploader.pipeline.upload import upload

    observer = terminal.progress(quiet=output.quiet)
    try:
        asked = plan(paths, chosen, observer=observer, selected=selected, allow_empty=gated.allow_empty)
        finished = upload(asked, destination, progress=observer, force=addressed.force, dry_run=addressed.dry_run)
    finally:
        terminal.close(observer)
    return tell.run(
        "upload",
        judged(finished, options.gates(chosen), stored=lambda outcome: stored_figures(outcome, destination)),
        output=output,
        reports=reports,
        seconds=time.monotonic() - started,
        destination=destination.url,
        project=chosen.project,
        plan=asked,
    )
