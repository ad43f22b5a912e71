"""Reads an artifact back from its chunks, believing nothing: what a commit checks and a fetch gives out."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import IO, TYPE_CHECKING

import zstandard

from uploader.errors import ArtifactMismatch, MalformedGsym, Refused, StoreDamaged
from uploader.model import Figures, IdScheme, Quality
from uploader.protocol.words import GSYM_KIND, MAX_CHUNK_SIZE_BYTES, MAX_HEAD_SIZE_BYTES, Manifest, max_chunks
from uploader.values import replace

if TYPE_CHECKING:
    from uploader.symbols.columns import SymbolTable

ReadChunk = Callable[[str], bytes | None]
Scratch = Callable[[], AbstractContextManager[IO[bytes]]]

MAX_CONTENT_SIZE_BYTES = 4 * 1024**3
"""The largest symbol file that a store takes, uncompressed."""

IN_MEMORY_SIZE_BYTES = 64 * 1024**2
"""A larger file is read back into a scratch file."""

# Symbol files compress to a third to a tenth. What claims far more is made to fill disks.
_MAX_RATIO = 256
_RATIO_FREE_SIZE_BYTES = 1024**2
# 128 MiB is the most that the zstd tool itself takes without being told; it bounds the decoder's memory.
_MAX_WINDOW_SIZE_BYTES = 1 << 27
# A compressed block of 4 bytes can stand for 128 KiB (RFC 8878 §3.1.1.2): a slice gives at most some 32 MiB.
_SLICE_SIZE_BYTES = 1024
# RFC 8878 §3.1.1: a magic number and a header of at most 14 bytes.
_FRAME_HEADER_SIZE_BYTES = 18


def compressed(manifest: Manifest, read_chunk: ReadChunk) -> Iterator[bytes]:
    """The chunks in order, each checked against its digest and size. Raises `StoreDamaged`."""
    for sha256, size_bytes in zip(manifest.chunks, manifest.chunk_sizes_bytes, strict=True):
        try:
            data = read_chunk(sha256)
        except StoreDamaged as error:
            raise StoreDamaged(f"{manifest.identity}: {error.message}", remedy=error.remedy) from error
        if data is None:
            raise StoreDamaged(f"{manifest.identity}: chunk {sha256} is missing")
        if len(data) != size_bytes or hashlib.sha256(data).hexdigest() != sha256:
            raise StoreDamaged(
                f"{manifest.identity}: chunk {sha256} has other bytes than its name and the manifest say"
            )
        yield data


def content(manifest: Manifest, read_chunk: ReadChunk) -> Iterator[bytes]:
    """The uncompressed file in pieces, never more of it than the manifest declares. Raises `StoreDamaged`.

    One whole zstd frame is expected, or one of the file's head and one of the rest (RFC 8878 §3: frames follow one another). Each tells its
    size, and nothing stands behind them.
    """
    frames = _Frames(manifest)
    digest = hashlib.sha256()
    for chunk in compressed(manifest, read_chunk):
        view = memoryview(chunk)
        for offset in range(0, len(view), _SLICE_SIZE_BYTES):
            for piece in frames.inflated(view[offset : offset + _SLICE_SIZE_BYTES]):
                digest.update(piece)
                yield piece
    frames.check_end()
    if digest.hexdigest() != manifest.content_sha256:
        raise StoreDamaged(f"{manifest.identity}: the content is not what the manifest declares")


class _Frames:
    """The frames of one compressed file, fed in slices."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._rest_bytes = manifest.compressed_size_bytes
        """Of the compressed file, what hasn't come yet."""
        self._left_bytes = manifest.content_size_bytes
        """Of the content, what no frame has told of yet."""
        self._frame_left_bytes = 0
        self._frames = 0
        self._begin = b""
        self._decompressor: zstandard.ZstdDecompressionObj | None = None

    def inflated(self, data: memoryview) -> Iterator[bytes]:
        """What the slice adds to the content."""
        self._rest_bytes -= len(data)
        waiting = bytes(data)
        while waiting:
            if self._decompressor is None:
                self._begin += waiting
                if len(self._begin) < min(_FRAME_HEADER_SIZE_BYTES, len(self._begin) + self._rest_bytes):
                    return
                self._decompressor = self._opened(self._begin[:_FRAME_HEADER_SIZE_BYTES])
                waiting, self._begin = self._begin, b""
            try:
                piece = self._decompressor.decompress(waiting)
            except zstandard.ZstdError as error:
                raise StoreDamaged(f"{self._manifest.identity}: not sound zstd: {error}") from error
            self._frame_left_bytes -= len(piece)
            if self._frame_left_bytes < 0:
                raise StoreDamaged(
                    f"{self._manifest.identity}: larger than the {self._manifest.content_size_bytes} bytes declared"
                )
            waiting = b""
            if self._decompressor.eof:
                waiting = self._decompressor.unused_data
                self._decompressor = None
            if piece:
                yield piece

    def check_end(self) -> None:
        """Raises `StoreDamaged` unless the last frame has ended, and all of the content was told."""
        if self._decompressor is not None or self._begin or not self._frames:
            raise StoreDamaged(f"{self._manifest.identity}: the compressed file does not end where its chunks end")
        if self._left_bytes or self._frame_left_bytes:
            raise StoreDamaged(f"{self._manifest.identity}: the content is not what the manifest declares")

    def _opened(self, begin: bytes) -> zstandard.ZstdDecompressionObj:
        """A decompressor for a frame, once what it says of itself is believable."""
        name = self._manifest.identity
        if self._frames and (self._frames > 1 or not self._left_bytes):
            raise StoreDamaged(f"{name}: bytes follow the end of the compressed file")
        try:
            frame = zstandard.get_frame_parameters(begin)
        except zstandard.ZstdError as error:
            raise StoreDamaged(f"{name}: not sound zstd: {error}") from error
        size_bytes = frame.content_size
        is_head = not self._frames and size_bytes <= MAX_HEAD_SIZE_BYTES
        if size_bytes != self._left_bytes and not (is_head and size_bytes < self._left_bytes):
            told = "no size" if size_bytes == zstandard.CONTENTSIZE_UNKNOWN else f"{size_bytes} bytes"
            raise StoreDamaged(
                f"{name}: a zstd frame tells {told}, not the {self._manifest.content_size_bytes} bytes declared"
            )
        self._frames += 1
        self._left_bytes -= size_bytes
        self._frame_left_bytes = size_bytes
        return zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_SIZE_BYTES).decompressobj()


