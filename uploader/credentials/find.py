"""Finds the token for a symbol server. A new way to one is a file beside this one and a line in `SOURCES`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from uploader.credentials.given import Environment, Flag
from uploader.credentials.port import Asked, CredentialSource
from uploader.credentials.stored import Keyring, Netrc
from uploader.credentials.token import Token
from uploader.errors import NotAllowed

SOURCES: tuple[CredentialSource, ...] = (Flag(), Environment(), Keyring(), Netrc())
"""The first that has a token gives it: what was given for this run before what a person stored."""


def find_token(
    dest_url: str,
    *,
    flag: str | None = None,
    env: Mapping[str, str],
    keyring: bool = True,
    netrc: bool = True,
    named_by: Path | None = None,
) -> Token | None:
    """The token for the server at ``dest_url``, or None.

    ``flag`` is what the command line gave. A keyring or netrc file that is missing or broken is the same as one without an entry.
    ``named_by`` is the file of a checkout that names the server, where nobody else does: such a server gets only a token
    that the user has made out to it. Raises `UsageError`, never with the secret in it, for a flag or variable that can't be a token;
    `NotAllowed` for one that may not be sent there.
    """
    left_out = {name for name, wanted in ((Keyring.name, keyring), (Netrc.name, netrc)) if not wanted}
    asked = Asked(url=dest_url, env=env, flag=flag, unconfirmed=named_by is not None)
    withheld = ""
    for source in SOURCES:
        if source.name in left_out:
            continue
        token = source.token(asked)
        if token is None:
            continue
        if named_by is None or source.made_out_to_servers:
            return token
        withheld = withheld or source.name
    if withheld:
        raise NotAllowed(
            f"{withheld} is not sent to {dest_url}: only {named_by} names that server",
            remedy=f"If that is where your token belongs, say so: --to {dest_url}, or in CI the variable SYMUP_TO={dest_url}. "
            f"Once for this machine: symup login {dest_url}, or 'trusted' in your own configuration.",
        )
    return None
