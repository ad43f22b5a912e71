"""Sends one symbol file: asks which chunks are missing, puts those side by side, and commits."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from typing import Protocol

from uploader.errors import ArtifactMismatch, NotAsSent, TooLarge
from uploader.protocol.chunks import ChunkedFile, recut
from uploader.protocol.words import Answer, Committed, Destination, Holding, Manifest, Question
from uploader.values import frozen, replace

CHUNKS_BETWEEN_QUESTIONS = 16
"""After so many chunks of a file the destination is asked again which of the rest are missing."""


@frozen
class Sent:
    """The result of sending one file."""

    committed: Committed
    holding: Holding
    """The state there when the chunks were negotiated."""
    chunks_total: int
    chunks_sent: int
    sent_size_bytes: int
    held: Manifest
    """The manifest that the destination has now, as it says itself: it may judge the quality otherwise than the sender."""
    declined: bool = False
    """The destination kept a file of other content than this one."""


class Parcel(Protocol):
    """A symbol file in chunks, wherever these lie."""

    @property
    def manifest(self) -> Manifest:
        """The manifest that goes with these chunks."""

    def read(self, sha256: str, /) -> bytes:
        """The bytes of one chunk; called from any thread, when it is sent."""

    def cut(self, limit_bytes: int) -> Parcel:
        """The same file in chunks of at most that size."""


def send(
    destination: Destination,
    file: ChunkedFile,
    manifest: Manifest,
    *,
    executor: Executor,
    force: bool = False,
    on_sent: Callable[[int], None] = lambda _size_bytes: None,
) -> Sent:
    """Brings ``file``, which is in memory, to ``destination`` under ``manifest``, as `send_parcel` does."""
    return send_parcel(destination, _InMemory(file, manifest), executor=executor, force=force, on_sent=on_sent)


def send_parcel(
    destination: Destination,
    parcel: Parcel,
    *,
    answer: Answer | None = None,
    executor: Executor,
    force: bool = False,
    on_sent: Callable[[int], None] = lambda _size_bytes: None,
) -> Sent:
    """Brings a file to ``destination``; may be called from several threads at once.

    ``answer`` is what the destination said to `question_about`; without it, it is asked. Chunks go through ``executor``, which may be
    shared between files but must not be the one that runs this function: two full pools would wait for each other. ``on_sent`` gets the
    size of each chunk as it arrives, from any thread. With ``force`` all chunks go, so that any that lies there damaged is healed. What
    the destination then says to hold is read back: `NotAsSent` where that is something else. Raises what the destination raises; chunks
    that arrived by then stay and are not sent again next time. Where something on the way turns out to let only smaller requests
    through, the file goes in smaller chunks.
    """
    while True:
        sending = _Sending(destination=destination, parcel=parcel, executor=executor, force=force, on_sent=on_sent)
        try:
            return sending.sent(answer if answer is not None else sending.ask())
        except TooLarge:
            limit_bytes = destination.capabilities().max_chunk_size_bytes
            if limit_bytes >= max(parcel.manifest.chunk_sizes_bytes):
                raise
            parcel, answer = parcel.cut(limit_bytes), None


def question_about(manifest: Manifest, *, force: bool) -> Question:
    """The question to a destination about an artifact whose chunks are known."""
    return Question(
        identity=manifest.identity,
        quality=manifest.quality,
        kind=manifest.kind,
        chunks=tuple(dict.fromkeys(manifest.chunks)),
        force=force,
        evidence=() if manifest.shortfall is None else manifest.shortfall.evidence,
    )


class _InMemory:
    def __init__(self, file: ChunkedFile, manifest: Manifest) -> None:
        self._file = file
        self._data = {chunk.sha256: chunk.data for chunk in file.chunks}
        self.manifest = manifest

    def read(self, sha256: str) -> bytes:
        return self._data[sha256]

    def cut(self, limit_bytes: int) -> _InMemory:
        file = recut(self._file, limit_bytes)
        manifest = replace(
            self.manifest,
            chunks=tuple(chunk.sha256 for chunk in file.chunks),
            chunk_sizes_bytes=tuple(len(chunk.data) for chunk in file.chunks),
        )
        return _InMemory(file, manifest)


@frozen
class _Sending:
    """One file on its way to one destination, in chunks that are not cut again."""

    destination: Destination
    parcel: Parcel
    executor: Executor
    force: bool
    on_sent: Callable[[int], None]

    def ask(self, chunks: Sequence[str] | None = None) -> Answer:
        """The destination's answer about the file, with those of these chunks that it lacks: of all, where none are given."""
        question = question_about(self.parcel.manifest, force=self.force)
        (answer,) = self.destination.negotiate(
            [question if chunks is None else replace(question, chunks=tuple(chunks))]
        )
        return answer

    def sent(self, answer: Answer) -> Sent:
        """Sends the chunks that the destination lacks by its answer, commits, and reads the manifest back. Raises `TooLarge`."""
        manifest = self.parcel.manifest
        chunks = list(dict.fromkeys(manifest.chunks))
        sizes: list[int] = []
        if answer.holding is Holding.PRESENT:
            committed = Committed(stored=False, reason=answer.reason)
        else:
            sizes += self._put(chunks if self.force else answer.missing_chunks)
            try:
                committed = self.destination.commit(manifest, force=self.force)
            except ArtifactMismatch:
                # A chunk that was there may have been old and thrown away meanwhile: then it is missing now. Or one lies there
                # damaged: sending all heals that. What is wrong with the file itself fails again.
                sizes += self._put(self.ask().missing_chunks or chunks)
                committed = self.destination.commit(manifest, force=self.force)
        held = _checked(self.destination, manifest, committed)
        return Sent(
            committed=committed,
            holding=answer.holding,
            chunks_total=len(chunks),
            chunks_sent=len(sizes),
            sent_size_bytes=sum(sizes),
            held=held,
            declined=held.content_sha256 != manifest.content_sha256,
        )

    def _put(self, chunks: Sequence[str]) -> list[int]:
        """Sends the chunks, some side by side; gives their sizes.

        Others may be sending the same file. So each begins somewhere else, and asks now and then what is still missing.
        """
        first = secrets.randbelow(len(chunks)) if chunks else 0
        todo = [*chunks[first:], *chunks[:first]]
        sizes: list[int] = []
        while todo:
            sizes += self._put_side_by_side(todo[:CHUNKS_BETWEEN_QUESTIONS])
            todo = todo[CHUNKS_BETWEEN_QUESTIONS:]
            if todo and not self.force:
                missing = frozenset(self.ask(todo).missing_chunks)
                todo = [sha256 for sha256 in todo if sha256 in missing]
        return sizes

    def _put_side_by_side(self, chunks: Sequence[str]) -> list[int]:
        futures: list[Future[int]] = [self.executor.submit(self._put_one, sha256) for sha256 in chunks]
        try:
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()
            wait(futures)

    def _put_one(self, sha256: str) -> int:
        data = self.parcel.read(sha256)
        self.destination.put_chunk(sha256, data)
        self.on_sent(len(data))
        return len(data)


