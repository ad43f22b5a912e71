"""The workers of a run: the calling thread where there is little to do, several threads, or several processes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Self, TypeVar

from uploader.core import which
from uploader.model import Outcome
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.limit import allowed_bytes, within
from uploader.pipeline.processes import Processes, forks
from uploader.pipeline.schedule import Schedule

Result = TypeVar("Result")
Item = TypeVar("Item")

WORTH_A_THREAD_BYTES = 1 << 20
"""Files of that size together take long enough for somebody to want to interrupt them; less is done before a thread would be there."""

WORTH_A_LIMIT_BYTES = 8 << 20
"""A file of that size, or that inflates to so much, is converted in another process even alone: what it takes can be limited there, and
that it is cut short while it is read kills only that one. Forking one takes some milliseconds."""

WORTH_PROCESSES_BYTES = 1 << 20
"""Files of that size together take longer than forking processes does."""

SLOWER_IF_PLAIN = 20
"""How much longer a file takes with the core uncompiled."""

SLOWER_IF_SPAWNED = 10
"""How much longer a new interpreter takes to be ready than a fork."""

NOTICE_SECONDS = 0.5
"""How long the main thread waits in one go. An interruption that comes just as it begins to wait leaves a mark, but doesn't wake it."""


class Crew:
    """Carries the artifacts of one run. Use it as a context manager: its end leaves no process behind."""

    def __init__(
        self, artifacts: Sequence[Artifact], *, jobs: int, processes: bool, max_memory_bytes: int | None = None
    ) -> None:
        """Starts processes where ``processes`` allows them and they pay. The system may refuse them; then threads have to do.

        ``max_memory_bytes`` is what any of them may take at least; None sets no limit.
        """
        total_size_bytes = sum(artifact.size_bytes for artifact in artifacts)
        worth = WORTH_PROCESSES_BYTES * (1 if forks() else SLOWER_IF_SPAWNED)
        if not which.compiled():
            worth //= SLOWER_IF_PLAIN
        self._worth_a_thread = total_size_bytes >= WORTH_A_THREAD_BYTES
        self._count = len(artifacts)
        self._max_memory_bytes = max_memory_bytes
        self._processes: Processes | None = None
        faster = min(jobs, len(artifacts)) > 1 and total_size_bytes >= worth
        if processes and (faster or (forks() and any(map(_worth_a_limit, artifacts)))):
            try:
                self._processes = Processes(min(jobs, len(artifacts)))
            except OSError:
                self._processes = None

    def call(
        self, function: Callable[..., Result], artifact: Artifact, /, *arguments: object, **named: object
    ) -> Result:
        """Runs a function of a module, in a process where there are any, within the memory that the artifact is allowed.

        Raises `WorkerKilled` as `Processes.call` does, and there `MemoryError` where more would be taken.
        """
        if self._processes is None:
            return function(artifact, *arguments, **named)
        if self._max_memory_bytes is not None:
            function = partial(within, allowed_bytes(artifact, self._max_memory_bytes), function)
        return self._processes.call(function, artifact, *arguments, **named)

    def carried(self, schedule: Schedule, carry: Callable[[Artifact], Outcome], *, threads: int) -> Iterator[Outcome]:
        """The outcomes of ``carry`` for each artifact of the schedule, in the order in which they are done."""
        if self._count < 2 and not self._worth_a_thread and self._processes is None:
            while (artifact := schedule.take()) is not None:
                yield carry(artifact)
                schedule.done(artifact)
            return
        answers: SimpleQueue[Outcome | BaseException] = SimpleQueue()

        def work() -> None:
            while (artifact := schedule.take()) is not None:
                try:
                    answers.put(carry(artifact))
                except BaseException as error:  # noqa: BLE001  # raised where the answers are read
                    answers.put(error)
                finally:
                    schedule.done(artifact)

        try:
            for number in range(min(threads, self._count)):
                threading.Thread(target=work, name=f"symup-file-{number}", daemon=True).start()
            for _ in range(self._count):
                answer = next_of(answers)
                if isinstance(answer, BaseException):
                    raise answer
                yield answer
        finally:
            schedule.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._processes is not None:
            self._processes.kill()


def _worth_a_limit(artifact: Artifact) -> bool:
    return any(max(file.size_bytes, file.inflated_size_bytes) >= WORTH_A_LIMIT_BYTES for file in artifact.inputs)


def next_of(queue: SimpleQueue[Item]) -> Item:
    """The next item, waited for so that an interruption is noticed soon, whenever it comes."""
    while True:
        with contextlib.suppress(Empty):
            return queue.get(timeout=NOTICE_SECONDS)
