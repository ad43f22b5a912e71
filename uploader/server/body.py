"""Reads the body of a request that may be read: whole, or as the JSON of the protocol, with memory in proportion to what it may say."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from uploader.protocol.wire import json_text
from uploader.server.limit import BodyTooLarge
from uploader.server.trouble import MalformedRequest

# A question has some ten values, a digest or a chunk of a manifest two or three in at least 67 bytes.
_VALUES_PER_QUESTION = 16
_BYTES_PER_VALUE = 24
_FREE_VALUES = 1024
MAX_BODIES_SIZE_BYTES = 256 * 1024 * 1024
_RETRY_AFTER_SECONDS = 2


class BodyRoom:
    """The memory for the bodies of all requests under way. Used by one event loop."""

    def __init__(self, size_bytes: int) -> None:
        self._size_bytes = size_bytes
        self._taken_size_bytes = 0

    @contextlib.asynccontextmanager
    async def body(self, request: Request, *, max_size_bytes: int) -> AsyncIterator[bytes]:
        """All of the request's body, for the time of the block; its room is taken before a byte of it is read.

        Raises `BodyTooLarge`, and 503 where there is no room. One body is let in alone whatever its size.
        """
        size_bytes = _announced_size_bytes(request, max_size_bytes)
        if self._taken_size_bytes and self._taken_size_bytes + size_bytes > self._size_bytes:
            raise HTTPException(503, headers={"Retry-After": str(_RETRY_AFTER_SECONDS), "Connection": "close"})
        self._taken_size_bytes += size_bytes
        try:
            yield await read_body(request, max_size_bytes=max_size_bytes)
        finally:
            self._taken_size_bytes -= size_bytes


def _announced_size_bytes(request: Request, max_size_bytes: int) -> int:
    declared = request.headers.get("content-length", "")
    if "transfer-encoding" in request.headers or not (declared.isascii() and declared.isdigit()):
        return max_size_bytes
    return min(int(declared[:20]), max_size_bytes)


async def read_body(request: Request, *, max_size_bytes: int) -> bytes:
    """All of it. Raises `BodyTooLarge`, and an error that nobody hears where the client has gone."""
    data = bytearray()
    try:
        async for piece in request.stream():
            data += piece
            if len(data) > max_size_bytes:
                raise BodyTooLarge(max_size_bytes)
    except ClientDisconnect:
        raise HTTPException(400, headers={"Connection": "close"}) from None
    return bytes(data)


def parsed(data: bytes, *, max_batch: int) -> json_text.Json:
    """The JSON object in ``data``. Raises `MalformedRequest`, also for more values than a message of that length can mean.

    A value of two bytes takes a hundred when it is parsed.
    """
    values = json_text.values_in(data)
    if values > _FREE_VALUES + _VALUES_PER_QUESTION * max_batch + len(data) // _BYTES_PER_VALUE:
        raise MalformedRequest(f"{values} values are too many for a body of {len(data)} bytes")
    try:
        value = json_text.loads(data)
    except ValueError as error:
        raise MalformedRequest(f"the body is no JSON: {str(error)[:200]}") from error
    if not isinstance(value, dict):
        raise MalformedRequest("the body: an object is needed")
    return value
