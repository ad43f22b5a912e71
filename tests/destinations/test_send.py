"""Sending one file, over a folder."""

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from threading import Lock

import pytest

from tests.writers.artifact_writer import Artifact, make_artifact, make_gsym, put_all
from uploader.destinations.folder import FolderDestination
from uploader.destinations.send import CHUNKS_BETWEEN_QUESTIONS, Sent, send
from uploader.errors import ArtifactMismatch, Refused
from uploader.model import Quality
from uploader.protocol.chunks import recut
from uploader.protocol.words import MIN_CHUNK_SIZE_BYTES, Answer, Committed, Holding, Manifest, Question
from uploader.values import replace


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


class Watched(FolderDestination):
    """Tells of every question after the first, and counts what arrives."""

    def __init__(self, place: Path) -> None:
        super().__init__(place, "web")
        self.asked, self.commits = 0, 0
        self.put: list[str] = []

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        self.asked += 1
        if self.asked > 1:
            self.meanwhile()
        return super().negotiate(questions)

    def meanwhile(self) -> None:
        """What others do between two questions."""

    def put_chunk(self, sha256: str, data: bytes) -> None:
        super().put_chunk(sha256, data)
        self.put.append(sha256)

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        self.commits += 1
        return super().commit(manifest, force=force)


@pytest.fixture(scope="module")
def large() -> Artifact:
    """One of chunks enough to be asked about again twice."""
    artifact = make_artifact(gsym=make_gsym("c0ffee", name_bytes=1_200_000), max_chunk_size_bytes=MIN_CHUNK_SIZE_BYTES)
    assert len(artifact.file.chunks) > 2 * CHUNKS_BETWEEN_QUESTIONS
    return artifact


def test_a_file_of_many_chunks_goes_once_and_is_committed_once(tmp_path: Path, pool: Executor, large: Artifact) -> None:
    watched = Watched(tmp_path / "store")
    result = sent(watched, large, pool)
    assert sorted(watched.put) == sorted(set(large.manifest.chunks))
    assert (result.chunks_sent, watched.commits) == (result.chunks_total, 1)


def test_what_others_sent_meanwhile_is_not_sent_again(tmp_path: Path, pool: Executor, large: Artifact) -> None:
    class Shared(Watched):
        def meanwhile(self) -> None:
            put_all(FolderDestination(tmp_path / "store", "web"), large)

    result = sent(Shared(tmp_path / "store"), large, pool)
    assert result.committed.stored
    assert result.chunks_sent == CHUNKS_BETWEEN_QUESTIONS


def test_forced_all_chunks_go_whatever_the_destination_says_to_have(
    tmp_path: Path, pool: Executor, large: Artifact
) -> None:
    put_all(FolderDestination(tmp_path / "store", "web"), large)

    class Content(Watched):
        def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
            return [replace(answer, missing_chunks=()) for answer in super().negotiate(questions)]

    watched = Content(tmp_path / "store")
    assert sent(watched, large, pool, force=True).committed.stored
    assert sorted(watched.put) == sorted(set(large.manifest.chunks))


def test_what_is_there_in_other_chunks_is_there(destination: FolderDestination, pool: Executor) -> None:
    artifact = make_artifact(chunks=4)
    sent(destination, artifact, pool)
    file = recut(artifact.file, MIN_CHUNK_SIZE_BYTES * 3 // 4)
    manifest = replace(
        artifact.manifest,
        chunks=tuple(chunk.sha256 for chunk in file.chunks),
        chunk_sizes_bytes=tuple(len(chunk.data) for chunk in file.chunks),
    )
    assert manifest.chunks != artifact.manifest.chunks
    again = send(destination, file, manifest, executor=pool)
    assert (again.committed.stored, again.declined, again.held) == (False, False, artifact.manifest)


def test_who_is_replaced_by_something_better_at_once_was_stored_all_the_same(tmp_path: Path, pool: Executor) -> None:
    poor, rich = make_artifact(quality=Quality.FUNCTIONS), make_artifact()
    others = FolderDestination(tmp_path / "store", "web")

    class Overtaken(FolderDestination):
        def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
            committed = super().commit(manifest, force=force)
            put_all(others, rich)
            assert others.commit(rich.manifest).stored
            return committed

    result = sent(Overtaken(tmp_path / "store", "web"), poor, pool)
    assert result.committed.stored
    assert (result.held, result.declined) == (rich.manifest, True)


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
