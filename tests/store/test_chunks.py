"""A chunk has a size that any store and any reader can bear."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from uploader.errors import Refused
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore
from uploader.transfer.protocol import MAX_CHUNK_SIZE_BYTES


@pytest.mark.parametrize("size_bytes", [0, MAX_CHUNK_SIZE_BYTES + 1])
def test_a_chunk_that_is_empty_or_too_large_is_refused(tmp_path: Path, size_bytes: int) -> None:
    data = bytes(size_bytes)
    store = SymbolStore(FolderBlobs(tmp_path), "p")
    with pytest.raises(Refused):
        store.put_chunk(hashlib.sha256(data).hexdigest(), data)
    assert not list(tmp_path.rglob("chunks/*/*"))


def test_the_largest_chunk_is_taken(tmp_path: Path) -> None:
    data = bytes(MAX_CHUNK_SIZE_BYTES)
    SymbolStore(FolderBlobs(tmp_path), "p").put_chunk(hashlib.sha256(data).hexdigest(), data)
    assert len(list(tmp_path.rglob("chunks/*/*"))) == 1
