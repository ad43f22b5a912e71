"""Answers with a stored symbol file: as it is or as zstd, whole or in part; a client that has it already gets a few bytes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from fastapi import Request
from fastapi.responses import Response, StreamingResponse

from uploader.protocol.words import Manifest
from uploader.store.store import SymbolStore

MEDIA_TYPE = "application/vnd.gsym"
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def download(request: Request, store: SymbolStore, manifest: Manifest) -> Response:
    """The answer to GET or HEAD for one artifact (RFC 9110 §12.5.3 Accept-Encoding, §13.1.2 If-None-Match, §14.2 Range).

    A range is of the encoded bytes, as ever in HTTP. Raises `StoreDamaged` where the first chunk is not sound; damage further on
    breaks the connection.
    """
    encoded = accepts_zstd(request.headers.get("Accept-Encoding", ""))
    size_bytes = manifest.compressed_size_bytes if encoded else manifest.content_size_bytes
    etag = f'"{manifest.content_sha256}{"-zstd" if encoded else ""}"'
    headers = {"ETag": etag, "Vary": "Accept-Encoding", "Accept-Ranges": "bytes", "Cache-Control": "private, no-cache"}
    if encoded:
        headers["Content-Encoding"] = "zstd"
    if _names(request.headers.get("If-None-Match", ""), etag):
        return Response(status_code=304, headers=headers)
    wanted = request.headers.get("Range")
    if wanted is not None and request.headers.get("If-Range", etag) != etag:
        wanted = None
    part = None if wanted is None else parse_range(wanted, size_bytes)
    if part is not None and not part:
        return Response(status_code=416, headers=headers | {"Content-Range": f"bytes */{size_bytes}"})
    selected = range(size_bytes) if part is None else part
    headers["Content-Length"] = str(len(selected))
    if part is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size_bytes}"
    status = 200 if part is None else 206
    if request.method == "HEAD":
        return Response(status_code=status, headers=headers, media_type=MEDIA_TYPE)
    pieces = cut(store.compressed(manifest) if encoded else store.content(manifest), selected)
    first = next(pieces, b"")
    return StreamingResponse(
        itertools.chain([first], pieces), status_code=status, headers=headers, media_type=MEDIA_TYPE
    )


def accepts_zstd(header: str) -> bool:
    """Whether an Accept-Encoding header names zstd with a weight above nought."""
    for item in header.lower().split(","):
        coding, *parameters = (part.strip() for part in item.split(";"))
        if coding == "zstd":
            return not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters)
    return False


def parse_range(header: str, size_bytes: int) -> range | None:
    """The bytes that a Range header asks for; None where it is to be ignored; empty where it can't be satisfied.

    Several ranges at once are ignored, as the standard allows.
    """
    matched = _RANGE.fullmatch(header.strip())
    if matched is None or matched[1] == matched[2] == "":
        return None
    if not matched[1]:
        length = min(int(matched[2]), size_bytes)
        return range(size_bytes - length, size_bytes)
    first = int(matched[1])
    last = int(matched[2]) if matched[2] else size_bytes - 1
    if matched[2] and last < first:
        return None
    return range(min(first, size_bytes), min(last + 1, size_bytes))


def cut(pieces: Iterator[bytes], selected: range) -> Iterator[bytes]:
    """The bytes of ``pieces`` whose offsets lie in ``selected``; reads no further than needed."""
    offset = 0
    for piece in pieces:
        first, last = max(selected.start - offset, 0), min(selected.stop - offset, len(piece))
        if first < last:
            yield piece[first:last]
        offset += len(piece)
        if offset >= selected.stop:
            return


def _names(header: str, etag: str) -> bool:
    return any(item.strip().removeprefix("W/") in (etag, "*") for item in header.split(","))
