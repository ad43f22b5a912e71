"""``symup whoami``."""

from __future__ import annotations

import os

from uploader.cli import options, servers, terminal
from uploader.errors import ExitCode, NotAllowed
from uploader.report.words import printable

SCHEMA = "symup.whoami/1"


def command(to: options.To = None, project: options.Project = None, as_json: options.Json = False) -> int:
    """Tell which token is used for a destination, where it comes from, and what it may do there. Never shows the token.

    The exit code is 4 where the server does not take it, or wants one and there is none.

    Example: symup whoami --to https://symbols.example.com
    """
    chosen = options.settings(to=to, project=project)
    from uploader.auth.credentials import find_token

    destination = options.open_destination(chosen)
    is_server = servers.is_server(destination.url)
    token = find_token(destination.url, env=os.environ) if is_server else None
    refused: NotAllowed | None = None
    may_upload = may_ask = not is_server
    server = ""
    try:
        if is_server:
            server = destination.capabilities().server
            may_upload, may_ask = servers.may(destination)
    except NotAllowed as error:
        refused = error
    finally:
        destination.close()
    code = ExitCode.DONE if refused is None and (may_upload or may_ask) else ExitCode.NOT_ALLOWED
    if as_json:
        terminal.document(
            {
                "schema": SCHEMA,
                "destination": destination.url,
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
        terminal.result(f"{printable(destination.url)}  {came}")
        if refused is None:
            rights = [name for name, has in (("upload", may_upload), ("ask what is stored", may_ask)) if has]
            terminal.result(f"  project {printable(chosen.project)}: may {' and '.join(rights) or 'do nothing'}")
    if refused is not None:
        terminal.error(refused)
    return int(code)
