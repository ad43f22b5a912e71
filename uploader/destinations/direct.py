"""A place that keeps blobs as a destination: the store itself, without a server in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from uploader.model import SymbolId
from uploader.protocol.words import FRAMES_FEATURE, GSYM_KIND, Answer, Capabilities, Committed, Manifest, Question
from uploader.store.blobs import Blobs
from uploader.store.store import SymbolStore


class DirectDestination:
    """`uploader.protocol.words.Destination` over one project of a store."""

    def __init__(self, blobs: Blobs, project: str, *, url: str, what: str) -> None:
        """``what`` is the kind of place. Raises `UsageError` for a bad project name. Makes nothing yet."""
        self._url = url
        self._what = what
        self._store = SymbolStore(blobs, project)

    @property
    def url(self) -> str:
        """See `Destination.url`."""
        return self._url

    def tell_waiting(self, observer: Callable[[str], None]) -> None:
        """Nothing is waited for."""

    def capabilities(self) -> Capabilities:
        """A place has the protocol's own limits."""
        return Capabilities(server=self._what, features=(FRAMES_FEATURE,))

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
