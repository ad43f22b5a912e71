"""What a collection takes and when, and each part of the rule by which it spares what commits need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.blobs_in_memory import MemoryBlobs
from tests.writers.artifact_writer import make_artifact, put_all
from uploader.errors import ArtifactMismatch, Refused, StoreDamaged
from uploader.model import SymbolId
from uploader.store import collecting
from uploader.store.blobs import Blob, BlobInfo
from uploader.store.condemned import Condemned, Gate, Terms, read_condemned
from uploader.store.store import SymbolStore

HOUR = 3600.0
DAY = 24 * HOUR
WEEK = 7 * DAY
ARTIFACT = make_artifact("aa11", chunks=2, aliases=("go:one",))
CHUNKS = ARTIFACT.manifest.chunks
PRIMARY = ARTIFACT.manifest.identity.primary


class World:
    """One place, one clock, and things that happen in the midst of others' requests."""

    def __init__(self) -> None:
        self.now = 1e9
        self.blobs = _Interrupted(lambda: self.now)
        self.waited = 0.0

    def store(self) -> SymbolStore:
        return SymbolStore(self.blobs, "web", Terms(clock=lambda: self.now, wait=self.wait))

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.waited += seconds

    def lists(self) -> list[Condemned | None]:
        found = [self.blobs.get(info.key) for info in self.blobs.list("web/condemned/")]
        return [read_condemned(blob) for blob in found if blob is not None]

    def in_the_midst_of(self, request: str, part: str, act: Callable[[], None]) -> None:
        """Once, before the next request of that name for a key with that part."""
        self.blobs.interruption = request, part, act


class _Interrupted(MemoryBlobs):
    interruption: tuple[str, str, Callable[[], None]] | None = None

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        self._interrupted("list", prefix)
        return super().list(prefix)

    def get(self, key: str) -> Blob | None:
        self._interrupted("get", key)
        return super().get(key)

    def size_bytes(self, key: str) -> int | None:
        self._interrupted("size_bytes", key)
        return super().size_bytes(key)

    def swap(self, key: str, data: bytes, *, tag: str | None) -> bool:
        self._interrupted("swap", key)
        return super().swap(key, data, tag=tag)

    def delete(self, keys: Sequence[str]) -> None:
        super().delete(keys)
        self._interrupted("deleted", "".join(keys))

    def _interrupted(self, request: str, key: str) -> None:
        if self.interruption is not None and (request, self.interruption[1] in key) == (self.interruption[0], True):
            _, _, act = self.interruption
            self.interruption = None
            act()


@pytest.fixture
def world() -> World:
    return World()


def condemned_chunks(world: World) -> SymbolStore:
    """A store with the chunks of one artifact that nothing names, on a list."""
    store = world.store()
    put_all(store, ARTIFACT)
    world.now += WEEK + 1
    assert store.gc().condemned == 2
    return store


def test_what_nothing_needs_is_condemned_after_a_week_and_deleted_after_another_day(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)
    world.now += WEEK
    assert store.gc().condemned == 0
    world.now += 1
    assert (store.gc().condemned, store.gc().condemned) == (2, 2)
    world.now += DAY - 1
    assert store.gc().chunks == 0
    world.now += 1
    assert (store.gc(dry=True).chunks, store.gc(dry=True).condemned) == (2, 0)
    collected = store.gc()
    assert (collected.chunks, collected.condemned) == (2, 0)
    assert collected.chunks_size_bytes == ARTIFACT.file.compressed_size_bytes
    assert list(world.blobs.list("web/")) == []


def test_a_dry_run_counts_and_changes_nothing(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)
    world.now += WEEK + 1
    before = list(world.blobs.list("web/"))
    assert store.gc(dry=True).condemned == 2
    assert list(world.blobs.list("web/")) == before


def test_what_was_taken_out_goes_with_its_names_and_chunks(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)
    store.commit(ARTIFACT.manifest)
    assert store.take_out(PRIMARY)
    assert not store.take_out(PRIMARY)
    assert store.manifest(PRIMARY) is None
    assert store.manifest(SymbolId.parse("go:one")) is None
    assert list(store.manifests()) == []
    world.now += WEEK + 1
    assert store.gc().condemned == 4
    world.now += DAY
    collected = store.gc()
    assert (collected.chunks, collected.names) == (2, 2)
    assert list(world.blobs.list("web/")) == []


def test_what_was_taken_out_can_be_stored_anew_at_any_time(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)
    store.commit(ARTIFACT.manifest)
    store.take_out(PRIMARY)
    (answer,) = store.negotiate([ARTIFACT.question])
    assert (answer.holding, answer.missing_chunks) == ("missing", ())
    assert store.commit(ARTIFACT.manifest).reason == "new in the store"
    world.now += WEEK + 1
    assert store.gc().condemned == 0
    assert store.manifest(SymbolId.parse("go:one")) == ARTIFACT.manifest


def test_only_the_content_that_is_meant_is_taken_out(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)
    store.commit(ARTIFACT.manifest)
    assert not store.take_out(PRIMARY, content_sha256="0" * 64)
    assert store.take_out(PRIMARY, content_sha256=ARTIFACT.manifest.content_sha256)