def _checked(destination: Destination, manifest: Manifest, committed: Committed) -> Manifest:
    """Reads back what the destination holds now, this file or another one that it kept. Raises `NotAsSent`."""
    held = destination.manifest(manifest.identity.primary, manifest.kind)
    if held is None:
        raise NotAsSent(f"{destination.url} says {committed.reason!r}, but holds nothing of {manifest.identity}")
    if held.identity.primary != manifest.identity.primary or held.kind != manifest.kind:
        raise NotAsSent(f"{destination.url} holds {held.identity} where {manifest.identity} was to be stored")
    if held.content_sha256 != manifest.content_sha256:
        if committed.stored and held.quality <= manifest.quality:
            raise NotAsSent(f"{destination.url} said to have stored {manifest.identity}, and holds another file for it")
        return held
    if held.content_size_bytes != manifest.content_size_bytes:
        raise NotAsSent(f"{destination.url} holds {manifest.identity} with a size that isn't its own")
    chunks = (manifest.chunks, manifest.chunk_sizes_bytes, manifest.compressed_size_bytes)
    if committed.stored and (held.chunks, held.chunk_sizes_bytes, held.compressed_size_bytes) != chunks:
        raise NotAsSent(f"{destination.url} said to have stored {manifest.identity}, and holds it in other chunks")
    return held
