"""The outermost layer: what is refused before anything looks at a request, and connections that end in mid-answer."""

from __future__ import annotations

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from uploader.errors import SymupError
from uploader.server.trouble import trouble

_log = logging.getLogger(__name__)


class Edge:
    """ASGI middleware. A request that tells its length in two ways is refused: a proxy in front may have read it in the other."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is sound."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        names = {name.lower() for name, _ in scope["headers"]}
        if {b"content-length", b"transfer-encoding"} <= names:
            reason = "a request has Content-Length or Transfer-Encoding, not both"
            await trouble(400, "malformed", reason, headers={"Connection": "close"})(scope, receive, send)
            return
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except (SymupError, RuntimeError) as error:
            # Starlette wraps what its handlers come too late for.
            cause = error.__cause__ if isinstance(error, RuntimeError) else error
            if not begun or not isinstance(cause, SymupError):
                raise
            # The answer breaks off here, and the server closes the connection: a client that reads to Content-Length knows.
            _log.error("%s %s breaks off: %s", scope["method"], scope["path"], cause.message)
