"""The options that several commands share, and how they meet the configuration."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from uploader import config

if TYPE_CHECKING:
    from uploader.transfer.protocol import Destination

Paths = Annotated[list[Path], typer.Argument(help="Files and folders.", show_default=False, metavar="PATHS...")]
To = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="DEST",
        help="Where to: https://host/base or a folder. Without it, a folder in your data directory. [env SYMUP_TO]",
    ),
]
Project = Annotated[
    str | None,
    typer.Option("--project", metavar="NAME", help="The project within the destination. [env SYMUP_PROJECT]"),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", help="Files extracted at once; all processors by default. [env SYMUP_JOBS]"
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="GLOB", help="Only files that match, in folders; repeatable."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="No files or folders that match; repeatable."),
]
NoDwarf = Annotated[bool, typer.Option("--no-dwarf", help="Leave debug information out: function names only.")]
Require = Annotated[
    str | None,
    typer.Option("--require", metavar="QUALITY", help="Exit with 7 if a file is poorer: full, lines or functions."),
]
AllowEmpty = Annotated[bool, typer.Option("--allow-empty", help="Nothing with symbols found is no failure.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Every file, whatever became of it.")]


def settings(**flags: Any) -> config.Settings:
    """The settings of this run: these flags over environment and configuration files. Raises `UsageError`."""
    return config.load(flags)


def open_destination(chosen: config.Settings) -> Destination:
    """Opens what the settings name. Raises `UsageError`; contacts nothing yet."""
    from uploader.auth.credentials import find_token
    from uploader.transfer.destination import open_destination as open_it

    return open_it(
        chosen.to,
        project=chosen.project,
        env=os.environ,
        token=lambda url: find_token(url, env=os.environ),
    )
