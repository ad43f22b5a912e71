"""Connections that end: every exchange has an allowance of time and of bytes, whatever the other side sends or doesn't send.

The time-outs of a HTTP client are for one read each, so that a server that sends a byte now and then, or one interim answer after the
other, could hold it for ever. Here every read, write, connection and TLS handshake has what is left of its exchange's allowance.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore
import httpx

from uploader.errors import Refused, UsageError

MIN_PROGRESS_BYTES = 100 * 1024
"""The bytes that must move within `PROGRESS_SECONDS`, or an exchange counts as stalled: elfutils' measure."""
PROGRESS_SECONDS = 90.0

_HEAD_SIZE_BYTES = 256 * 1024
_WRITE_SIZE_BYTES = 16 * 1024
_TRANSLATED = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)


class Allowance:
    """The rest that one exchange may take: seconds, which go by and are earned back by bytes that move, and bytes that may come."""

    def __init__(
        self,
        seconds: float,
        *,
        max_received_bytes: int,
        bytes_per_second: float = MIN_PROGRESS_BYTES / PROGRESS_SECONDS,
        deadline: float | None = None,
    ) -> None:
        """``max_received_bytes`` are those of the answer's body; heads are bounded by themselves. ``deadline`` is of `time.monotonic`."""
        self._seconds = seconds
        self._bytes_per_second = bytes_per_second
        self._deadline = deadline
        self._ends = time.monotonic() + seconds
        self._receivable_bytes = 2 * max_received_bytes + _HEAD_SIZE_BYTES

    def within(self, timeout: float | None, error: type[httpcore.TimeoutException]) -> float:
        """The time-out for one step: never longer than what is left. Raises ``error`` where nothing is."""
        ends = self._ends if self._deadline is None else min(self._ends, self._deadline)
        left = ends - time.monotonic()
        if left <= 0:
            raise error(f"too little moved in {self._seconds:g} s")
        return left if timeout is None else min(timeout, left)

    def moved(self, size_bytes: int) -> None:
        """So many bytes went either way."""
        now = time.monotonic()
        self._ends = now + min(self._seconds, self._ends - now + size_bytes / self._bytes_per_second)

    def received(self, size_bytes: int) -> None:
        """So many bytes came. Raises `Refused` where they are more than the exchange can have use for."""
        self._receivable_bytes -= size_bytes
        if self._receivable_bytes < 0:
            raise Refused("the server sent far more than was asked for", remedy="Check that it is a symup server.")
        self.moved(size_bytes)


_current = threading.local()


@contextlib.contextmanager
def bounded(allowance: Allowance) -> Iterator[None]:
    """All use that this thread makes of a `BoundedTransport` meanwhile counts against the allowance."""
    _current.allowance = allowance
    try:
        yield
    finally:
        del _current.allowance


def _allowance() -> Allowance:
    allowance = getattr(_current, "allowance", None)
    assert isinstance(allowance, Allowance)
    return allowance


class BoundedTransport(httpx.BaseTransport):
    """HTTP through the proxies of the environment, if ``trust_env``, as far as the allowance of the thread goes."""

    def __init__(self, *, trust_env: bool, max_connections: int) -> None:
        """Contacts nothing yet."""
        self._trust_env = trust_env
        self._max_connections = max_connections
        self._guard = threading.Lock()
        self._pools: dict[str | None, httpcore.ConnectionPool] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One request; the body of the answer is read through the same allowance."""
        url = request.url
        proxy = _proxy_for(url) if self._trust_env else None
        assert isinstance(request.stream, httpx.SyncByteStream)
        asked = httpcore.Request(
            method=request.method,
            url=httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _as_of_httpx():
            answer = self._pool(proxy, encrypted=url.scheme == "https").handle_request(asked)
        return httpx.Response(
            status_code=answer.status,
            headers=answer.headers,
            stream=_Body(answer),
            extensions=answer.extensions,
        )

    def close(self) -> None:
        """Closes all connections."""
        with self._guard:
            for pool in self._pools.values():
                pool.close()

    def _pool(self, proxy: str | None, *, encrypted: bool) -> httpcore.ConnectionPool:
        key = f"{proxy} {encrypted}"
        with self._guard:
            if key not in self._pools:
                self._pools[key] = _opened_pool(proxy, encrypted=encrypted, max_connections=self._max_connections)
            return self._pools[key]


def _opened_pool(proxy: str | None, *, encrypted: bool, max_connections: int) -> httpcore.ConnectionPool:
    context = httpx.create_ssl_context() if encrypted else None
    backend = _BoundedBackend()
    if proxy is None:
        return httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=max_connections,
            max_keepalive_connections=max_connections,
            keepalive_expiry=5.0,
            network_backend=backend,
        )
    through = httpx.URL(proxy if "://" in proxy else f"http://{proxy}")
    if through.scheme not in ("http", "https"):
        raise UsageError(
            f"the proxy that the environment names is of the kind {through.scheme}, which is not supported",
            remedy="Name a http or https proxy, or list the server in NO_PROXY.",
        )
    return httpcore.HTTPProxy(
        proxy_url=httpcore.URL(
            scheme=through.raw_scheme, host=through.raw_host, port=through.port, target=through.raw_path
        ),
        proxy_auth=(through.username, through.password) if through.username else None,
        ssl_context=context,
        proxy_ssl_context=httpx.create_ssl_context() if through.scheme == "https" else None,
        max_connections=max_connections,
        max_keepalive_connections=max_connections,
        keepalive_expiry=5.0,
        network_backend=backend,
    )


def _proxy_for(url: httpx.URL) -> str | None:
    if urllib.request.proxy_bypass(url.host):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(url.scheme) or proxies.get("all")


@contextlib.contextmanager
def _as_of_httpx() -> Iterator[None]:
    """Raises errors of httpcore as those of httpx, which have the same names."""
    try:
        yield
    except _TRANSLATED as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _as_of_httpx():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class _BoundedBackend(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connects to the first address that answers; ``timeout`` is for all of them together."""
        attempt = Allowance(15.0 if timeout is None else timeout, max_received_bytes=0)
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        trouble: httpcore.NetworkError | httpcore.TimeoutException = httpcore.ConnectError("no address")
        for address in dict.fromkeys(str(entry[4][0]) for entry in found):
            left = _allowance().within(attempt.within(None, httpcore.ConnectTimeout), httpcore.ConnectTimeout)
            try:
                return _BoundedStream(
                    self._inner.connect_tcp(address, port, left, local_address, list(socket_options or ()))
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                trouble = error
        raise trouble


class _BoundedStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        allowance = _allowance()
        data = self._inner.read(max_bytes, allowance.within(timeout, httpcore.ReadTimeout))
        allowance.received(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        allowance = _allowance()
        for offset in range(0, len(buffer), _WRITE_SIZE_BYTES):
            piece = buffer[offset : offset + _WRITE_SIZE_BYTES]
            self._inner.write(piece, allowance.within(timeout, httpcore.WriteTimeout))
            allowance.moved(len(piece))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _allowance().within(timeout, httpcore.ConnectTimeout)
        return _BoundedStream(self._inner.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
