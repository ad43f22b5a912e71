"""``symup login``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from uploader.cli import options, servers, terminal
from uploader.credentials.token import Token
from uploader.errors import UsageError
from uploader.words import printable

MAX_TOKEN_CHARACTERS = 64 * 1024


CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}
"""A word that does not belong there may be a token: no message about it may show it."""


def command(
    context: typer.Context,
    dest: options.Dest,
    allow_insecure: Annotated[
        bool, typer.Option("--allow-insecure", help="Send the token over plain http beyond this machine.")
    ] = False,
    check: Annotated[bool, typer.Option(help="Ask the server whether it knows the token before it is kept.")] = True,
) -> int:
    """Keep the token of a symbol server in this machine's keyring. There is one for each server.

    The token is asked for, unseen, or read from stdin; never from an argument, where others could read it.

    Example: symup login https://symbols.example.com
    """
    if context.args:
        raise UsageError(
            "login takes one server and no token as an argument, where others could read it",
            remedy="Give the token at the prompt or on stdin. If you have just written it here, make a new one.",
        )
    url = servers.checked_url(dest)

    from uploader.credentials.keep import check_keeps, keep

    check_keeps(url)
    token = _token(url)
    if check:
        servers.check(url, token, allow_insecure=allow_insecure)
    name = keep(url, token)
    terminal.say(f"symup: the token of {printable(url)} is in the keyring ({printable(name)})")
    return 0


def _token(url: str) -> Token:
    """Reads it where nobody sees it."""
    if sys.stdin.isatty():
        import getpass

        try:
            text = getpass.getpass(f"Token for {printable(url)} (not shown): ", stream=sys.stderr)
        except EOFError:
            text = ""
    else:
        text = sys.stdin.readline(MAX_TOKEN_CHARACTERS)
    try:
        return Token(text.strip(), origin="login")
    except ValueError:
        pass
    raise UsageError(
        "that can't be a token: it is empty, or holds spaces or characters beyond ASCII",
        remedy="Give it as one line: at the prompt, or on stdin.",
    )
