"""From one store to another: what a folder holds, brought to a destination that lacks it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue

from uploader.destinations.send import question_about, send_parcel
from uploader.errors import Interrupted, StoreDamaged
from uploader.model import Decision, Outcome
from uploader.pipeline.crew import next_of
from uploader.pipeline.missing import remedy_of_lacking
from uploader.pipeline.outcomes import Finished, conclude, failed
from uploader.pipeline.sending import SendingRun, arrived
from uploader.progress import Progress
from uploader.protocol.words import Answer, Destination, Holding, Manifest, Question
from uploader.store.store import SymbolStore
from uploader.values import frozen, replace
from uploader.words import count

FILES_AT_ONCE = 4

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
    with run.interruptible(run.interrupted):
        parcels = run.wanted(run.collect())
        if dry_run:
            for parcel, answer in parcels:
                run.finish(_planned(parcel, answer))
        elif parcels:
            run.carry_all(parcels)
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

    source: SymbolStore
    original: Manifest
    """As the source has it."""
    manifest: Manifest
    read: ReadChunk

    @classmethod
    def uncut(cls, manifest: Manifest, source: SymbolStore) -> _Parcel:
        """The artifact in the chunks that it has."""
        return cls(
            source=source,
            original=manifest,
            manifest=manifest,
            read=lambda sha256: _checked_chunk(source, manifest, sha256),
        )

    def cut(self, limit_bytes: int) -> _Parcel:
        """The artifact with chunks of at most the given size. Raises `StoreDamaged` where cutting them anew shows damage."""
        source, manifest = self.source, self.original
        if max(manifest.chunk_sizes_bytes) <= limit_bytes:
            return self.uncut(manifest, source)
        places: dict[str, tuple[str, int]] = {}
        digests, sizes = [], []
        for whole, data in zip(manifest.chunks, source.compressed(manifest), strict=True):
            for first in range(0, len(data), limit_bytes):
                piece = data[first : first + limit_bytes]
                sha256 = hashlib.sha256(piece).hexdigest()
                places.setdefault(sha256, (whole, first))
                digests.append(sha256)
                sizes.append(len(piece))

        def read(sha256: str) -> bytes:
            whole, first = places[sha256]
            return _checked_chunk(source, manifest, whole)[first : first + limit_bytes]

        cut = replace(manifest, chunks=tuple(digests), chunk_sizes_bytes=tuple(sizes))
        return replace(self, manifest=cut, read=read)

    @property
    def path(self) -> str:
        return self.manifest.file_name or str(self.manifest.identity)

    def about(self, outcome: Outcome) -> Outcome:
        manifest = self.manifest
        failed = outcome.decision is Decision.FAILED
        return replace(
            outcome,
            remedy=outcome.remedy if failed else remedy_of_lacking(lacks_files=manifest.lacks_files),
            lacks_files=manifest.lacks_files,
            identity=manifest.identity,
            quality=manifest.quality,
            figures=manifest.figures,
            warnings=manifest.warnings,
            gsym_size_bytes=manifest.content_size_bytes,
            compressed_size_bytes=manifest.compressed_size_bytes,
        )


@dataclass(slots=True, kw_only=True)
class _Push(SendingRun):
    """What the workers of one push share."""

    source: SymbolStore

    def interrupted(self) -> Interrupted:
        """What an interruption left."""
        return Interrupted(f"interrupted: not pushed: {count(self.unreached, 'symbol file')}")

    def collect(self) -> list[_Parcel]:
        """All that the source holds, as it holds it; an entry that can't be read has its outcome."""
        found = []
        self.progress.stage("identify")
        for key, manifest in self.source.manifests():
            self.progress.advance("identify")
            self.unreached += 1
            if manifest is None:
                remedy = "Upload it to the store again."
                self.finish(failed(key, "the stored entry can't be read", remedy=remedy, code=StoreDamaged.exit_code))
            else:
                found.append(_Parcel.uncut(manifest, self.source))
        return found

    def wanted(self, parcels: Sequence[_Parcel]) -> list[tuple[_Parcel, Answer]]:
        """Asks about all, chunks and all; settles what is damaged and what is there already, and gives back what is wanted."""
        limit_bytes = self.chunk_limit_bytes(parcels) if parcels else None
        if limit_bytes is None:
            return []
        sound = []
        for parcel in parcels:
            try:
                sound.append(parcel.cut(limit_bytes))
            except StoreDamaged as error:
                self.finish(parcel.about(failed(parcel.path, error.message, code=error.exit_code)))
        wanted = []
        for parcel, answer in self.ask(sound, self.question):
            if answer.holding is Holding.PRESENT:
                self.finish(_present(parcel, answer))
            else:
                wanted.append((parcel, answer))
        return wanted

    def question(self, parcel: _Parcel) -> Question:
        """What to ask about one, its chunks included."""
        return question_about(parcel.manifest, force=self.force)

    def carry_all(self, parcels: Sequence[tuple[_Parcel, Answer]]) -> None:
        """Sends several at once."""
        self.progress.stage("push", len(parcels))
        self.progress.stage("send")
        done: SimpleQueue[Future[Outcome]] = SimpleQueue()
        with self.chunk_workers() as chunks:
            files = ThreadPoolExecutor(FILES_AT_ONCE, thread_name_prefix="symup-file")
            try:
                for parcel, answer in parcels:
                    files.submit(self.carried, parcel, self.carry_with(answer, chunks)).add_done_callback(done.put)
                for _ in parcels:
                    self.finish(next_of(done).result())
                    self.progress.advance("push")
            finally:
                files.shutdown(wait=False, cancel_futures=True)

    def carry_with(self, answer: Answer, chunks: Executor) -> Callable[[_Parcel], Outcome]:
        """Brings one artifact over, for which the destination gave that answer."""

        def carry(parcel: _Parcel) -> Outcome:
            started = time.monotonic()
            sent = send_parcel(
                self.destination,
                parcel,
                answer=answer,
                executor=chunks,
                force=self.force,
                on_sent=lambda size_bytes: self.progress.advance("send", size_bytes),
            )
            return arrived(parcel, sent, seconds=time.monotonic() - started)

        return carry


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


def _present(parcel: _Parcel, answer: Answer) -> Outcome:
    outcome = parcel.about(Outcome(path=parcel.path, decision=Decision.PRESENT, reason=answer.reason))
    lacks_files = answer.stored_lacks_files if answer.stored_warnings else outcome.lacks_files
    return replace(
        outcome,
        quality=answer.stored_quality or outcome.quality,
        figures=answer.stored_figures or outcome.figures,
        warnings=answer.stored_warnings or outcome.warnings,
        remedy=remedy_of_lacking(lacks_files=lacks_files),
        lacks_files=lacks_files,
        compressed_size_bytes=answer.stored_size_bytes or outcome.compressed_size_bytes,
    )


def _planned(parcel: _Parcel, answer: Answer) -> Outcome:
    return parcel.about(
        Outcome(
            path=parcel.path,
            decision=Decision.PLANNED,
            reason=f"would be sent: {answer.reason}",
            chunks_total=len(answer.missing_chunks),
        )
    )
