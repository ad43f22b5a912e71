"""The keys of a store: those of chunks, manifests, aliases, and of what is to be collected.

::

    <project>/chunks/<aa>/<sha256>
    <project>/artifacts/<aa>/<id>/<kind>.json
    <project>/aliases/<scheme>/<id>
    <project>/condemned/<name>.json

``<id>`` is the bare hex of a GNU build-id, else ``<scheme>-<value>``: the schemes can't meet, since no other scheme's name is hex.
``<aa>`` is the first two characters of the digest or of the id's value.
"""

from __future__ import annotations

import re

from uploader.errors import UsageError
from uploader.model import IdScheme, SymbolId
from uploader.protocol.wire.json_text import is_sha256
from uploader.protocol.wire.kinds import KIND_FORM

PROJECT = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")


def checked_project(name: str) -> str:
    """``name`` if it may name a project: 1 to 64 of ``a-z0-9._-``, a letter or digit at both ends. Raises `UsageError`."""
    if not PROJECT.fullmatch(name) or ".." in name:
        raise UsageError(
            f"{name[:80]!r} can't name a project",
            remedy="Use 1 to 64 lowercase letters, digits, dots, hyphens and underscores; begin and end with a letter or digit.",
        )
    return name


def chunk_key(project: str, sha256: str) -> str:
    """The key of a chunk. Raises `ValueError` for what is no digest in lowercase hex."""
    if not is_sha256(sha256):
        raise ValueError(f"not a SHA-256 in lowercase hex: {sha256[:80]!r}")
    return f"{project}/chunks/{sha256[:2]}/{sha256}"


def chunk_prefix(project: str) -> str:
    """The common beginning of the keys of a project's chunks."""
    return f"{project}/chunks/"


def manifest_key(project: str, symbol_id: SymbolId, kind: str) -> str:
    """The key of an artifact's manifest. Raises `ValueError` for a malformed kind."""
    if not KIND_FORM.fullmatch(kind):
        raise ValueError(f"not a kind of artifact: {kind[:80]!r}")
    name = symbol_id.value if symbol_id.scheme is IdScheme.GNU else f"{symbol_id.scheme}-{symbol_id.value}"
    return f"{project}/artifacts/{symbol_id.value[:2]}/{name}/{kind}.json"


def manifest_prefix(project: str) -> str:
    """The common beginning of the keys of a project's manifests."""
    return f"{project}/artifacts/"


def condemned_key(project: str, name: str) -> str:
    """The key of a list of what a collection is about to delete."""
    return f"{condemned_prefix(project)}{name}.json"


def condemned_prefix(project: str) -> str:
    """The common beginning of the keys of such lists."""
    return f"{project}/condemned/"


def alias_prefix(project: str) -> str:
    """The common beginning of the keys of a project's aliases."""
    return f"{project}/aliases/"


def alias_of(project: str, key: str) -> SymbolId | None:
    """The alias whose blob has that key; None for another key."""
    scheme, _, value = key.removeprefix(alias_prefix(project)).partition("/")
    try:
        alias = SymbolId(scheme=IdScheme(scheme), value=value)
    except ValueError:
        return None
    return alias if alias_key(project, alias) == key else None


def alias_key(project: str, alias: SymbolId) -> str:
    """The key of the blob that names the primary id that an alias stands for."""
    return f"{project}/aliases/{alias.scheme}/{alias.value}"
