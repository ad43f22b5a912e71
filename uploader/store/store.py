"""One project's symbols in a place that keeps blobs: the rules of what is stored, replaced, found and thrown away.

Nothing is ever half there: chunks are immutable, and the manifest that makes an artifact visible is written when all of them are
in place and the whole has been checked. Two writers of one artifact meet at the manifest, which is compared and swapped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from uploader.errors import ArtifactMismatch, NothingFound, Refused, StoreDamaged
from uploader.model import NEW_IN_STORE, SymbolId
from uploader.protocol import verify
from uploader.protocol.words import GSYM_KIND, Answer, Committed, Manifest, Question, differ
from uploader.store import keys
from uploader.store.asking import Asking, Entry, is_new, told_lost
from uploader.store.blobs import Blobs
from uploader.store.chunks import Chunks, Stock
from uploader.store.collecting import WEEK_SECONDS, Collected, Collection
from uploader.store.condemned import Gate, Terms
from uploader.store.names import GONE, Names
from uploader.store.seal import opened, sealed


class SymbolStore:
    """The symbols of one project. Safe for any number of threads and processes."""

    def __init__(self, blobs: Blobs, project: str, terms: Terms | None = None) -> None:
        """Raises `UsageError` for a name that can't be a project's. Touches nothing."""
        self._blobs = blobs
        self._project = keys.checked_project(project)
        self._terms = terms or Terms()
        self._gate = Gate(blobs, project, self._terms)
        self._names = Names(blobs, project)
        self._chunks = Chunks(blobs, project)

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        """The answers in the order of the questions. Changes nothing at all; an entry that can't be read is its question's answer."""
        asking = Asking(self._names, self._chunks, self._entry)
        return list(self._blobs.map(asking.answer, questions))

    def put_chunk(self, sha256: str, data: bytes) -> None:
        """Stores a chunk, idempotently; one that lies there damaged is replaced. Raises `ChunkMismatch`, `Refused`."""
        self._chunks.put(sha256, data)

    def chunk(self, sha256: str) -> bytes | None:
        """The bytes of a chunk, or None. Raises `StoreDamaged` for one that holds others than its name says; it is taken out."""
        return self._chunks.read(sha256)

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        """Makes the artifact visible, all at once, or says why what is there stays.

        Better quality replaces worse by itself; ``force`` reads all chunks back, whatever is there, and replaces what is as good
        or better; the same content is never written twice. Quality and figures are stored as far as the content bears them out.
        Raises `ArtifactMismatch` where chunks are missing or the whole is not what the manifest says.
        """
        primary = manifest.identity.primary
        key = keys.manifest_key(self._project, primary, manifest.kind)
        needed = [key, *self._keys_of(manifest)]
        checked: Manifest | None = None
        until = self._gate.spare(needed)
        while True:
            rival = self._names.rival(primary, manifest.kind)
            if rival is not None:
                return Committed(stored=False, reason=f"{primary} is another name of {rival}, which keeps it")
            current = self._stored(key)
            declined = None
            if current is not None and (checked is not None or not force):
                declined = self._reason_to_keep(current.manifest, checked or manifest, force=force)
            if declined is not None:
                self._names.give(manifest.identity, manifest.kind)
                return Committed(stored=False, reason=declined)
            if checked is None:
                self._check_presence(manifest)
                checked = verify.checked(manifest, self._chunks.read, self._blobs.scratch)
                continue
            if self._terms.clock() >= until:
                until = self._gate.spare(needed)
                self._check_presence(manifest)
                continue
            if self._blobs.swap(key, sealed(checked), tag=None if current is None else current.tag):
                break
        self._names.give(manifest.identity, manifest.kind)
        if current is None or current.gone:
            return Committed(stored=True, reason=NEW_IN_STORE)
        if current.manifest is None:
            return Committed(stored=True, reason="replaced a damaged entry")
        was, now = current.manifest.quality.label, checked.quality.label
        return Committed(stored=True, reason=f"replaced quality {was} by {now}" + (", forced" if force else ""))

    def manifest(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Manifest | None:
        """The manifest of the artifact that has this id, or this alias. Raises `StoreDamaged`, also where chunks are lost."""
        holder = self._names.holder(symbol_id, kind)
        stored = None if holder is None else self._entry(holder, kind)
        if stored is None or stored.gone:
            return None
        if stored.manifest is None:
            raise StoreDamaged(f"the stored entry of {holder} can't be read")
        lost = Stock(self._chunks).lost(stored.manifest)
        if lost:
            raise StoreDamaged(f"{holder}: {told_lost(lost, stored.manifest)}")
        return stored.manifest

    def manifests(self) -> Iterator[tuple[str, Manifest | None]]:
        """Every artifact of the project, by the order of their keys: its key, and its manifest; None where that can't be read."""
        for info in self._blobs.list(keys.manifest_prefix(self._project)):
            try:
                stored = self._stored(info.key)
            except Refused:
                yield info.key, None
                continue
            # A folder is named where it can't be listed: it may hide manifests.
            if stored is not None and not stored.gone and (info.key.endswith(".json") or stored.trouble is not None):
                yield info.key, stored.manifest

    def fetch(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Iterator[bytes]:
        """The artifact's bytes, decompressed and checked on the way. Raises `NothingFound` at once, `StoreDamaged` on the way."""
        manifest = self.manifest(symbol_id, kind)
        if manifest is None:
            raise NothingFound(f"the store holds no symbols for {symbol_id}")
        return self.content(manifest)

    def content(self, manifest: Manifest) -> Iterator[bytes]:
        """The decompressed, checked bytes of an artifact of this store. Raises `StoreDamaged` on the way."""
        return verify.content(manifest, self._chunks.read)

    def compressed(self, manifest: Manifest) -> Iterator[bytes]:
        """The chunks of an artifact of this store in order, each checked. Raises `StoreDamaged` on the way."""
        return verify.compressed(manifest, self._chunks.read)

    def gc(self, *, now: float | None = None, older_than_seconds: float = WEEK_SECONDS, dry: bool = False) -> Collected:
        """Deletes what an earlier collection condemned and nothing needs still, and condemns what nothing needs and is of that age.

        ``now`` is seconds since the epoch, by the place's own clock where none is given. Safe while clients upload. Raises
        `StoreDamaged`, and deletes nothing, where a manifest can't be read.
        """
        return Collection(
            self._blobs,
            self._project,
            manifests=self.manifests,
            terms=self._terms,
            now=self._blobs.now() if now is None else now,
            older_than_seconds=older_than_seconds,
        ).run(dry=dry)

    def take_out(self, symbol_id: SymbolId, kind: str = GSYM_KIND, *, content_sha256: str | None = None) -> bool:
        """Lets an artifact be no more, at once for all; its chunks are collected later. False where it isn't there.

        With ``content_sha256``, only while it is the one of that content.
        """
        key = keys.manifest_key(self._project, symbol_id, kind)
        while True:
            current = self._stored(key)
            if current is None or current.gone:
                return False
            held = None if current.manifest is None else current.manifest.content_sha256
            if content_sha256 not in (None, held):
                return False
            if self._blobs.swap(key, GONE, tag=current.tag):
                return True

    def _reason_to_keep(self, held: Manifest | None, offered: Manifest, *, force: bool) -> str | None:
        if held is None or Stock(self._chunks).lost(held):
            return None
        if not force and differ(held.fingerprints, offered.fingerprints):
            return "kept what is stored: it is of another program that has the same id"
        if _learned(held, offered):
            return None
        if held.content_sha256 == offered.content_sha256 and held.quality is offered.quality:
            return "already stored with the same content" + (", all of it checked anew" if force else "")
        if force or offered.quality > held.quality:
            return None
        if offered.quality is held.quality:
            return f"kept what is stored: it has the same quality, {held.quality.label}"
        return f"kept what is stored: its quality {held.quality.label} is better than {offered.quality.label}"

    def _keys_of(self, manifest: Manifest) -> list[str]:
        """The keys of the chunks and aliases that a manifest names."""
        return [
            *(keys.chunk_key(self._project, sha256) for sha256 in manifest.chunks),
            *(keys.alias_key(self._project, alias) for alias in manifest.identity.aliases),
        ]

    def _check_presence(self, manifest: Manifest) -> None:
        missing = Stock(self._chunks).lacks(manifest.chunks)
        if missing:
            raise ArtifactMismatch(
                f"{len(missing)} of {len(set(manifest.chunks))} chunks of {manifest.identity} are not in the store",
                remedy="Run the same command again: it sends what is missing.",
            )

    def _entry(self, primary: SymbolId, kind: str) -> Entry | None:
        return self._stored(keys.manifest_key(self._project, primary, kind))

    def _stored(self, key: str) -> Entry | None:
        blob = self._blobs.get(key)
        if blob is None:
            return None
        if blob.trouble is not None:
            return Entry(manifest=None, tag=blob.tag, trouble=blob.trouble)
        if blob.data == GONE:
            return Entry(manifest=None, tag=blob.tag, gone=True)
        try:
            manifest = opened(blob.data)
        except ValueError:
            return Entry(manifest=None, tag=blob.tag)
        if keys.manifest_key(self._project, manifest.identity.primary, manifest.kind) != key:
            return Entry(manifest=None, tag=blob.tag, trouble=f"is that of {manifest.identity.primary}")
        return Entry(manifest=manifest, tag=blob.tag)


def _learned(held: Manifest, offered: Manifest) -> bool:
    """Whether a file that falls short of what its sources promise was made of other evidence than the stored one, and tells no less.

    It is stored, so that nobody makes it of the same evidence again.
    """
    if offered.shortfall is None or held.quality is not offered.quality:
        return False
    if not is_new(offered.shortfall.evidence, held):
        return False
    had, has = held.figures, offered.figures
    return (
        has.function_bytes >= had.function_bytes
        and has.line_bytes >= had.line_bytes
        and has.inline_bytes >= had.inline_bytes
    )