def checked(manifest: Manifest, read_chunk: ReadChunk, scratch: Scratch) -> Manifest:
    """Checks everything that a manifest promises of its chunks; gives it back with the quality and figures that the content bears out.

    Raises `ArtifactMismatch` with the first broken promise, and `Refused` where there is no room to check it.
    """
    _check_declaration(manifest)
    try:
        if manifest.content_size_bytes <= IN_MEMORY_SIZE_BYTES:
            whole = bytearray()
            for piece in _sound_content(manifest, read_chunk):
                whole += piece
            return _borne_out(manifest, memoryview(whole))
        with scratch() as spool:
            for piece in _sound_content(manifest, read_chunk):
                spool.write(piece)
            spool.flush()
            # Not closed by name: a decoded table, or an error's traceback, may still look into it. It goes with its last user.
            return _borne_out(manifest, memoryview(mmap.mmap(spool.fileno(), 0, access=mmap.ACCESS_READ)))
    except MemoryError as error:
        raise Refused(
            f"there is not enough memory to check the {manifest.content_size_bytes} bytes of {manifest.identity}",
            remedy="Give the store's machine more memory, or send this file alone.",
        ) from error


def _sound_content(manifest: Manifest, read_chunk: ReadChunk) -> Iterator[bytes]:
    try:
        yield from content(manifest, read_chunk)
    except StoreDamaged as error:
        raise ArtifactMismatch(error.message, remedy="Send the artifact's chunks again.") from error


