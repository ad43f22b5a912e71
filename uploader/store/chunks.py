"""The chunks of one project: put and healed, read and checked, counted without reading."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from uploader.errors import ChunkMismatch, Refused, StoreDamaged
from uploader.protocol.wire.json_text import is_sha256
from uploader.protocol.words import MAX_CHUNK_SIZE_BYTES, Manifest
from uploader.store import keys
from uploader.store.blobs import Blob, Blobs


class Chunks:
    """All chunks of a project. Safe for any number of threads and processes."""

    def __init__(self, blobs: Blobs, project: str) -> None:
        self._blobs = blobs
        self._project = project

    def put(self, sha256: str, data: bytes) -> None:
        """Stores a chunk, idempotently; one that lies there damaged is replaced. Raises `ChunkMismatch`, `Refused`."""
        if not is_sha256(sha256):
            raise ChunkMismatch("a chunk's name is a SHA-256 in lowercase hex")
        if not 0 < len(data) <= MAX_CHUNK_SIZE_BYTES:
            raise Refused(f"a chunk has 1 to {MAX_CHUNK_SIZE_BYTES} bytes, not {len(data)}")
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ChunkMismatch(
                f"the bytes sent for chunk {sha256} have another digest", remedy="Send the chunk again."
            )
        key = keys.chunk_key(self._project, sha256)
        if not self._blobs.put_if_absent(key, data) and not self._is_sound(key, data):
            # There is one right content for a name: whoever else heals it writes the same.
            self._blobs.replace(key, data)

    def read(self, sha256: str) -> bytes | None:
        """The bytes of a chunk, checked against its name, or None.

        One with other bytes is taken out, so that the store asks for it again. Raises `StoreDamaged` for it, and for one that can't
        be read.
        """
        key = keys.chunk_key(self._project, sha256)
        try:
            blob = self._blobs.get(key)
        except Refused as error:
            # It stays: what can't be read now may be sound.
            raise StoreDamaged(
                f"chunk {sha256} can't be read: {_why(error)}",
                remedy="Look at the store's disk and permissions; `symup upload --force` writes the symbol file anew.",
            ) from error
        if blob is None or (not blob.data and blob.trouble is None):
            return None
        if blob.trouble is not None:
            self._take_out(key, blob)
            raise StoreDamaged(f"chunk {sha256} {blob.trouble}, and was taken out")
        if hashlib.sha256(blob.data).hexdigest() != sha256:
            self._take_out(key, blob)
            raise StoreDamaged(f"chunk {sha256} had other bytes than its name says, and was taken out")
        return blob.data

    def sizes_bytes(self, digests: Sequence[str]) -> list[int]:
        """How long the chunks are that lie there, whatever they hold; nought for those that aren't there, or where that can't be told."""
        named = [keys.chunk_key(self._project, sha256) for sha256 in digests]
        try:
            return [size_bytes or 0 for size_bytes in self._blobs.sizes_bytes(named)]
        except Refused:
            return [self._size_bytes(key) for key in named]

    def _size_bytes(self, key: str) -> int:
        try:
            return self._blobs.size_bytes(key) or 0
        except Refused:
            return 0

    def _take_out(self, key: str, blob: Blob) -> None:
        """An empty blob stands for none: it is put in the place of this very content, which another may have healed by now."""
        self._blobs.swap(key, b"", tag=blob.tag)

    def _is_sound(self, key: str, data: bytes) -> bool:
        try:
            held = self._blobs.get(key)
        except Refused:
            return False
        return held is not None and held.data == data


class Stock:
    """The chunks that a store has, each looked up once however often it is named: for one batch of questions."""

    def __init__(self, chunks: Chunks) -> None:
        self._chunks = chunks
        self._sizes_bytes: dict[str, int] = {}

    def lacks(self, digests: Iterable[str]) -> tuple[str, ...]:
        """Those that aren't there, each once."""
        named = tuple(dict.fromkeys(digests))
        self._look_for(named)
        return tuple(sha256 for sha256 in named if not self._sizes_bytes[sha256])

    def lost(self, manifest: Manifest) -> frozenset[str]:
        """The chunks of a stored artifact that aren't there, or have another size than the manifest says."""
        self._look_for(manifest.chunks)
        return frozenset(
            sha256
            for sha256, size_bytes in zip(manifest.chunks, manifest.chunk_sizes_bytes, strict=True)
            if self._sizes_bytes[sha256] != size_bytes
        )

    def _look_for(self, digests: Iterable[str]) -> None:
        new = [sha256 for sha256 in dict.fromkeys(digests) if sha256 not in self._sizes_bytes]
        self._sizes_bytes.update(zip(new, self._chunks.sizes_bytes(new), strict=True))


def _why(error: Refused) -> str:
    """The system's reason alone: the message names the place's own folders, which readers from afar have no business with."""
    cause = error.__cause__
    return (cause.strerror if isinstance(cause, OSError) else None) or "the store can't be used"
