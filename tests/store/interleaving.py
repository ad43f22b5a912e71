"""Actors whose steps on a shared place a seed puts in order, by a clock that is the world's: what could happen, happens soon."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from tests.store.blobs_in_memory import MemoryBlobs
from uploader.store.blobs import Blob, BlobInfo
from uploader.store.condemned import Terms
from uploader.values import replace

T = TypeVar("T")

UNDER_WAY_SECONDS = 2.0
"""The longest time that a writing request takes."""
SLOW_SECONDS = 40.0
"""The longest time that a reading request takes: whoever reads must look at the clock again before it writes."""


class Killed(BaseException):
    """The process is no more."""


class Actor:
    """One process: its steps wait for their turn."""

    def __init__(self, world: World, name: str, act: Callable[[Actor], None]) -> None:
        self.world = world
        self.name = name
        self.step: Callable[[], Any] | None = None
        self.wakes_at = 0.0
        self.deadline = 0.0
        self.answer: Any = None
        self.trouble: BaseException | None = None
        self.over = False
        self.starved = False
        self._turn = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, args=(act,), daemon=True)

    def start(self) -> None:
        self._thread.start()
        self.world.settled.acquire()

    def does(self, step: Callable[[], T], within: float = UNDER_WAY_SECONDS) -> T:
        """One request: it is carried out at some time until its deadline; now and then only when nobody else goes on."""
        self.starved = self.world.random.random() < 0.15
        return self._await(step, self.world.now, self.world.now + within)

    def sleeps(self, seconds: float) -> None:
        self.starved = False
        self._await(lambda: None, self.world.now + seconds, self.world.now + seconds + UNDER_WAY_SECONDS)

    def carried_out(self, *, killed: bool = False, done: bool = True) -> None:
        """Called by the world: carries out the step, or kills the actor before or after it."""
        assert self.step is not None
        step, self.step, self.trouble = self.step, None, None
        if done:
            try:
                self.answer = step()
            except Exception as error:  # noqa: BLE001  # whatever it is, it is the actor's
                self.trouble = error
        if killed:
            self.trouble = Killed()
        self._turn.release()
        self.world.settled.acquire()

    def _await(self, step: Callable[[], T], wakes_at: float, deadline: float) -> T:
        self.step, self.wakes_at, self.deadline = step, wakes_at, deadline
        self.world.settled.release()
        self._turn.acquire()
        if self.trouble is not None:
            raise self.trouble
        answer: T = self.answer
        return answer

    def _run(self, act: Callable[[Actor], None]) -> None:
        try:
            act(self)
        finally:
            self.over = True
            self.world.settled.release()


class World:
    """One place, one clock, one order of steps."""

    def __init__(self, seed: int, *, kills: bool = True) -> None:
        self.random = random.Random(seed)
        self.kills = kills
        self.now = 0.0
        self.steps = 0
        self.settled = threading.Semaphore(0)
        self.blobs = MemoryBlobs(lambda: self.now)
        self.favour: list[str] = []
        self.after_deletion: Callable[[], None] = lambda: None

    def run(self, acts: Sequence[tuple[str, Callable[[Actor], None]]]) -> None:
        """Runs all actors to their end."""
        actors = [Actor(self, name, act) for name, act in acts]
        self.favour = [actor.name for actor in actors]
        for actor in actors:
            actor.start()
        while waiting := [actor for actor in actors if not actor.over]:
            self._step(waiting)

    def _step(self, waiting: list[Actor]) -> None:
        soonest = min(actor.deadline for actor in waiting)
        if self.random.random() < 0.1:
            self.now = min(soonest, self.now + self.random.choice((0.5, 1.0, 3.0, 30.0)))
        ready = [actor for actor in waiting if actor.wakes_at <= self.now]
        due = [actor for actor in ready if actor.deadline <= self.now]
        if not ready:
            self.now = min(actor.wakes_at for actor in waiting)
            return
        self.steps += 1
        killed = self.kills and self.random.random() < 0.01
        if self.random.random() < 0.1:
            self.random.shuffle(self.favour)
        # Nearly always the same one goes on while the others stand still: a loss needs one to stand still for long.
        ready = sorted(due or ready, key=lambda actor: (actor.starved, self.favour.index(actor.name)))
        ready[0].carried_out(killed=killed, done=not killed or self.random.random() < 0.5)

    def terms(self, actor: Actor, terms: Terms) -> Terms:
        """The terms, with this world's clock."""
        return replace(terms, clock=lambda: self.now, wait=actor.sleeps)


class ActorsBlobs:
    """The place, as an actor reaches it: every request is a step."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._blobs = actor.world.blobs

    def get(self, key: str) -> Blob | None:
        return self._actor.does(lambda: self._blobs.get(key), within=SLOW_SECONDS)

    def size_bytes(self, key: str) -> int | None:
        return self._actor.does(lambda: self._blobs.size_bytes(key))

    def sizes_bytes(self, keys: Sequence[str]) -> list[int | None]:
        return [self.size_bytes(key) for key in keys]

    def map(self, task: Callable[[Any], T], items: Iterable[Any]) -> Iterator[T]:
        return map(task, items)

    guarded = True

    def put_if_absent(self, key: str, data: bytes) -> bool:
        return self._actor.does(lambda: self._blobs.put_if_absent(key, data))

    def swap(self, key: str, data: bytes, *, tag: str | None) -> bool:
        return self._actor.does(lambda: self._blobs.swap(key, data, tag=tag))

    def replace(self, key: str, data: bytes) -> None:
        self._actor.does(lambda: self._blobs.replace(key, data))

    def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._actor.does(lambda key=key: self._blobs.delete([key]))  # type: ignore[misc]  # the key of this turn
            self._actor.world.after_deletion()

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        yield from self._actor.does(lambda: list(self._blobs.list(prefix)))

    def sweep(self, *, unmodified_since: float) -> int:
        return 0

    def scratch(self) -> Any:
        return self._blobs.scratch()

    def now(self) -> float:
        return self._actor.world.now
