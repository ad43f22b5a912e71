"""``symup gc``: what it tells, and that a run a day later does what the first one said."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Symup
from tests.store.object_storage import ObjectStorage
from tests.writers.artifact_writer import make_artifact, put_all
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore

DAY = 24 * 3600.0


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with one artifact, and a chunk of 8 days that nothing names."""
    kept = SymbolStore(FolderBlobs(tmp_path / "store"), "default")
    whole, orphan = make_artifact("aa11"), make_artifact("bb22")
    put_all(kept, whole)
    kept.commit(whole.manifest)
    put_all(kept, orphan)
    for path in (tmp_path / "store").rglob("chunks/*/*"):
        os.utime(path, (time.time() - 8 * DAY,) * 2)
    return tmp_path / "store"


def test_the_first_run_condemns_and_says_when_the_next_deletes(symup: Symup, store: Path) -> None:
    dry = symup("gc", store, "--dry-run")
    assert dry.code == 0
    assert "would be condemned: 1 chunk or name that nothing needs" in dry.out
    assert not list(store.rglob("condemned/*"))
    told = symup("gc", store)
    assert told.code == 0
    assert told.out.splitlines() == [
        "deleted: 0 chunks, 0 B; 0 names",
        "condemned: 1 chunk or name that nothing needs; a run in 24 h or later deletes them",
    ]
    assert symup("gc", store, "--json").document == {
        "schema": "symup.gc/1",
        "store": str(store),
        "project": "default",
        "dry_run": False,
        "deleted_chunks": 0,
        "deleted_size_bytes": 0,
        "deleted_names": 0,
        "condemned": 1,
        "leftovers": 0,
    }
    SymbolStore(FolderBlobs(store), "default").gc(now=time.time() + 1.1 * DAY)
    assert len(list(store.rglob("chunks/*/*"))) == 1


def test_a_path_that_is_no_store_and_a_server_are_usage_errors(symup: Symup, tmp_path: Path) -> None:
    assert symup("gc", tmp_path / "typo").code == 2
    server = symup("gc", "https://symbols.example.com")
    assert server.code == 2
    assert "is a server, and this is done where its store is" in server.err
    assert symup("gc", tmp_path, "--older-than", "nan").code == 2


def test_a_bucket_is_collected_too_and_one_that_is_not_there_is_told(
    symup: Symup, object_storage: Callable[[str], ObjectStorage]
) -> None:
    storage = object_storage("moto")
    assert symup("gc", f"s3://{storage.bucket}/gc", **dict[str, Any](storage.environment)).code == 0
    missing = symup("gc", "s3://no-such-bucket", **dict[str, Any](storage.environment))
    assert missing.code == 5
    assert "there is no such bucket" in missing.err
