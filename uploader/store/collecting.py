"""Collects what no manifest needs, by the rule of `uploader.store.condemned`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Container, Iterator

from uploader.errors import Refused, StoreDamaged
from uploader.protocol.wire.json_text import is_sha256
from uploader.protocol.words import Manifest
from uploader.store import keys
from uploader.store.blobs import BlobInfo, Blobs
from uploader.store.condemned import Condemned, Terms, read_condemned
from uploader.store.names import GONE, Names
from uploader.values import frozen, replace

WEEK_SECONDS = 7 * 24 * 3600.0
KEYS_IN_A_LIST = 4096
"""A commit reads the lists that may name what it needs."""
DELETED_AT_ONCE = 256

Manifests = Callable[[], Iterator[tuple[str, Manifest | None]]]


@frozen
class Collected:
    """The work of one collection."""

    chunks: int = 0
    """Deleted ones."""
    chunks_size_bytes: int = 0
    names: int = 0
    """Deleted names that led to nothing any more."""
    condemned: int = 0
    """Chunks and names that nothing needs, on lists by now: they are deleted once the grace time is over."""
    leftovers: int = 0
    """Unfinished writes of killed processes, of all projects of the place."""


class Collection:
    """One collection of one project."""

    def __init__(
        self,
        blobs: Blobs,
        project: str,
        *,
        manifests: Manifests,
        terms: Terms,
        now: float,
        older_than_seconds: float,
    ) -> None:
        self._blobs = blobs
        self._project = project
        self._manifests = manifests
        self._terms = terms
        self._now = now
        self._began = terms.clock()
        self._older_than_seconds = older_than_seconds
        self._names = Names(blobs, project)
        self._chunks = keys.chunk_prefix(project)
        self._needed: frozenset[bytes] | None = None

    def run(self, *, dry: bool = False) -> Collected:
        """Carries out what is due, and condemns what is found to be useless by now; ``dry`` only counts. Raises `StoreDamaged`."""
        if not self._blobs.guarded:
            raise Refused(
                "this store ignores conditional writes, so that nothing can be collected there beside uploads",
                remedy="Keep symbols in a store that honours If-Match and If-None-Match, or push what is wanted to a new one.",
            )
        listed: set[str] = set()
        gone: dict[str, int] = {}
        for info in self._blobs.list(keys.condemned_prefix(self._project)):
            blob = self._blobs.get(info.key)
            held = None if blob is None else read_condemned(blob)
            if blob is None or held is None:
                # No commit waits longer for one that can't be read than a sentence lasts.
                if blob is not None and not dry and self._now - info.modified_at > self._terms.grace_seconds:
                    self._blobs.delete([info.key])
                continue
            # One that was sentenced a moment ago is being carried out by another.
            since, rest_seconds = (
                (info.modified_at, self._terms.sentence_seconds)
                if held.sentenced
                else (held.since, self._terms.grace_seconds)
            )
            if self._now - since >= rest_seconds:
                gone |= self._waste_of(held) if dry else self._carried_out(info.key, held, blob.tag)
            else:
                listed |= held.sizes_bytes.keys()
        condemned = self._condemn(listed | gone.keys(), dry=dry)
        leftovers = 0 if dry else self._blobs.sweep(unmodified_since=self._now - self._older_than_seconds)
        chunks = sum(map(self._is_chunk, gone))
        return Collected(
            chunks=chunks,
            chunks_size_bytes=sum(size_bytes for key, size_bytes in gone.items() if self._is_chunk(key)),
            names=len(gone) - chunks,
            condemned=condemned + len(listed),
            leftovers=leftovers,
        )

    def _carried_out(self, name: str, held: Condemned, tag: str) -> dict[str, int]:
        """Sentences what is useless still, and deletes it; gives the keys of what was deleted, with its sizes in bytes."""
        left = list(self._waste_of(held))
        sentence = replace(held, sentenced=True)
        gone: dict[str, int] = {}
        while True:
            sentence = sentence.only(frozenset(left))
            until = self._terms.clock() + self._terms.sentence_seconds / 2
            if not self._blobs.swap(name, sentence.dumps(), tag=tag):
                return gone
            while left and self._terms.clock() < until:
                batch, left = left[:DELETED_AT_ONCE], left[DELETED_AT_ONCE:]
                self._blobs.delete(batch)
                gone |= {key: held.sizes_bytes[key] for key in batch}
            if not left and self._terms.clock() < until:
                self._blobs.delete([name])
                return gone
            blob = self._blobs.get(name)
            now = None if blob is None else read_condemned(blob)
            if blob is None or now is None or now.nonce != sentence.nonce:
                return gone
            tag = blob.tag

    def _waste_of(self, held: Condemned) -> dict[str, int]:
        """Those of a list's keys, with their sizes in bytes, that nothing needs still."""
        return {key: size_bytes for key, size_bytes in held.sizes_bytes.items() if self._is_waste(key)}

    def _condemn(self, listed: Container[str], *, dry: bool) -> int:
        old = {info.key: info.size_bytes for info in self._old() if info.key not in listed}
        waste = sorted(key for key in old if self._is_waste(key))
        if not dry:
            for first in range(0, len(waste), KEYS_IN_A_LIST):
                condemned = Condemned(
                    sizes_bytes={key: old[key] for key in waste[first : first + KEYS_IN_A_LIST]},
                    since=self._now + self._terms.clock() - self._began,
                )
                key = keys.condemned_key(self._project, secrets.token_hex(16))
                self._blobs.put_if_absent(key, condemned.dumps())
        return len(waste)

    def _old(self) -> Iterator[BlobInfo]:
        """All that might be useless by its age; of manifests, those that were taken out."""
        before = self._now - self._older_than_seconds
        manifests = keys.manifest_prefix(self._project)
        for prefix in (self._chunks, manifests, keys.alias_prefix(self._project)):
            for info in self._blobs.list(prefix):
                if info.modified_at < before and (prefix != manifests or info.size_bytes == len(GONE)):
                    yield info

    def _is_waste(self, key: str) -> bool:
        """Whether nothing needs what lies under a key: a chunk in no manifest, a name that leads to nothing."""
        last = key.rpartition("/")[2]
        if self._is_chunk(key):
            return is_sha256(last) and not self._is_needed(bytes.fromhex(last))
        if key.startswith(keys.manifest_prefix(self._project)):
            blob = self._blobs.get(key)
            return blob is not None and blob.data == GONE
        alias = keys.alias_of(self._project, key)
        return alias is not None and self._names.leads_nowhere(alias)

    def _is_chunk(self, key: str) -> bool:
        return key.startswith(self._chunks)

    def _is_needed(self, sha256: bytes) -> bool:
        """Whether a manifest names the chunk; all are read when that is first asked."""
        if self._needed is None:
            found: set[bytes] = set()
            for key, manifest in self._manifests():
                if manifest is None:
                    raise StoreDamaged(f"{key} can't be read, so its chunks aren't known")
                found.update(map(bytes.fromhex, manifest.chunks))
            self._needed = frozenset(found)
        return sha256 in self._needed
