"""From one store to another: what a folder holds, brought to a destination that lacks it."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue

from uploader.destinations.send import Sent, question_about, send_chunks
from uploader.errors import Interrupted, NetworkGaveOut, NotAllowed, Refused, StoreDamaged, SymupError, TooLarge
from uploader.model import Concern, Decision, Outcome
from uploader.pipeline.crew import next_of
from uploader.pipeline.missing import REMEDY_FILES
from uploader.pipeline.outcomes import Finished, conclude, failed, stumbled
from uploader.progress import Progress
from uploader.protocol.words import Answer, Destination, Holding, Manifest
from uploader.sources.lacking import tell_of_lacking_files
from uploader.store.store import SymbolStore
from uploader.values import frozen, replace
from uploader.words import count

FILES_AT_ONCE = 4
CHUNKS_AT_ONCE = 8

ReadChunk = Callable[[str], bytes]


def push(
    source: SymbolStore,
    destination: Destination,
    *,
    progress: Progress,
    force: bool = False,
    dry_run: bool = False,
    allow_empty: bool = False,
    label: str,
) -> Finished:
    """Brings every artifact of ``source`` that ``destination`` lacks, or holds in a poorer quality; only missing chunks travel.

    Nothing is decoded here: chunks are checked against their names, and the destination checks the whole before it shows it.
    Manifests go as they are, so that they still say what made them and when. An artifact's trouble is its outcome. ``label`` names
    the source for people. An interruption (`KeyboardInterrupt`) is answered with what was reached.
    """
    run = _Push(source=source, destination=destination, progress=progress, force=force)
    destination.tell_waiting(progress.waiting)
    try:
        parcels = run.ask(run.collect())
        if dry_run:
            for parcel, answer in parcels:
                run.finish(_planned(parcel, answer))
        elif parcels:
            run.carry_all(parcels)
    except KeyboardInterrupt:
        run.stopped.set()
        run.error = Interrupted(f"interrupted: not pushed: {count(run.unreached, 'symbol file')}")
    return conclude(
        run.outcomes,
        error=run.error,
        extracted=0,
        unreached=run.unreached,
        allow_empty=allow_empty,
        paths=(label,),
    )


@frozen
class _Parcel:
    """One artifact, cut as the destination takes it."""

    original: Manifest
    """As the source has it."""
    manifest: Manifest
    read: ReadChunk

    @property
    def path(self) -> str:
        return self.manifest.file_name or str(self.manifest.identity)


@dataclass(slots=True, kw_only=True)
class _Push:
    """What the workers of one run share."""

    source: SymbolStore
    destination: Destination
    progress: Progress
    force: bool
    outcomes: list[Outcome] = field(default_factory=list)
    unreached: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    error: SymupError | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def finish(self, outcome: Outcome) -> None:
        """Takes an outcome in."""
        self.outcomes.append(outcome)
        self.unreached -= 1
        self.progress.finished(outcome)

    def collect(self) -> list[Manifest]:
        """The manifests of the source; one that can't be read has its outcome."""
        found = []
        self.progress.stage("identify")
        for key, manifest in self.source.manifests():
            self.progress.advance("identify")
            self.unreached += 1
            if manifest is None:
                remedy = "Upload it to the store again."
                self.finish(failed(key, "the stored entry can't be read", remedy=remedy, code=StoreDamaged.exit_code))
            else:
                found.append(manifest)
        return found

    def ask(self, manifests: Sequence[Manifest]) -> list[tuple[_Parcel, Answer]]:
        """Puts one question for all, chunks and all; settles what is there already, and gives back what is wanted."""
        if not manifests:
            return []
        self.progress.stage("ask", len(manifests))
        try:
            limit_size_bytes = self.destination.capabilities().max_chunk_size_bytes
        except SymupError as error:
            return self.give_up(manifests, error)
        parcels: list[_Parcel] = []
        for manifest in manifests:
            try:
                parcels.append(_parcel(manifest, self.source, limit_size_bytes))
            except StoreDamaged as error:
                self.finish(_about(manifest, failed(manifest.file_name, error.message, code=error.exit_code)))
        try:
            answers = self.destination.negotiate(
                [question_about(parcel.manifest, force=self.force) for parcel in parcels]
            )
        except Refused:
            return self.ask_singly(parcels)
        except SymupError as error:
            return self.give_up([parcel.manifest for parcel in parcels], error)
        return self.settle(parcels, answers)

    def ask_singly(self, parcels: Sequence[_Parcel]) -> list[tuple[_Parcel, Answer]]:
        """Asks about each alone, so that the one that the destination refuses to hear of fails alone."""
        heard, answers = [], []
        for parcel in parcels:
            try:
                answers += self.destination.negotiate([question_about(parcel.manifest, force=self.force)])
                heard.append(parcel)
            except SymupError as error:
                self.finish(_unsent(parcel.manifest, error))
        return self.settle(heard, answers)

    def give_up(self, manifests: Sequence[Manifest], error: SymupError) -> list[tuple[_Parcel, Answer]]:
        """Nothing can be asked: all fail for the one reason."""
        self.error = error
        for manifest in manifests:
            self.finish(_unsent(manifest, error))
        return []

    def settle(self, parcels: Sequence[_Parcel], answers: Sequence[Answer]) -> list[tuple[_Parcel, Answer]]:
        """Tells what is there already; gives back what is wanted."""
        self.progress.advance("ask", len(answers))
        wanted = []
        for parcel, answer in zip(parcels, answers, strict=True):
            if answer.holding is Holding.PRESENT:
                self.finish(_present(parcel, answer))
            else:
                wanted.append((parcel, answer))
        return wanted

    def carry_all(self, parcels: Sequence[tuple[_Parcel, Answer]]) -> None:
        """Sends several at once."""
        self.progress.stage("push", len(parcels))
        self.progress.stage("send")
        chunks = ThreadPoolExecutor(CHUNKS_AT_ONCE, thread_name_prefix="symup-chunk")
        files = ThreadPoolExecutor(FILES_AT_ONCE, thread_name_prefix="symup-file")
        done: SimpleQueue[Future[Outcome]] = SimpleQueue()
        try:
            for parcel in parcels:
                files.submit(self.carry, *parcel, chunks).add_done_callback(done.put)
            for _ in parcels:
                self.finish(next_of(done).result())
                self.progress.advance("push")
        except BaseException:
            self.stopped.set()
            files.shutdown(wait=False, cancel_futures=True)
            chunks.shutdown(wait=False, cancel_futures=True)
            raise
        files.shutdown()
        chunks.shutdown()

    def carry(self, parcel: _Parcel, answer: Answer, chunks: Executor) -> Outcome:
        """Brings one artifact over; gives its outcome, whatever happens."""
        started = time.monotonic()
        manifest = parcel.manifest
        if self.stopped.is_set():
            return _unsent(manifest, self.error or Interrupted("interrupted before this file"))
        try:
            sent = self.sent(parcel, answer, chunks)
        except (NotAllowed, NetworkGaveOut) as error:
            with self.lock:
                if self.error is None:
                    self.error = error
            self.stopped.set()
            return _unsent(manifest, error)
        except SymupError as error:
            outcome = failed(parcel.path, error.message, remedy=error.remedy, code=error.exit_code)
            return _about(manifest, outcome)
        except Exception as error:  # noqa: BLE001  # one file must not take the others with it
            return _about(manifest, stumbled(parcel.path, error))
        outcome = Outcome(
            path=parcel.path,
            decision=Decision.STORED if sent.committed.stored else Decision.PRESENT,
            concern=Concern.DECLINED if sent.declined else None,
            reason=sent.committed.reason,
            sent_size_bytes=sent.sent_size_bytes,
            chunks_total=sent.chunks_total,
            chunks_sent=sent.chunks_sent,
            seconds=time.monotonic() - started,
        )
        return _about(manifest, outcome)

    def sent(self, parcel: _Parcel, answer: Answer, chunks: Executor) -> Sent:
        """Sends an artifact, in smaller chunks where those that it has turn out not to get through."""
        while True:
            try:
                return send_chunks(
                    self.destination,
                    parcel.manifest,
                    parcel.read,
                    answer,
                    executor=chunks,
                    force=self.force,
                    on_sent=lambda size_bytes: self.progress.advance("send", size_bytes),
                )
            except TooLarge:
                limit_size_bytes = self.destination.capabilities().max_chunk_size_bytes
                if limit_size_bytes >= max(parcel.manifest.chunk_sizes_bytes):
                    raise
                parcel = _parcel(parcel.original, self.source, limit_size_bytes)
                (answer,) = self.destination.negotiate([question_about(parcel.manifest, force=self.force)])


