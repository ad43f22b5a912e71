"""Requests to one server, each tried until it succeeds, fails for good, or patience ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import httpx

from uploader import __version__
from uploader.credentials.token import Token
from uploader.errors import (
    NetworkGaveOut,
    Refused,
    UsageError,
)
from uploader.net.network import Allowance, BoundedTransport, bounded
from uploader.net.patience import TRY_AGAIN, Patience, duration
from uploader.net.redirect import MAX_REDIRECTS, may_follow, origin
from uploader.net.refusal import error_in, raise_refusal
from uploader.net.transport_errors import in_words, raise_distrust
from uploader.protocol.refusals import CHUNK_MISMATCH

_MAX_TROUBLE_SIZE_BYTES = 64 * 1024
_REDIRECTIONS = frozenset({301, 302, 303, 307, 308})
_UNREACHED = "Check the URL, and that the server is up; then run the same command again"
_MAX_CONNECTIONS = 32
_CONNECT_SECONDS = 15.0
GARBLED_ATTEMPTS = 3
"""How often an answer that makes no sense, or a body that arrived as another one, is asked for: the network can garble both."""

T = TypeVar("T")


class Exchanges:
    """Safe for any number of threads."""

    def __init__(
        self,
        url: str,
        *,
        token: Token | None,
        patience: Patience,
        sleep: Callable[[float], object] | None,
        trust_env: bool,
    ) -> None:
        """``url`` is the server's base, without a trailing slash. Contacts nothing yet."""
        self._url = url
        self._origin = origin(httpx.URL(url))
        self._token = token
        self._patience = patience
        self._closed = threading.Event()
        self._sleep = sleep if sleep is not None else self._closed.wait
        self._contacted = False
        self.on_waiting: Callable[[str], None] = _tell_nobody
        """Hears what is waited for before an attempt is made again, and the empty text when an answer came after all."""
        self._client = httpx.Client(
            # Each step has what is left of its exchange's allowance.
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            headers={"User-Agent": f"symup/{__version__}", "Accept-Encoding": "identity"},
            follow_redirects=False,
            transport=BoundedTransport(trust_env=trust_env, max_connections=_MAX_CONNECTIONS),
            event_hooks={"response": [self._insist_on_location]},
        )

    def ask(
        self,
        method: str,
        path: str,
        *,
        read: Callable[[bytes], T],
        max_size_bytes: int,
        body: bytes | None = None,
        content_type: str = "application/json",
        seconds: float | None = None,
    ) -> T:
        """One exchange, its body sent anew at each attempt; gives what ``read`` makes of the answer, of at most ``max_size_bytes``.

        Where ``read`` raises `ValueError` the answer counts as garbled on the way. ``seconds`` is the allowance of one attempt.
        Raises `Absent` where the server says that it holds no such thing, and the errors of `Destination`.
        """
        seconds = self._patience.exchange_seconds if seconds is None else seconds
        started = self._patience.monotonic()
        attempt = garbled = 0
        while True:
            retry_after = None
            if self._closed.is_set():
                raise NetworkGaveOut(f"the connection to {self._url} is closed")
            try:
                status, headers, data = self._exchange(method, path, body, content_type, seconds, max_size_bytes, read)
                self._contacted = True
                if 200 <= status < 300:
                    if attempt:
                        self.on_waiting("")
                    assert not isinstance(data, bytes)
                    return data.value
                assert isinstance(data, bytes)
                trouble = f"it answered {status}"
                retry_after = headers.get("Retry-After")
                again = status in TRY_AGAIN
                if status == CHUNK_MISMATCH.status and error_in(data).get("error") == CHUNK_MISMATCH.code:
                    garbled += 1
                    again = garbled < GARBLED_ATTEMPTS
                    trouble = "what arrived there is not what was sent"
                if not again:
                    raise_refusal(self._url, path, status, data, sent_size_bytes=len(body or b""))
            except _Garbled as error:
                garbled += 1
                self._contacted = True
                trouble = f"its answer is not the protocol's: {error}"
                if garbled >= GARBLED_ATTEMPTS:
                    raise Garbled(
                        f"{self._url} gave an answer that is not the protocol's, {garbled} times: {error}",
                        remedy="Check that the destination's URL is a symup server's.",
                    ) from error
            except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
                raise UsageError(f"{self._url} can't be asked: {error}") from error
            except httpx.TransportError as error:
                raise_distrust(error, self._url)
                trouble = in_words(error)
            except httpx.HTTPError as error:
                raise Refused(f"{self._url} gave an answer that can't be read: {error}") from error
            self._wait(attempt, started, trouble, retry_after)
            attempt += 1

    def close(self) -> None:
        """Closes the connections, and ends the waiting of requests that are between two attempts."""
        self._closed.set()
        self._client.close()

    def _wait(self, attempt: int, started: float, trouble: str, retry_after: str | None) -> None:
        elapsed = self._patience.monotonic() - started
        pause = self._patience.pause_seconds(
            attempt=attempt, elapsed_seconds=elapsed, retry_after=retry_after, contacted=self._contacted
        )
        if pause is None:
            asked = self._patience.asked_seconds(retry_after)
            if asked is not None:
                raise NetworkGaveOut(
                    f"{self._url} asks to wait {duration(asked)} ({trouble}); gave up",
                    again=f"Run the same command again in {duration(asked)}",
                )
            tries = "1 attempt" if attempt == 0 else f"{attempt + 1} attempts"
            reached = "did not answer well" if self._contacted else "could not be reached"
            told = f"{self._url} {reached} in {tries}; at last: {trouble}"
            raise NetworkGaveOut(told) if self._contacted else NetworkGaveOut(told, again=_UNREACHED)
        left = self._patience.limit_seconds(contacted=self._contacted) - elapsed
        self.on_waiting(
            f"no good answer from {httpx.URL(self._url).netloc.decode('ascii')}; trying again in {duration(pause)} "
            f"(attempt {attempt + 2}; gives up after {duration(left)}): {trouble}"
        )
        self._sleep(pause)

    def _exchange(
        self,
        method: str,
        path: str,
        body: bytes | None,
        content_type: str,
        seconds: float,
        max_size_bytes: int,
        read: Callable[[bytes], T],
    ) -> tuple[int, httpx.Headers, bytes | _Read[T]]:
        url = httpx.URL(self._url + path)
        for _ in range(MAX_REDIRECTS + 1):
            headers = {} if body is None else {"Content-Type": content_type}
            if self._token is not None and origin(url) == self._origin:
                headers["Authorization"] = f"Bearer {self._token.reveal()}"
            request = self._client.build_request(method, url, content=body, headers=headers)
            with bounded(Allowance(seconds, max_received_bytes=max(max_size_bytes, _MAX_TROUBLE_SIZE_BYTES))):
                response = self._client.send(request, stream=True)
                try:
                    target = self._redirection(response, method, url)
                    if target is None:
                        return response.status_code, response.headers, self._taken(response, max_size_bytes, read)
                    url = target
                except _Garbled:
                    # More bytes on this connection may be the answer to another question.
                    response.extensions["network_stream"].close()
                    raise
                finally:
                    response.close()
        raise Refused(f"{self._url} redirects without end")

    def _taken(self, response: httpx.Response, max_size_bytes: int, read: Callable[[bytes], T]) -> bytes | _Read[T]:
        """A good answer read; of another one its bytes."""
        encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
        if not 200 <= response.status_code < 300:
            # A server's own errors are short; what is longer, or comes packed, is some proxy's page.
            return _body(response, _MAX_TROUBLE_SIZE_BYTES) or b"" if encoding == "identity" else b""
        if encoding != "identity":
            raise Refused(
                f"{self._url} sent an answer with Content-Encoding {encoding[:40]!r}, which was not asked for",
                remedy="Have the server, or the proxy before it, send answers to symup as they are.",
            )
        data = _body(response, max_size_bytes)
        if data is None:
            raise Garbled(
                f"{self._url} gave an answer of more than the {max_size_bytes} bytes that fit what was asked",
                remedy="Check that the destination's URL is a symup server's.",
            )
        try:
            return _Read(read(data))
        except ValueError as error:
            raise _Garbled("".join(character for character in str(error)[:200] if character.isprintable())) from error

    def _insist_on_location(self, response: httpx.Response) -> None:
        """Raises `Refused` for a redirection to nowhere. The client would read its address first, and call it a broken connection."""
        if response.status_code not in _REDIRECTIONS:
            return
        named = response.headers.get("Location", "")
        told = "no address"
        if named:
            try:
                response.request.url.join(named)
                return
            except (httpx.InvalidURL, ValueError):
                shown = "".join(character for character in named[:100] if character.isprintable())
                told = f"an address that can't be read ({shown!r})"
        raise Refused(
            f"{self._url} answers {response.status_code} and redirects to {told}",
            remedy="Check that the destination's URL is a symup server's, and what a proxy before it redirects.",
        )

    def _redirection(self, response: httpx.Response, method: str, url: httpx.URL) -> httpx.URL | None:
        if response.status_code not in _REDIRECTIONS:
            return None
        target = url.join(response.headers["Location"])
        followed = response.status_code in (307, 308) and origin(target) == self._origin
        if method == "GET":
            followed = may_follow(url, target)
        if not followed:
            raise Refused(
                f"{self._url} redirects to {target.scheme}://{target.host}, where nothing is sent unasked",
                remedy="If that is the symbol server, name it as the destination.",
            )
        return target


class Garbled(Refused):
    """Time and again an answer that is none to what was asked."""


class _Garbled(Exception):
    """An answer that is none to what was asked."""


class _Read(Generic[T]):
    def __init__(self, value: T) -> None:
        self.value = value


def _tell_nobody(_message: str) -> None:
    """Nobody asked to hear of it."""


def _body(response: httpx.Response, max_size_bytes: int) -> bytes | None:
    """None where it is larger."""
    data = bytearray()
    for piece in response.iter_raw():
        data += piece
        if len(data) > max_size_bytes:
            return None
    return bytes(data)
