"""Stores that commands name by a folder or a bucket."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from uploader import places
from uploader.errors import UsageError

if TYPE_CHECKING:
    from uploader.store.store import SymbolStore


def opened(store: str, project: str) -> SymbolStore:
    """The store; a folder has to be there. Raises `UsageError`."""
    from uploader.destinations.open import open_store

    if places.scheme_of(store) in ("", "file"):
        _insist(places.folder_of(store) or Path(store), project)
    return open_store(store, project=project, env=os.environ)


def _insist(folder: Path, project: str) -> None:
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder", remedy="Name a store's folder: what upload --to FOLDER has filled.")
    if (folder / project).is_dir():
        return
    others = sorted(path.parent.name for path in folder.glob("*/artifacts"))[:5]
    remedy = (
        f"It holds {', '.join(others)}: name one with --project."
        if others
        else "Name a store's folder: what upload --to FOLDER has filled."
    )
    if others or any(folder.iterdir()):
        raise UsageError(f"{folder} holds nothing of the project {project}", remedy=remedy)
