import dataclasses
import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.store.dying_os import DyingOs, Killed
from tests.writers.artifact_writer import Artifact, make_artifact, put_all
from uploader.errors import ArtifactMismatch, ChunkMismatch, NothingFound, Refused, StoreDamaged, UsageError
from uploader.model import Identity, Quality, SymbolId
from uploader.protocol.words import Answer, Committed, Holding, Manifest
from uploader.store import folder as folder_module
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore
from uploader.values import replace

DAY = 24 * 3600


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(root: Path) -> SymbolStore:
    return SymbolStore(FolderBlobs(root), "web")


def upload(store: SymbolStore, artifact: Artifact, *, force: bool = False) -> Committed:
    put_all(store, artifact)
    return store.commit(artifact.manifest, force=force)


def holding(store: SymbolStore, artifact: Artifact, **changes: Any) -> Answer:
    (answer,) = store.negotiate([replace(artifact.question, **changes)])
    return answer


def found(store: SymbolStore, symbol_id: SymbolId) -> Manifest:
    manifest = store.manifest(symbol_id)
    assert manifest is not None
    return manifest


def every_file(root: Path) -> dict[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in root.rglob("*") if path.is_file()}


def test_an_upload_can_be_found_and_fetched(store: SymbolStore) -> None:
    artifact = make_artifact(chunks=4)
    assert len(artifact.file.chunks) > 2
    committed = upload(store, artifact)
    assert committed.stored
    wanted = artifact.manifest.identity.primary
    assert store.manifest(wanted) == artifact.manifest
    assert b"".join(store.fetch(wanted)) == artifact.gsym


def test_nothing_is_visible_before_the_commit(store: SymbolStore) -> None:
    artifact = make_artifact()
    put_all(store, artifact)
    assert store.manifest(artifact.manifest.identity.primary) is None
    with pytest.raises(NothingFound):
        store.fetch(artifact.manifest.identity.primary)


def test_negotiating_changes_nothing(store: SymbolStore, root: Path) -> None:
    known, unknown = make_artifact("aa11"), make_artifact("bb22", aliases=("go:xyz",))
    upload(store, known)
    before = every_file(root)
    for _ in range(3):
        store.negotiate([known.question, unknown.question, replace(known.question, force=True)])
    assert every_file(root) == before


def test_negotiating_about_an_empty_store_does_not_even_make_it(store: SymbolStore, root: Path) -> None:
    assert holding(store, make_artifact()).holding is Holding.MISSING
    assert not root.exists()


def test_answers_come_in_the_order_of_the_questions(store: SymbolStore) -> None:
    known, unknown, poorer = (
        make_artifact("aa11"),
        make_artifact("bb22"),
        make_artifact("cc33", quality=Quality.FUNCTIONS),
    )
    upload(store, known)
    upload(store, poorer)
    richer = make_artifact("cc33")
    answers = store.negotiate([unknown.question, known.question, richer.question])
    assert [answer.holding for answer in answers] == [Holding.MISSING, Holding.PRESENT, Holding.POORER]
    assert [answer.stored_quality for answer in answers] == [None, Quality.FULL, Quality.FUNCTIONS]
    assert answers[1].missing_chunks == ()
    assert all(answer.reason for answer in answers)


def test_only_the_chunks_that_lack_are_asked_for(store: SymbolStore) -> None:
    artifact = make_artifact(chunks=4)
    first, *rest = artifact.file.chunks
    store.put_chunk(first.sha256, first.data)
    assert holding(store, artifact).missing_chunks == tuple(chunk.sha256 for chunk in rest)


def test_better_quality_replaces_worse_by_itself(store: SymbolStore) -> None:
    poor, rich = make_artifact(quality=Quality.FUNCTIONS), make_artifact(quality=Quality.FULL)
    upload(store, poor)
    assert upload(store, rich).stored
    assert b"".join(store.fetch(rich.manifest.identity.primary)) == rich.gsym


@pytest.mark.parametrize("offered", [Quality.LINES, Quality.FULL])
def test_same_or_worse_is_declined_with_a_reason(store: SymbolStore, offered: Quality) -> None:
    rich, other = make_artifact(), make_artifact(quality=offered, flavour="other")
    upload(store, rich)
    committed = upload(store, other)
    assert not committed.stored
    assert "full" in committed.reason
    assert b"".join(store.fetch(rich.manifest.identity.primary)) == rich.gsym


def test_what_is_lost_is_replaced_even_by_worse(store: SymbolStore, root: Path) -> None:
    rich, poor = make_artifact(), make_artifact(quality=Quality.FUNCTIONS)
    upload(store, rich)
    (chunk,) = (path for path in root.rglob("*") if path.name == rich.manifest.chunks[0])
    chunk.unlink()
    assert upload(store, poor).stored
    assert b"".join(store.fetch(rich.manifest.identity.primary)) == poor.gsym