def _parcel(manifest: Manifest, source: SymbolStore, limit_size_bytes: int) -> _Parcel:
    """The artifact with chunks of at most the given size. Raises `StoreDamaged` where cutting them anew shows damage."""
    if max(manifest.chunk_sizes_bytes) <= limit_size_bytes:
        return _Parcel(
            original=manifest, manifest=manifest, read=lambda sha256: _checked_chunk(source, manifest, sha256)
        )
    places: dict[str, int] = {}
    digests, sizes = [], []
    offset = 0
    for piece in _pieces(source.compressed(manifest), limit_size_bytes):
        sha256 = hashlib.sha256(piece).hexdigest()
        places.setdefault(sha256, offset)
        digests.append(sha256)
        sizes.append(len(piece))
        offset += len(piece)
    cut = replace(manifest, chunks=tuple(digests), chunk_sizes_bytes=tuple(sizes))
    return _Parcel(
        original=manifest, manifest=cut, read=lambda sha256: _range(source, manifest, places[sha256], limit_size_bytes)
    )


def _pieces(blocks: Iterator[bytes], size_bytes: int) -> Iterator[bytes]:
    held = bytearray()
    for block in blocks:
        held += block
        while len(held) >= size_bytes:
            yield bytes(held[:size_bytes])
            del held[:size_bytes]
    if held:
        yield bytes(held)


