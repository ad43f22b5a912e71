"""A symbol server as a destination: the protocol of ``docs/protocol.md`` over one pool of connections."""

from __future__ import annotations

import ipaddress
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, NoReturn, TypeVar
from urllib.parse import quote, urlsplit

import httpx

from uploader import __version__
from uploader.auth.token import Token
from uploader.errors import (
    ArtifactMismatch,
    ChunkMismatch,
    NetworkGaveOut,
    NotAllowed,
    NothingFound,
    Refused,
    StoreDamaged,
    UsageError,
)
from uploader.model import SymbolId
from uploader.store import verify
from uploader.transfer import wire
from uploader.transfer.patience import Patience
from uploader.transfer.protocol import (
    GSYM_KIND,
    MAX_CHUNK_SIZE_BYTES,
    TOKENS_FEATURE,
    Answer,
    Capabilities,
    Committed,
    Manifest,
    Question,
)

_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_MAX_JSON_SIZE_BYTES = 64 * 1024 * 1024
_MAX_REDIRECTS = 5
_MAX_CONNECTIONS = 32
_TIMEOUT = httpx.Timeout(connect=15.0, read=120.0, write=120.0, pool=None)
# The server reads the whole artifact back before it answers.
_COMMIT_TIMEOUT = httpx.Timeout(connect=15.0, read=900.0, write=120.0, pool=None)
MIN_PROGRESS_BYTES = 100 * 1024
"""What must arrive of a download within its time, or it counts as stalled: elfutils' measure."""

_ERRORS: dict[str, type[Refused]] = {
    "chunk_mismatch": ChunkMismatch,
    "artifact_mismatch": ArtifactMismatch,
    "store_damaged": StoreDamaged,
}

T = TypeVar("T")