def test_a_commit_takes_its_chunks_off_the_lists(world: World) -> None:
    store = condemned_chunks(world)
    assert store.commit(ARTIFACT.manifest).stored
    assert [held and held.sizes_bytes for held in world.lists()] == [{}]
    world.now += DAY
    assert store.gc().chunks == 0
    assert b"".join(store.fetch(PRIMARY)) == ARTIFACT.gsym


def test_a_manifest_that_came_after_the_lists_spares_its_chunks(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)
    world.now += WEEK + 1
    # The commit has read the lists when the collection condemns.
    world.in_the_midst_of("get", CHUNKS[0], lambda: collected(world))
    assert store.commit(ARTIFACT.manifest).stored
    assert [held is not None and len(held.sizes_bytes) for held in world.lists()] == [2]
    world.now += DAY
    assert store.gc().chunks == 0
    assert b"".join(store.fetch(PRIMARY)) == ARTIFACT.gsym


def test_a_commit_that_took_longer_than_its_permit_looks_again(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)
    world.now += WEEK + 1

    def a_day_passes() -> None:
        world.store().gc()
        world.now += DAY
        assert world.store().gc().chunks == 2

    world.in_the_midst_of("get", CHUNKS[-1], a_day_passes)
    with pytest.raises(ArtifactMismatch):
        store.commit(ARTIFACT.manifest)


def test_a_commit_that_took_long_beside_no_collection_is_stored(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)

    def a_day_passes() -> None:
        world.now += DAY

    world.in_the_midst_of("get", CHUNKS[0], a_day_passes)
    assert store.commit(ARTIFACT.manifest).stored


def test_a_permit_that_ran_out_after_the_whole_was_checked_is_had_anew(world: World) -> None:
    store = world.store()
    put_all(store, ARTIFACT)
    world.now += WEEK + 1
    reads = 0

    def at_the_second_look() -> None:
        nonlocal reads
        reads += 1
        if reads == 1:
            world.in_the_midst_of("get", "gsym.json", at_the_second_look)
            return
        world.store().gc()
        world.now += DAY
        assert world.store().gc().chunks == 2

    world.in_the_midst_of("get", "gsym.json", at_the_second_look)
    with pytest.raises(ArtifactMismatch):
        store.commit(ARTIFACT.manifest)
    assert reads == 2


def test_a_commit_waits_for_what_a_killed_collection_was_deleting(world: World) -> None:
    store = condemned_chunks(world)
    world.now += DAY
    collection = world.store()
    world.in_the_midst_of("deleted", CHUNKS[0], dies)
    with pytest.raises(Killed):
        collection.gc()
    began = world.now
    with pytest.raises(ArtifactMismatch):
        store.commit(ARTIFACT.manifest)
    assert world.now - began == pytest.approx(Terms().sentence_seconds, abs=3)
    put_all(store, ARTIFACT)
    assert store.commit(ARTIFACT.manifest).stored
    world.now += DAY
    store.gc()
    assert b"".join(store.fetch(PRIMARY)) == ARTIFACT.gsym


def test_the_next_collection_ends_what_a_killed_one_began(world: World) -> None:
    condemned_chunks(world)
    world.now += DAY
    world.in_the_midst_of("deleted", CHUNKS[0], dies)
    with pytest.raises(Killed):
        world.store().gc()
    assert world.store().gc().chunks == 0
    world.now += Terms().sentence_seconds
    world.store().gc()
    assert list(world.blobs.list("web/")) == []


def test_a_collection_that_stood_still_for_long_stops(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "DELETED_AT_ONCE", 1)
    condemned_chunks(world)
    world.now += DAY

    def another_uploads() -> None:
        store = world.store()
        with pytest.raises(ArtifactMismatch):
            store.commit(ARTIFACT.manifest)
        put_all(store, ARTIFACT)
        assert store.commit(ARTIFACT.manifest).stored

    world.in_the_midst_of("deleted", "", another_uploads)
    assert world.store().gc().chunks == 1
    assert b"".join(world.store().fetch(PRIMARY)) == ARTIFACT.gsym


def test_a_collection_that_takes_long_says_again_that_it_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collecting, "DELETED_AT_ONCE", 1)
    condemned_chunks(world)
    world.now += DAY

    def long() -> None:
        world.now += Terms().sentence_seconds

    world.in_the_midst_of("deleted", "", long)
    assert world.store().gc().chunks == 2
    assert list(world.blobs.list("web/")) == []


def test_a_list_that_is_damaged_holds_nobody_up_for_longer_than_a_sentence(world: World) -> None:
    store = condemned_chunks(world)
    (info,) = world.blobs.list("web/condemned/")
    world.blobs.replace(info.key, b"{")
    assert store.commit(ARTIFACT.manifest).stored
    assert world.waited == pytest.approx(Terms().sentence_seconds, abs=3)
    world.now += DAY + 1
    store.gc()
    assert list(world.blobs.list("web/condemned/")) == []
    assert b"".join(store.fetch(PRIMARY)) == ARTIFACT.gsym


