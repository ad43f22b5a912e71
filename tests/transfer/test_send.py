"""Sending one file, over a folder."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import pytest

from tests.writers.artifact_writer import Artifact, make_artifact, put_all
from uploader.errors import ArtifactMismatch, Refused
from uploader.model import Quality
from uploader.transfer.folder import FolderDestination
from uploader.transfer.protocol import Holding
from uploader.transfer.send import Sent, send


@pytest.fixture
def pool() -> Iterator[Executor]:
    with ThreadPoolExecutor(4) as opened:
        yield opened


@pytest.fixture
def destination(tmp_path: Path) -> FolderDestination:
    return FolderDestination(tmp_path / "store", "web")


def sent(destination: FolderDestination, artifact: Artifact, pool: Executor, *, force: bool = False) -> Sent:
    return send(destination, artifact.file, artifact.manifest, executor=pool, force=force)


def chunk_paths(tmp_path: Path, artifact: Artifact) -> list[Path]:
    return [tmp_path / "store/web/chunks" / sha256[:2] / sha256 for sha256 in artifact.manifest.chunks]


def test_every_chunk_goes_once_and_its_bytes_are_told(destination: FolderDestination, pool: Executor) -> None:
    artifact = make_artifact(chunks=8)
    told, guard = [], Lock()

    def on_sent(size_bytes: int) -> None:
        with guard:
            told.append(size_bytes)

    result = send(destination, artifact.file, artifact.manifest, executor=pool, on_sent=on_sent)
    assert result.committed.stored
    assert result.chunks_total == result.chunks_sent == len(artifact.file.chunks) == len(told)
    assert result.sent_size_bytes == sum(told) == artifact.file.compressed_size_bytes
    assert b"".join(destination.fetch(artifact.manifest.identity.primary)) == artifact.gsym


def test_what_is_there_is_not_sent_again(destination: FolderDestination, pool: Executor) -> None:
    artifact = make_artifact(chunks=8)
    for chunk in artifact.file.chunks[:3]:
        destination.put_chunk(chunk.sha256, chunk.data)
    first = sent(destination, artifact, pool)
    assert first.chunks_sent == first.chunks_total - 3
    again = sent(destination, artifact, pool)
    assert (again.holding, again.committed.stored, again.chunks_sent) == (Holding.PRESENT, False, 0)


def test_worse_is_not_sent_and_forced_is(destination: FolderDestination, pool: Executor) -> None:
    sent(destination, make_artifact(), pool)
    poor = make_artifact(quality=Quality.FUNCTIONS)
    declined = sent(destination, poor, pool)
    assert (declined.committed.stored, declined.chunks_sent) == (False, 0)
    assert "full" in declined.committed.reason
    assert sent(destination, poor, pool, force=True).committed.stored


def test_a_chunk_that_goes_between_asking_and_committing_is_sent_again(
    destination: FolderDestination, pool: Executor, tmp_path: Path
) -> None:
    artifact = make_artifact(chunks=8)
    put_all(destination, artifact)
    lost, *_ = chunk_paths(tmp_path, artifact)

    class Forgetful(FolderDestination):
        forgot = False

        def commit(self, manifest, *, force=False):  # type: ignore[no-untyped-def]  # as its parent's
            if not self.forgot:
                self.forgot = True
                os.unlink(lost)
            return super().commit(manifest, force=force)

    result = sent(Forgetful(tmp_path / "store", "web"), artifact, pool)
    assert result.committed.stored
    assert result.chunks_sent == 1


def test_a_chunk_that_lies_there_damaged_is_healed(
    destination: FolderDestination, pool: Executor, tmp_path: Path
) -> None:
    artifact = make_artifact(chunks=8)
    put_all(destination, artifact)
    chunk_paths(tmp_path, artifact)[1].write_bytes(b"damage")
    assert sent(destination, artifact, pool).committed.stored
    assert b"".join(destination.fetch(artifact.manifest.identity.primary)) == artifact.gsym


def test_a_file_that_is_wrong_in_itself_fails_with_the_reason(destination: FolderDestination, pool: Executor) -> None:
    with pytest.raises(ArtifactMismatch, match="UUID aa11"):
        sent(destination, make_artifact("aa11", primary="bb22"), pool)


def test_one_failing_chunk_stops_the_rest_and_is_told(pool: Executor, tmp_path: Path) -> None:
    artifact = make_artifact(functions=4000, max_chunk_size_bytes=500)
    put = []

    class Full(FolderDestination):
        def put_chunk(self, sha256: str, data: bytes) -> None:
            put.append(sha256)
            time.sleep(0.02)  # as a disk takes: what is under way when the first one fails still ends
            raise Refused("no space left")

    with pytest.raises(Refused, match="no space"):
        sent(Full(tmp_path / "store", "web"), artifact, pool)
    assert len(put) < len(artifact.file.chunks) / 2


def test_what_the_destination_keeps_is_declined_only_if_it_is_another_file(
    destination: FolderDestination, pool: Executor
) -> None:
    theirs, mine = make_artifact("aa", flavour="theirs"), make_artifact("aa", flavour="mine")
    assert not sent(destination, theirs, pool).declined
    assert not sent(destination, theirs, pool).declined
    assert sent(destination, mine, pool).declined
    assert not sent(destination, mine, pool, force=True).declined
