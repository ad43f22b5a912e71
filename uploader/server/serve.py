"""Runs the symbol server until it is told to stop."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from uploader.errors import UsageError
from uploader.net.loopback import is_loopback
from uploader.protocol.words import MAX_CHUNK_SIZE_BYTES, Capabilities
from uploader.store.blobs import Blobs

if TYPE_CHECKING:
    from uploader.server.connection import Bounds

MIN_REQUEST_SIZE_BYTES = 64 * 1024
_MAX_CONNECTIONS = 640
_ACCEPTED_AT_ONCE = 256
_OTHER_FILES = 128
DEFAULT_REQUEST_SIZE_BYTES = MAX_CHUNK_SIZE_BYTES + 64 * 1024


def insist_on_libraries() -> None:
    """Raises `UsageError` where the extra ``symup[server]`` isn't installed."""
    for name in ("fastapi", "uvicorn"):
        if find_spec(name) is None:
            raise UsageError(
                f"the server needs {name}, which is not installed",
                remedy="pip install 'symup[server]', or in a clone .venv/bin/pip install '.[server]'.",
            )


def serve(
    blobs: Blobs,
    *,
    host: str = "127.0.0.1",
    port: int = 8753,
    tokens_path: Path | None = None,
    max_request_size_bytes: int = DEFAULT_REQUEST_SIZE_BYTES,
    on_listening: Callable[[str], None] = lambda _url: None,
    access_log: bool = False,
) -> None:
    """Serves the store in ``blobs`` until SIGINT or SIGTERM; requests under way are finished first.

    ``port`` 0 takes a free one. ``on_listening`` gets the URL once connections are answered. ``max_request_size_bytes`` bounds every
    request, and with it the chunks that clients are told to send: as much as the proxies in front let through. Without
    ``tokens_path`` it serves loopback only. Raises `UsageError`: without the extra ``symup[server]``, for a host without tokens
    that others can reach, a bad tokens file, a port that is taken, a limit that is too low.
    """
    insist_on_libraries()
    import uvicorn

    from uploader.server.app import create_app
    from uploader.server.connection import bounded_protocol
    from uploader.server.tokens import read_tokens

    if max_request_size_bytes < MIN_REQUEST_SIZE_BYTES:
        raise UsageError(
            f"a server takes requests of at least {MIN_REQUEST_SIZE_BYTES} bytes",
            remedy="Give --max-request-size 64K or more, and let proxies in front pass as much.",
        )
    tokens = None if tokens_path is None else read_tokens(tokens_path)
    with _listening(host, port, loopback_only=tokens is None) as listener:
        limits = Capabilities(
            max_chunk_size_bytes=min(MAX_CHUNK_SIZE_BYTES, max_request_size_bytes),
            max_request_size_bytes=max_request_size_bytes,
        )
        app = create_app(blobs, tokens=tokens, capabilities=limits)
        config = uvicorn.Config(
            app,
            log_level="info" if access_log else "warning",
            access_log=access_log,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="off",
            timeout_graceful_shutdown=30,
            # A client extracts for a while between two requests; its connection should still be there.
            timeout_keep_alive=75,
            http=bounded_protocol(_bounds()),
            # So many connections are accepted at a stretch, before any of them is counted.
            backlog=_ACCEPTED_AT_ONCE,
        )
        url = _url(host, listener)

        class Announcing(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                await super().startup(sockets=sockets)
                if self.started:
                    on_listening(url)

        Announcing(config).run(sockets=[listener])


def _listening(host: str, port: int, *, loopback_only: bool) -> socket.socket:
    if not 0 <= port < 65536:
        # The resolver would take it modulo 65536.
        raise UsageError(f"there is no port {port}", remedy="Choose one up to 65535; 0 takes a free one.")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError, OverflowError) as error:
        raise UsageError(f"{host!r} is no address of this machine: {error}") from error
    if loopback_only and not all(is_loopback(str(entry[4][0])) for entry in found):
        raise UsageError(
            f"others can reach {host}, and there are no tokens: everyone could read and write",
            remedy="Give a tokens file with --tokens, or serve on 127.0.0.1.",
        )
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            # On Windows the option would let two servers share the port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(1024)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"can't listen on {host} port {port}: {error.strerror or error}",
            remedy="Choose another --port; 0 takes a free one.",
        ) from error
    return listener


def _url(host: str, listener: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"


def _bounds() -> Bounds:
    """As many connections as the process may have files open for, some left for the store's own; none of one address takes all."""
    from uploader.server.connection import Bounds

    try:
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except ImportError:
        files = _MAX_CONNECTIONS * 2
    if files < 0:
        files = _MAX_CONNECTIONS * 2
    connections = max(16, min(_MAX_CONNECTIONS, files - _ACCEPTED_AT_ONCE - _OTHER_FILES))
    return Bounds(connections=connections, connections_of_one_address=connections * 3 // 4)
