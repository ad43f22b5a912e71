"""Collections beside uploads, in every order of their steps that a seed comes to: nothing that was reported is lost.

Without the grace time, the same seeds find the loss. `test_collecting.py` shows what each other part of the rule is for.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from tests.store.interleaving import Actor, ActorsBlobs, Killed, World
from tests.writers.artifact_writer import Artifact, make_artifact
from uploader.errors import ArtifactMismatch, StoreDamaged
from uploader.model import SymbolId
from uploader.protocol.words import Holding
from uploader.store.condemned import Terms
from uploader.store.store import SymbolStore
from uploader.values import replace

RULE = Terms(grace_seconds=25.0, permit_seconds=10.0, sentence_seconds=8.0)
ROUNDS = 8
# All ids of one row have the same content, and so the same chunks.
ARTIFACTS = [
    make_artifact(
        "aa11", flavour=flavour, functions=3, chunks=2, primary=f"go:{flavour}-{name}", aliases=(f"file:{digit * 32}",)
    )
    for flavour, names in (("x", "ab"),)
    for name, digit in zip(names, "12", strict=True)
]


class Ledger:
    """What was reported, and since when."""

    def __init__(self) -> None:
        self.moment = count()
        self.reported: dict[SymbolId, int] = {}
        self.taken_out: dict[SymbolId, int] = {}

    def owed(self) -> list[SymbolId]:
        """The artifacts that must be there: nothing was taken out since before the last report began."""
        return [one for one, at in self.reported.items() if self.taken_out.get(one, -1) < at]


def client(ledger: Ledger, terms: Terms) -> Callable[[Actor], None]:
    def upload(store: SymbolStore, artifact: Artifact) -> bool:
        (answer,) = store.negotiate([artifact.question])
        if answer.holding is Holding.PRESENT:
            return True
        for _ in range(3):
            for chunk in artifact.file.chunks:
                if chunk.sha256 in answer.missing_chunks:
                    store.put_chunk(chunk.sha256, chunk.data)
            try:
                store.commit(artifact.manifest)
            except ArtifactMismatch:
                (answer,) = store.negotiate([artifact.question])
                continue
            return True
        return False

    def act(actor: Actor) -> None:
        for _ in range(ROUNDS):
            artifact = actor.world.random.choice(ARTIFACTS)
            began = next(ledger.moment)
            store = SymbolStore(ActorsBlobs(actor), "web", actor.world.terms(actor, terms))
            try:
                if upload(store, artifact):
                    ledger.reported[artifact.manifest.identity.primary] = began
            except Killed:
                continue

    return act


def keeper(terms: Terms) -> Callable[[Actor], None]:
    def act(actor: Actor) -> None:
        for _ in range(2 * ROUNDS):
            try:
                SymbolStore(ActorsBlobs(actor), "web", actor.world.terms(actor, terms)).gc(older_than_seconds=0)
                actor.sleeps(actor.world.random.choice((1.0, 4.0, 12.0)))
            except Killed:
                continue

    return act


def pruner(ledger: Ledger, terms: Terms) -> Callable[[Actor], None]:
    def act(actor: Actor) -> None:
        for _ in range(ROUNDS):
            primary = actor.world.random.choice(ARTIFACTS).manifest.identity.primary
            store = SymbolStore(ActorsBlobs(actor), "web", actor.world.terms(actor, terms))
            try:
                # A kill may come after the swap: then it is taken out, though nobody says so.
                ledger.taken_out[primary] = 1 << 60
                store.take_out(primary)
                ledger.taken_out[primary] = next(ledger.moment)
                actor.sleeps(actor.world.random.choice((1.0, 4.0, 12.0)))
            except Killed:
                ledger.taken_out[primary] = next(ledger.moment)

    return act


def lost(seed: int, terms: Terms) -> set[SymbolId]:
    """The artifacts that were reported and were not there, whole and by all their names, at some time in the world of that seed."""
    world, ledger = World(seed), Ledger()
    store = SymbolStore(world.blobs, "web")
    missed: set[SymbolId] = set()

    def look() -> None:
        missed.update(primary for primary in ledger.owed() if not is_whole(store, primary))

    world.after_deletion = look
    world.run(
        [
            *((name, client(ledger, terms)) for name in ("one", "two")),
            *((name, keeper(terms)) for name in ("keeper", "other keeper")),
            ("pruner", pruner(ledger, terms)),
        ]
    )
    look()
    return missed


def is_whole(store: SymbolStore, primary: SymbolId) -> bool:
    (artifact,) = (one for one in ARTIFACTS if one.manifest.identity.primary == primary)
    try:
        manifest = store.manifest(primary)
        whole = manifest is not None and b"".join(store.fetch(primary)) == artifact.gsym
        return whole and all(store.manifest(alias) == manifest for alias in artifact.manifest.identity.aliases)
    except StoreDamaged:
        return False


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_nothing_that_was_reported_is_lost(first: int) -> None:
    for seed in range(first, first + 50):
        assert not lost(seed, RULE), seed


def test_without_the_grace_time_the_same_worlds_lose_something() -> None:
    assert any(lost(seed, replace(RULE, grace_seconds=0.0)) for seed in range(200))
