"""Sends one symbol file: asks which chunks are missing, puts those side by side, and commits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait
from dataclasses import dataclass

from uploader.errors import ArtifactMismatch
from uploader.transfer.chunks import Chunk, ChunkedFile
from uploader.transfer.protocol import Answer, Committed, Destination, Holding, Manifest, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What sending one file came to."""

    committed: Committed
    holding: Holding
    """What the destination held when its chunks were negotiated."""
    chunks_total: int
    chunks_sent: int
    sent_size_bytes: int
    declined: bool = False
    """The destination kept a file of other content than this one."""


def send(
    destination: Destination,
    file: ChunkedFile,
    manifest: Manifest,
    *,
    executor: Executor,
    force: bool = False,
    on_sent: Callable[[int], None] = lambda _size_bytes: None,
) -> Sent:
    """Brings ``file`` to ``destination`` under ``manifest``; may be called from several threads at once.

    Chunks go through ``executor``, which may be shared between files but must not be the one that runs `send` itself: two full
    pools would wait for each other. ``on_sent`` gets the size of each chunk as it arrives, from any thread. Raises what the
    destination raises; chunks that arrived by then stay and are not sent again next time.
    """
    by_digest = {chunk.sha256: chunk for chunk in file.chunks}
    question = Question(
        identity=manifest.identity,
        quality=manifest.quality,
        kind=manifest.kind,
        chunks=tuple(by_digest),
        force=force,
    )
    answer = _ask(destination, question)
    chunks_sent = sent_size_bytes = 0
    if answer.holding is Holding.PRESENT:
        committed = Committed(stored=False, reason=answer.reason)
    else:
        missing = _missing(answer, by_digest)
        _put(destination, missing, executor, on_sent)
        chunks_sent, sent_size_bytes = len(missing), sum(len(chunk.data) for chunk in missing)
        try:
            committed = destination.commit(manifest, force=force)
        except ArtifactMismatch:
            # A chunk that was there may have been old and thrown away meanwhile: then it is missing now. Or one lies there
            # damaged: sending all heals that. What is wrong with the file itself fails again.
            again = _missing(_ask(destination, question), by_digest) or list(by_digest.values())
            _put(destination, again, executor, on_sent)
            chunks_sent += len(again)
            sent_size_bytes += sum(len(chunk.data) for chunk in again)
            committed = destination.commit(manifest, force=force)
    return Sent(
        committed=committed,
        holding=answer.holding,
        chunks_total=len(by_digest),
        chunks_sent=chunks_sent,
        sent_size_bytes=sent_size_bytes,
        declined=not committed.stored and _keeps_another(destination, manifest),
    )


def _keeps_another(destination: Destination, manifest: Manifest) -> bool:
    held = destination.manifest(manifest.identity.primary, manifest.kind)
    return held is not None and held.content_sha256 != manifest.content_sha256


def _ask(destination: Destination, question: Question) -> Answer:
    (answer,) = destination.negotiate([question])
    return answer


def _missing(answer: Answer, by_digest: Mapping[str, Chunk]) -> list[Chunk]:
    return [by_digest[sha256] for sha256 in answer.missing_chunks if sha256 in by_digest]


def _put(destination: Destination, chunks: list[Chunk], executor: Executor, on_sent: Callable[[int], None]) -> None:
    def put(chunk: Chunk) -> None:
        destination.put_chunk(chunk.sha256, chunk.data)
        on_sent(len(chunk.data))

    futures: list[Future[None]] = [executor.submit(put, chunk) for chunk in chunks]
    try:
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
    finally:
        for future in futures:
            future.cancel()
        wait(futures)
