"""Tokens that a person stored on this machine, each made out to a server: the keyring, and netrc."""

from __future__ import annotations

import netrc as netrc_file
import os
from pathlib import Path
from urllib.parse import urlsplit

from uploader.credentials.port import Asked
from uploader.credentials.token import Token

KEYRING_SERVICE = "symup"


class Keyring:
    """The system's keyring, where `symup login` keeps tokens."""

    name = "keyring"
    made_out_to_servers = True

    def token(self, asked: Asked) -> Token | None:
        """See `CredentialSource`."""
        try:
            import keyring

            secret = keyring.get_password(KEYRING_SERVICE, asked.url)
        except Exception:  # noqa: BLE001  # a plugin's
            # Backends come from plugins and raise what they like (no D-Bus, a locked wallet): a headless machine has none at all.
            return None
        return _stored(secret, self.name)


class Netrc:
    """``~/.netrc``, or the file that ``NETRC`` names: an entry for this very host."""

    name = "netrc"
    made_out_to_servers = True

    def token(self, asked: Asked) -> Token | None:
        """See `CredentialSource`."""
        # An entry is for a host. Behind its other ports, and in plain text, other people's servers may listen.
        if asked.unconfirmed and not _is_usual_https(asked.url):
            return None
        try:
            host = urlsplit(asked.url).hostname
            named = asked.env.get("NETRC", "")
            path = Path(named) if named else Path(asked.env.get("HOME") or os.path.expanduser("~")) / ".netrc"
            # Only an entry for this very host: the file's default entry would hand its password to any server.
            entry = netrc_file.netrc(str(path)).hosts.get(host or "")
        except (OSError, ValueError, netrc_file.NetrcParseError):
            return None
        return None if entry is None else _stored(entry[2], self.name)


def _is_usual_https(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and parts.port in (None, 443)


def _stored(secret: str | None, origin: str) -> Token | None:
    try:
        return None if secret is None else Token(secret.strip(), origin=origin)
    except ValueError:
        return None