class HttpDestination:
    """`uploader.transfer.protocol.Destination` over one project of a symbol server. Safe for any number of threads."""

    def __init__(
        self,
        url: str,
        *,
        project: str,
        token: Token | None = None,
        allow_insecure: bool = False,
        patience: Patience | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """``url`` is the server's base, without a trailing slash. Contacts nothing yet.

        ``sleep`` waits between attempts; by default in a way that `close` cuts short. Raises `UsageError` where the token would
        travel unencrypted beyond loopback, unless ``allow_insecure``.
        """
        parts = urlsplit(url)
        if (
            token is not None
            and parts.scheme == "http"
            and not allow_insecure
            and not _is_loopback(parts.hostname or "")
        ):
            raise UsageError(
                f"a token is not sent over plain http to {parts.hostname}",
                remedy="Use https, or say --allow-insecure where the network between is trusted.",
            )
        self._url = url
        self._origin = _origin(httpx.URL(url))
        self._project = project
        self._token = token
        self._patience = patience if patience is not None else Patience()
        self._closed = threading.Event()
        self._sleep = sleep if sleep is not None else self._closed.wait
        self._contacted = False
        self._capabilities: Capabilities | None = None
        self._capabilities_guard = threading.Lock()
        self._client = httpx.Client(
            timeout=_TIMEOUT,
            limits=httpx.Limits(max_connections=_MAX_CONNECTIONS, max_keepalive_connections=_MAX_CONNECTIONS),
            headers={"User-Agent": f"symup/{__version__}", "Accept-Encoding": "identity"},
            follow_redirects=False,
            # A proxy from the environment must not see a token that may go to loopback only.
            trust_env=parts.scheme == "https" or not _is_loopback(parts.hostname or ""),
        )

    @property
    def url(self) -> str:
        """The server's base URL."""
        return self._url

    def capabilities(self) -> Capabilities:
        """See `Destination.capabilities`; asked once. The chunk limit is one that fits into a request, too."""
        with self._capabilities_guard:
            if self._capabilities is None:
                said = self._json("GET", "/v1/capabilities", read=wire.capabilities_from_json)
                if TOKENS_FEATURE in said.features and self._token is None:
                    raise NotAllowed(f"{self._url} wants a token", remedy=_LOGIN_REMEDY)
                self._capabilities = Capabilities(
                    max_chunk_size_bytes=min(
                        said.max_chunk_size_bytes, said.max_request_size_bytes, MAX_CHUNK_SIZE_BYTES
                    ),
                    max_batch=said.max_batch,
                    max_request_size_bytes=said.max_request_size_bytes,
                    audiences=said.audiences,
                    features=said.features,
                    server=said.server,
                )
            return self._capabilities

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        """See `Destination.negotiate`."""
        answers: list[Answer] = []
        for batch in self._batches(questions):
            body = wire.dumps({"questions": batch})
            got = self._json("POST", self._path("artifacts:negotiate"), body=body, read=_answers)
            if len(got) != len(batch):
                raise Refused(f"{self._url} gave {len(got)} answers to {len(batch)} questions")
            answers.extend(got)
        return answers

    def put_chunk(self, sha256: str, data: bytes) -> None:
        """See `Destination.put_chunk`."""
        self._within_limit(len(data), "a chunk")
        self._request("PUT", self._path(f"chunks/{sha256}"), body=data, content_type="application/octet-stream")

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        """See `Destination.commit`."""
        body = wire.dumps({"manifest": wire.manifest_to_json(manifest), "force": force})
        self._within_limit(len(body), "a manifest")
        return self._json(
            "POST", self._path("artifacts:commit"), body=body, read=wire.committed_from_json, timeout=_COMMIT_TIMEOUT
        )

    def manifest(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Manifest | None:
        """See `Destination.manifest`."""
        path = self._path(f"symbols/{quote(str(symbol_id), safe='')}/manifest?kind={quote(kind, safe='')}")
        data = self._request("GET", path, absent_is_none=True)
        return None if data is None else self._parsed(data, wire.manifest_from_json)

    def fetch(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Iterator[bytes]:
        """See `Destination.fetch`: chunk by chunk, so that a broken connection costs one chunk."""
        manifest = self.manifest(symbol_id, kind)
        if manifest is None:
            raise NothingFound(f"{self._url} holds no symbols for {symbol_id}")
        return verify.content(manifest, self._get_chunk)

    def close(self) -> None:
        """Closes the connections, and ends the waiting of requests that are between two attempts."""
        self._closed.set()
        self._client.close()

    def _get_chunk(self, sha256: str) -> bytes | None:
        return self._request(
            "GET", self._path(f"chunks/{sha256}"), max_size_bytes=MAX_CHUNK_SIZE_BYTES, absent_is_none=True
        )

    def _path(self, rest: str) -> str:
        return f"/v1/projects/{quote(self._project, safe='')}/{rest}"

    def _within_limit(self, size_bytes: int, what: str) -> None:
        limit = self.capabilities().max_request_size_bytes
        if size_bytes > limit:
            raise Refused(
                f"{what} of {size_bytes} bytes is over the {limit} bytes that {self._url} takes in one request"
            )

    def _batches(self, questions: Sequence[Question]) -> Iterator[list[wire.Json]]:
        limits = self.capabilities()
        frame_size_bytes = len(wire.dumps({"questions": []}))
        batch: list[wire.Json] = []
        size_bytes = frame_size_bytes
        for question in questions:
            line = wire.question_to_json(question)
            line_size_bytes = len(wire.dumps(line)) + 1
            self._within_limit(frame_size_bytes + line_size_bytes, "a question")
            if batch and (
                len(batch) == limits.max_batch or size_bytes + line_size_bytes > limits.max_request_size_bytes
            ):
                yield batch
                batch, size_bytes = [], frame_size_bytes
            batch.append(line)
            size_bytes += line_size_bytes
        if batch:
            yield batch

    def _json(
        self,
        method: str,
        path: str,
        *,
        read: Callable[[object], T],
        body: bytes | None = None,
        timeout: httpx.Timeout = _TIMEOUT,
    ) -> T:
        return self._parsed(self._request(method, path, body=body, timeout=timeout) or b"", read)

    def _parsed(self, data: bytes, read: Callable[[object], T]) -> T:
        try:
            return read(wire.loads(data))
        except ValueError as error:
            raise Refused(
                f"{self._url} gave an answer that is not the protocol's: {str(error)[:200]}",
                remedy="Check that the destination's URL is a symup server's.",
            ) from error

    def _request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        content_type: str = "application/json",
        timeout: httpx.Timeout = _TIMEOUT,
        max_size_bytes: int = _MAX_JSON_SIZE_BYTES,
        absent_is_none: bool = False,
    ) -> bytes | None:
        """One exchange, tried until it succeeds, fails for good, or patience ends. The body is sent anew each time."""
        started = self._patience.monotonic()
        attempt = 0
        while True:
            retry_after = None
            if self._closed.is_set():
                raise NetworkGaveOut(f"the connection to {self._url} is closed")
            try:
                status, headers, data = self._exchange(method, path, body, content_type, timeout, max_size_bytes)
                self._contacted = True
                if 200 <= status < 300:
                    return data
                if status == 404 and absent_is_none and _said(data).get("error") == "not_found":
                    return None
                if status not in _TRY_AGAIN:
                    self._raise_refusal(status, data, len(body or b""))
                trouble = f"answered {status}"
                retry_after = headers.get("Retry-After")
            except (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.InvalidURL) as error:
                raise UsageError(f"{self._url} can't be asked: {error}") from error
            except httpx.TransportError as error:
                if _is_distrust(error):
                    raise NetworkGaveOut(
                        f"the certificate of {self._url} is not trusted: {error}",
                        remedy="Point SSL_CERT_FILE at the certificates of the authority that signed it.",
                    ) from error
                trouble = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            except httpx.HTTPError as error:
                raise Refused(f"{self._url} gave an answer that can't be read: {error}") from error
            elapsed = self._patience.monotonic() - started
            pause = self._patience.pause_seconds(
                attempt=attempt, elapsed_seconds=elapsed, retry_after=retry_after, contacted=self._contacted
            )
            if pause is None:
                tries = "1 attempt" if attempt == 0 else f"{attempt + 1} attempts"
                raise NetworkGaveOut(f"{self._url} could not be reached in {tries}; at last: {trouble}")
            self._sleep(pause)
            attempt += 1

    def _exchange(
        self, method: str, path: str, body: bytes | None, content_type: str, timeout: httpx.Timeout, max_size_bytes: int
    ) -> tuple[int, httpx.Headers, bytes]:
        url = httpx.URL(self._url + path)
        for _ in range(_MAX_REDIRECTS + 1):
            headers = {} if body is None else {"Content-Type": content_type}
            if self._token is not None and _origin(url) == self._origin:
                headers["Authorization"] = f"Bearer {self._token.reveal()}"
            request = self._client.build_request(method, url, content=body, headers=headers, timeout=timeout)
            response = self._client.send(request, stream=True)
            try:
                target = self._redirection(response, method, url)
                if target is None:
                    return response.status_code, response.headers, _read(response, max_size_bytes)
                url = target
            finally:
                response.close()
        raise Refused(f"{self._url} redirects without end")

    def _redirection(self, response: httpx.Response, method: str, url: httpx.URL) -> httpx.URL | None:
        if response.status_code not in (301, 302, 303, 307, 308):
            return None
        try:
            target = url.join(response.headers.get("Location", ""))
        except (httpx.InvalidURL, ValueError):
            target = httpx.URL("")
        same_origin = _origin(target) == self._origin
        downgraded = url.scheme == "https" and target.scheme != "https"
        followed = same_origin if response.status_code in (307, 308) else False
        if method == "GET":
            followed = target.scheme in ("http", "https") and not downgraded
        if not followed:
            raise Refused(
                f"{self._url} redirects to {target.scheme}://{target.host}, where nothing is sent unasked",
                remedy="If that is the symbol server, name it as the destination.",
            )
        return target

    def _raise_refusal(self, status: int, data: bytes, sent_size_bytes: int) -> NoReturn:
        said = _said(data)
        reason = said.get("reason") or f"status {status}"
        remedy = said.get("remedy")
        if status == 401:
            raise NotAllowed(f"{self._url} wants a valid token: {reason}", remedy=remedy or _LOGIN_REMEDY)
        if status == 403:
            raise NotAllowed(f"{self._url} does not allow this: {reason}", remedy=remedy or _LOGIN_REMEDY)
        if status == 413:
            limit = said.get("limit_size_bytes")
            named = f"its limit is {limit} bytes" if limit else "a proxy in between has a lower limit than the server"
            raise Refused(
                f"{self._url} refused a request of {sent_size_bytes} bytes as too large (413); {named}",
                remedy=remedy
                or "Raise the proxy's limit (nginx: client_max_body_size), or start the server with a --max-request-size "
                "that fits through it.",
            )
        if status == 404 and not said:
            raise Refused(
                f"{self._url} knows no such page (404)", remedy="Check that the destination's URL is a symup server's."
            )
        raise _ERRORS.get(said.get("error", ""), Refused)(f"{self._url} declined: {reason}", remedy=remedy)


def download(
    url: str,
    target: IO[bytes],
    *,
    headers: Mapping[str, str],
    stall_seconds: float,
    deadline: float | None,
    max_size_bytes: int,
) -> int:
    """One GET of a foreign server, its body written to ``target`` from the start; gives the status, and the body only for 200.

    ``headers`` go to the server asked and not to where it redirects. Raises `NetworkGaveOut` where the connection fails, where
    less than `MIN_PROGRESS_BYTES` arrive in ``stall_seconds``, and past ``deadline`` (of `time.monotonic`); `Refused` for
    an answer of more than ``max_size_bytes``, or a redirection that makes no sense.
    """
    origin = _origin(httpx.URL(url))
    host = origin[1]
    timeout = httpx.Timeout(stall_seconds)
    if deadline is not None:
        timeout = httpx.Timeout(max(0.001, min(stall_seconds, deadline - time.monotonic())))
    target.seek(0)
    target.truncate()
    own = {"User-Agent": f"symup/{__version__}", "Accept-Encoding": "identity"}
    try:
        with httpx.Client(timeout=timeout, headers=own, trust_env=not _is_loopback(host)) as client:
            at = httpx.URL(url)
            for _ in range(_MAX_REDIRECTS + 1):
                sent = dict(headers) if _origin(at) == origin else {}
                with client.stream("GET", at, headers=sent) as response:
                    if response.has_redirect_location:
                        following = at.join(response.headers["Location"])
                        if following.scheme != "https" and (following.scheme != "http" or at.scheme == "https"):
                            raise Refused(f"{host} redirects to {following.scheme}://{following.host}")
                        at = following
                        continue
                    if response.status_code == 200:
                        _save(response, target, stall_seconds, deadline, max_size_bytes)
                    return response.status_code
    except httpx.TransportError as error:
        raise NetworkGaveOut(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__) from error
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise Refused(f"{host} gave an answer that can't be read: {error}") from error
    raise Refused(f"{host} redirects without end")


def _save(
    response: httpx.Response, target: IO[bytes], stall_seconds: float, deadline: float | None, max_size_bytes: int
) -> None:
    declared = response.headers.get("Content-Length", "")
    if declared.isdigit() and int(declared) > max_size_bytes:
        raise Refused(f"the answer is of {declared} bytes, over the limit of {max_size_bytes}")
    size_bytes = 0
    window, window_size_bytes = time.monotonic(), 0
    for piece in response.iter_raw():
        size_bytes += len(piece)
        if size_bytes > max_size_bytes:
            raise Refused(f"the answer is over the limit of {max_size_bytes} bytes")
        target.write(piece)
        now = time.monotonic()
        if deadline is not None and now > deadline:
            raise NetworkGaveOut("it took longer than allowed")
        if now - window > stall_seconds:
            if size_bytes - window_size_bytes < MIN_PROGRESS_BYTES:
                raise NetworkGaveOut(f"less than {MIN_PROGRESS_BYTES} bytes came in {stall_seconds:g} s")
            window, window_size_bytes = now, size_bytes
    target.flush()


_LOGIN_REMEDY = "Give a token that may do this in this project: with SYMUP_TOKEN, or once with symup login."


def _answers(value: object) -> list[Answer]:
    answers = value.get("answers") if isinstance(value, dict) else None
    if not isinstance(answers, list):
        raise wire.MalformedMessage("answers: a list is needed")
    return [wire.answer_from_json(answer) for answer in answers]


def _read(response: httpx.Response, max_size_bytes: int) -> bytes:
    data = bytearray()
    for piece in response.iter_bytes():
        data += piece
        if len(data) > max_size_bytes:
            raise Refused(f"the answer of {response.url.host} is larger than {max_size_bytes} bytes")
    return bytes(data)


def _said(data: bytes) -> dict[str, str]:
    """The members of the server's error document, cleaned for a terminal; empty where it is none."""
    try:
        value = wire.loads(data)
    except ValueError:
        return {}
    if not isinstance(value, dict):
        return {}
    return {
        name: "".join(character for character in str(value[name])[:1000] if character.isprintable())
        for name in ("error", "reason", "remedy", "limit_size_bytes")
        if value.get(name) is not None
    }


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_distrust(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
