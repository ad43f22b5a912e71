"""Static tokens: the digests that a server keeps of them, and the rights of each.

The file is TOML; it holds digests only, so that nobody can log in by reading it::

    [[token]]
    name = "ci of web"
    sha256 = "…"                # of the token, lowercase hex
    scopes = ["upload"]         # upload, read, admin (which is all)
    project = "web"             # or "*"
"""

from __future__ import annotations

import enum
import hashlib
import hmac
import tomllib
from pathlib import Path
from typing import Any

from uploader.errors import UsageError
from uploader.protocol.wire.json_text import is_sha256
from uploader.store.keys import checked_project
from uploader.values import frozen

ANY_PROJECT = "*"


class Scope(enum.StrEnum):
    """A right of a token in its project."""

    UPLOAD = "upload"
    """Ask, send chunks, commit, and read manifests."""
    READ = "read"
    """Read manifests, symbols and chunks."""
    ADMIN = "admin"
    """All of it."""


@frozen
class Grant:
    """One token of the file."""

    name: str
    sha256: str
    scopes: frozenset[Scope]
    project: str

    def allows(self, scopes: frozenset[Scope], project: str) -> bool:
        """Whether it may do what one of ``scopes`` may, in ``project``."""
        return self.project in (ANY_PROJECT, project) and not self.scopes.isdisjoint(scopes | {Scope.ADMIN})


class Tokens:
    """All tokens of a server."""

    def __init__(self, grants: tuple[Grant, ...]) -> None:
        """An empty tuple lets nobody in."""
        self._grants = grants

    def find(self, secret: str) -> Grant | None:
        """The token's grant. Takes the same time whichever it is, and whether it is one."""
        digest = digest_of(secret)
        found = None
        for grant in self._grants:
            if hmac.compare_digest(grant.sha256, digest):
                found = grant
        return found


def digest_of(secret: str) -> str:
    """The digest that is kept of a token. A plain SHA-256 is enough for a secret with 256 bits of chance in it."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def read_tokens(path: Path) -> Tokens:
    """Reads a tokens file. Raises `UsageError` that names the entry at fault."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the tokens file {path} can't be read: {error.strerror or error}") from error
    except ValueError as error:
        # Its text may quote the file; a token put there in plain by mistake must not show.
        raise UsageError(f"the tokens file {path} is not sound TOML") from error.__cause__
    entries = document.get("token", [])
    if not isinstance(entries, list) or set(document) - {"token"}:
        raise UsageError(f"the tokens file {path} holds [[token]] entries and nothing else")
    return Tokens(tuple(_grant(path, number, entry) for number, entry in enumerate(entries, 1)))


def _grant(path: Path, number: int, entry: Any) -> Grant:
    where = f"entry {number} of the tokens file {path}"
    if not isinstance(entry, dict) or set(entry) - {"name", "sha256", "scopes", "project"}:
        raise UsageError(f"{where} has name, sha256, scopes and project, and nothing else")
    sha256, project, scopes, name = (entry.get(member) for member in ("sha256", "project", "scopes", "name"))
    if not isinstance(sha256, str) or not is_sha256(sha256):
        raise UsageError(f"{where}: sha256 is the token's SHA-256 in lowercase hex, never the token itself")
    if not isinstance(scopes, list) or not scopes or not all(scope in list(Scope) for scope in scopes):
        raise UsageError(f"{where}: scopes are some of {', '.join(Scope)}")
    if not isinstance(project, str):
        raise UsageError(f'{where}: project is a name, or "*" for all')
    if project != ANY_PROJECT:
        checked_project(project)
    return Grant(
        name=name if isinstance(name, str) else f"token {number}",
        sha256=sha256,
        scopes=frozenset(Scope(scope) for scope in scopes),
        project=project,
    )
