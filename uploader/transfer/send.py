"""Sends one symbol file: asks which chunks are missing, puts those side by side, and commits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, wait

from uploader.errors import ArtifactMismatch
from uploader.transfer.chunks import ChunkedFile
from uploader.transfer.protocol import Answer, Committed, Destination, Holding, Manifest, Question
from uploader.values import frozen


@frozen
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
    by_digest = {chunk.sha256: chunk.data for chunk in file.chunks}
    question = question_about(manifest, force=force)
    return send_chunks(
        destination,
        manifest,
        by_digest.__getitem__,
        _ask(destination, question),
        executor=executor,
        force=force,
        on_sent=on_sent,
    )


def question_about(manifest: Manifest, *, force: bool) -> Question:
    """What to ask a destination about an artifact whose chunks are known."""
    return Question(
        identity=manifest.identity,
        quality=manifest.quality,
        kind=manifest.kind,
        chunks=tuple(dict.fromkeys(manifest.chunks)),
        force=force,
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

    ``answer`` is what the destination said to `question_about`.
    """
    question = question_about(manifest, force=force)
    chunks_sent = sent_size_bytes = 0
    if answer.holding is Holding.PRESENT:
        committed = Committed(stored=False, reason=answer.reason)
    else:
        sizes = _put(destination, _missing(answer, question), read, executor, on_sent)
        chunks_sent, sent_size_bytes = len(sizes), sum(sizes)
        try:
            committed = destination.commit(manifest, force=force)
        except ArtifactMismatch:
            # A chunk that was there may have been old and thrown away meanwhile: then it is missing now. Or one lies there
            # damaged: sending all heals that. What is wrong with the file itself fails again.
            again = _missing(_ask(destination, question), question) or list(question.chunks)
            sizes = _put(destination, again, read, executor, on_sent)
            chunks_sent += len(sizes)
            sent_size_bytes += sum(sizes)
            committed = destination.commit(manifest, force=force)
    return Sent(
        committed=committed,
        holding=answer.holding,
        chunks_total=len(question.chunks),
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


def _missing(answer: Answer, question: Question) -> list[str]:
    asked = frozenset(question.chunks)
    return [sha256 for sha256 in answer.missing_chunks if sha256 in asked]


def _put(
    destination: Destination,
    chunks: Sequence[str],
    read: Callable[[str], bytes],
    executor: Executor,
    on_sent: Callable[[int], None],
) -> list[int]:
    """Sends the chunks side by side; gives their sizes."""

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
