"""What every place that keeps a store's bytes keeps to: a folder, a dictionary, later a bucket."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.blobs_in_memory import MemoryBlobs
from tests.writers.artifact_writer import make_artifact, put_all
from uploader.store.blobs import Blobs
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore

KINDS: dict[str, Callable[[Path], Blobs]] = {"folder": FolderBlobs, "memory": lambda _: MemoryBlobs()}
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)
HOUR = 3600.0

keys = st.sampled_from(["a", "b/c", "b/d", "b/e/f", "g"])
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


@pytest.fixture(params=KINDS)
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    return KINDS[request.param](tmp_path / "place")


@EVERY_KIND
@settings(max_examples=60, deadline=None)
@given(done=operations)
def test_any_order_of_operations_leaves_what_a_dictionary_would_hold(kind: str, done: list[tuple[str, ...]]) -> None:
    root = Path(tempfile.mkdtemp(prefix="symup-blobs-"))
    try:
        blobs = KINDS[kind](root / "place")
        model: dict[str, bytes] = {}
        for operation in done:
            perform(blobs, model, *operation)
            for key in ("a", "b/c", "b/d", "b/e/f", "g"):
                blob = blobs.get(key)
                assert (None if blob is None else blob.data) == model.get(key)
                assert blobs.size_bytes(key) == (len(model[key]) if key in model else None)
        for prefix in ("", "b/", "b/e/"):
            listed = [(info.key, info.size_bytes) for info in blobs.list(prefix)] if prefix else None
            expected = sorted((key, len(data)) for key, data in model.items() if key.startswith(prefix))
            assert listed is None or listed == expected
    finally:
        shutil.rmtree(root)


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
        assert blobs.swap(key, data, tag=tag) == (tag == right)  # type: ignore[arg-type]  # as drawn
        if tag == right:
            model[key] = data  # type: ignore[assignment]  # as drawn
    else:
        blobs.delete([key])
        model.pop(key, None)


def test_equal_contents_have_equal_tags_and_others_other_ones(blobs: Blobs) -> None:
    tags = []
    for data in (b"one", b"two", b"one"):
        blobs.replace("a", data)
        blob = blobs.get("a")
        assert blob is not None
        tags.append(blob.tag)
    assert tags[0] == tags[2] != tags[1]


def test_of_many_writers_that_swap_one_content_one_wins(blobs: Blobs) -> None:
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


@EVERY_KIND
def test_a_store_stands_on_any_of_them(kind: str, tmp_path: Path) -> None:
    store = SymbolStore(KINDS[kind](tmp_path / "place"), "web")
    artifact = make_artifact(chunks=3, aliases=("go:xyz",))
    put_all(store, artifact)
    assert store.commit(artifact.manifest).stored
    assert not store.commit(artifact.manifest).stored
    for each in (artifact.manifest.identity.primary, *artifact.manifest.identity.aliases):
        assert store.manifest(each) == artifact.manifest
        assert b"".join(store.fetch(each)) == artifact.gsym
    assert [manifest for _, manifest in store.manifests()] == [artifact.manifest]
    assert store.gc(now=time.time() + 30 * 24 * HOUR).chunks == 0
