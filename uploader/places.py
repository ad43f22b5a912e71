"""The places that destinations name by their text: a symbol server by its URL, or a folder of this machine."""

from __future__ import annotations

import re
from pathlib import Path

from uploader.errors import UsageError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_PORT = r":[0-9]{1,5}"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = re.compile(
    rf"(?:{_LABEL}(?:\.{_LABEL})+\.?(?:{_PORT})?|{_LABEL}{_PORT}|\[[0-9A-Fa-f:.]+\](?:{_PORT})?|localhost)(?:/.*)?"
)
"""A name with dots, a name with a port, an address; and what may follow in a URL."""
_THIS_MACHINE = re.compile(r"(?:localhost|127\.[0-9.]+|\[::1\])(?![A-Za-z0-9.-])")


def scheme_of(dest: str) -> str:
    """The scheme of a URL, in lower case; empty for a path."""
    matched = _SCHEME.match(dest)
    return "" if matched is None else matched[1].lower()


def is_server(dest: str) -> bool:
    """Whether ``dest`` names a server, which a token is for."""
    return scheme_of(dest) in ("http", "https")


def server_url(dest: str) -> str:
    """A server's URL in one spelling, without a trailing slash. Raises `UsageError`, never showing a credential in it."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(dest)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UsageError("the destination's URL can't be read", remedy="It looks like https://host/base.") from None
    if "@" in parts.netloc:
        raise UsageError(
            f"the URL of {host} holds a user name or password",
            remedy="Take it out and give the token with SYMUP_TOKEN.",
        )
    if not host or parts.query or parts.fragment:
        raise UsageError(
            "a server's URL has a host and neither query nor fragment", remedy="It looks like https://host/base."
        )
    shown_host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme.lower()}://{shown_host}{'' if port is None else f':{port}'}{parts.path.rstrip('/')}"


def folder_of(dest: str) -> Path | None:
    """The folder that a path or a ``file://`` URL names; None for a URL of another kind. Raises `UsageError` for a URL of elsewhere."""
    scheme = scheme_of(dest)
    if not scheme:
        return expanded(dest)
    if scheme != "file":
        return None
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(dest)
    if parts.netloc not in ("", "localhost") or not parts.path:
        raise UsageError("a file URL names a local folder", remedy="It looks like file:///srv/symbols.")
    return Path(unquote(parts.path))


def expanded(text: str) -> Path:
    """The path, with the home folder that a ``~`` in front stands for. Raises `UsageError` where there is none."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise UsageError(f"{text!r} names a home folder that isn't there", remedy="Write the whole path.") from None


def check_spelling(dest: str, *, beside: Path | None = None) -> None:
    """Raises `ValueError` with both spellings for what may be a server without its ``https://`` as well as a folder.

    A folder that is there, ``beside`` another or in the working directory, is meant.
    """
    if _HOST.fullmatch(dest) is None or (beside or Path()).joinpath(dest).is_dir():
        return
    scheme = "http" if _THIS_MACHINE.match(dest) else "https"
    raise ValueError(
        f"{dest!r} may be a server or a folder: write {scheme}://{dest} for the server, or ./{dest} for a new folder"
    )
