"""The names of artifacts: each has its own id, and aliases that point to it.

A GNU build-id is checked against the file, so the artifact stored under it has it, whatever an alias says. A Go build id and a file
id can't be checked: the artifact that has one keeps it, as an alias or as its own id.
"""

from __future__ import annotations

from collections.abc import Iterator

from uploader.model import Identity, IdScheme, SymbolId
from uploader.protocol.words import KINDS
from uploader.store import keys
from uploader.store.blobs import Blob, Blobs

GONE = b"gone\n"
"""Stands in the place of a manifest that was taken out, until it is collected. A swap puts it there: never in the place of a newer one."""


class Names:
    """The names of one project's artifacts."""

    def __init__(self, blobs: Blobs, project: str) -> None:
        self._blobs = blobs
        self._project = project

    def holder(self, name: SymbolId, kind: str) -> SymbolId | None:
        """The id that the artifact which has ``name`` is stored under; None where nothing is known by it."""
        for candidate in self._candidates(name):
            if self._blobs.size_bytes(keys.manifest_key(self._project, candidate, kind)) not in (None, len(GONE)):
                return candidate
        return None

    def rival(self, primary: SymbolId, kind: str) -> SymbolId | None:
        """The artifact that has as an alias what another would be stored under; None where that other may have it."""
        if primary.scheme is IdScheme.GNU:
            return None
        holder = self.holder(primary, kind)
        return None if holder == primary else holder

    def give(self, identity: Identity, kind: str) -> None:
        """Lets those aliases resolve to the artifact that nothing has yet.

        Comes after the manifest, so that no alias ever points at nothing; where a kill comes between the two, negotiating tells
        the next client that something is missing, and its commit ends here again.
        """
        for alias in identity.aliases:
            key = keys.alias_key(self._project, alias)
            while self.holder(alias, kind) is None:
                blob = self._blobs.get(key)
                if self._blobs.swap(key, str(identity.primary).encode(), tag=None if blob is None else blob.tag):
                    break

    def leads_nowhere(self, alias: SymbolId) -> bool:
        """Whether a name is written down that no artifact has."""
        return self._blobs.size_bytes(keys.alias_key(self._project, alias)) is not None and all(
            self.holder(alias, kind) is None for kind in KINDS
        )

    def _candidates(self, name: SymbolId) -> Iterator[SymbolId]:
        if name.scheme is IdScheme.GNU:
            yield name
        blob = self._blobs.get(keys.alias_key(self._project, name))
        target = None if blob is None else _parsed(blob)
        if target is not None:
            yield target
        if name.scheme is not IdScheme.GNU:
            yield name


def _parsed(blob: Blob) -> SymbolId | None:
    try:
        return SymbolId.parse(blob.data.decode("ascii"))
    except ValueError:
        return None
