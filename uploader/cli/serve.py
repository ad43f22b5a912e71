"""``symup serve``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from uploader.cli import terminal


def command(
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="FOLDER", help="The folder of the store; the one that upload uses by default."),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; others than loopback need --tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port to listen on; 0 takes a free one.")
    ] = 8753,
    tokens: Annotated[
        Path | None,
        typer.Option("--tokens", metavar="FILE", help="The tokens that may do something, in TOML, as digests."),
    ] = None,
    access_log: Annotated[bool, typer.Option("--access-log", help="A line on stderr for each request.")] = False,
) -> int:
    """Serve a symbol store over HTTP: from a folder, to this machine only unless told otherwise.

    The URL is the first line on stdout. Ctrl-C ends it, after the requests under way. Needs: pip install 'symup[server]'

    Example: symup serve --store /srv/symbols --port 8753
    """
    from uploader.server.serve import serve

    if store is None:
        from uploader.transfer.destination import default_folder

        store = default_folder()
    terminal.say(f"symup: serving the store in {store}; Ctrl-C ends it")
    terminal.tell_core()
    # The server has stopped by then, and being asked to stop is no failure of a server.
    with contextlib.suppress(KeyboardInterrupt):
        serve(store, host=host, port=port, tokens_path=tokens, on_listening=terminal.announce, access_log=access_log)
    return 0
