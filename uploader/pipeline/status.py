"""What a destination holds of files and ids: asked one by one, and read whole where that is wanted."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from uploader.errors import ExitCode, StoreDamaged
from uploader.model import Decision, LeftOut, Outcome, SymbolId
from uploader.pipeline.artifact import Artifact
from uploader.pipeline.fingerprint import conflict
from uploader.pipeline.gather import gather
from uploader.pipeline.make import holds_nothing
from uploader.pipeline.plan import Plan
from uploader.pipeline.recheck import damage
from uploader.progress import Progress, Silent
from uploader.protocol.words import Destination, Manifest
from uploader.values import frozen, replace

Item = TypeVar("Item")

ASKED_AT_ONCE = 8
VERIFIED_AT_ONCE = 4


class State(enum.StrEnum):
    """How an id stands at a destination."""

    STORED = "stored"
    MISSING = "missing"
    DAMAGED = "damaged"
    OTHER = "other"
    """What is there under its id is of another program."""
    EMPTY = "empty"
    """It is not there, and there is nothing to store of it."""


@frozen
class Asked:
    """One id to ask for, and the word or path that it stands for."""

    label: str
    symbol_id: SymbolId
    artifact: Artifact | None = None
    """What was met at a path."""
    is_named: bool = True
    """It was asked for by its own name; where what was met in a folder holds no symbols, it is no loss that the store has none."""


@frozen
class Standing:
    """What became of one question."""

    label: str
    symbol_id: SymbolId
    state: State
    reason: str
    manifest: Manifest | None = None


@frozen
class Stock:
    """How everything stands that was asked for."""

    standings: tuple[Standing, ...]
    troubles: tuple[Outcome, ...] = ()
    """Files that can't be asked for."""
    left_out: tuple[LeftOut, ...] = ()

    def count(self, state: State) -> int:
        """How many stand so."""
        return sum(one.state is state for one in self.standings)

    @property
    def exit_code(self) -> ExitCode:
        """1 where anything is missing, damaged or another program's, or could not be asked for."""
        amiss = self.troubles or any(map(self.count, (State.MISSING, State.DAMAGED, State.OTHER)))
        return ExitCode.SOME_FAILED if amiss else ExitCode.DONE


@frozen
class Questions:
    """What there is to ask."""

    asked: tuple[Asked, ...]
    troubles: tuple[Outcome, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def questions(plan: Plan, ids: Iterable[Asked] = ()) -> Questions:
    """What to ask for: the ids, and those of all that the plan's paths hold. Raises `UsageError` as `gather` does."""
    if not plan.paths:
        return Questions(asked=tuple(ids))
    gathered = gather(plan, progress=Silent())
    named = set(map(str, plan.paths))
    files = [
        Asked(
            label=artifact.path,
            symbol_id=artifact.identity.primary,
            artifact=artifact,
            is_named=artifact.path in named,
        )
        for artifact in gathered.artifacts
    ]
    troubles = [one for one in gathered.outcomes if one.decision is Decision.FAILED]
    return Questions(asked=(*ids, *files), troubles=tuple(troubles), left_out=gathered.left_out)


def status(wanted: Questions, destination: Destination, *, verify: bool, progress: Progress) -> Stock:
    """How each stands, in the order of the questions; with ``verify`` all bytes of what is stored are read, too."""
    standings = _each(lambda one: _standing(one, destination), wanted.asked, ASKED_AT_ONCE)
    if verify:
        progress.stage("verify", sum(one.state is State.STORED for one in standings))
        standings = _each(lambda one: _verified(one, destination, progress), standings, VERIFIED_AT_ONCE)
    return Stock(standings=tuple(standings), troubles=wanted.troubles, left_out=wanted.left_out)


def _each(do: Callable[[Item], Standing], items: Sequence[Item], at_once: int) -> list[Standing]:
    with ThreadPoolExecutor(at_once) as workers:
        return list(workers.map(do, items))


def _standing(asked: Asked, destination: Destination) -> Standing:
    manifest: Manifest | None = None
    try:
        manifest = destination.manifest(asked.symbol_id)
    except StoreDamaged as error:
        state, reason = State.DAMAGED, error.message
    else:
        if manifest is not None:
            state, reason = State.STORED, "stored"
            if asked.artifact is not None and manifest.fingerprints:
                other = conflict(asked.artifact, manifest.fingerprints, where=destination.url)
                state, reason = (state, reason) if other is None else (State.OTHER, other.reason)
        elif asked.artifact is not None and not asked.is_named and holds_nothing(asked.artifact):
            state, reason = State.EMPTY, "no function symbols in it, and none stored"
        else:
            state, reason = State.MISSING, "not in the store"
    return Standing(label=asked.label, symbol_id=asked.symbol_id, state=state, reason=reason, manifest=manifest)


def _verified(one: Standing, destination: Destination, progress: Progress) -> Standing:
    if one.state is not State.STORED:
        return one
    found = damage(destination, one.symbol_id)
    progress.advance("verify")
    if found is None:
        return replace(one, reason="stored, and all bytes are sound")
    return replace(one, state=State.DAMAGED, reason=found)
