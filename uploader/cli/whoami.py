"""``symup whoami``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uploader import places
from uploader.cli import options, servers, terminal
from uploader.errors import ExitCode, NotAllowed
from uploader.words import printable

if TYPE_CHECKING:
    from uploader.credentials.token import Token

SCHEMA = "symup.whoami/1"


def command(to: options.To = None, project: options.Project = None, as_json: options.Json = False) -> int:
    """Tell which token is used for a destination, where it comes from, and what it may do there. Never shows the token.

    The exit code is 4 where the server does not take it, or wants one and there is none.

    Example: symup whoami --to https://symbols.example.com
    """
    chosen = options.settings(to=to, project=project)
    named_by = chosen.unconfirmed.get("to")
    is_server = chosen.to is not None and places.is_server(chosen.to)
    token: Token | None = None
    refused: NotAllowed | None = None
    may_upload = may_ask = not is_server
    url, server = chosen.to or "", ""
    try:
        if is_server and chosen.to is not None:
            url = places.server_url(chosen.to)
            token = options.token_for(url, chosen)
        destination = options.open_destination(chosen)
        url = destination.url
        try:
            if is_server:
                server = destination.capabilities().server
                may_upload, may_ask = servers.may(destination)
        finally:
            destination.close()
    except NotAllowed as error:
        refused = error
    code = ExitCode.DONE if refused is None and (may_upload or may_ask) else ExitCode.NOT_ALLOWED
    if as_json:
        terminal.document(
            {
                "schema": SCHEMA,
                "destination": url,
                "named_by": None if named_by is None else str(named_by),
                "server": server or None,
                "project": chosen.project,
                "token_from": None if token is None else token.origin,
                "may_upload": may_upload,
                "may_ask": may_ask,
                "exit_code": int(code),
                "reason": None if refused is None else refused.message,
            }
        )
    else:
        came = (
            f"a token from {token.origin}" if token else "no token" if is_server else "no token needed, it is a folder"
        )
        terminal.result(f"{printable(url)}  {came}")
        if named_by is not None:
            terminal.result(
                f"  named by {printable(str(named_by))} alone: it gets no token but one that is made out to it"
            )
        if refused is None:
            rights = [name for name, has in (("upload", may_upload), ("ask what is stored", may_ask)) if has]
            terminal.result(f"  project {printable(chosen.project)}: may {' and '.join(rights) or 'do nothing'}")
    if refused is not None:
        terminal.error(refused)
    return int(code)
