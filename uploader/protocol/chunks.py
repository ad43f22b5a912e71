"""Compresses a symbol file and cuts it into chunks that are named by their digests."""

from __future__ import annotations

import hashlib

import zstandard

from uploader.protocol.words import MAX_CHUNK_SIZE_BYTES
from uploader.values import frozen, replace

LEVEL = 6
"""The zstd level: near the fastest over lines of 10 to 1000 Mbit/s, and in size near the levels that take long (docs/performance.md).
It is part of the chunks' names: the same file must give the same chunks, so one thread and one level."""


@frozen
class Chunk:
    """A piece of a compressed file."""

    sha256: str
    data: bytes


@frozen
class ChunkedFile:
    """A compressed file in chunks, in order, and what a manifest says of it."""

    chunks: tuple[Chunk, ...]
    compressed_size_bytes: int
    content_size_bytes: int
    content_sha256: str


def compress(
    content: bytes | bytearray | memoryview,
    *,
    max_chunk_size_bytes: int = MAX_CHUNK_SIZE_BYTES,
    head_size_bytes: int = 0,
) -> ChunkedFile:
    """Compresses ``content`` into a zstd frame with its size and checksum, cut into chunks of at most the given size.

    A head of the given size has a frame and a chunk of its own: what else differs between two files is only this chunk. The same
    content and sizes give the same chunks wherever the same zstd version runs.
    """
    view = memoryview(content)
    packer = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=True)
    parts = (view[:head_size_bytes], view[head_size_bytes:]) if 0 < head_size_bytes < view.nbytes else (view,)
    frames = [packer.compress(part) for part in parts]
    return ChunkedFile(
        chunks=tuple(chunk for frame in frames for chunk in _cut(frame, max_chunk_size_bytes)),
        compressed_size_bytes=sum(map(len, frames)),
        content_size_bytes=view.nbytes,
        content_sha256=hashlib.sha256(content).hexdigest(),
    )


def recut(file: ChunkedFile, max_chunk_size_bytes: int) -> ChunkedFile:
    """The same compressed file in chunks of at most the given size; those that are small enough stay as they are."""
    chunks = (piece for chunk in file.chunks for piece in _cut(chunk.data, max_chunk_size_bytes))
    return replace(file, chunks=tuple(chunks))


def _cut(data: bytes, max_chunk_size_bytes: int) -> tuple[Chunk, ...]:
    if max_chunk_size_bytes < 1:
        raise ValueError("a chunk has at least one byte")
    size_bytes = min(max_chunk_size_bytes, MAX_CHUNK_SIZE_BYTES)
    pieces = [data[offset : offset + size_bytes] for offset in range(0, len(data), size_bytes)]
    return tuple(Chunk(sha256=hashlib.sha256(piece).hexdigest(), data=piece) for piece in pieces)
