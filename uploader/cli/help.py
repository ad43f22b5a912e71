"""``symup help``."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    name: Annotated[str | None, typer.Argument(help="A command; all of them without one.", metavar="[COMMAND]")] = None,
) -> int:
    """Show how a command is used, as COMMAND --help does.

    Example: symup help upload
    """
    from uploader.cli.commands import invoke

    return invoke(["--help"] if name is None else [name, "--help"])
