"""``symup convert``."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from uploader.cli import options, tell, terminal


def command(
    inputs: options.Paths,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="OUT", help="The .gsym file to write, or a folder for several."),
    ],
    no_dwarf: options.NoDwarf = False,
    include: options.Include = None,
    exclude: options.Exclude = None,
    debug_dir: options.DebugDir = None,
    debuginfod: options.DebugInfoD = False,
    require: options.Require = None,
    allow_empty: options.AllowEmpty = False,
    jobs: options.Jobs = None,
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
        jobs=jobs,
        dwarf=False if no_dwarf else None,
        debug_dir=debug_dir,
        debuginfod=debuginfod or None,
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
            include=chosen.include,
            exclude=chosen.exclude,
            dwarf=chosen.dwarf,
            require=chosen.require,
            allow_empty=allow_empty,
            debug=options.debug_sources(chosen, observer),
        )
    finally:
        terminal.close(observer)
    return tell.run(
        "convert", finished, seconds=time.monotonic() - started, as_json=as_json, quiet=quiet, verbose=verbose
    )