def _check_declaration(manifest: Manifest) -> None:
    if manifest.kind != GSYM_KIND:
        raise ArtifactMismatch(f"artifacts of the kind {manifest.kind!r} are not known")
    if manifest.compression != "zstd":
        raise ArtifactMismatch(f"the compression {manifest.compression!r} is not known")
    if not 0 < manifest.content_size_bytes <= MAX_CONTENT_SIZE_BYTES:
        raise ArtifactMismatch(
            f"a symbol file has 1 to {MAX_CONTENT_SIZE_BYTES} bytes, not {manifest.content_size_bytes}"
        )
    if any(not 0 < size_bytes <= MAX_CHUNK_SIZE_BYTES for size_bytes in manifest.chunk_sizes_bytes):
        raise ArtifactMismatch(f"a chunk has 1 to {MAX_CHUNK_SIZE_BYTES} bytes")
    if len(manifest.chunks) > max_chunks(manifest.compressed_size_bytes):
        raise ArtifactMismatch(
            f"{len(manifest.chunks)} chunks are too many for {manifest.compressed_size_bytes} compressed bytes"
        )
    # Compressing never makes more than this of anything; what is longer is padded with empty blocks, to keep the reader busy.
    if manifest.compressed_size_bytes > manifest.content_size_bytes + manifest.content_size_bytes // 128 + 64 * 1024:
        raise ArtifactMismatch(
            f"{manifest.compressed_size_bytes} compressed bytes are too many for {manifest.content_size_bytes}"
        )
    if manifest.content_size_bytes > _RATIO_FREE_SIZE_BYTES + _MAX_RATIO * manifest.compressed_size_bytes:
        raise ArtifactMismatch(
            f"{manifest.compressed_size_bytes} compressed bytes are too few for {manifest.content_size_bytes}"
        )
    if manifest.quality is Quality.NONE:
        raise ArtifactMismatch("a symbol file without functions helps no one")


def _borne_out(manifest: Manifest, whole: memoryview) -> Manifest:
    from uploader.gsym.decode import decode

    try:
        header, table = decode(whole)
    except MalformedGsym as error:
        raise ArtifactMismatch(f"not a sound GSYM file: {error.message}") from error
    primary = manifest.identity.primary
    if primary.scheme is IdScheme.GNU and bytes(header.uuid).hex() != primary.value:
        raise ArtifactMismatch(f"the file's UUID {bytes(header.uuid).hex()} is not the build-id {primary.value}")
    if not len(table):
        raise ArtifactMismatch(f"claims the quality {manifest.quality.label} but holds no function")
    if manifest.quality >= Quality.LINES and not len(table.row_address):
        raise ArtifactMismatch(f"claims the quality {manifest.quality.label} but holds no line")
    figures = _figures(manifest.figures, table)
    return replace(manifest, figures=figures, quality=min(manifest.quality, figures.quality))


def _figures(claimed: Figures, table: SymbolTable) -> Figures:
    """The figures of a table, counted anew; a claim stands only where a table doesn't tell, and within the bounds that it sets.

    Several pieces may be one function, and functions of several units may have one name: so their number lies between that of the
    names and that of the pieces.
    """
    from uploader.symbols.figures import measure

    counted = measure(table, executable=(), by_source={})
    functions = max(min(claimed.functions, len(table)), len(set(table.name)))
    by_source: dict[str, int] = {}
    for source, count in claimed.by_source.items():
        by_source[source] = min(count, functions - sum(by_source.values()))
    return replace(
        claimed,
        executable_bytes=max(claimed.executable_bytes, counted.function_bytes),
        function_bytes=counted.function_bytes,
        line_bytes=counted.line_bytes,
        inline_bytes=min(claimed.inline_bytes, counted.line_bytes),
        functions=functions,
        inlines=counted.inlines,
        line_rows=counted.line_rows,
        by_source=by_source,
    )
