"""Sends one symbol file: asks which chunks are missing, puts those side by side, and commits."""

from __future__ import annotations

from collections.abc import Callable
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


def send(
    destination: Destination,
    file: ChunkedFile,
    manifest: Manifest,
    *,
    executor: Executor,
    force: bool = False,
    on_sent: Callable[[int], None] = lambda size_bytes: None,
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
        missing = [by_digest[sha256] for sha256 in answer.missing_chunks if sha256 in by_digest]
        _put(destination, missing, executor, on_sent)
        chunks_sent, sent_size_bytes = len(missing), sum(len(chunk.data) for chunk in missing)
        try:
            committed = destination.commit(manifest, force=force)
        except ArtifactMismatch:
            # A chunk that was there may have been an old one that the store threw away meanwhile, or may lie there damaged:
            # sending them all heals either, and what is wrong with the file itself fails again.
            _put(destination, list(by_digest.values()), executor, on_sent)
            chunks_sent += len(by_digest)
            sent_size_bytes += file.compressed_size_bytes
            committed = destination.commit(manifest, force=force)
    return Sent(
        committed=committed,
        holding=answer.holding,
        chunks_total=len(by_digest),
        chunks_sent=chunks_sent,
        sent_size_bytes=sent_size_bytes,
    )


def _ask(destination: Destination, question: Question) -> Answer:
    (answer,) = destination.negotiate([question])
    return answer


def _put(
    destination: Destination, chunks: list[Chunk], executor: Executor, on_sent: Callable[[int], None]
) -> None:
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
