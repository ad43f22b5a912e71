"""Clients that carry the same build at once don't convert and send what another has stored meanwhile."""

import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.writers.artifact_writer import make_artifact, put_all
from uploader.destinations.folder import FolderDestination
from uploader.destinations.send import send
from uploader.errors import NetworkGaveOut
from uploader.model import Decision
from uploader.pipeline.meanwhile import ASKED_EVERY_SECONDS, Meanwhile, own_order
from uploader.pipeline.plan import Plan
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.protocol.words import MIN_CHUNK_SIZE_BYTES, Answer, Holding, Question
from uploader.values import replace

FILES: list[Any] = [make_artifact(f"{number:02x}") for number in range(1, 6)]

LARGE = make_artifact("ab", functions=18_000, max_chunk_size_bytes=MIN_CHUNK_SIZE_BYTES)


class Counting(FolderDestination):
    asked: list[int]
    broken = False

    def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
        self.asked.append(len(questions))
        if self.broken:
            raise NetworkGaveOut("gone")
        return super().negotiate(questions)


def question(artifact: Any) -> Question:
    asked: Question = artifact.question
    return replace(asked, chunks=())


def watching(tmp_path: Path) -> tuple[Counting, Meanwhile, list[float]]:
    destination = Counting(tmp_path / "store", "p")
    destination.asked = []
    now = [0.0]
    meanwhile = Meanwhile(destination, FILES, question, monotonic=lambda: now[0])
    return destination, meanwhile, now


def test_what_another_stored_since_is_present_and_asked_of_all_at_once(tmp_path: Path) -> None:
    destination, meanwhile, now = watching(tmp_path)
    for one in (FILES[1], FILES[3]):
        put_all(destination, one)
        destination.commit(one.manifest)
    assert meanwhile.answer(FILES[1]) is None, "asked about just now"
    now[0] += ASKED_EVERY_SECONDS
    assert meanwhile.answer(FILES[0]) is None
    known = meanwhile.answer(FILES[3])
    assert known is not None and known.holding is Holding.PRESENT
    assert destination.asked == [4]
    now[0] += ASKED_EVERY_SECONDS
    assert meanwhile.answer(FILES[2]) is None
    assert destination.asked == [4, 2], "what has begun, or is there, is not asked about again"


def test_trouble_with_asking_stops_nothing(tmp_path: Path) -> None:
    destination, meanwhile, now = watching(tmp_path)
    destination.broken = True
    now[0] += ASKED_EVERY_SECONDS
    assert meanwhile.answer(FILES[0]) is None


def test_large_files_come_first_and_those_of_a_size_in_an_order_of_ones_own() -> None:
    files: list[Any] = [SimpleNamespace(size_bytes=size) for size in [*range(1024, 1088), 5000, 100_000]]
    orders = {tuple(id(one) for one in own_order(files)) for _ in range(5)}
    assert len(orders) == 5
    for _ in range(5):
        assert [one.size_bytes for one in own_order(files)][:2] == [100_000, 5000]


def test_a_file_of_many_chunks_that_another_sends_too_is_asked_about_in_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uploader.destinations.send.CHUNKS_BETWEEN_QUESTIONS", 2)
    assert len(LARGE.file.chunks) > 6
    put: list[str] = []

    class Shared(FolderDestination):
        def put_chunk(self, sha256: str, data: bytes) -> None:
            super().put_chunk(sha256, data)
            put.append(sha256)
            if len(put) == 2:
                put_all(FolderDestination(tmp_path / "store", "p"), LARGE)

    with ThreadPoolExecutor(1) as pool:
        sent = send(Shared(tmp_path / "store", "p"), LARGE.file, LARGE.manifest, executor=pool)
    assert sent.committed.stored
    assert sent.chunks_sent == len(put) == 2


def test_two_clients_do_not_begin_with_the_same_chunk(tmp_path: Path) -> None:
    first: set[str] = set()
    for number in range(8):
        put: list[str] = []

        class Watched(FolderDestination):
            def put_chunk(self, sha256: str, data: bytes, put: list[str] = put) -> None:
                put.append(sha256)
                super().put_chunk(sha256, data)

        with ThreadPoolExecutor(1) as pool:
            send(Watched(tmp_path / f"store{number}", "p"), LARGE.file, LARGE.manifest, executor=pool)
        first.add(put[0])
    assert len(first) > 1


def test_an_upload_leaves_to_another_what_that_one_was_done_with_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = tmp_path / "build"
    build.mkdir()
    for number in range(12):
        source = (
            f"int work(int x) {{ return {number} * x; }}\nint main(int n, char **w) {{ (void)w; return work(n); }}\n"
        )
        command = ["cc", "-g", "-O1", "-Wl,--build-id", "-x", "c", "-", "-o", str(build / f"app{number}")]
        subprocess.run(command, input=source, text=True, check=True)
    monkeypatch.setattr("uploader.pipeline.meanwhile.ASKED_EVERY_SECONDS", 0.0)
    asked = threading.Event()

    class Shared(FolderDestination):
        def negotiate(self, questions: Sequence[Question]) -> list[Answer]:
            answers = super().negotiate(questions)
            if not asked.is_set():
                asked.set()
                # What was asked about as missing is stored by another client right after the answer.
                other = FolderDestination(tmp_path / "store", "p")
                assert upload(Plan(paths=[build], jobs=1), other, progress=Silent()).exit_code == 0
            return answers

    finished = upload(Plan(paths=[build], jobs=1), Shared(tmp_path / "store", "p"), progress=Silent())
    assert finished.exit_code == 0
    assert {outcome.decision for outcome in finished.outcomes} == {Decision.PRESENT}
    assert finished.extracted == 0
