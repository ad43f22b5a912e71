"""Sends one symbol file: asks which chunks are missing, puts those side by side, and commits."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait

from uploader.errors import ArtifactMismatch, NotAsSent, TooLarge
from uploader.protocol.chunks import ChunkedFile, recut
from uploader.protocol.words import Answer, Committed, Destination, Holding, Manifest, Question
from uploader.values import frozen, replace

CHUNKS_BETWEEN_QUESTIONS = 16
"""After so many chunks of a file the destination is asked again which of the rest are missing."""


@frozen
class Sent:
    """What sending one file came to."""

    committed: Committed
    holding: Holding
    """What the destination held when its chunks were negotiated."""
    chunks_total: int
    chunks_sent: int
    sent_size_bytes: int
    held: Manifest
    """What the destination holds now, as it says itself: it may judge the quality otherwise than the sender."""
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
    destination raises; chunks that arrived by then stay and are not sent again next time. Where something on the way turns out to
    let only smaller requests through, the file goes in smaller chunks.
    """
    while True:
        by_digest = {chunk.sha256: chunk.data for chunk in file.chunks}
        try:
            return send_chunks(
                destination,
                manifest,
                by_digest.__getitem__,
                _ask(destination, question_about(manifest, force=force)),
                executor=executor,
                force=force,
                on_sent=on_sent,
            )
        except TooLarge:
            limit_size_bytes = destination.capabilities().max_chunk_size_bytes
            if limit_size_bytes >= max(manifest.chunk_sizes_bytes):
                raise
            file = recut(file, limit_size_bytes)
            manifest = replace(
                manifest,
                chunks=tuple(chunk.sha256 for chunk in file.chunks),
                chunk_sizes_bytes=tuple(len(chunk.data) for chunk in file.chunks),
            )


def question_about(manifest: Manifest, *, force: bool) -> Question:
    """What to ask a destination about an artifact whose chunks are known."""
    return Question(
        identity=manifest.identity,
        quality=manifest.quality,
        kind=manifest.kind,
        chunks=tuple(dict.fromkeys(manifest.chunks)),
        force=force,
        evidence=() if manifest.shortfall is None else manifest.shortfall.evidence,
    )


def send_chunks(
    destination: Destination,
    manifest: Manifest,
    read: Callable[[str], bytes],
    answer: Answer,
    *,
    executor: Executor,
    force: bool = False,
    on_sent: Callable[[int], None] = lambda _size_bytes: None,
) -> Sent:
    """As `send`, for a file whose chunks lie elsewhere: ``read`` gives the bytes of one, from any thread, when it is sent.

    ``answer`` is what the destination said to `question_about`. With ``force`` all chunks go, so that any that lies there damaged is
    healed. What the destination then says to hold is read back: `NotAsSent` where that is something else. Raises `TooLarge` for
    chunks that have to be cut smaller.
    """
    question = question_about(manifest, force=force)
    sizes: list[int] = []
    if answer.holding is Holding.PRESENT:
        committed = Committed(stored=False, reason=answer.reason)
    else:
        todo = list(question.chunks) if force else list(answer.missing_chunks)
        sizes += _put(destination, question, todo, read, executor, on_sent)
        try:
            committed = destination.commit(manifest, force=force)
        except ArtifactMismatch:
            # A chunk that was there may have been old and thrown away meanwhile: then it is missing now. Or one lies there
            # damaged: sending all heals that. What is wrong with the file itself fails again.
            again = list(_ask(destination, question).missing_chunks) or list(question.chunks)
            sizes += _put(destination, question, again, read, executor, on_sent)
            committed = destination.commit(manifest, force=force)
    held = _checked(destination, manifest, committed)
    return Sent(
        committed=committed,
        holding=answer.holding,
        chunks_total=len(question.chunks),
        chunks_sent=len(sizes),
        sent_size_bytes=sum(sizes),
        held=held,
        declined=held.content_sha256 != manifest.content_sha256,
    )


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


def _ask(destination: Destination, question: Question) -> Answer:
    (answer,) = destination.negotiate([question])
    return answer


def _put(
    destination: Destination,
    question: Question,
    chunks: Sequence[str],
    read: Callable[[str], bytes],
    executor: Executor,
    on_sent: Callable[[int], None],
) -> list[int]:
    """Sends the chunks, some side by side; gives their sizes.

    Others may be sending the same file. So each begins somewhere else, and asks now and then what is still missing.
    """
    first = secrets.randbelow(len(chunks)) if chunks else 0
    todo = [*chunks[first:], *chunks[:first]]
    sizes: list[int] = []
    while todo:
        sizes += _put_all(destination, todo[:CHUNKS_BETWEEN_QUESTIONS], read, executor, on_sent)
        todo = todo[CHUNKS_BETWEEN_QUESTIONS:]
        if todo and not question.force:
            missing = frozenset(_ask(destination, replace(question, chunks=tuple(todo))).missing_chunks)
            todo = [sha256 for sha256 in todo if sha256 in missing]
    return sizes


def _put_all(
    destination: Destination,
    chunks: Sequence[str],
    read: Callable[[str], bytes],
    executor: Executor,
    on_sent: Callable[[int], None],
) -> list[int]:
    def put(sha256: str) -> int:
        data = read(sha256)
        destination.put_chunk(sha256, data)
        on_sent(len(data))
        return len(data)

    futures: list[Future[int]] = [executor.submit(put, sha256) for sha256 in chunks]
    try:
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
        wait(futures)
