"""A folder as a destination."""

from __future__ import annotations

from pathlib import Path

from uploader import places
from uploader.destinations.direct import DirectDestination
from uploader.destinations.port import Opening
from uploader.errors import UsageError
from uploader.protocol.words import Destination
from uploader.store.blobs import Blobs
from uploader.store.folder import FolderBlobs


class FolderDestination(DirectDestination):
    """One project of a store in a folder."""

    def __init__(self, folder: Path, project: str) -> None:
        """Raises `UsageError` for a bad project name, or where ``folder`` is no folder. Makes nothing yet."""
        super().__init__(FolderBlobs(folder), project, url=str(folder), what="folder")


class FolderKind:
    """A path, or ``file:///…``."""

    schemes = ("", "file")

    def place(self, dest: str, _opening: Opening) -> Blobs:
        """See `DestinationKind`."""
        return FolderBlobs(_folder(dest))

    def open(self, dest: str, opening: Opening) -> Destination:
        """See `DestinationKind`."""
        return FolderDestination(_folder(dest), opening.project)


def _folder(dest: str) -> Path:
    folder = places.folder_of(dest)
    if folder is None:
        raise UsageError("a file URL names a local folder", remedy="It looks like file:///srv/symbols.")
    return folder
