"""Worker processes: Python runs one thread at a time, so that many small files keep several cores busy only from several processes."""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

Result = TypeVar("Result")


def forks() -> bool:
    """Whether a worker can be forked, and so is there at once: on Linux, while no other thread may hold a lock.

    Otherwise each is a new interpreter.
    """
    return sys.platform == "linux" and threading.active_count() == 1


class WorkerKilled(Exception):
    """The process that worked on a call is gone, and so was the one that tried it again."""

    def __init__(self, signal_number: int = 0) -> None:
        super().__init__(signal_number)
        self.signal_number = signal_number
        """What the last one was killed by; 0 where that is not known."""


class Processes:
    """A few processes that run calls: functions of modules, with arguments and results that can be pickled.

    `call` may be used from any thread, and from as many as there are processes at once. What a process can be killed for, out of
    memory mostly, costs only the call that it was at.
    """

    def __init__(self, count: int) -> None:
        """Starts them. Raises `OSError` where the system allows no more processes."""
        self._lock = threading.Lock()
        self._all: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._stopped = False
        if forks():
            if count > 1:
                # What every worker would import is imported once; a single one imports it while it inflates.
                import uploader.gsym.encode
                import uploader.sources.extract  # noqa: F401  # for the workers

            # Looking for garbage writes to every object, and so would copy all that a forked process shares with this one.
            gc.freeze()
        try:
            for _ in range(count):
                self._idle.append(self._start())
        except BaseException:
            self.kill()
            raise

    def call(self, function: Callable[..., Result], /, *arguments: object, **named: object) -> Result:
        """Runs the function in one of the processes, and gives its result or raises what it raised.

        Where the process is killed meanwhile, another tries once more; raises `WorkerKilled` where that one is killed, too.
        """
        killed_by = 0
        for _ in range(2):
            if self._stopped:
                break
            worker = self._take()
            try:
                succeeded, value = worker.run(function, arguments, named)
            except (EOFError, OSError):
                self._end(worker)
                killed_by = worker.killed_by
                continue
            with self._lock:
                self._idle.append(worker)
            if succeeded:
                return value  # type: ignore[no-any-return]  # what the function gave
            raise value
        raise WorkerKilled(killed_by)

    def kill(self) -> None:
        """Ends all of them at once, whatever they are at."""
        with self._lock:
            self._stopped = True
            workers, self._idle = list(self._all), []
            self._all.clear()
        # All get the signal before any is waited for.
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.join()

    def _take(self) -> _Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._start()

    def _start(self) -> _Worker:
        worker = _Worker()
        with self._lock:
            self._all.add(worker)
            stopped = self._stopped
        if stopped:
            self._end(worker)
        return worker

    def _end(self, worker: _Worker) -> None:
        with self._lock:
            # The thread that takes a worker out also ends it: two that wait for one process, or close one pipe, are in each other's way.
            known = worker in self._all
            self._all.discard(worker)
        if known:
            worker.kill()
            worker.join()


class _Worker:
    """One process, and the pipe to it."""

    def __init__(self) -> None:
        from multiprocessing import get_context

        forked = forks()
        context: Any = get_context("fork" if forked else "spawn")
        self._pipe, its_end = context.Pipe()
        self._process = context.Process(target=_serve, args=(its_end, self._pipe if forked else None), daemon=True)
        self._process.start()
        its_end.close()

    def run(
        self, function: Callable[..., object], arguments: tuple[object, ...], named: dict[str, object]
    ) -> tuple[bool, Any]:
        """What came of a call: (True, result) or (False, exception). Raises `EOFError` or `OSError` where the process is gone."""
        self._pipe.send((function, arguments, named))
        return self._pipe.recv()  # type: ignore[no-any-return]  # what `_serve` sends

    def kill(self) -> None:
        """Ends the process; a thread that waits for its answer learns of it by the end of the pipe, which closes with this object."""
        with contextlib.suppress(OSError):
            self._process.kill()

    @property
    def killed_by(self) -> int:
        """The signal that ended the process; 0 where it ended otherwise, or has not been waited for."""
        return max(-(self._process.exitcode or 0), 0)

    def join(self) -> None:
        """Waits until the killed process is gone."""
        with contextlib.suppress(OSError):
            self._process.join()


def _serve(pipe: Connection, other_end: Connection | None) -> None:
    """Runs calls until the other end is closed everywhere, as it is when the process there ends, in whatever way."""
    if other_end is not None:
        other_end.close()
    # An interruption is for the process that leads: it ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, arguments, named = pipe.recv()
            try:
                answer = (True, function(*arguments, **named))
            except Exception as error:  # noqa: BLE001  # it is raised in the process that called
                answer = (False, error)
            pipe.send(answer)
