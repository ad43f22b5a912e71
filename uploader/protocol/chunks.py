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
    content: bytes | bytearray | memoryview, *, max_chunk_size_bytes: int = MAX_CHUNK_SIZE_BYTES
) -> ChunkedFile:
    """Compresses ``content`` into one zstd frame with its size and checksum, cut into chunks of at most the given size.

    The same content and size give the same chunks wherever the same zstd version runs.
    """
    frame = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True, write_content_size=True).compress(content)
    return ChunkedFile(
        chunks=_cut(frame, max_chunk_size_bytes),
        compressed_size_bytes=len(frame),
        content_size_bytes=memoryview(content).nbytes,
        content_sha256=hashlib.sha256(content).hexdigest(),
    )


def recut(file: ChunkedFile, max_chunk_size_bytes: int) -> ChunkedFile:
    """The same compressed file in chunks of at most the given size."""
    frame = b"".join(chunk.data for chunk in file.chunks)
    return replace(file, chunks=_cut(frame, max_chunk_size_bytes))


def _cut(frame: bytes, max_chunk_size_bytes: int) -> tuple[Chunk, ...]:
    if max_chunk_size_bytes < 1:
        raise ValueError("a chunk has at least one byte")
    size_bytes = min(max_chunk_size_bytes, MAX_CHUNK_SIZE_BYTES)
    pieces = [frame[offset : offset + size_bytes] for offset in range(0, len(frame), size_bytes)]
    return tuple(Chunk(sha256=hashlib.sha256(piece).hexdigest(), data=piece) for piece in pieces)