def test_a_list_that_is_damaged_is_deleted_after_the_grace_time_and_not_by_a_dry_run(world: World) -> None:
    world.blobs.replace("web/condemned/x", b"{")
    world.now += DAY
    world.store().gc()
    assert world.lists() == [None]
    world.now += 1
    world.store().gc(dry=True)
    assert world.lists() == [None]
    world.store().gc()
    assert world.lists() == []


def test_nothing_is_collected_in_a_place_that_ignores_conditions(world: World) -> None:
    store = condemned_chunks(world)
    world.now += DAY
    world.blobs.guarded = False
    for dry in (True, False):
        with pytest.raises(Refused, match="ignores conditional writes"):
            store.gc(dry=dry)
    assert len(list(world.blobs.list("web/chunks/"))) == 2


def test_what_a_commit_spares_before_the_sentence_is_written_is_kept(world: World) -> None:
    condemned_chunks(world)
    world.now += DAY

    def another_commits() -> None:
        assert world.store().commit(ARTIFACT.manifest).stored

    world.in_the_midst_of("swap", "web/condemned/", another_commits)
    assert world.store().gc().chunks == 0
    assert b"".join(world.store().fetch(PRIMARY)) == ARTIFACT.gsym


def test_a_collection_whose_last_deletion_took_long_leaves_the_list_to_who_has_it_by_now(world: World) -> None:
    condemned_chunks(world)
    world.now += DAY

    def another_takes_its_keys_off() -> None:
        with pytest.raises(ArtifactMismatch):
            world.store().commit(ARTIFACT.manifest)

    world.in_the_midst_of("deleted", CHUNKS[0], another_takes_its_keys_off)
    assert world.store().gc().chunks == 2
    assert [held and held.sizes_bytes for held in world.lists()] == [{}]


def test_a_list_counts_from_when_it_is_written_however_long_the_collection_looked(world: World) -> None:
    put_all(world.store(), ARTIFACT)
    world.now += WEEK + 1

    def an_hour_passes() -> None:
        world.now += HOUR

    world.in_the_midst_of("list", "web/chunks/", an_hour_passes)
    assert world.store().gc().condemned == 2
    assert [held and held.since for held in world.lists()] == [world.now]


def gate(world: World, wait: Callable[[float], None]) -> Gate:
    return Gate(world.blobs, "web", Terms(clock=lambda: world.now, wait=wait))


def test_a_permit_counts_from_before_the_lists_are_read(world: World) -> None:
    began = world.now

    def an_hour_passes() -> None:
        world.now += HOUR

    world.in_the_midst_of("list", "web/condemned/", an_hour_passes)
    assert gate(world, world.wait).spare(["web/chunks/x"]) == began + Terms().permit_seconds


def test_a_sentence_that_is_written_anew_is_waited_for_anew(world: World) -> None:
    sentence = Condemned(sizes_bytes={"web/chunks/x": 1}, since=world.now, sentenced=True)
    world.blobs.replace("web/condemned/x", sentence.dumps())
    half_seconds = Terms().sentence_seconds / 2

    def wait(seconds: float) -> None:
        if world.waited < half_seconds <= world.waited + seconds:
            world.blobs.replace("web/condemned/x", sentence.only(["web/chunks/x"]).dumps())
        world.wait(seconds)

    gate(world, wait).spare(["web/chunks/x"])
    assert world.waited == pytest.approx(half_seconds + Terms().sentence_seconds, abs=3)
    assert [held and held.sizes_bytes for held in world.lists()] == [{}]


@pytest.mark.parametrize(("word", "sentenced"), [("true", True), ("false", False), ("1", False), ('"yes"', False)])
def test_only_one_word_is_a_sentence(word: str, sentenced: bool) -> None:
    data = f'{{"sentenced": {word}, "since": 1.0, "nonce": "x", "sizes_bytes": {{}}}}'
    held = read_condemned(Blob(data=data.encode(), tag=""))
    assert held is not None
    assert held.sentenced is sentenced


def test_nothing_is_deleted_where_a_manifest_cant_be_read(world: World) -> None:
    store = condemned_chunks(world)
    other = make_artifact("bb22")
    put_all(store, other)
    store.commit(other.manifest)
    (info,) = world.blobs.list("web/artifacts/")
    world.blobs.replace(info.key, b"{}")
    world.now += DAY
    with pytest.raises(StoreDamaged):
        store.gc()
    assert len(list(world.blobs.list("web/chunks/"))) == 3


@given(data=st.binary(max_size=60))
def test_any_bytes_are_a_list_or_none(data: bytes) -> None:
    read_condemned(Blob(data=data, tag=""))


@given(st.dictionaries(st.text(max_size=9), st.integers(0, 1 << 40)), st.floats(0, 1e10), st.booleans())
def test_a_list_comes_back(sizes_bytes: dict[str, int], since: float, sentenced: bool) -> None:
    held = Condemned(sizes_bytes=sizes_bytes, since=since, sentenced=sentenced)
    assert read_condemned(Blob(data=held.dumps(), tag="")) == held


def collected(world: World) -> None:
    world.store().gc()


class Killed(BaseException):
    """The process is no more."""


def dies() -> None:
    raise Killed
