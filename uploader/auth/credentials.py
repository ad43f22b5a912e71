"""Finds the token for a symbol server: flag, environment, keyring, netrc, in this order."""

from __future__ import annotations

import netrc as netrc_file
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from uploader.auth.token import Token
from uploader.errors import UsageError

KEYRING_SERVICE = "symup"
TOKEN_VARIABLE = "SYMUP_TOKEN"  # noqa: S105  # a name, no secret


def find_token(
    dest_url: str, *, flag: str | None = None, env: Mapping[str, str], keyring: bool = True, netrc: bool = True
) -> Token | None:
    """The token for the server at ``dest_url``, or None.

    ``flag`` is what the command line gave. A keyring or netrc file that is missing or broken is the same as one without an entry.
    Raises `UsageError`, never with the secret in it, for a flag or variable that can't be a token.
    """
    if flag is not None:
        return _given(flag, "--token")
    if env.get(TOKEN_VARIABLE, "").strip():
        return _given(env[TOKEN_VARIABLE], TOKEN_VARIABLE)
    # Keyless login of CI (OIDC) has its place here, before what a person stored.
    if keyring and (found := _from_keyring(dest_url)) is not None:
        return found
    return _from_netrc(dest_url, env) if netrc else None


def _given(text: str, origin: str) -> Token:
    try:
        return Token(text.strip(), origin=origin)
    except ValueError:
        pass
    raise UsageError(
        f"{origin} can't be a token: it is empty, or holds spaces or characters beyond ASCII",
        remedy="Copy the token again, as a whole and on one line.",
    )


def _from_keyring(dest_url: str) -> Token | None:
    try:
        import keyring

        secret = keyring.get_password(KEYRING_SERVICE, dest_url)
    except Exception:  # noqa: BLE001  # a plugin's
        # Backends come from plugins and raise what they like (no D-Bus, a locked wallet): a headless machine has none at all.
        return None
    return _stored(secret, "keyring")


def _from_netrc(dest_url: str, env: Mapping[str, str]) -> Token | None:
    try:
        host = urlsplit(dest_url).hostname
        named = env.get("NETRC", "")
        path = Path(named) if named else Path(env.get("HOME") or os.path.expanduser("~")) / ".netrc"
        # Only an entry for this very host: the file's default entry would hand its password to any server.
        entry = netrc_file.netrc(str(path)).hosts.get(host or "")
    except (OSError, ValueError, netrc_file.NetrcParseError):
        return None
    return None if entry is None else _stored(entry[2], "netrc")


def _stored(secret: str | None, origin: str) -> Token | None:
    try:
        return None if secret is None else Token(secret.strip(), origin=origin)
    except ValueError:
        return None
