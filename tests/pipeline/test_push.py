"""Pushing one store to another: all of it arrives, only what is missing travels, and the store's rules hold."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.server.running_server import RunningServer
from tests.writers.artifact_writer import Artifact, make_artifact, put_all
from uploader.destinations.folder import FolderDestination
from uploader.destinations.server import HttpDestination
from uploader.errors import ExitCode, NotAllowed
from uploader.model import Concern, Decision, Quality, SymbolId
from uploader.pipeline.outcomes import Finished
from uploader.pipeline.push import push
from uploader.progress import Silent
from uploader.protocol.words import Answer, Capabilities, Destination, Question
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore
from uploader.values import replace


class Counting(FolderDestination):
    """A folder that counts what it is asked and given, and may take smaller chunks than usual."""

    def __init__(self, folder: Path, *, max_chunk_size_bytes: int = 8 << 20) -> None:
        super().__init__(folder, "web")
        self.questions: list[int] = []
        self.chunks: list[str] = []
        self.limit = max_chunk_size_bytes

    def capabilities(self) -> Capabilities:
        return Capabilities(max_chunk_size_bytes=self.limit)

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        self.questions.append(len(questions))
        return super().negotiate(questions)

    def put_chunk(self, sha256: str, data: bytes) -> None:
        assert len(data) <= self.limit
        self.chunks.append(sha256)
        super().put_chunk(sha256, data)


@pytest.fixture
def source(tmp_path: Path) -> SymbolStore:
    return SymbolStore(FolderBlobs(tmp_path / "source"), "web")


def stored(store: SymbolStore, *artifacts: Artifact) -> None:
    for artifact in artifacts:
        put_all(store, artifact)
        assert store.commit(artifact.manifest).stored


def pushed(
    source: SymbolStore,
    destination: Destination,
    *,
    force: bool = False,
    dry_run: bool = False,
    allow_empty: bool = False,
) -> Finished:
    return push(
        source, destination, progress=Silent(), force=force, dry_run=dry_run, allow_empty=allow_empty, label="it"
    )


def decisions(finished: Finished) -> list[Decision]:
    return [outcome.decision for outcome in finished.outcomes]


def test_all_of_a_store_arrives_as_it_was(source: SymbolStore, tmp_path: Path) -> None:
    artifacts = [
        make_artifact(f"{number:040x}", functions=40, aliases=(f"file:{number:032x}",)) for number in range(1, 8)
    ]
    stored(source, *artifacts)
    destination = Counting(tmp_path / "target")
    finished = pushed(source, destination)
    assert finished.exit_code is ExitCode.DONE
    assert decisions(finished) == [Decision.STORED] * 7
    assert destination.questions == [7]
    for artifact in artifacts:
        assert destination.manifest(artifact.manifest.identity.primary) == artifact.manifest
        assert b"".join(destination.fetch(artifact.manifest.identity.aliases[0])) == artifact.gsym


def test_an_artifact_is_told_by_the_name_of_its_file_or_by_its_id_where_it_has_none(
    source: SymbolStore, tmp_path: Path
) -> None:
    named, nameless = make_artifact("aa11"), make_artifact("bb22")
    for artifact, file_name in ((named, "bin/app"), (nameless, "")):
        put_all(source, artifact)
        assert source.commit(replace(artifact.manifest, file_name=file_name)).stored
    told = [outcome.path for outcome in pushed(source, Counting(tmp_path / "target")).outcomes]
    assert sorted(told) == sorted(["bin/app", str(nameless.manifest.identity)])


def test_a_second_push_asks_once_and_sends_nothing(source: SymbolStore, tmp_path: Path) -> None:
    stored(source, *(make_artifact(f"{number:040x}") for number in range(1, 6)))
    pushed(source, Counting(tmp_path / "target"))
    again = Counting(tmp_path / "target")
    finished = pushed(source, again)
    assert decisions(finished) == [Decision.PRESENT] * 5
    assert (again.questions, again.chunks) == ([5], [])


def test_only_missing_chunks_travel(source: SymbolStore, tmp_path: Path) -> None:
    artifact = make_artifact(chunks=6)
    stored(source, artifact)
    destination = Counting(tmp_path / "target")
    for chunk in artifact.file.chunks[:2]:
        destination.put_chunk(chunk.sha256, chunk.data)
    destination.chunks.clear()
    (outcome,) = pushed(source, destination).outcomes
    assert sorted(destination.chunks) == sorted(chunk.sha256 for chunk in artifact.file.chunks[2:])
    assert (outcome.chunks_sent, outcome.chunks_total) == (len(destination.chunks), len(artifact.file.chunks))
    assert outcome.sent_size_bytes == sum(len(chunk.data) for chunk in artifact.file.chunks[2:])


def test_better_quality_replaces_worse_and_never_the_other_way_round(source: SymbolStore, tmp_path: Path) -> None:
    destination = Counting(tmp_path / "target")
    for held, offered, decision in (
        (Quality.FUNCTIONS, Quality.LINES, Decision.STORED),
        (Quality.FULL, Quality.LINES, Decision.PRESENT),
        (Quality.LINES, Quality.LINES, Decision.PRESENT),
    ):
        build_id = hashlib.sha1(f"{held}{offered}".encode()).hexdigest()
        there, here = make_artifact(build_id, quality=held, flavour="there"), make_artifact(build_id, quality=offered)
        put_all(destination, there)
        destination.commit(there.manifest)
        stored(source, here)
        outcomes = {str(outcome.identity): outcome for outcome in pushed(source, destination).outcomes}
        assert outcomes[build_id].decision is decision
        held_now = destination.manifest(SymbolId.parse(build_id))
        assert held_now is not None
        assert held_now.quality is max(held, offered)
    forced = pushed(source, destination, force=True)
    assert decisions(forced).count(Decision.STORED) == 2


def test_a_destination_with_smaller_chunks_gets_smaller_chunks(source: SymbolStore, tmp_path: Path) -> None:
    artifact = make_artifact(functions=4000, max_chunk_size_bytes=100_000)
    stored(source, artifact)
    destination = Counting(tmp_path / "target", max_chunk_size_bytes=65_536)
    (outcome,) = pushed(source, destination).outcomes
    assert outcome.decision is Decision.STORED
    assert b"".join(destination.fetch(artifact.manifest.identity.primary)) == artifact.gsym
    assert decisions(pushed(source, destination)) == [Decision.PRESENT]


def test_damage_in_the_source_costs_that_artifact_alone(source: SymbolStore, tmp_path: Path) -> None:
    lost, bent, sound = (make_artifact(f"{number:040x}") for number in (1, 2, 3))
    stored(source, lost, bent, sound)
    chunks = tmp_path / "source/web/chunks"
    (chunks / lost.file.chunks[0].sha256[:2] / lost.file.chunks[0].sha256).unlink()
    (chunks / bent.file.chunks[0].sha256[:2] / bent.file.chunks[0].sha256).write_bytes(b"other bytes")
    broken = tmp_path / "source/web/artifacts/ab/ab12/gsym.json"
    broken.parent.mkdir(parents=True)
    broken.write_text("no manifest")
    finished = pushed(source, Counting(tmp_path / "target"))
    told = {str(outcome.identity or outcome.path): outcome.reason for outcome in finished.outcomes if outcome.exit_code}
    assert finished.exit_code is ExitCode.REFUSED
    assert decisions(finished).count(Decision.STORED) == 1
    assert len(told) == 3
    assert "is missing in the store" in told[str(lost.manifest.identity)]
    assert "had other bytes" in told[str(bent.manifest.identity)]
    assert told["web/artifacts/ab/ab12/gsym.json"] == "the stored entry can't be read"


def test_a_dry_run_sends_nothing(source: SymbolStore, tmp_path: Path) -> None:
    stored(source, make_artifact())
    destination = Counting(tmp_path / "target")
    assert decisions(pushed(source, destination, dry_run=True)) == [Decision.PLANNED]
    assert not (tmp_path / "target").exists()


def test_an_empty_store_is_told(source: SymbolStore, tmp_path: Path) -> None:
    assert pushed(source, Counting(tmp_path / "target")).exit_code is ExitCode.NOTHING_FOUND
    assert pushed(source, Counting(tmp_path / "target"), allow_empty=True).exit_code is ExitCode.DONE


def test_a_login_that_is_refused_fails_all_for_that_reason(source: SymbolStore, tmp_path: Path) -> None:
    class Closed(Counting):
        def capabilities(self) -> Capabilities:
            raise NotAllowed("it wants a token")

    stored(source, make_artifact("aa"), make_artifact("bb"))
    finished = pushed(source, Closed(tmp_path / "target"))
    assert finished.exit_code is ExitCode.NOT_ALLOWED
    assert {outcome.reason for outcome in finished.outcomes} == {"not sent: it wants a token"}


def test_what_the_destination_keeps_instead_is_declined(source: SymbolStore, tmp_path: Path) -> None:
    mine, theirs = make_artifact("aa", flavour="mine"), make_artifact("aa", flavour="theirs")

    class Raced(Counting):
        """Another client stores its own between the question and the commit."""

        def put_chunk(self, sha256: str, data: bytes) -> None:
            super().put_chunk(sha256, data)
            put_all(FolderDestination(tmp_path / "target", "web"), theirs)
            self.commit(theirs.manifest)

    stored(source, mine)
    (outcome,) = pushed(source, Raced(tmp_path / "target")).outcomes
    assert (outcome.decision, outcome.concern) == (Decision.PRESENT, Concern.DECLINED)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    running = RunningServer(tmp_path / "served", max_request_size_bytes=64 * 1024)
    yield running
    running.kill()


def test_a_real_server_behind_a_low_limit(source: SymbolStore, server: RunningServer) -> None:
    artifacts = [make_artifact(f"{number:040x}", functions=6000) for number in range(1, 4)]
    assert max(len(chunk.data) for artifact in artifacts for chunk in artifact.file.chunks) > 64 * 1024
    stored(source, *artifacts)
    destination = HttpDestination(server.url, project="web")
    assert decisions(pushed(source, destination)) == [Decision.STORED] * 3
    for artifact in artifacts:
        assert b"".join(destination.fetch(artifact.manifest.identity.primary)) == artifact.gsym
    assert decisions(pushed(source, destination)) == [Decision.PRESENT] * 3
    destination.close()
