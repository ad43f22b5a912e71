"""One project's symbols in a place that keeps blobs: the rules of what is stored, replaced, found and thrown away.

Nothing is ever half there: chunks are immutable, and the manifest that makes an artifact visible is written when all of them are
in place and the whole has been checked. Two writers of one artifact meet at the manifest, which is compared and swapped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from uploader.errors import ArtifactMismatch, ChunkMismatch, NothingFound, Refused, StoreDamaged
from uploader.model import SymbolId
from uploader.store import layout, verify
from uploader.store.blobs import Blob, Blobs
from uploader.transfer import wire
from uploader.transfer.protocol import (
    GSYM_KIND,
    MAX_CHUNK_SIZE_BYTES,
    Answer,
    Committed,
    Holding,
    Manifest,
    Question,
)
from uploader.values import frozen

WEEK_SECONDS = 7 * 24 * 3600.0


@frozen
class Collected:
    """What `SymbolStore.gc` removed."""

    chunks: int
    chunks_size_bytes: int
    leftovers: int
    """Unfinished writes of killed processes, of all projects of the place."""


@frozen
class _Stored:
    manifest: Manifest | None
    """None where the stored bytes are no manifest."""
    tag: str


class SymbolStore:
    """The symbols of one project. Safe for any number of threads and processes."""

    def __init__(self, blobs: Blobs, project: str) -> None:
        """Raises `UsageError` for a name that can't be a project's. Touches nothing."""
        self._blobs = blobs
        self._project = layout.checked_project(project)

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers in the order of the questions. Changes nothing at all."""
        return [self._answer(question) for question in questions]

    def put_chunk(self, sha256: str, data: bytes) -> None:
        """Stores a chunk, idempotently; one that lies there damaged is replaced. Raises `ChunkMismatch`, `Refused`."""
        if not wire.is_sha256(sha256):
            raise ChunkMismatch("a chunk's name is a SHA-256 in lowercase hex")
        if not 0 < len(data) <= MAX_CHUNK_SIZE_BYTES:
            raise Refused(f"a chunk has 1 to {MAX_CHUNK_SIZE_BYTES} bytes, not {len(data)}")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ChunkMismatch(
                f"the bytes sent for chunk {sha256} have another digest", remedy="Send the chunk again."
            )
        key = layout.chunk_key(self._project, sha256)
        while not self._blobs.put_if_absent(key, data):
            held = self._blobs.get(key)
            if held is not None and held.data != data:
                self._blobs.swap(key, data, tag=held.tag)
            elif held is not None and self._blobs.refresh(key):
                return

    def chunk(self, sha256: str) -> bytes | None:
        """The bytes of a chunk as they were put, or None. They are not checked again: who asked knows the digest."""
        return self._read_chunk(sha256)

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        """Makes the artifact visible, all at once, or says why what is there stays.

        Better quality replaces worse by itself; ``force`` replaces what is as good or better; the same content is never written
        twice. Raises `ArtifactMismatch` where chunks are missing or the whole is not what the manifest says.
        """
        key = layout.manifest_key(self._project, manifest.identity.primary, manifest.kind)
        checked = False
        while True:
            current = self._stored(key)
            declined = None if current is None else self._reason_to_keep(current.manifest, manifest, force=force)
            if declined is not None:
                self._name(manifest)
                return Committed(stored=False, reason=declined)
            if not checked:
                self._check(manifest)
                checked = True
            data = wire.dumps(wire.manifest_to_json(manifest))
            if self._blobs.swap(key, data, tag=None if current is None else current.tag):
                break
        self._name(manifest)
        if current is None:
            return Committed(stored=True, reason="new in the store")
        if current.manifest is None:
            return Committed(stored=True, reason="replaced a damaged entry")
        for sha256 in current.manifest.chunks:
            # A reader of the replaced artifact may be under way: its chunks get a week from now.
            self._blobs.refresh(layout.chunk_key(self._project, sha256))
        was, now = current.manifest.quality.label, manifest.quality.label
        return Committed(stored=True, reason=f"replaced quality {was} by {now}" + (", forced" if force else ""))

    def manifest(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Manifest | None:
        """What is stored for an id, or for the id that it is an alias of. Raises `StoreDamaged`."""
        for candidate in (symbol_id, self._alias_target(symbol_id)):
            if candidate is None:
                continue
            stored = self._stored(layout.manifest_key(self._project, candidate, kind))
            if stored is not None and stored.manifest is None:
                raise StoreDamaged(f"the stored entry of {candidate} can't be read", remedy="Upload it again.")
            if stored is not None:
                return stored.manifest
        return None

    def manifests(self) -> Iterator[tuple[str, Manifest | None]]:
        """Every artifact of the project, by the order of their keys: its key, and its manifest; None where that can't be read."""
        for info in self._blobs.list(layout.manifest_prefix(self._project)):
            stored = self._stored(info.key) if info.key.endswith(".json") else None
            if stored is not None:
                yield info.key, stored.manifest

    def fetch(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Iterator[bytes]:
        """The artifact's bytes, decompressed and checked on the way. Raises `NothingFound` at once, `StoreDamaged` on the way."""
        manifest = self.manifest(symbol_id, kind)
        if manifest is None:
            raise NothingFound(f"the store holds no symbols for {symbol_id}")
        return self.content(manifest)

    def content(self, manifest: Manifest) -> Iterator[bytes]:
        """The decompressed, checked bytes of an artifact of this store. Raises `StoreDamaged` on the way."""
        return verify.content(manifest, self._read_chunk)

    def compressed(self, manifest: Manifest) -> Iterator[bytes]:
        """The chunks of an artifact of this store in order, each checked. Raises `StoreDamaged` on the way."""
        return verify.compressed(manifest, self._read_chunk)

    def gc(self, *, now: float, older_than_seconds: float = WEEK_SECONDS) -> Collected:
        """Deletes chunks that no manifest names and that are older than the given age, and what killed writers left.

        ``now`` is seconds since the epoch. Safe while clients upload: a commit makes its chunks young first. Raises `StoreDamaged`,
        and deletes nothing, where a manifest can't be read.
        """
        unmodified_since = now - older_than_seconds
        candidates = [
            info
            for info in self._blobs.list(layout.chunk_prefix(self._project))
            if info.modified_at < unmodified_since and wire.is_sha256(info.key.rpartition("/")[2])
        ]
        named: set[str] = set()
        if candidates:
            for info in self._blobs.list(layout.manifest_prefix(self._project)):
                stored = self._stored(info.key)
                if stored is not None and stored.manifest is None:
                    raise StoreDamaged(
                        f"{info.key} can't be read, so its chunks aren't known", remedy="Upload it again."
                    )
                if stored is not None and stored.manifest is not None:
                    named.update(stored.manifest.chunks)
        gone = [
            info.size_bytes
            for info in candidates
            if info.key.rpartition("/")[2] not in named
            and self._blobs.delete(info.key, unmodified_since=unmodified_since)
        ]
        leftovers = self._blobs.sweep(unmodified_since=unmodified_since)
        return Collected(chunks=len(gone), chunks_size_bytes=sum(gone), leftovers=leftovers)

    def _answer(self, question: Question) -> Answer:
        holding, reason, held = self._holding(question)
        missing = () if holding is Holding.PRESENT else self._missing(question.chunks)
        return Answer(
            identity=question.identity,
            kind=question.kind,
            holding=holding,
            reason=reason,
            stored_quality=None if held is None else held.quality,
            stored_figures=None if held is None else held.figures,
            stored_size_bytes=0 if held is None else held.compressed_size_bytes,
            missing_chunks=missing,
        )

    def _holding(self, question: Question) -> tuple[Holding, str, Manifest | None]:
        primary = question.identity.primary
        stored = self._stored(layout.manifest_key(self._project, primary, question.kind))
        if stored is None:
            return Holding.MISSING, "not in the store yet", None
        if stored.manifest is None:
            return Holding.MISSING, "the stored entry is damaged", None
        manifest = stored.manifest
        held = manifest.quality
        if self._missing(manifest.chunks):
            return Holding.MISSING, "the stored entry has lost chunks", manifest
        if question.force:
            return Holding.POORER, f"quality {held.label} is stored and will be replaced, as forced", manifest
        if held < question.quality:
            return Holding.POORER, f"quality {held.label} is stored, {question.quality.label} is better", manifest
        for alias in question.identity.aliases:
            holder = self._alias_holder(alias, question.kind)
            if holder is None or (holder.quality < held and holder.identity.primary != primary):
                return Holding.POORER, f"the store does not know it as {alias} yet", manifest
        return Holding.PRESENT, f"already stored with quality {held.label}", manifest

    def _reason_to_keep(self, held: Manifest | None, offered: Manifest, *, force: bool) -> str | None:
        if held is None or self._missing(held.chunks):
            return None
        if held.content_sha256 == offered.content_sha256 and held.quality is offered.quality:
            return "already stored with the same content"
        if force or offered.quality > held.quality:
            return None
        if offered.quality is held.quality:
            return f"kept what is stored: it has the same quality, {held.quality.label}"
        return f"kept what is stored: its quality {held.quality.label} is better than {offered.quality.label}"

    def _check(self, manifest: Manifest) -> None:
        keys = [layout.chunk_key(self._project, sha256) for sha256 in manifest.chunks]
        missing = sum(not self._blobs.refresh(key) for key in dict.fromkeys(keys))
        if missing:
            raise ArtifactMismatch(
                f"{missing} of {len(set(keys))} chunks of {manifest.identity} are not in the store",
                remedy="Run the same command again: it sends what is missing.",
            )
        verify.check_artifact(manifest, self._read_chunk)

    def _missing(self, chunks: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            sha256
            for sha256 in dict.fromkeys(chunks)
            if not self._blobs.exists(layout.chunk_key(self._project, sha256))
        )

    def _read_chunk(self, sha256: str) -> bytes | None:
        blob = self._blobs.get(layout.chunk_key(self._project, sha256))
        return None if blob is None else blob.data

    def _stored(self, key: str) -> _Stored | None:
        blob = self._blobs.get(key)
        if blob is None:
            return None
        try:
            manifest = wire.manifest_from_json(wire.loads(blob.data))
        except ValueError:
            return _Stored(manifest=None, tag=blob.tag)
        return _Stored(manifest=manifest, tag=blob.tag)

    def _alias_target(self, alias: SymbolId) -> SymbolId | None:
        blob = self._blobs.get(layout.alias_key(self._project, alias))
        return None if blob is None else _parsed_alias(blob)

    def _alias_holder(self, alias: SymbolId, kind: str) -> Manifest | None:
        target = self._alias_target(alias)
        stored = None if target is None else self._stored(layout.manifest_key(self._project, target, kind))
        return None if stored is None else stored.manifest

    def _name(self, manifest: Manifest) -> None:
        """Lets the artifact's aliases resolve to it, where no artifact of another id and at least its quality has them.

        Comes after the manifest, so that no alias ever points at nothing; where a kill comes between the two, negotiating tells
        the next client that something is missing, and its commit ends here again.
        """
        primary = manifest.identity.primary
        for alias in manifest.identity.aliases:
            key = layout.alias_key(self._project, alias)
            while True:
                blob = self._blobs.get(key)
                if blob is not None:
                    if _parsed_alias(blob) == primary:
                        break
                    holder = self._alias_holder(alias, manifest.kind)
                    if holder is not None and holder.quality >= manifest.quality:
                        break
                if self._blobs.swap(key, str(primary).encode(), tag=None if blob is None else blob.tag):
                    break


def _parsed_alias(blob: Blob) -> SymbolId | None:
    try:
        return SymbolId.parse(blob.data.decode("ascii"))
    except ValueError:
        return None
