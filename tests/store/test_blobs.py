"""What every place that keeps a store's bytes keeps to: a folder, a dictionary, a bucket of a server that speaks S3."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store import object_storage
from tests.store.blobs_in_memory import MemoryBlobs
from tests.writers.artifact_writer import make_artifact, put_all
from uploader.errors import Refused
from uploader.store.blobs import Blobs
from uploader.store.bucket import open_bucket
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore

OpenStorage = Callable[[str], object_storage.ObjectStorage]
KINDS = ("folder", "memory", *object_storage.KINDS)
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
GUARDED_KINDS = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in object_storage.UNGUARDED])
HOUR = 3600.0

ALL_KEYS = ("a", "b/c", "b/d", "b/e/f", "g")
keys = st.sampled_from(ALL_KEYS)
contents = st.binary(max_size=4)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("put_if_absent"), keys, contents),
        st.tuples(st.just("replace"), keys, contents),
        st.tuples(st.just("swap"), keys, contents, st.sampled_from(["right", "absent", "other"])),
        st.tuples(st.just("delete"), keys),
    ),
    max_size=12,
)


@pytest.fixture
def place(object_storage: OpenStorage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], Blobs]:
    """``place("moto")`` gives an empty place of that kind."""

    def make(kind: str) -> Blobs:
        empty = secrets.token_hex(8)
        if kind == "folder":
            return FolderBlobs(tmp_path / empty)
        if kind == "memory":
            return MemoryBlobs()
        storage = object_storage(kind)
        for name, value in storage.environment.items():
            monkeypatch.setenv(name, value)
        return open_bucket(f"s3://{storage.bucket}/{empty}", env=storage.environment, allow_http=True)

    return make


@pytest.fixture(params=KINDS)
def blobs(request: pytest.FixtureRequest, place: Callable[[str], Blobs]) -> Blobs:
    return place(request.param)


@EVERY_KIND
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(done=operations)
def test_any_order_of_operations_leaves_what_a_dictionary_would_hold(
    kind: str, place: Callable[[str], Blobs], done: list[tuple[str, ...]]
) -> None:
    blobs = place(kind)
    model: dict[str, bytes] = {}
    for operation in done:
        perform(blobs, model, *operation)
        held = [blobs.get(key) for key in ALL_KEYS]
        assert [None if blob is None else blob.data for blob in held] == [model.get(key) for key in ALL_KEYS]
        assert blobs.sizes_bytes(ALL_KEYS) == [len(model[key]) if key in model else None for key in ALL_KEYS]
    for prefix in ("b/", "b/e/"):
        listed = [(info.key, info.size_bytes) for info in blobs.list(prefix)]
        assert listed == sorted((key, len(data)) for key, data in model.items() if key.startswith(prefix))


def perform(blobs: Blobs, model: dict[str, bytes], name: str, key: str, *rest: object) -> None:
    """One operation on the place and on the dictionary; both say alike whether it was done."""
    there = key in model
    blob = blobs.get(key)
    right = None if blob is None else blob.tag
    if name == "put_if_absent":
        (data,) = rest
        assert blobs.put_if_absent(key, data) == (not there)  # type: ignore[arg-type]  # as drawn
        model.setdefault(key, data)  # type: ignore[arg-type]  # as drawn
    elif name == "replace":
        (data,) = rest
        blobs.replace(key, data)  # type: ignore[arg-type]  # as drawn
        model[key] = data  # type: ignore[assignment]  # as drawn
    elif name == "swap":
        data, which = rest
        tag = {"right": right, "absent": None, "other": "no such tag"}[str(which)]
        done = blobs.swap(key, data, tag=tag)  # type: ignore[arg-type]  # as drawn
        assert done == (tag == right) or (done and model.get(key) == data)
        if tag == right:
            model[key] = data  # type: ignore[assignment]  # as drawn
    else:
        blobs.delete([key])
        model.pop(key, None)


def test_another_content_has_another_tag(blobs: Blobs) -> None:
    tags = set()
    for data in (b"one", b"two", b"three"):
        blobs.replace("a", data)
        blob = blobs.get("a")
        assert blob is not None
        tags.add(blob.tag)
    assert len(tags) == 3


def test_tasks_come_back_in_their_order_and_their_trouble_with_them(blobs: Blobs) -> None:
    assert list(blobs.map(lambda number: blobs.size_bytes("a") or number, range(300))) == list(range(300))
    with pytest.raises(ZeroDivisionError):
        list(blobs.map(lambda number: 1 // number, [1, 0, 1]))


@GUARDED_KINDS
def test_of_many_writers_that_swap_one_content_one_wins(kind: str, place: Callable[[str], Blobs]) -> None:
    blobs = place(kind)
    assert blobs.guarded
    blobs.replace("a", b"before")
    blob = blobs.get("a")
    assert blob is not None
    with ThreadPoolExecutor(8) as writers:
        won = list(writers.map(lambda number: blobs.swap("a", b"writer %d" % number, tag=blob.tag), range(16)))
    assert won.count(True) == 1
    held = blobs.get("a")
    assert held is not None
    assert held.data == b"writer %d" % won.index(True)


def test_its_own_clock_is_that_of_its_listing(blobs: Blobs) -> None:
    before = blobs.now()
    blobs.replace("b/c", b"x")
    (info,) = blobs.list("b/")
    assert before - 1 <= info.modified_at <= blobs.now() + 1


def test_many_are_deleted_at_once_and_those_that_are_not_there_are_no_trouble(blobs: Blobs) -> None:
    for key in ("b/c", "b/d"):
        blobs.replace(key, b"x")
    blobs.delete(["b/c", "b/e", "b/d"])
    assert list(blobs.list("b/")) == []


def test_scratch_is_a_file_that_leaves_nothing_behind(blobs: Blobs) -> None:
    with blobs.scratch() as file:
        file.write(b"much")
        file.seek(0)
        assert file.read() == b"much"
    assert list(blobs.list("b/")) == []
    assert blobs.sweep(unmodified_since=time.time() + HOUR) == 0


def test_a_store_stands_on_any_of_them(blobs: Blobs) -> None:
    store = SymbolStore(blobs, "web")
    artifact = make_artifact(chunks=3, aliases=("go:xyz",))
    put_all(store, artifact)
    assert store.commit(artifact.manifest).stored
    assert not store.commit(artifact.manifest).stored
    for each in (artifact.manifest.identity.primary, *artifact.manifest.identity.aliases):
        assert store.manifest(each) == artifact.manifest
        assert b"".join(store.fetch(each)) == artifact.gsym
    assert [manifest for _, manifest in store.manifests()] == [artifact.manifest]


@GUARDED_KINDS
def test_garbage_is_collected_on_any_of_them(kind: str, place: Callable[[str], Blobs]) -> None:
    store = SymbolStore(place(kind), "web")
    kept, orphan = make_artifact("aa11"), make_artifact("bb22", chunks=3)
    for artifact in (kept, orphan):
        put_all(store, artifact)
        store.commit(artifact.manifest)
    store.take_out(orphan.manifest.identity.primary)
    later = time.time() + 30 * 24 * HOUR
    assert store.gc(now=later).condemned == 4
    collected = store.gc(now=later + 25 * HOUR)
    assert (collected.chunks, collected.names) == (3, 1)
    assert b"".join(store.fetch(kept.manifest.identity.primary)) == kept.gsym
    assert store.gc(now=later + 60 * HOUR).chunks == 0


@pytest.mark.parametrize("kind", sorted(object_storage.UNGUARDED))
def test_where_conditional_writes_are_ignored_nothing_is_collected(kind: str, place: Callable[[str], Blobs]) -> None:
    blobs = place(kind)
    assert not blobs.guarded
    with pytest.raises(Refused, match="ignores conditional writes"):
        SymbolStore(blobs, "web").gc()
