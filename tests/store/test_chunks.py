"""A chunk has a size that any store and any reader can bear."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from uploader.errors import Refused, StoreDamaged
from uploader.protocol.words import MAX_CHUNK_SIZE_BYTES
from uploader.store.blobs import Blob
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore


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


def test_a_sound_chunk_that_comes_again_is_not_written_anew(tmp_path: Path) -> None:
    data, store = b"data", SymbolStore(FolderBlobs(tmp_path), "p")
    sha256 = hashlib.sha256(data).hexdigest()
    store.put_chunk(sha256, data)
    (path,) = tmp_path.rglob("chunks/*/*")
    before = path.stat()
    store.put_chunk(sha256, data)
    assert path.stat() == before


def test_a_chunk_that_is_thrown_away_while_it_comes_again_is_there_in_the_end(tmp_path: Path) -> None:
    class Collected(FolderBlobs):
        def get(self, key: str) -> Blob | None:
            self.delete([key])
            return super().get(key)

    data = b"data"
    sha256 = hashlib.sha256(data).hexdigest()
    SymbolStore(FolderBlobs(tmp_path), "p").put_chunk(sha256, data)
    SymbolStore(Collected(tmp_path), "p").put_chunk(sha256, data)
    assert SymbolStore(FolderBlobs(tmp_path), "p").chunk(sha256) == data


def test_a_place_that_does_not_say_why_it_can_not_be_read_is_told_as_that(tmp_path: Path) -> None:
    class Silent(FolderBlobs):
        def get(self, key: str) -> Blob | None:
            raise Refused(f"{self.root} has gone")

    with pytest.raises(StoreDamaged, match=r"can't be read: the store can't be used$") as caught:
        SymbolStore(Silent(tmp_path), "p").chunk("0" * 64)
    assert str(tmp_path) not in caught.value.message
