"""One run over many things: what becomes of each, what ends it early, and what it comes to. `upload`, `push` and `convert` are runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from uploader.errors import Interrupted, NetworkGaveOut, NotAllowed, SymupError
from uploader.model import Outcome
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.crew import Crew
from uploader.pipeline.memory import bounded_schedule
from uploader.pipeline.outcomes import failed, stumbled
from uploader.pipeline.plan import Plan
from uploader.pipeline.schedule import Schedule
from uploader.progress import Progress
from uploader.values import replace


class Subject(Protocol):
    """What a run brings to its end one by one: an artifact to be made, an entry of a store."""

    @property
    def path(self) -> str:
        """What people know it by."""

    def about(self, outcome: Outcome, /) -> Outcome:
        """The outcome with all that is known of this subject."""


AnySubject = TypeVar("AnySubject", bound=Subject)


@dataclass(slots=True, kw_only=True)
class Run:
    """What the workers of one run share. One thread takes outcomes in; any may carry."""

    progress: Progress
    outcomes: list[Outcome] = field(default_factory=list)
    unreached: int = 0
    """Subjects without an outcome so far."""
    error: SymupError | None = None
    """What ended the run early, or kept it from its work."""
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def finish(self, outcome: Outcome) -> None:
        """Takes the outcome of a subject in."""
        self.outcomes.append(outcome)
        self.unreached -= 1
        self.progress.finished(outcome)

    def give_up(self, error: SymupError) -> None:
        """Ends the run: what is not begun stays undone. The first reason is the one that counts."""
        with self.lock:
            if self.error is None:
                self.error = error
        self.stopped.set()

    @contextmanager
    def interruptible(self, told: Callable[[], Interrupted]) -> Iterator[None]:
        """Answers an interruption of what is done within by what was reached. Workers may still be at it: the caller ends the process."""
        try:
            yield
        except KeyboardInterrupt:
            self.stopped.set()
            self.error = told()

    def carried(self, subject: AnySubject, carry: Callable[[AnySubject], Outcome]) -> Outcome:
        """The outcome of ``carry`` for one subject, whatever happens. A login or a network that fails ends the whole run."""
        try:
            if self.stopped.is_set():
                return unsent(subject, self.error or Interrupted("interrupted before this file"))
            return carry(subject)
        except (NotAllowed, NetworkGaveOut) as error:
            self.give_up(error)
            return unsent(subject, error)
        except SymupError as error:
            return subject.about(failed(subject.path, error.message, remedy=error.remedy, code=error.exit_code))
        except Exception as error:  # noqa: BLE001  # one file must not take the others with it
            return subject.about(stumbled(subject.path, error))

    def convert_each(
        self,
        artifacts: Sequence[Artifact],
        plan: Plan,
        carry: Callable[[Artifact, Crew, Schedule], Outcome],
        *,
        beside: int = 0,
        ordered: bool = False,
    ) -> None:
        """Has a crew carry all artifacts, the largest first unless they are ``ordered``, as many at once as the plan says.

        ``beside`` more may be under way that are converted already. An artifact is done for the memory's sake where ``carry`` says so, or
        when it has its outcome.
        """
        schedule = bounded_schedule(
            artifacts,
            jobs=plan.jobs,
            max_memory_bytes=plan.max_memory_bytes,
            progress=self.progress,
            ordered=ordered,
        )
        # A run that asks debuginfod tells of it while it waits, and so keeps to one process.
        with Crew(
            artifacts,
            jobs=plan.jobs,
            processes=plan.conversion.debug.debuginfod is None,
            max_memory_bytes=schedule.max_memory_bytes,
        ) as crew:
            for outcome in crew.carried(
                schedule,
                lambda artifact: self.carried(artifact, lambda one: carry(one, crew, schedule)),
                threads=plan.jobs + beside,
            ):
                self.finish(outcome)


def unsent(subject: Subject, error: SymupError, *, alone: bool = False) -> Outcome:
    """The outcome of what the destination does not get, though it is sound: ``alone``, or since the run is at its end."""
    outcome = failed(subject.path, f"not sent: {error.message}", remedy=error.remedy, code=error.exit_code)
    return subject.about(replace(outcome, ended_with_run=not alone))
