"""Finds the token for a symbol server: flag, environment, keyring, netrc, in this order."""

from __future__ import annotations

import netrc as netrc_file
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from uploader.credentials.token import Token
from uploader.errors import NotAllowed, UsageError

KEYRING_SERVICE = "symup"
TOKEN_VARIABLE = "SYMUP_TOKEN"  # noqa: S105  # a name, no secret


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
    given, origin = (
        (flag, "--token") if flag is not None else (env.get(TOKEN_VARIABLE, "").strip() or None, TOKEN_VARIABLE)
    )
    if given is not None and named_by is None:
        return _given(given, origin)
    # Keyless login of CI (OIDC) has its place here, before what a person stored.
    if keyring and (found := _from_keyring(dest_url)) is not None:
        return found
    # An entry of netrc is for a host. Behind its other ports, and in plain text, other people's servers may listen.
    if netrc and (named_by is None or _is_usual_https(dest_url)) and (found := _from_netrc(dest_url, env)) is not None:
        return found
    if given is not None:
        raise NotAllowed(
            f"{origin} is not sent to {dest_url}: only {named_by} names that server",
            remedy=f"If that is where your token belongs, say so: --to {dest_url}, or in CI the variable SYMUP_TO={dest_url}. "
            f"Once for this machine: symup login {dest_url}, or 'trusted' in your own configuration.",
        )
    return None


def _is_usual_https(dest_url: str) -> bool:
    """Whether it is https on its usual port."""
    parts = urlsplit(dest_url)
    return parts.scheme == "https" and parts.port in (None, 443)


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
