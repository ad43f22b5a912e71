"""The whole street: what paths hold, brought to a destination."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from uploader import __version__
from uploader.destinations.send import Sent, send
from uploader.errors import Interrupted
from uploader.gsym.layout import head_size_bytes
from uploader.model import Figures, LeftOut, Outcome, Provenance, Quality, Shortfall
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.crew import Crew
from uploader.pipeline.fingerprint import conflict, fingerprints
from uploader.pipeline.gather import gather
from uploader.pipeline.make import make
from uploader.pipeline.meanwhile import Meanwhile, own_order
from uploader.pipeline.missing import missing_debug_info
from uploader.pipeline.outcomes import Finished, conclude, empty
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.provenance import provenance
from uploader.pipeline.schedule import Schedule, threads_for
from uploader.pipeline.sending import SendingRun, arrived
from uploader.pipeline.settled import as_good_as_it_gets, planned, present
from uploader.pipeline.shortfall import nothing_new
from uploader.progress import Progress
from uploader.protocol.chunks import ChunkedFile, compress
from uploader.protocol.wire.artifacts import bounded_warnings
from uploader.protocol.wire.json_text import unicode_text
from uploader.protocol.words import (
    FRAMES_FEATURE,
    MAX_HEAD_SIZE_BYTES,
    Answer,
    Capabilities,
    Destination,
    Holding,
    Manifest,
    Question,
)
from uploader.sources.registry import in_order
from uploader.values import frozen, replace
from uploader.words import count

FILES_IN_SENDING = 4
"""Symbol files that may be under way at once beside those being extracted: they and ``jobs`` bound the memory."""


def upload(
    plan: Plan,
    destination: Destination,
    *,
    progress: Progress,
    force: bool = False,
    dry_run: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Finished:
    """Finds, converts and sends what ``destination`` lacks or holds in a poorer quality; everything else is left alone.

    Sending a file runs beside converting the next. One file's trouble is its outcome; where the login or the network is what fails, the
    files not yet sent fail with that reason, untried. Raises `UsageError`. An interruption (`KeyboardInterrupt`) is answered with what was
    reached, while workers may still be at it: the caller ends the process.
    """
    run = _Upload(
        plan=plan,
        destination=destination,
        progress=progress,
        force=force,
        provenance=provenance(os.environ if environ is None else environ),
    )
    destination.tell_waiting(progress.waiting)
    left_out: tuple[LeftOut, ...] = ()
    allow_empty = plan.allow_empty
    with run.interruptible(run.interrupted):
        gathered = gather(plan, progress=progress)
        left_out = gathered.left_out
        allow_empty = allow_empty or gathered.elsewhere > 0
        run.outcomes.extend(gathered.outcomes)
        run.unreached = len(gathered.artifacts)
        wanted = run.wanted(gathered.artifacts)
        if dry_run:
            for artifact, answer in wanted:
                run.finish(run.carried(artifact, partial(planned, answer=answer, conversion=plan.conversion)))
        elif wanted:
            run.carry_all([artifact for artifact, _ in wanted])
    return conclude(
        run.outcomes,
        error=run.error,
        extracted=run.extracted,
        unreached=run.unreached,
        allow_empty=allow_empty,
        paths=plan.paths,
        left_out=left_out,
    )


@dataclass(slots=True, kw_only=True)
class _Upload(SendingRun):
    """What the workers of one upload share."""

    plan: Plan
    provenance: Provenance
    extracted: int = 0
    total_size_bytes: int = 0

    def interrupted(self) -> Interrupted:
        """What an interruption left."""
        left = f"not finished: {count(self.unreached, 'symbol file')}" if self.unreached else "nothing was sent yet"
        return Interrupted(f"interrupted: {left}")

    def wanted(self, artifacts: Sequence[Artifact]) -> list[tuple[Artifact, Answer]]:
        """Asks about all; settles what holds nothing and what is there already, and gives back what is wanted."""
        promising = []
        for artifact in artifacts:
            if artifact.expected_quality is Quality.NONE:
                warnings = missing_debug_info(artifact)[0] if self.plan.conversion.dwarf else ()
                self.finish(empty(artifact, warnings=warnings))
            else:
                promising.append(artifact)
        if not promising or self.chunk_limit_bytes(promising) is None:
            return []
        wanted = []
        for artifact, answer in self.ask(promising, self.question):
            other = self.conflict(artifact, answer.stored_fingerprints)
            if other is not None:
                self.finish(other)
            elif answer.holding is Holding.PRESENT:
                self.finish(present(artifact, answer))
            elif self.is_all_there_is(artifact, answer):
                self.finish(present(artifact, answer, reason=as_good_as_it_gets(answer)))
            else:
                wanted.append((artifact, answer))
        return wanted

    def conflict(self, artifact: Artifact, held: tuple[str, ...]) -> Outcome | None:
        """The outcome of an artifact whose id another program has at the destination, unless that is to be replaced."""
        return None if self.force else conflict(artifact, held, where=self.destination.url)

    def is_all_there_is(self, artifact: Artifact, answer: Answer) -> bool:
        """Whether what is stored, poorer than the artifact promises, is all that can be made of it."""
        conversion = self.plan.conversion
        return (
            answer.holding is Holding.POORER
            and not self.force
            and nothing_new(artifact, answer, dwarf=conversion.dwarf, debug=conversion.debug)
        )

    def question(self, artifact: Artifact) -> Question:
        """What to ask before anything is extracted."""
        return Question(identity=artifact.identity, quality=artifact.expected_quality, force=self.force)

    def carry_all(self, artifacts: Sequence[Artifact]) -> None:
        """Extracts and sends, several at once. Each worker takes a file all the way, so that there are never more than workers."""
        self.total_size_bytes = sum(artifact.size_bytes for artifact in artifacts)
        self.progress.stage("extract", len(artifacts))
        self.progress.stage("send")
        meanwhile = Meanwhile(self.destination, () if self.force else artifacts, self.question)
        with self.chunk_workers() as chunks:
            self.convert_each(
                own_order(artifacts),
                self.plan,
                lambda artifact, crew, schedule: self.carry(artifact, crew, schedule, chunks, meanwhile),
                beside=FILES_IN_SENDING,
                ordered=True,
            )

    def carry(
        self, artifact: Artifact, crew: Crew, schedule: Schedule, chunks: Executor, meanwhile: Meanwhile
    ) -> Outcome:
        """Takes one file from its bytes to the store."""
        started = time.monotonic()
        there = None if self.force else meanwhile.answer(artifact)
        if there is not None:
            self.progress.advance("extract")
            return self.conflict(artifact, there.stored_fingerprints) or present(artifact, there)
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
        if sent.declined:
            other = self.conflict(artifact, sent.held.fingerprints)
            if other is not None:
                return other
        return _with_what_was_made(
            arrived(artifact, sent, seconds=time.monotonic() - started), made, sent, force=self.force
        )

    def converted(self, artifact: Artifact, crew: Crew) -> _Converted | Outcome:
        """Extracts and compresses."""
        try:
            return crew.call(
                _converted,
                artifact,
                conversion=self.plan.conversion,
                threads=threads_for(artifact, self.total_size_bytes, self.plan.jobs),
                capabilities=self.destination.capabilities(),
            )
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
            lacks_files=made.lacks_files,
            provenance=self.provenance,
            build=artifact.build,
            fingerprints=fingerprints(artifact.main),
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
    lacks_files: bool


def _converted(
    artifact: Artifact, *, conversion: Conversion, threads: int, capabilities: Capabilities
) -> _Converted | Outcome:
    """Extracts and compresses; the GSYM file itself is let go before it is sent."""
    made = make(artifact, conversion=conversion, threads=threads)
    if not made.gsym:
        return empty(artifact, warnings=made.warnings)
    return _Converted(
        file=compress(
            made.gsym,
            max_chunk_size_bytes=capabilities.max_chunk_size_bytes,
            head_size_bytes=_head_size_bytes(made.gsym, capabilities),
        ),
        figures=made.figures,
        warnings=made.warnings,
        remedy=made.remedy,
        shortfall=made.shortfall,
        lacks_files=made.lacks_files,
    )


def _head_size_bytes(gsym: bytes, capabilities: Capabilities) -> int:
    """The size of the head that goes apart; nought for a small file, for which a second request costs more than it may ever save."""
    apart = FRAMES_FEATURE in capabilities.features and len(gsym) > MAX_HEAD_SIZE_BYTES
    return head_size_bytes(gsym) if apart else 0


def _with_what_was_made(outcome: Outcome, made: _Converted, sent: Sent, *, force: bool) -> Outcome:
    kept = not sent.committed.stored and not sent.declined
    sent_anew = _FORCED if force else _HEALED
    return replace(
        outcome,
        reason=outcome.reason + (sent_anew if sent.chunks_sent and kept else ""),
        quality=made.figures.quality if sent.declined else min(made.figures.quality, sent.held.quality),
        figures=made.figures,
        gsym_size_bytes=made.file.content_size_bytes,
        compressed_size_bytes=made.file.compressed_size_bytes,
        warnings=made.warnings,
        remedy=made.remedy,
        lacks_files=made.lacks_files,
    )
