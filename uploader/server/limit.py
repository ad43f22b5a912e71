"""Keeps request bodies within bounds: in size, and in the time that a client may be silent."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyTooLarge(HTTPException):
    """A body over the limit; the connection can't be used further."""

    def __init__(self, limit_size_bytes: int) -> None:
        super().__init__(413, headers={"Connection": "close"})
        self.limit_size_bytes = limit_size_bytes


class BodyLimit:
    """ASGI middleware that ends a request whose declared or real body is over ``max_size_bytes``, or that stalls."""

    def __init__(self, app: ASGIApp, *, max_size_bytes: int, silence_seconds: float = 60.0) -> None:
        self._app = app
        self._max_size_bytes = max_size_bytes
        self._silence_seconds = silence_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything on, with a ``receive`` that counts."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = _declared_size(scope)
        size_bytes = 0
        whole = False

        async def counted() -> Message:
            nonlocal size_bytes, whole
            if declared > self._max_size_bytes:
                raise BodyTooLarge(self._max_size_bytes)
            if whole:
                # Only the end of the connection is left to receive; an answer may take as long as it likes.
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), self._silence_seconds)
            except TimeoutError:
                raise HTTPException(408, headers={"Connection": "close"}) from None
            if message["type"] == "http.request":
                size_bytes += len(message.get("body", b""))
                whole = not message.get("more_body", False)
                if size_bytes > self._max_size_bytes:
                    raise BodyTooLarge(self._max_size_bytes)
            return message

        await self._app(scope, counted, send)


def _declared_size(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value[:20])
    return 0
