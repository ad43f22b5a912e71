"""Inflates compressed ELF sections: zlib and zstd (``SHF_COMPRESSED``), and the legacy ``.zdebug_*`` form.

Sizes are checked before they are believed: a section can't declare more than its compressed bytes could ever hold, and what
comes out must be exactly what was declared. The inflating itself runs without the GIL, so that several sections can be
inflated side by side.
"""

from __future__ import annotations

import enum
import struct
import zlib

from uploader.errors import MalformedElf
from uploader.values import frozen

ELFCOMPRESS_ZLIB = 1
ELFCOMPRESS_ZSTD = 2

_GNU_HEADER = struct.Struct(">4sQ")

MAX_HEADER_BYTES = 24
"""The longest that a header is: ``Elf64_Chdr``."""

MAX_RATIO = 1032
"""The most that deflate can shrink: 258 bytes for two bits (zlib's technical notes, "Maximum Compression Factor").

zstd has no such limit below 32,768 (an RLE block, RFC 8878 §3.1.1.2). The same cap is applied to it: debug information shrinks
two- to tenfold, and a section that would have to shrink a thousandfold is a bomb.
"""

SLACK_BYTES = 1 << 16
"""What a section may declare whatever its compressed size: a ratio says nothing about a handful of bytes."""


SLICE_BYTES = 1 << 17
"""Compressed bytes that are inflated in one go, which is also how long the GIL stays released."""


class Compression(enum.StrEnum):
    """How the bytes of a section are compressed."""

    ZLIB = "zlib"
    ZSTD = "zstd"
    ZLIB_GNU = "zlib-gnu"


@frozen
class CompressionHeader:
    """What stands before the compressed bytes: their kind, the size they claim to inflate to, and where they begin."""

    compression: Compression
    inflated_size_bytes: int
    payload_offset: int


def read_header(data: memoryview, *, bits: int, little_endian: bool) -> CompressionHeader:
    """Reads the ``Elf32_Chdr`` or ``Elf64_Chdr`` (gABI, "Section Compression") at the head of a section.

    Raises `MalformedElf` where it is cut short or names an unknown method.
    """
    order = "<" if little_endian else ">"
    layout = struct.Struct(order + ("IIQQ" if bits == 64 else "III"))
    if len(data) < layout.size:
        raise MalformedElf("a compressed section is too short for its compression header")
    fields = layout.unpack_from(data)
    kind, size_bytes = fields[0], fields[2] if bits == 64 else fields[1]
    if kind == ELFCOMPRESS_ZLIB:
        compression = Compression.ZLIB
    elif kind == ELFCOMPRESS_ZSTD:
        compression = Compression.ZSTD
    else:
        raise MalformedElf(f"a section is compressed by an unknown method ({kind})")
    return CompressionHeader(
        compression=compression,
        inflated_size_bytes=size_bytes,
        payload_offset=layout.size,
    )


def read_gnu_header(data: memoryview) -> CompressionHeader | None:
    """Reads the legacy header of ``.zdebug_*`` ("ZLIB" and a big-endian size), or gives None where there is none."""
    if len(data) < _GNU_HEADER.size or bytes(data[:4]) != b"ZLIB":
        return None
    return CompressionHeader(
        compression=Compression.ZLIB_GNU,
        inflated_size_bytes=_GNU_HEADER.unpack_from(data)[1],
        payload_offset=_GNU_HEADER.size,
    )


def inflate(compression: Compression, data: memoryview | bytes, declared_size_bytes: int) -> memoryview:
    """The inflated bytes, exactly ``declared_size_bytes`` of them; ``data`` is what follows the compression header.

    Raises `MalformedElf` where the declared size is beyond what ``data`` could hold, where the stream is damaged or cut, and
    where it inflates to more or less than declared; at no time does it hold more than the declared size and one byte.
    """
    if declared_size_bytes > len(data) * MAX_RATIO + SLACK_BYTES:
        raise MalformedElf(f"a section of {len(data)} compressed bytes claims to inflate to {declared_size_bytes}")
    if compression is Compression.ZSTD:
        return _inflate_zstd(data, declared_size_bytes)
    return _inflate_zlib(data, declared_size_bytes)


def _inflate_zlib(data: memoryview | bytes, declared_size_bytes: int) -> memoryview:
    whole = inflate_whole(data, declared_size_bytes)
    inflated = whole if whole is not None else inflate_in_slices(data, declared_size_bytes)
    _check_size(len(inflated), declared_size_bytes)
    return memoryview(inflated).toreadonly()


def inflate_whole(data: memoryview | bytes, declared_size_bytes: int) -> bytearray | None:
    """What libdeflate makes of a stream in one go, twice as fast as zlib; None where it can't, whatever the reason."""
    try:
        import deflate
    except ImportError:
        return None
    if declared_size_bytes == 0:  # It takes that for "whatever comes".
        return None
    try:
        return deflate.zlib_decompress(data, declared_size_bytes)
    except deflate.DeflateError:
        return None


def inflate_in_slices(data: memoryview | bytes, declared_size_bytes: int) -> bytearray:
    """The same by zlib, which knows what is wrong with a stream."""
    stream = zlib.decompressobj()
    inflated = bytearray(declared_size_bytes)
    filled = 0
    try:
        # Slice by slice: the library's own growing of one large result costs as much as the inflating.
        for start in range(0, len(data), SLICE_BYTES):
            piece = stream.decompress(data[start : start + SLICE_BYTES], declared_size_bytes - filled + 1)
            if filled + len(piece) > declared_size_bytes:
                _check_size(filled + len(piece), declared_size_bytes)
            inflated[filled : filled + len(piece)] = piece
            filled += len(piece)
            if stream.eof:
                break
    except zlib.error as error:
        raise MalformedElf(f"a zlib section is damaged: {error}") from error
    if not stream.eof:
        raise MalformedElf("a zlib section is cut short")
    del inflated[filled:]
    return inflated


def _inflate_zstd(data: memoryview | bytes, declared_size_bytes: int) -> memoryview:
    import zstandard

    inflated = bytearray(declared_size_bytes)
    try:
        # mold writes one frame a shard, so a section may hold several.
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as reader:
            filled = 0
            view = memoryview(inflated)
            while filled < declared_size_bytes:
                count = reader.readinto(view[filled:])
                if not count:
                    break
                filled += count
            surplus = len(reader.read(1))
    except zstandard.ZstdError as error:
        raise MalformedElf(f"a zstd section is damaged: {error}") from error
    _check_size(filled + surplus, declared_size_bytes)
    return memoryview(inflated).toreadonly()


def _check_size(inflated_size_bytes: int, declared_size_bytes: int) -> None:
    if inflated_size_bytes > declared_size_bytes:
        raise MalformedElf(f"a section inflates to more than the {declared_size_bytes} bytes that it declares")
    if inflated_size_bytes < declared_size_bytes:
        raise MalformedElf(f"a section inflates to {inflated_size_bytes} bytes and declares {declared_size_bytes}")
