"""A symbol server as a destination: the protocol of ``docs/protocol.md`` over one pool of connections."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar
from urllib.parse import quote, urlsplit

from uploader.credentials.token import Token
from uploader.errors import ChunkMismatch, NotAllowed, NothingFound, Refused, StoreDamaged, TooLarge, UsageError
from uploader.model import SymbolId
from uploader.net.exchange import Exchanges, Garbled
from uploader.net.loopback import is_loopback
from uploader.net.patience import Patience
from uploader.net.refusal import LOGIN_REMEDY, Absent
from uploader.protocol import matching, verify
from uploader.protocol.wire import json_text
from uploader.protocol.wire.pages import CAPABILITIES, COMMIT, COMMITTED, NEGOTIATION, QUESTION, Commit, Negotiation
from uploader.protocol.words import (
    GSYM_KIND,
    MAX_CHUNK_SIZE_BYTES,
    MIN_CHUNK_SIZE_BYTES,
    TOKENS_FEATURE,
    Answer,
    Capabilities,
    Committed,
    Manifest,
    Question,
)
from uploader.values import replace

_MAX_BATCH = 500
_SMALL_SIZE_BYTES = 64 * 1024
# One of a file of 4 GiB in chunks of the least size, and the texts that go with it.
_MAX_MANIFEST_SIZE_BYTES = 12 * 1024 * 1024
# Room for the texts and figures of one answer beside what the question itself says: of one, and on average of many.
_ONE_ANSWER_SIZE_BYTES = 1024 * 1024
_EACH_ANSWER_SIZE_BYTES = 16 * 1024

T = TypeVar("T")


class HttpDestination:
    """`uploader.protocol.words.Destination` over one project of a symbol server. Safe for any number of threads."""

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
        at_home = is_loopback(parts.hostname or "")
        if token is not None and parts.scheme == "http" and not allow_insecure and not at_home:
            raise UsageError(f"a token is not sent over plain http to {parts.hostname}", remedy="Use https.")
        self._url = url
        self._project = project
        self._token = token
        self._patience = patience if patience is not None else Patience()
        self._capabilities: Capabilities | None = None
        self._guard = threading.Lock()
        self._exchanges = Exchanges(
            url,
            token=token,
            patience=self._patience,
            sleep=sleep,
            # A proxy from the environment must not see a token that may go to loopback only.
            trust_env=parts.scheme == "https" or not at_home,
        )

    @property
    def url(self) -> str:
        """The server's base URL."""
        return self._url

    def tell_waiting(self, observer: Callable[[str], None]) -> None:
        """See `Destination.tell_waiting`."""
        self._exchanges.on_waiting = observer

    def capabilities(self) -> Capabilities:
        """See `Destination.capabilities`; asked once. The limits are those that a proxy turned out to have, too."""
        with self._guard:
            if self._capabilities is None:
                self._capabilities = self._asked_capabilities()
            return self._capabilities

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        """See `Destination.negotiate`."""
        asked = matching.parts(questions, self._room_for_questions())
        answers: list[Answer] = []
        while len(answers) < len(asked):
            batch = matching.batch(asked[len(answers) :], self._room_for_questions(), self.capabilities().max_batch)
            if batch is None:
                # The limit was found to be lower: what was asked already is not asked again.
                asked = asked[: len(answers)] + matching.parts(asked[len(answers) :], self._room_for_questions())
                continue
            try:
                answers += self._negotiated(batch)
            except TooLarge as error:
                if not self._learn(error, sum(len(json_text.dumps(QUESTION.write(one))) for one in batch)):
                    raise
        return matching.joined(questions, asked, answers)

    def put_chunk(self, sha256: str, data: bytes) -> None:
        """See `Destination.put_chunk`. After `TooLarge` the capabilities name a lower limit, if there can be one."""
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ChunkMismatch(f"the bytes to send are not those of chunk {sha256}")
        limit = self.capabilities().max_chunk_size_bytes
        if len(data) > limit:
            raise TooLarge(f"a chunk of {len(data)} bytes is over the {limit} bytes that {self._url} takes")
        try:
            self._exchanges.ask(
                "PUT",
                self._path(f"chunks/{sha256}"),
                body=data,
                content_type="application/octet-stream",
                read=matching.stored_chunk(sha256, len(data)),
                max_size_bytes=_SMALL_SIZE_BYTES,
            )
        except TooLarge as error:
            self._learn(error, len(data))
            raise

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        """See `Destination.commit`."""
        body = json_text.dumps(COMMIT.write(Commit(manifest=manifest, force=force)))
        try:
            return self._exchanges.ask(
                "POST",
                self._path("artifacts:commit"),
                body=body,
                read=_json(COMMITTED.read),
                max_size_bytes=_SMALL_SIZE_BYTES,
                seconds=self._patience.commit_seconds,
            )
        except TooLarge as error:
            raise Refused(
                f"{error.message}; it names the {len(manifest.chunks)} chunks of the file and can't be cut",
                remedy=error.remedy,
            ) from error

    def manifest(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Manifest | None:
        """See `Destination.manifest`."""
        path = self._path(f"symbols/{quote(str(symbol_id), safe='')}/manifest?kind={quote(kind, safe='')}")
        try:
            return self._exchanges.ask(
                "GET", path, read=matching.manifest_of(symbol_id, kind), max_size_bytes=_MAX_MANIFEST_SIZE_BYTES
            )
        except Absent:
            return None

    def fetch(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Iterator[bytes]:
        """See `Destination.fetch`: chunk by chunk, so that a broken connection costs one chunk."""
        manifest = self.manifest(symbol_id, kind)
        if manifest is None:
            raise NothingFound(f"{self._url} holds no symbols for {symbol_id}")
        if manifest.content_size_bytes > verify.MAX_CONTENT_SIZE_BYTES:
            raise StoreDamaged(
                f"{self._url} claims {manifest.content_size_bytes} bytes for {symbol_id}: "
                f"a symbol file has at most {verify.MAX_CONTENT_SIZE_BYTES}"
            )
        sizes = dict(zip(manifest.chunks, manifest.chunk_sizes_bytes, strict=True))
        return verify.content(manifest, lambda sha256: self._get_chunk(sha256, sizes[sha256]))

    def close(self) -> None:
        """Closes the connections, and ends the waiting of requests that are between two attempts."""
        self._exchanges.close()

    def _asked_capabilities(self) -> Capabilities:
        said = self._exchanges.ask(
            "GET", "/v1/capabilities", read=_json(CAPABILITIES.read), max_size_bytes=_SMALL_SIZE_BYTES
        )
        if TOKENS_FEATURE in said.features and self._token is None:
            raise NotAllowed(f"{self._url} wants a token", remedy=LOGIN_REMEDY)
        limit = min(said.max_chunk_size_bytes, said.max_request_size_bytes)
        if limit < MIN_CHUNK_SIZE_BYTES:
            raise Refused(
                f"{self._url} takes {limit} bytes at a time; symup sends no chunks below {MIN_CHUNK_SIZE_BYTES}",
                remedy="Have the server, and the proxies before it, take requests of at least 64 KiB.",
            )
        return replace(
            said,
            max_chunk_size_bytes=min(limit, MAX_CHUNK_SIZE_BYTES),
            max_batch=min(said.max_batch, _MAX_BATCH),
        )

    def _learn(self, error: TooLarge, sent_size_bytes: int) -> bool:
        """Keeps to a lower limit from now on: the one that the server named, or the next lower one to try. False where there is none."""
        lower = error.limit_size_bytes
        if lower is None or not 0 < lower < sent_size_bytes:
            lower = 1 << (sent_size_bytes - 1).bit_length() - 1
        if lower < MIN_CHUNK_SIZE_BYTES:
            return False
        with self._guard:
            assert self._capabilities is not None
            self._capabilities = replace(
                self._capabilities,
                max_chunk_size_bytes=min(lower, self._capabilities.max_chunk_size_bytes),
                max_request_size_bytes=min(lower, self._capabilities.max_request_size_bytes),
            )
            return True

    def _room_for_questions(self) -> int:
        return self.capabilities().max_request_size_bytes - len(json_text.dumps(NEGOTIATION.write(Negotiation())))

    def _negotiated(self, batch: Sequence[Question]) -> list[Answer]:
        body = json_text.dumps(NEGOTIATION.write(Negotiation(questions=tuple(batch))))
        return self._exchanges.ask(
            "POST",
            self._path("artifacts:negotiate"),
            body=body,
            read=matching.answers_to(batch),
            max_size_bytes=2 * len(body) + _ONE_ANSWER_SIZE_BYTES + len(batch) * _EACH_ANSWER_SIZE_BYTES,
        )

    def _get_chunk(self, sha256: str, size_bytes: int) -> bytes | None:
        try:
            return self._exchanges.ask(
                "GET", self._path(f"chunks/{sha256}"), read=matching.chunk(sha256), max_size_bytes=size_bytes
            )
        except Absent:
            return None
        except Garbled as error:
            raise StoreDamaged(
                f"{self._url} gives other bytes for chunk {sha256} than its name says",
                remedy="Upload the file again.",
            ) from error

    def _path(self, rest: str) -> str:
        return f"/v1/projects/{quote(self._project, safe='')}/{rest}"


def _json(read: Callable[[object], T]) -> Callable[[bytes], T]:
    return lambda data: read(json_text.loads(data))
