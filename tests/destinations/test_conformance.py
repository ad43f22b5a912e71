"""What every destination keeps to, whichever kind it is: a folder, a server, a bucket."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.server.running_server import RunningServer
from tests.store import object_storage
from tests.writers.artifact_writer import make_artifact, put_all
from uploader.destinations import open as room
from uploader.errors import ArtifactMismatch, ChunkMismatch, NothingFound
from uploader.model import Quality, SymbolId
from uploader.protocol.words import MIN_CHUNK_SIZE_BYTES, Destination, Holding


@pytest.fixture(params=["folder", "server", "server over moto", *object_storage.KINDS])
def destination(
    request: pytest.FixtureRequest,
    object_storage: Callable[[str], object_storage.ObjectStorage],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Destination]:
    with contextlib.ExitStack() as stack:
        env: dict[str, str] = {}
        if request.param == "folder":
            dest = str(tmp_path / "store")
        elif request.param == "server":
            dest = stack.enter_context(RunningServer(tmp_path / "store")).url
        else:
            over = request.param.removeprefix("server over ")
            storage = object_storage(over)
            env |= storage.environment
            for name, value in env.items():
                monkeypatch.setenv(name, value)
            dest = f"s3://{storage.bucket}/{secrets.token_hex(8)}"
            if over != request.param:
                dest = stack.enter_context(RunningServer(tmp_path / "store", dest=dest)).url
        opened = room.open_destination(dest, project="web", env=env)
        yield opened
        opened.close()


def test_it_names_itself_and_its_limits(destination: Destination) -> None:
    assert destination.url
    assert destination.capabilities().max_chunk_size_bytes >= MIN_CHUNK_SIZE_BYTES
    destination.tell_waiting(lambda _: None)


def test_what_is_committed_is_there_by_every_id_and_whole(destination: Destination) -> None:
    artifact = make_artifact(chunks=4, aliases=("go:abc", "file:00ff00ff00ff00ff00ff00ff00ff00ff"))
    assert [answer.holding for answer in destination.negotiate([artifact.question])] == [Holding.MISSING]
    put_all(destination, artifact)
    assert destination.manifest(artifact.manifest.identity.primary) is None, "nothing is shown before the commit"
    assert destination.commit(artifact.manifest).stored
    for each in (artifact.manifest.identity.primary, *artifact.manifest.identity.aliases):
        assert destination.manifest(each) == artifact.manifest
        assert b"".join(destination.fetch(each)) == artifact.gsym
    (answer,) = destination.negotiate([artifact.question])
    assert (answer.holding, answer.stored_quality, answer.missing_chunks) == (Holding.PRESENT, Quality.FULL, ())
    again = destination.commit(artifact.manifest)
    assert (again.stored, again.reason) == (False, "already stored with the same content")


def test_answers_keep_the_order_of_the_questions_and_asking_changes_nothing(destination: Destination) -> None:
    artifacts = [make_artifact(f"{number:040x}") for number in range(1, 8)]
    for artifact in artifacts[::2]:
        put_all(destination, artifact)
        destination.commit(artifact.manifest)
    for _ in range(2):
        answers = destination.negotiate([artifact.question for artifact in artifacts])
        assert [answer.holding for answer in answers] == [Holding.PRESENT, Holding.MISSING] * 3 + [Holding.PRESENT]
    assert destination.negotiate([]) == []


def test_a_chunk_is_kept_once_and_only_under_its_own_name(destination: Destination) -> None:
    (chunk, *_) = make_artifact().file.chunks
    for _ in range(2):
        destination.put_chunk(chunk.sha256, chunk.data)
    with pytest.raises(ChunkMismatch):
        destination.put_chunk("0" * 64, chunk.data)


def test_nothing_is_shown_of_an_artifact_whose_chunks_are_not_all_there(destination: Destination) -> None:
    artifact = make_artifact(chunks=3)
    for chunk in artifact.file.chunks[1:]:
        destination.put_chunk(chunk.sha256, chunk.data)
    (answer,) = destination.negotiate([artifact.question])
    assert answer.missing_chunks == (artifact.file.chunks[0].sha256,)
    with pytest.raises(ArtifactMismatch):
        destination.commit(artifact.manifest)
    assert destination.manifest(artifact.manifest.identity.primary) is None


def test_better_replaces_worse_and_force_replaces_all(destination: Destination) -> None:
    poor, rich = make_artifact(quality=Quality.FUNCTIONS), make_artifact(quality=Quality.FULL)
    for artifact, force, stored in ((poor, False, True), (rich, False, True), (poor, False, False), (poor, True, True)):
        put_all(destination, artifact)
        assert destination.commit(artifact.manifest, force=force).stored is stored
    held = destination.manifest(poor.manifest.identity.primary)
    assert held is not None
    assert held.quality is Quality.FUNCTIONS


def test_what_is_not_there_is_told_as_that(destination: Destination) -> None:
    nobody = SymbolId.parse("ff" * 20)
    assert destination.manifest(nobody) is None
    with pytest.raises(NothingFound):
        b"".join(destination.fetch(nobody))


def test_threads_may_use_one_destination_together(destination: Destination) -> None:
    artifacts = [make_artifact(f"{number:040x}") for number in range(1, 13)]

    def bring(number: int) -> bool:
        artifact = artifacts[number % len(artifacts)]
        put_all(destination, artifact)
        return destination.commit(artifact.manifest).stored

    with ThreadPoolExecutor(6) as threads:
        stored = list(threads.map(bring, range(2 * len(artifacts))))
    assert stored.count(True) == len(artifacts), "of two that bring the same, one stores it"


def test_it_can_be_closed_twice(destination: Destination) -> None:
    destination.capabilities()
    destination.close()
    destination.close()
