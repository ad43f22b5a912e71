"""``symup serve``."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer

from uploader import places
from uploader.cli import terminal
from uploader.errors import UsageError
from uploader.words import printable


def command(
    store: Annotated[
        str | None,
        typer.Option(
            "--store",
            metavar="DEST",
            help="The store: a folder, or a bucket (s3://…); the folder that upload uses by default.",
        ),
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
    create: Annotated[bool, typer.Option("--create", help="Make the folder of --store where there is none.")] = False,
    max_request_size: Annotated[
        str | None,
        typer.Option(
            "--max-request-size",
            metavar="SIZE",
            envvar="SYMUP_MAX_REQUEST_SIZE",
            help="The largest request to take, like 1M: as much as the proxies in front let through. Clients are told, and cut their "
            "chunks to fit.",
        ),
    ] = None,
    access_log: Annotated[bool, typer.Option("--access-log", help="A line on stderr for each request.")] = False,
) -> int:
    """Serve a symbol store over HTTP: from a folder or a bucket, to this machine only unless told otherwise.

    The URL is the first line on stdout. Ctrl-C ends it, after the requests under way. Needs: pip install 'symup[server]'

    Example: symup serve --store /srv/symbols --create --port 8753
    """
    from uploader.server.serve import insist_on_libraries, serve

    limit_size_bytes = _limit_size_bytes(max_request_size or os.environ.get("SYMUP_MAX_REQUEST_SIZE") or None)
    insist_on_libraries()
    from uploader.destinations.open import open_place

    bucket = None if store is None or places.scheme_of(store) in ("", "file") else store
    folder = None if bucket is not None else _folder(store, create=create)
    blobs = open_place(bucket or str(folder), env=os.environ)

    def on_listening(url: str) -> None:
        emptiness = "" if folder is None else _emptiness(folder)
        terminal.say(f"symup: serving the store in {printable(bucket or str(folder))}{emptiness}; Ctrl-C ends it")
        terminal.tell_core()
        terminal.announce(url)

    # The server has stopped by then, and being asked to stop is no failure of a server.
    with contextlib.suppress(KeyboardInterrupt):
        serve(
            blobs,
            host=host,
            port=port,
            tokens_path=tokens,
            max_request_size_bytes=limit_size_bytes,
            on_listening=on_listening,
            access_log=access_log,
        )
    return 0


def _limit_size_bytes(said: str | None) -> int:
    from uploader.config.reading import size_bytes_of
    from uploader.server.serve import DEFAULT_REQUEST_SIZE_BYTES

    try:
        return DEFAULT_REQUEST_SIZE_BYTES if said is None else size_bytes_of(said)
    except ValueError as error:
        raise UsageError(f"--max-request-size {said!r} is no size", remedy="Give one like 1M.") from error


def _folder(named: str | None, *, create: bool) -> Path:
    """The folder to serve. One that is named has to be there: with a typo in its name it would be an empty store. Raises `UsageError`."""
    store = None if named is None else places.folder_of(named)
    if store is None:
        from uploader.destinations.open import default_folder

        return default_folder()
    if store.is_dir():
        return store
    if not create or store.exists():
        raise UsageError(f"{store} is no folder", remedy="Name the folder of a store; --create makes a new one.")
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"can't make {store}: {error.strerror or error}") from error
    return store


def _emptiness(folder: Path) -> str:
    return "" if any(folder.glob("*/artifacts")) else ", which holds nothing yet"
