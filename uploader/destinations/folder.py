"""A folder as a destination: the store itself, without a server in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from uploader import places
from uploader.destinations.port import Opening
from uploader.errors import UsageError
from uploader.model import SymbolId
from uploader.protocol.words import GSYM_KIND, Answer, Capabilities, Committed, Destination, Manifest, Question
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore


class FolderDestination:
    """`uploader.protocol.words.Destination` over one project of a store in a folder."""

    def __init__(self, folder: Path, project: str) -> None:
        """Raises `UsageError` for a bad project name, or where ``folder`` is no folder. Makes nothing yet."""
        self._folder = folder
        self._store = SymbolStore(FolderBlobs(folder), project)

    @property
    def url(self) -> str:
        """The folder's path."""
        return str(self._folder)

    def tell_waiting(self, observer: Callable[[str], None]) -> None:
        """Nothing is waited for."""

    def capabilities(self) -> Capabilities:
        """A folder has the protocol's own limits."""
        return Capabilities(server="folder")

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        """See `Destination.negotiate`."""
        return self._store.negotiate(questions)

    def put_chunk(self, sha256: str, data: bytes) -> None:
        """See `Destination.put_chunk`."""
        self._store.put_chunk(sha256, data)

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        """See `Destination.commit`."""
        return self._store.commit(manifest, force=force)

    def manifest(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Manifest | None:
        """See `Destination.manifest`."""
        return self._store.manifest(symbol_id, kind)

    def fetch(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Iterator[bytes]:
        """See `Destination.fetch`."""
        return self._store.fetch(symbol_id, kind)

    def close(self) -> None:
        """Nothing is held open."""


class FolderKind:
    """A path, or ``file:///…``."""

    schemes = ("", "file")

    def open(self, dest: str, opening: Opening) -> Destination:
        """See `DestinationKind`."""
        folder = places.folder_of(dest)
        if folder is None:
            raise UsageError("a file URL names a local folder", remedy="It looks like file:///srv/symbols.")
        return FolderDestination(folder, opening.project)