def _range(source: SymbolStore, manifest: Manifest, offset: int, size_bytes: int) -> bytes:
    """So many bytes of the compressed file from an offset; fewer at its end."""
    found = bytearray()
    start = 0
    for sha256, chunk_size_bytes in zip(manifest.chunks, manifest.chunk_sizes_bytes, strict=True):
        if start + chunk_size_bytes > offset and len(found) < size_bytes:
            first = max(0, offset - start)
            found += _checked_chunk(source, manifest, sha256)[first : first + size_bytes - len(found)]
        start += chunk_size_bytes
    return bytes(found)


def _checked_chunk(source: SymbolStore, manifest: Manifest, sha256: str) -> bytes:
    remedy = "Upload the file to that store again, then push."
    try:
        data = source.chunk(sha256)
    except StoreDamaged as error:
        raise StoreDamaged(f"in the store that is pushed, {error.message}", remedy=remedy) from error
    if data is None:
        raise StoreDamaged(
            f"chunk {sha256} of {manifest.identity} is missing in the store that is pushed", remedy=remedy
        )
    return data


def _about(manifest: Manifest, outcome: Outcome) -> Outcome:
    remedy = outcome.remedy if outcome.decision is Decision.FAILED else _remedy_of(manifest.warnings)
    return replace(
        outcome,
        remedy=remedy,
        path=outcome.path or str(manifest.identity),
        identity=manifest.identity,
        quality=manifest.quality,
        figures=manifest.figures,
        warnings=manifest.warnings,
        gsym_size_bytes=manifest.content_size_bytes,
        compressed_size_bytes=manifest.compressed_size_bytes,
    )


def _remedy_of(warnings: Sequence[str]) -> str | None:
    """What the run told to do that made it, as far as its warnings say."""
    return REMEDY_FILES if tell_of_lacking_files(warnings) else None


def _unsent(manifest: Manifest, error: SymupError) -> Outcome:
    reason = f"not sent: {error.message}"
    return _about(manifest, failed(manifest.file_name, reason, remedy=error.remedy, code=error.exit_code))


def _present(parcel: _Parcel, answer: Answer) -> Outcome:
    outcome = _about(parcel.manifest, Outcome(path=parcel.path, decision=Decision.PRESENT, reason=answer.reason))
    warnings = answer.stored_warnings or outcome.warnings
    return replace(
        outcome,
        quality=answer.stored_quality or outcome.quality,
        figures=answer.stored_figures or outcome.figures,
        warnings=warnings,
        remedy=_remedy_of(warnings),
        compressed_size_bytes=answer.stored_size_bytes or outcome.compressed_size_bytes,
    )


def _planned(parcel: _Parcel, answer: Answer) -> Outcome:
    reason = f"would be sent: {answer.reason}"
    outcome = Outcome(
        path=parcel.path, decision=Decision.PLANNED, reason=reason, chunks_total=len(answer.missing_chunks)
    )
    return _about(parcel.manifest, outcome)
