"""The store against a dictionary: any order of operations, any of them killed at any step of its writing."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.store.dying_os import DyingOs, Killed
from tests.writers.artifact_writer import Artifact, make_artifact, put_all
from uploader.errors import ArtifactMismatch
from uploader.model import Quality, SymbolId
from uploader.protocol.words import Holding
from uploader.store import folder as folder_module
from uploader.store.condemned import Terms
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore

SHARED_ALIAS = "go:shared"
WEEKS_SECONDS = 30 * 24 * 3600.0
ARTIFACTS = [
    make_artifact(
        build_id, quality=quality, flavour=flavour, aliases=(SHARED_ALIAS,), functions=3, max_chunk_size_bytes=256
    )
    for build_id in ("aa11", "bb22")
    for quality in (Quality.FUNCTIONS, Quality.LINES, Quality.FULL)
    for flavour in ("one", "two")
]
artifacts = st.sampled_from(range(len(ARTIFACTS)))
deaths = st.one_of(st.none(), st.integers(min_value=0, max_value=60))


class StoreMachine(RuleBasedStateMachine):
    """``stored`` holds what was reported stored; ``put`` the chunks that were reported put and that no collection may have taken."""

    @initialize()
    def start(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="symup-store-"))
        self.stored: dict[SymbolId, Artifact] = {}
        self.put: set[str] = set()
        self.alias_resolves = False
        self.passed = 0.0

    def teardown(self) -> None:
        vars(folder_module)["os"] = os
        if hasattr(self, "root"):
            shutil.rmtree(self.root, ignore_errors=True)

    def perform(self, act: Callable[[SymbolStore], Any], dies_at: int | None) -> Any:
        """Runs ``act`` on a store of its own process, which may be killed; gives its result, or None where it died."""
        vars(folder_module)["os"] = DyingOs(dies_at)
        try:
            return act(self.store)
        except Killed:
            return None
        finally:
            vars(folder_module)["os"] = os

    @property
    def store(self) -> SymbolStore:
        return SymbolStore(FolderBlobs(self.root), "web", Terms(clock=lambda: self.passed, wait=self.wait))

    def wait(self, seconds: float) -> None:
        self.passed += seconds

    @rule(which=artifacts, dies_at=deaths)
    def put_chunks(self, which: int, dies_at: int | None) -> None:
        artifact = ARTIFACTS[which]

        def act(store: SymbolStore) -> None:
            for chunk in artifact.file.chunks:
                store.put_chunk(chunk.sha256, chunk.data)
                self.put.add(chunk.sha256)

        self.perform(act, dies_at)

    @rule(which=artifacts, force=st.booleans(), dies_at=deaths)
    def commit(self, which: int, force: bool, dies_at: int | None) -> None:
        artifact = ARTIFACTS[which]
        primary = artifact.manifest.identity.primary
        before = self.stored.get(primary)
        try:
            committed = self.perform(lambda store: store.commit(artifact.manifest, force=force), dies_at)
        except ArtifactMismatch:
            assert not self.put.issuperset(artifact.manifest.chunks)
            return
        if committed is None:
            found = self.store.manifest(primary)
            assert found in (before and before.manifest, artifact.manifest)
            if found == artifact.manifest:
                self.stored[primary] = artifact
            return
        same = before is not None and before.manifest == artifact.manifest
        better = before is None or artifact.manifest.quality > before.manifest.quality
        assert committed.stored == ((better or force) and not same)
        if committed.stored:
            self.stored[primary] = artifact
        self.alias_resolves = True

    @rule(which=artifacts)
    def upload_whole(self, which: int) -> None:
        put_all(self.store, ARTIFACTS[which])
        self.put.update(ARTIFACTS[which].manifest.chunks)
        self.commit(which, force=False, dies_at=None)

    @rule(dies_at=deaths)
    def collect_much_later(self, dies_at: int | None) -> None:
        named = {sha256 for artifact in self.stored.values() for sha256 in artifact.manifest.chunks}

        def act(store: SymbolStore) -> None:
            for weeks_seconds in (WEEKS_SECONDS, 2 * WEEKS_SECONDS):
                store.gc(now=time.time() + weeks_seconds)

        self.perform(act, dies_at)
        self.put &= named

    @rule()
    def collect_now(self) -> None:
        assert self.store.gc(now=time.time()).chunks == 0

    @invariant()
    def what_was_reported_is_there(self) -> None:
        if not hasattr(self, "root"):
            return
        for primary, artifact in self.stored.items():
            assert self.store.manifest(primary) == artifact.manifest
            assert b"".join(self.store.fetch(primary)) == artifact.gsym
        for artifact in ARTIFACTS:
            (answer,) = self.store.negotiate([artifact.question])
            held = self.stored.get(artifact.manifest.identity.primary)
            assert self.put.isdisjoint(answer.missing_chunks)
            if held is None:
                assert answer.holding is Holding.MISSING
            elif held.manifest.quality < artifact.manifest.quality:
                assert answer.holding is Holding.POORER
            else:
                assert answer.holding is not Holding.MISSING

    @invariant()
    def an_alias_that_resolved_goes_on_resolving(self) -> None:
        if hasattr(self, "root") and self.alias_resolves:
            assert self.store.manifest(SymbolId.parse(SHARED_ALIAS)) is not None


StoreMachine.TestCase.settings = settings(
    max_examples=40, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestStoreMachine = StoreMachine.TestCase
