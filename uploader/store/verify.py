"""Reads an artifact back from its chunks, believing nothing: what a commit checks and a fetch gives out."""

from __future__ import annotations

import hashlib
import mmap
import tempfile
from collections.abc import Callable, Iterator

import zstandard

from uploader.errors import ArtifactMismatch, MalformedGsym, StoreDamaged
from uploader.model import IdScheme, Quality
from uploader.transfer.protocol import GSYM_KIND, Manifest

ReadChunk = Callable[[str], bytes | None]

MAX_CONTENT_SIZE_BYTES = 4 * 1024**3
"""The largest symbol file that a store takes, uncompressed."""

# 128 MiB is the most that the zstd tool itself takes without being told; it bounds the decoder's memory.
_MAX_WINDOW_SIZE_BYTES = 1 << 27
# A compressed block of 4 bytes can stand for 128 KiB (RFC 8878 §3.1.1.2): a slice gives at most some 32 MiB.
_SLICE_SIZE_BYTES = 1024


def compressed(manifest: Manifest, read_chunk: ReadChunk) -> Iterator[bytes]:
    """The chunks in order, each checked against its digest and size. Raises `StoreDamaged`."""
    for sha256, size_bytes in zip(manifest.chunks, manifest.chunk_sizes_bytes, strict=True):
        data = read_chunk(sha256)
        if data is None:
            raise StoreDamaged(f"{manifest.identity}: chunk {sha256} is missing")
        if len(data) != size_bytes or hashlib.sha256(data).hexdigest() != sha256:
            raise StoreDamaged(
                f"{manifest.identity}: chunk {sha256} has other bytes than its name and the manifest say"
            )
        yield data


def content(manifest: Manifest, read_chunk: ReadChunk) -> Iterator[bytes]:
    """The uncompressed file in pieces, never more of it than the manifest declares. Raises `StoreDamaged`.

    One whole zstd frame is expected, and nothing behind it.
    """
    decompressor = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_SIZE_BYTES).decompressobj()
    digest = hashlib.sha256()
    size_bytes = 0
    for chunk in compressed(manifest, read_chunk):
        view = memoryview(chunk)
        for offset in range(0, len(view), _SLICE_SIZE_BYTES):
            if decompressor.eof:
                raise StoreDamaged(f"{manifest.identity}: bytes follow the end of the compressed file")
            try:
                piece = decompressor.decompress(view[offset : offset + _SLICE_SIZE_BYTES])
            except zstandard.ZstdError as error:
                raise StoreDamaged(f"{manifest.identity}: not sound zstd: {error}") from error
            size_bytes += len(piece)
            if size_bytes > manifest.content_size_bytes:
                raise StoreDamaged(f"{manifest.identity}: larger than the {manifest.content_size_bytes} bytes declared")
            if piece:
                digest.update(piece)
                yield piece
    if not decompressor.eof or decompressor.unused_data:
        raise StoreDamaged(f"{manifest.identity}: the compressed file does not end where its chunks end")
    if size_bytes != manifest.content_size_bytes or digest.hexdigest() != manifest.content_sha256:
        raise StoreDamaged(f"{manifest.identity}: the content is not what the manifest declares")


def check_artifact(manifest: Manifest, read_chunk: ReadChunk) -> None:
    """Checks everything that a manifest promises of its chunks. Raises `ArtifactMismatch` with the first broken promise."""
    _check_declaration(manifest)
    with tempfile.TemporaryFile() as spool:
        try:
            for piece in content(manifest, read_chunk):
                spool.write(piece)
        except StoreDamaged as error:
            raise ArtifactMismatch(error.message, remedy="Send the artifact's chunks again.") from error
        spool.flush()
        # Not closed by name: a decoded table, or an error's traceback, may still look into it. It goes with its last user.
        _check_gsym(manifest, mmap.mmap(spool.fileno(), 0, access=mmap.ACCESS_READ))


def _check_declaration(manifest: Manifest) -> None:
    if manifest.kind != GSYM_KIND:
        raise ArtifactMismatch(f"artifacts of the kind {manifest.kind!r} are not known")
    if manifest.compression != "zstd":
        raise ArtifactMismatch(f"the compression {manifest.compression!r} is not known")
    if not 0 < manifest.content_size_bytes <= MAX_CONTENT_SIZE_BYTES:
        raise ArtifactMismatch(
            f"a symbol file has 1 to {MAX_CONTENT_SIZE_BYTES} bytes, not {manifest.content_size_bytes}"
        )
    # Compressing never makes more than this of anything; what is longer is padded with empty blocks, to keep the reader busy.
    if manifest.compressed_size_bytes > manifest.content_size_bytes + manifest.content_size_bytes // 128 + 64 * 1024:
        raise ArtifactMismatch(
            f"{manifest.compressed_size_bytes} compressed bytes are too many for {manifest.content_size_bytes}"
        )
    if manifest.quality is Quality.NONE:
        raise ArtifactMismatch("a symbol file without functions helps no one")


def _check_gsym(manifest: Manifest, whole: mmap.mmap) -> None:
    from uploader.gsym.decode import decode

    try:
        header, table = decode(memoryview(whole))
    except MalformedGsym as error:
        raise ArtifactMismatch(f"not a sound GSYM file: {error.message}") from error
    primary = manifest.identity.primary
    if primary.scheme is IdScheme.GNU and bytes(header.uuid).hex() != primary.value:
        raise ArtifactMismatch(f"the file's UUID {bytes(header.uuid).hex()} is not the build-id {primary.value}")
    if not len(table):
        raise ArtifactMismatch(f"claims the quality {manifest.quality.label} but holds no function")
    if manifest.quality >= Quality.LINES and not len(table.row_address):
        raise ArtifactMismatch(f"claims the quality {manifest.quality.label} but holds no line")
