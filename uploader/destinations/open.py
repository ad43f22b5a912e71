"""Opens the place that DEST names, of whatever kind it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from uploader import places
from uploader.credentials.token import Token
from uploader.destinations.bucket import BucketKind
from uploader.destinations.folder import FolderDestination, FolderKind
from uploader.destinations.port import DestinationKind, FindToken, Opening
from uploader.destinations.server_kind import ServerKind
from uploader.errors import UsageError
from uploader.protocol.words import Destination
from uploader.store.blobs import Blobs
from uploader.store.keys import checked_project
from uploader.store.store import SymbolStore

KINDS: tuple[DestinationKind, ...] = (FolderKind(), ServerKind(), BucketKind())
"""All kinds of destination. A new one is a file beside this one, and a place in this line."""


def no_token(_url: str) -> Token | None:
    """Finds none."""
    return None


def default_folder() -> Path:
    """The folder that stands in where no destination is named: in the user's data directory."""
    import platformdirs

    return platformdirs.user_data_path("symup", appauthor=False) / "store"


def open_destination(
    dest: str | None,
    *,
    project: str,
    env: Mapping[str, str],
    token: FindToken = no_token,
    allow_insecure: bool = False,
) -> Destination:
    """The destination ``dest``: a server's URL, a bucket's (``s3://…``), a path or ``file:///…``; None is `default_folder`.

    ``token`` is asked for a server's URL only. Nothing is contacted or made yet. ``allow_insecure`` lets a token travel over plain
    http beyond loopback. Raises `UsageError`: for what can't be read or isn't supported, for a bad project name, and without
    ``dest`` where ``env`` says that this is a CI job, since that folder would go with the runner.
    """
    checked_project(project)
    if dest is None or not dest.strip():
        if env.get("CI", "").strip().lower() not in ("", "0", "false", "no"):
            raise UsageError(
                "no destination is named, and a folder on this CI runner would go with it",
                remedy="Name one with --to or SYMUP_TO: a symbol server's URL, or a folder that outlives the job.",
            )
        return FolderDestination(default_folder(), project)
    opening = Opening(project=project, token=token, env=env, allow_insecure=allow_insecure)
    return _kind_of(dest).open(dest, opening)


def open_place(dest: str, *, env: Mapping[str, str], project: str = "default") -> Blobs:
    """The place that keeps the bytes of the store ``dest``. Raises `UsageError`, also for a server, which has its own."""
    place = _kind_of(dest).place(dest, Opening(project=project, token=no_token, env=env))
    if place is None:
        raise UsageError(
            f"{dest} is a server, and this is done where its store is",
            remedy="Run it there, and name the folder or the bucket.",
        )
    return place


def open_store(dest: str, *, project: str, env: Mapping[str, str]) -> SymbolStore:
    """One project of the store ``dest``, which is a folder or a bucket. Raises `UsageError`."""
    return SymbolStore(open_place(dest, env=env, project=project), project)


def _kind_of(dest: str) -> DestinationKind:
    scheme = places.scheme_of(dest)
    kind = next((kind for kind in KINDS if scheme in kind.schemes), None)
    if kind is None:
        raise UsageError(
            f"{scheme}:// is no destination that symup knows",
            remedy="Name an https:// URL, a bucket (s3://, gs://, az://) or a folder.",
        )
    return kind
