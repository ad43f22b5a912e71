"""A run that brings things to a destination: what it asks before, what it sends with, and what becomes of what was sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from uploader.destinations.send import Sent
from uploader.errors import Refused, SymupError
from uploader.model import Concern, Decision, Outcome
from uploader.pipeline.asking import ask_each
from uploader.pipeline.run import AnySubject, Run, Subject, unsent
from uploader.protocol.words import Answer, Destination, Question

CHUNKS_IN_SENDING = 8
"""Chunks, of all files together, that may be under way at once."""


@dataclass(slots=True, kw_only=True)
class SendingRun(Run):
    """A run with a destination, which it asks about everything before it sends anything."""

    destination: Destination
    force: bool

    def ask(
        self, subjects: Sequence[AnySubject], question: Callable[[AnySubject], Question]
    ) -> list[tuple[AnySubject, Answer]]:
        """Puts one question for all subjects; those that can't be asked about have their outcome then."""
        if not subjects:
            return []
        try:
            answers = ask_each(self.destination, [question(subject) for subject in subjects])
        except SymupError as error:
            self.unasked(subjects, error)
            return []
        self.progress.advance("ask", len(answers))
        answered = []
        for subject, answer in zip(subjects, answers, strict=True):
            if isinstance(answer, Refused):
                self.finish(unsent(subject, answer, alone=True))
            else:
                answered.append((subject, answer))
        return answered

    def chunk_limit_bytes(self, subjects: Sequence[Subject]) -> int | None:
        """How large a chunk the destination takes; None where it can't be asked at all, and every subject has its outcome then."""
        self.progress.stage("ask", len(subjects))
        try:
            return self.destination.capabilities().max_chunk_size_bytes
        except SymupError as error:
            self.unasked(subjects, error)
            return None

    def unasked(self, subjects: Sequence[Subject], error: SymupError) -> None:
        """Ends the run: nothing can be asked, and all subjects fail for the one reason."""
        self.error = error
        for subject in subjects:
            self.finish(unsent(subject, error))

    @contextmanager
    def chunk_workers(self) -> Iterator[Executor]:
        """Threads that send chunks. Where the run ends early, chunks that aren't begun are not sent any more."""
        workers = ThreadPoolExecutor(CHUNKS_IN_SENDING, thread_name_prefix="symup-chunk")
        try:
            yield workers
        except BaseException:
            self.stopped.set()
            workers.shutdown(wait=False, cancel_futures=True)
            raise
        workers.shutdown()


def arrived(subject: Subject, sent: Sent, *, seconds: float) -> Outcome:
    """The outcome of what was sent, or turned out to be there in the end."""
    return subject.about(
        Outcome(
            path=subject.path,
            decision=Decision.STORED if sent.committed.stored else Decision.PRESENT,
            concern=Concern.DECLINED if sent.declined else None,
            reason=sent.committed.reason,
            sent_size_bytes=sent.sent_size_bytes,
            chunks_total=sent.chunks_total,
            chunks_sent=sent.chunks_sent,
            seconds=seconds,
        )
    )