def test_what_only_claims_to_be_better_replaces_nothing(store: SymbolStore) -> None:
    honest, boasting = make_artifact(quality=Quality.LINES), make_artifact(quality=Quality.LINES, flavour="other")
    upload(store, honest)
    put_all(store, boasting)
    committed = store.commit(replace(boasting.manifest, quality=Quality.FULL))
    assert committed == Committed(stored=False, reason="kept what is stored: it has the same quality, lines")
    assert found(store, honest.manifest.identity.primary) == honest.manifest


def test_force_replaces_what_is_better(store: SymbolStore) -> None:
    rich, poor = make_artifact(), make_artifact(quality=Quality.FUNCTIONS)
    upload(store, rich)
    assert holding(store, poor, force=True).holding is Holding.POORER
    assert upload(store, poor, force=True).stored
    assert found(store, rich.manifest.identity.primary).quality is Quality.FUNCTIONS


@pytest.mark.parametrize("force", [False, True])
def test_the_same_content_at_another_quality_follows_the_rule_of_quality(store: SymbolStore, force: bool) -> None:
    full = make_artifact()
    lines = dataclasses.replace(full, manifest=replace(full.manifest, quality=Quality.LINES))
    assert upload(store, lines).stored
    assert upload(store, full).reason == "replaced quality lines by full"
    assert upload(store, lines, force=force).stored is force
    assert found(store, full.manifest.identity.primary).quality is (Quality.LINES if force else Quality.FULL)


def test_the_same_content_again_is_present(store: SymbolStore) -> None:
    artifact = make_artifact()
    upload(store, artifact)
    for force in (False, True):
        committed = upload(store, artifact, force=force)
        assert not committed.stored
        assert "same content" in committed.reason


def test_aliases_resolve_to_the_artifact(store: SymbolStore) -> None:
    artifact = make_artifact("aa11", aliases=("go:some~go.id", "file:" + "0" * 32))
    upload(store, artifact)
    for alias in artifact.manifest.identity.aliases:
        assert store.manifest(alias) == artifact.manifest
        assert b"".join(store.fetch(alias)) == artifact.gsym


def test_an_alias_that_is_learnt_later_is_recorded(store: SymbolStore) -> None:
    before, after = make_artifact("aa11"), make_artifact("aa11", aliases=("go:later",))
    upload(store, before)
    assert holding(store, after).holding is Holding.POORER
    upload(store, after)
    assert holding(store, after).holding is Holding.PRESENT
    assert store.manifest(SymbolId.parse("go:later")) is not None


def test_ids_other_than_build_ids_can_be_primary(store: SymbolStore) -> None:
    artifact = make_artifact("aa11", primary="go:abc")
    assert upload(store, artifact).stored
    assert store.manifest(SymbolId.parse("go:abc")) == artifact.manifest


def test_a_chunk_must_have_its_digest(store: SymbolStore) -> None:
    artifact = make_artifact()
    with pytest.raises(ChunkMismatch):
        store.put_chunk(artifact.file.chunks[0].sha256, b"other bytes")
    with pytest.raises(ChunkMismatch):
        store.put_chunk("../../escape", b"x")
    with pytest.raises(Refused):
        store.put_chunk("0" * 64, b"")


def test_a_commit_without_all_chunks_is_refused_and_leaves_nothing(store: SymbolStore) -> None:
    artifact = make_artifact(chunks=4)
    for chunk in artifact.file.chunks[1:]:
        store.put_chunk(chunk.sha256, chunk.data)
    with pytest.raises(ArtifactMismatch, match="1 of"):
        store.commit(artifact.manifest)
    assert store.manifest(artifact.manifest.identity.primary) is None


def test_chunks_of_another_project_do_not_count(root: Path) -> None:
    artifact = make_artifact()
    theirs, ours = SymbolStore(FolderBlobs(root), "theirs"), SymbolStore(FolderBlobs(root), "ours")
    upload(theirs, artifact)
    assert holding(ours, artifact).holding is Holding.MISSING
    assert holding(ours, artifact).missing_chunks == artifact.manifest.chunks
    assert ours.manifest(artifact.manifest.identity.primary) is None
    with pytest.raises(ArtifactMismatch):
        ours.commit(artifact.manifest)


def test_a_bad_project_name_is_refused(root: Path) -> None:
    with pytest.raises(UsageError):
        SymbolStore(FolderBlobs(root), "../theirs")


def test_damage_is_told_and_healed_by_sending_again(store: SymbolStore, root: Path) -> None:
    artifact = make_artifact()
    upload(store, artifact)
    (chunk,) = (path for path in root.rglob("*") if path.name == artifact.manifest.chunks[0])
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(StoreDamaged):
        list(store.fetch(artifact.manifest.identity.primary))
    put_all(store, artifact)
    assert b"".join(store.fetch(artifact.manifest.identity.primary)) == artifact.gsym


