"""The whole street: what paths hold, brought to a destination."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from uploader import __version__
from uploader.destinations.send import Sent, send
from uploader.errors import Interrupted, NetworkGaveOut, NotAllowed, Refused, SymupError
from uploader.model import Concern, Decision, Figures, LeftOut, Outcome, Provenance, Quality, Shortfall
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.asking import ask_each
from uploader.pipeline.crew import Crew
from uploader.pipeline.foresee import foreseen
from uploader.pipeline.gather import gather
from uploader.pipeline.make import USUAL_FORM, GsymForm, Made, holds_nothing, make
from uploader.pipeline.meanwhile import Meanwhile, own_order
from uploader.pipeline.memory import bounded_schedule
from uploader.pipeline.missing import REMEDY_FILES, missing_build_id, missing_debug_info
from uploader.pipeline.outcomes import (
    Finished,
    about,
    conclude,
    empty,
    failed,
    stumbled,
)
from uploader.pipeline.pair import USUAL_PLACES, DebugSources
from uploader.pipeline.processes import WorkerKilled
from uploader.pipeline.provenance import provenance
from uploader.pipeline.schedule import Schedule, threads_for
from uploader.pipeline.shard import Shard
from uploader.pipeline.shortfall import nothing_new
from uploader.progress import Progress
from uploader.protocol.chunks import ChunkedFile, compress
from uploader.protocol.wire.artifacts import bounded_warnings
from uploader.protocol.wire.json_text import unicode_text
from uploader.protocol.words import (
    Answer,
    Destination,
    Holding,
    Manifest,
    Question,
)
from uploader.sources.lacking import tell_of_lacking_files
from uploader.sources.registry import in_order
from uploader.values import frozen
from uploader.words import count

FILES_IN_SENDING = 4
"""Symbol files that may be under way at once beside those being extracted: they and ``jobs`` bound the memory."""

AS_GOOD_AS_IT_GETS = "already stored with all that these files give"

CHUNKS_IN_SENDING = 8
"""Chunks, of all files together, that may be under way at once."""


def upload(
    paths: Sequence[str | Path],
    destination: Destination,
    *,
    progress: Progress,
    jobs: int,
    max_memory_bytes: int | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    dwarf: bool = True,
    force: bool = False,
    dry_run: bool = False,
    allow_empty: bool = False,
    environ: Mapping[str, str] | None = None,
    debug: DebugSources = USUAL_PLACES,
    form: GsymForm = USUAL_FORM,
    shard: Shard | None = None,
    allow_missing: bool = False,
    build_internals: bool = False,
) -> Finished:
    """Finds, converts and sends what ``destination`` lacks or holds in a poorer quality; everything else is left alone.

    Up to ``jobs`` files are extracted at once, as far as they are expected to fit into ``max_memory_bytes`` together (by default,
    into a share of what there is), and sending one runs beside extracting the next. One file's trouble is its
    outcome; where the login or the network is what fails, the files not yet sent fail with that reason, untried. With
    ``shard`` only its part of the ids is taken. Raises `UsageError`. An interruption (`KeyboardInterrupt`) is answered with
    what was reached, while workers may still be at it: the caller ends the process.
    """
    run = _Upload(
        destination=destination,
        progress=progress,
        jobs=jobs,
        max_memory_bytes=max_memory_bytes,
        dwarf=dwarf,
        debug=debug,
        form=form,
        force=force,
        provenance=provenance(os.environ if environ is None else environ),
    )
    destination.tell_waiting(progress.waiting)
    left_out: tuple[LeftOut, ...] = ()
    try:
        gathered = gather(
            paths,
            progress=progress,
            include=include,
            exclude=exclude,
            dwarf=dwarf,
            debug=debug,
            shard=shard,
            allow_missing=allow_missing,
            build_internals=build_internals,
        )
        left_out = gathered.left_out
        allow_empty = allow_empty or gathered.elsewhere > 0
        run.outcomes.extend(gathered.outcomes)
        run.unreached = len(gathered.artifacts)
        wanted = run.ask(gathered.artifacts)
        if dry_run:
            for artifact, answer in wanted:
                run.finish(_planned(artifact, answer, dwarf=dwarf, debug=debug))
        elif wanted:
            run.carry_all([artifact for artifact, _ in wanted])
    except KeyboardInterrupt:
        run.stopped.set()
        left = f"not finished: {count(run.unreached, 'symbol file')}" if run.unreached else "nothing was sent yet"
        run.error = Interrupted(f"interrupted: {left}")
    return conclude(
        run.outcomes,
        error=run.error,
        extracted=run.extracted,
        unreached=run.unreached,
        allow_empty=allow_empty,
        paths=paths,
        left_out=left_out,
    )


@dataclass(slots=True, kw_only=True)
class _Upload:
    """What the workers of one run share."""

    destination: Destination
    progress: Progress
    jobs: int
    max_memory_bytes: int | None
    dwarf: bool
    debug: DebugSources
    form: GsymForm
    force: bool
    provenance: Provenance
    outcomes: list[Outcome] = field(default_factory=list)
    unreached: int = 0
    extracted: int = 0
    total_size_bytes: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    error: SymupError | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def finish(self, outcome: Outcome) -> None:
        """Takes an outcome in."""
        self.outcomes.append(outcome)
        self.unreached -= 1
        self.progress.finished(outcome)

    def ask(self, artifacts: Sequence[Artifact]) -> list[tuple[Artifact, Answer]]:
        """Puts one question for all; settles what is there already, and gives back what is wanted."""
        promising = []
        for artifact in artifacts:
            if artifact.expected_quality is Quality.NONE:
                self.finish(empty(artifact, warnings=missing_debug_info(artifact)[0] if self.dwarf else ()))
            else:
                promising.append(artifact)
        if not promising:
            return []
        self.progress.stage("ask", len(promising))
        questions = [self.question(artifact) for artifact in promising]
        try:
            self.destination.capabilities()
            answers = ask_each(self.destination, questions)
            self.progress.advance("ask", len(answers))
        except SymupError as error:
            self.error = error
            for artifact in promising:
                self.finish(_unsent(artifact, error))
            return []
        wanted = []
        for artifact, answer in zip(promising, answers, strict=True):
            if isinstance(answer, Refused):
                self.finish(_unsent(artifact, answer))
            elif answer.holding is Holding.PRESENT:
                self.finish(_present(artifact, answer))
            elif (
                answer.holding is Holding.POORER
                and not self.force
                and nothing_new(artifact, answer, dwarf=self.dwarf, debug=self.debug)
            ):
                self.finish(_present(artifact, answer, reason=f"{AS_GOOD_AS_IT_GETS}, {_label(answer)}"))
            else:
                wanted.append((artifact, answer))
        return wanted

    def question(self, artifact: Artifact) -> Question:
        """What to ask before anything is extracted."""
        return Question(identity=artifact.identity, quality=artifact.expected_quality, force=self.force)

    def carry_all(self, artifacts: Sequence[Artifact]) -> None:
        """Extracts and sends, several at once. Each worker takes a file all the way, so that there are never more than workers."""
        self.total_size_bytes = sum(artifact.size_bytes for artifact in artifacts)
        self.progress.stage("extract", len(artifacts))
        self.progress.stage("send")
        chunks = ThreadPoolExecutor(CHUNKS_IN_SENDING, thread_name_prefix="symup-chunk")
        schedule = bounded_schedule(
            own_order(artifacts),
            jobs=self.jobs,
            max_memory_bytes=self.max_memory_bytes,
            progress=self.progress,
            ordered=True,
        )
        meanwhile = Meanwhile(self.destination, () if self.force else artifacts, self.question)
        try:
            # A run that asks debuginfod tells of it while it waits, and so keeps to one process.
            with Crew(
                artifacts,
                jobs=self.jobs,
                processes=self.debug.debuginfod is None,
                max_memory_bytes=schedule.max_memory_bytes,
            ) as crew:
                threads = self.jobs + FILES_IN_SENDING
                carry = partial(self.carry, crew=crew, schedule=schedule, chunks=chunks, meanwhile=meanwhile)
                for outcome in crew.carried(schedule, carry, threads=threads):
                    self.finish(outcome)
        except BaseException:
            self.stopped.set()
            chunks.shutdown(wait=False, cancel_futures=True)
            raise
        chunks.shutdown()

    def carry(
        self, artifact: Artifact, *, crew: Crew, schedule: Schedule, chunks: Executor, meanwhile: Meanwhile
    ) -> Outcome:
        """Takes one file from its bytes to the store; gives its outcome, whatever happens."""
        started = time.monotonic()
        try:
            if self.stopped.is_set():
                return _unsent(artifact, self.error or Interrupted("interrupted before this file"))
            there = None if self.force else meanwhile.answer(artifact)
            if there is not None:
                self.progress.advance("extract")
                return _present(artifact, there)
            made = self.converted(artifact, crew)
            schedule.done(artifact)
            if isinstance(made, Outcome):
                return made
            sent = send(
                self.destination,
                made.file,
                self.manifest(artifact, made),
                executor=chunks,
                force=self.force,
                on_sent=lambda size_bytes: self.progress.advance("send", size_bytes),
            )
            return _sent(artifact, made, sent, force=self.force, seconds=time.monotonic() - started)
        except (NotAllowed, NetworkGaveOut) as error:
            with self.lock:
                if self.error is None:
                    self.error = error
            self.stopped.set()
            return _unsent(artifact, error)
        except SymupError as error:
            return about(
                artifact,
                failed(
                    artifact.path,
                    error.message,
                    remedy=error.remedy,
                    code=error.exit_code,
                ),
            )
        except Exception as error:  # noqa: BLE001  # one file must not take the others with it
            return about(artifact, stumbled(artifact.path, error))

    def converted(self, artifact: Artifact, crew: Crew) -> _Converted | Outcome:
        """Extracts and compresses."""
        try:
            return crew.call(
                _converted,
                artifact,
                dwarf=self.dwarf,
                threads=threads_for(artifact, self.total_size_bytes, self.jobs),
                debug=self.debug,
                form=self.form,
                max_chunk_size_bytes=self.destination.capabilities().max_chunk_size_bytes,
            )
        except WorkerKilled as error:
            return about(artifact, stumbled(artifact.path, error))
        finally:
            with self.lock:
                self.extracted += 1
            self.progress.advance("extract")

    def manifest(self, artifact: Artifact, made: _Converted) -> Manifest:
        """What the store will say of the artifact."""
        return Manifest(
            identity=artifact.identity,
            chunks=tuple(chunk.sha256 for chunk in made.file.chunks),
            chunk_sizes_bytes=tuple(len(chunk.data) for chunk in made.file.chunks),
            compressed_size_bytes=made.file.compressed_size_bytes,
            content_size_bytes=made.file.content_size_bytes,
            content_sha256=made.file.content_sha256,
            quality=made.figures.quality,
            figures=made.figures,
            sources=in_order(made.figures.by_source),
            file_name=unicode_text(os.path.basename(artifact.path)),
            tool=f"symup {__version__}",
            warnings=bounded_warnings([unicode_text(warning) for warning in made.warnings]),
            shortfall=made.shortfall,
            provenance=self.provenance,
            created_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        )


_HEALED = "; what was missing or damaged of it there was sent anew"
_FORCED = "; all of it was sent anew, as --force asks"


@frozen
class _Converted:
    file: ChunkedFile
    figures: Figures
    warnings: tuple[str, ...]
    remedy: str | None
    shortfall: Shortfall | None


def _converted(
    artifact: Artifact, *, dwarf: bool, threads: int, debug: DebugSources, form: GsymForm, max_chunk_size_bytes: int
) -> _Converted | Outcome:
    """Extracts and compresses; the GSYM file itself is let go before it is sent."""
    made = make(artifact, dwarf=dwarf, threads=threads, debug=debug, form=form)
    if not made.gsym:
        return empty(artifact, warnings=made.warnings)
    return _Converted(
        file=compress(made.gsym, max_chunk_size_bytes=max_chunk_size_bytes),
        figures=made.figures,
        warnings=made.warnings,
        remedy=made.remedy,
        shortfall=made.shortfall,
    )


def _unsent(artifact: Artifact, error: SymupError) -> Outcome:
    return about(
        artifact,
        failed(
            artifact.path,
            f"not sent: {error.message}",
            remedy=error.remedy,
            code=error.exit_code,
        ),
    )


def _label(answer: Answer) -> str:
    return "" if answer.stored_quality is None else answer.stored_quality.label


def _present(artifact: Artifact, answer: Answer, *, reason: str = "") -> Outcome:
    poor = answer.stored_quality is not None and answer.stored_quality <= Quality.FUNCTIONS
    return about(
        artifact,
        Outcome(
            path=artifact.path,
            decision=Decision.PRESENT,
            reason=reason or answer.reason,
            quality=answer.stored_quality,
            figures=answer.stored_figures,
            compressed_size_bytes=answer.stored_size_bytes,
            warnings=answer.stored_warnings,
            remedy=_remedy_of_present(artifact, answer, poor=poor),
        ),
    )


def _remedy_of_present(artifact: Artifact, answer: Answer, *, poor: bool) -> str | None:
    """What the run that stored it told to do, as far as the same is missing now."""
    remedy = missing_debug_info(artifact)[1] if poor else None
    held = answer.stored_shortfall
    if remedy is None and ((held is not None and held.lacks_files) or tell_of_lacking_files(answer.stored_warnings)):
        remedy = REMEDY_FILES
    return remedy or missing_build_id(artifact)[1]


def _planned(artifact: Artifact, answer: Answer, *, dwarf: bool, debug: DebugSources) -> Outcome:
    missing, remedy = missing_debug_info(artifact) if dwarf else ((), None)
    try:
        if holds_nothing(artifact):
            return empty(artifact, warnings=missing)
        left = foreseen(artifact, debug, ask_servers=False) if dwarf else None
    except SymupError as error:
        return about(artifact, failed(artifact.path, error.message, remedy=error.remedy, code=error.exit_code))
    except Exception as error:  # noqa: BLE001  # one file must not take the others with it
        return about(artifact, stumbled(artifact.path, error))
    if left is not None:
        return _planned_without(artifact, answer, left.made)
    unmatched, how_to_match = missing_build_id(artifact)
    return about(
        artifact,
        Outcome(
            path=artifact.path,
            decision=Decision.PLANNED,
            reason=f"would be sent, {artifact.expected_quality.label} by what its headers promise: {answer.reason}",
            quality=artifact.expected_quality,
            warnings=(*missing, *unmatched),
            remedy=remedy or how_to_match,
        ),
    )


def _planned_without(artifact: Artifact, answer: Answer, made: Made) -> Outcome:
    """What is left of an artifact without files that its debug information refers to."""
    if not made.gsym:
        return empty(artifact, warnings=made.warnings)
    quality = made.figures.quality
    promised = artifact.expected_quality
    less = f", where its headers promise {promised.label}" if quality < promised else ""
    return about(
        artifact,
        Outcome(
            path=artifact.path,
            decision=Decision.PLANNED,
            reason=f"would be sent, {quality.label} by what was found of its debug information{less}: {answer.reason}",
            quality=quality,
            figures=made.figures,
            warnings=made.warnings,
            remedy=made.remedy,
        ),
    )


def _sent(artifact: Artifact, made: _Converted, sent: Sent, *, force: bool, seconds: float) -> Outcome:
    kept = not sent.committed.stored and not sent.declined
    sent_anew = _FORCED if force else _HEALED
    return Outcome(
        path=artifact.path,
        decision=Decision.STORED if sent.committed.stored else Decision.PRESENT,
        concern=Concern.DECLINED if sent.declined else None,
        reason=sent.committed.reason + (sent_anew if sent.chunks_sent and kept else ""),
        identity=artifact.identity,
        quality=made.figures.quality if sent.declined else min(made.figures.quality, sent.held.quality),
        figures=made.figures,
        input_size_bytes=artifact.size_bytes,
        gsym_size_bytes=made.file.content_size_bytes,
        compressed_size_bytes=made.file.compressed_size_bytes,
        sent_size_bytes=sent.sent_size_bytes,
        chunks_total=sent.chunks_total,
        chunks_sent=sent.chunks_sent,
        seconds=seconds,
        warnings=made.warnings,
        remedy=made.remedy,
    )