def test_a_store_that_lost_a_chunk_asks_for_it_again(store: SymbolStore, root: Path) -> None:
    artifact = make_artifact()
    upload(store, artifact)
    (chunk,) = (path for path in root.rglob("*") if path.name == artifact.manifest.chunks[0])
    chunk.unlink()
    answer = holding(store, artifact)
    assert (answer.holding, answer.missing_chunks) == (Holding.MISSING, artifact.manifest.chunks)
    upload(store, artifact)
    assert holding(store, artifact).holding is Holding.PRESENT


@pytest.mark.parametrize("damage", [b"", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"chunks": 7}'])
def test_a_damaged_manifest_is_told_and_replaced(store: SymbolStore, root: Path, damage: bytes) -> None:
    artifact = make_artifact()
    upload(store, artifact)
    (manifest,) = root.rglob("gsym.json")
    manifest.write_bytes(damage)
    with pytest.raises(StoreDamaged):
        store.manifest(artifact.manifest.identity.primary)
    with pytest.raises(StoreDamaged):
        store.gc(now=time.time() + 8 * DAY)
    assert holding(store, artifact).holding is Holding.MISSING
    assert upload(store, artifact).stored
    assert store.manifest(artifact.manifest.identity.primary) == artifact.manifest


def test_gc_takes_chunks_without_manifest_after_a_week_and_nothing_else(store: SymbolStore, root: Path) -> None:
    kept, orphan = make_artifact("aa11"), make_artifact("bb22")
    upload(store, kept)
    put_all(store, orphan)
    now = time.time()
    assert store.gc(now=now + 6 * DAY).condemned == 0
    assert store.gc(now=now + 8 * DAY).condemned == 1
    collected = store.gc(now=now + 9.1 * DAY)
    assert (collected.chunks, collected.chunks_size_bytes) == (1, orphan.file.compressed_size_bytes)
    assert b"".join(store.fetch(kept.manifest.identity.primary)) == kept.gsym
    assert holding(store, orphan).missing_chunks == orphan.manifest.chunks


def test_gc_leaves_alone_what_is_no_chunk(store: SymbolStore, root: Path) -> None:
    put_all(store, make_artifact())
    (chunk,) = root.rglob("chunks/*/*")
    theirs = chunk.with_name("README")
    theirs.write_bytes(b"theirs")
    os.utime(theirs, (1000, 1000))
    assert [store.gc(now=time.time() + days * DAY).chunks for days in (8, 9)] == [0, 1]
    assert (chunk.exists(), theirs.exists()) == (False, True)


def test_gc_takes_what_killed_writers_left(store: SymbolStore, root: Path) -> None:
    upload(store, make_artifact())
    left = root / ".tmp" / "0123"
    left.write_bytes(b"half")
    os.utime(left, (1000, 1000))
    assert store.gc(now=time.time()).leftovers == 1
    assert not left.exists()


def test_after_a_kill_at_any_step_of_a_commit_the_next_upload_mends_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    poor = make_artifact("aa11", quality=Quality.FUNCTIONS, aliases=("go:shared",))
    rich = make_artifact("bb22", aliases=("go:shared", "go:own"))
    dies_at, survived = 0, False
    while not survived:
        place = tmp_path / str(dies_at)
        upload(SymbolStore(FolderBlobs(place), "web"), poor)
        victim = SymbolStore(FolderBlobs(place), "web")
        put_all(victim, rich)
        monkeypatch.setattr(folder_module, "os", DyingOs(dies_at))
        try:
            survived = victim.commit(rich.manifest).stored
        except Killed:
            pass
        finally:
            monkeypatch.setattr(folder_module, "os", os)
        after = SymbolStore(FolderBlobs(place), "web")
        if holding(after, rich).holding is not Holding.PRESENT:
            assert not survived
            upload(after, rich)
        assert after.manifest(SymbolId.parse("go:shared")) == poor.manifest
        for symbol_id in ("bb22", "go:own"):
            assert after.manifest(SymbolId.parse(symbol_id)) == rich.manifest
        dies_at += 1
    assert dies_at > 10


def test_a_replaced_artifact_stays_readable_for_a_day(store: SymbolStore, root: Path) -> None:
    poor, rich = make_artifact(quality=Quality.FUNCTIONS), make_artifact()
    upload(store, poor)
    for path in root.rglob("chunks/*/*"):
        os.utime(path, (1000, 1000))
    reading = store.fetch(poor.manifest.identity.primary)
    upload(store, rich)
    assert store.gc().chunks == 0
    assert b"".join(reading) == poor.gsym
    assert store.gc(now=time.time() + DAY).chunks == 1


def test_two_identities_with_the_same_bytes_share_chunks(store: SymbolStore, root: Path) -> None:
    artifact = make_artifact("aa11")
    other = replace(artifact.manifest, identity=Identity(primary=SymbolId.parse("go:twin")))
    upload(store, artifact)
    (answer,) = store.negotiate([replace(artifact.question, identity=other.identity)])
    assert (answer.holding, answer.missing_chunks) == (Holding.MISSING, ())
    assert store.commit(other).stored
