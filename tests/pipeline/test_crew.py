"""A run over many files by several processes: the same bytes, one file's trouble is its own, an interruption leaves nobody behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.writers.elf_writer import CODE, Note, Section, Symbol, elf
from uploader.destinations.folder import FolderDestination
from uploader.model import Decision, Outcome
from uploader.pipeline import convert as convert_module
from uploader.pipeline import crew as crew_module
from uploader.pipeline import make as make_module
from uploader.pipeline.convert import convert
from uploader.pipeline.plan import Plan
from uploader.pipeline.processes import Processes, WorkerKilled
from uploader.pipeline.upload import upload
from uploader.progress import Silent

ROOT = Path(__file__).parents[2]
FILES = 12


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """Binaries with a symbol each, and ids of their own."""
    folder = tmp_path / "build"
    folder.mkdir()
    for number in range(FILES):
        data = elf(
            [Section(".text", b"\xc3" * 64, flags=CODE, address=0x1000)],
            symbols=[Symbol(f"work_{number}", 0x1000, 16 + number)],
            notes=[Note("GNU", 3, bytes([number]) * 20)],
        )
        (folder / f"binary-{number}").write_bytes(data)
    return folder


@pytest.fixture
def processes_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are worth processes, too, and those are forked, whatever threads the tests have."""
    monkeypatch.setattr(crew_module, "WORTH_PROCESSES_BYTES", 0)
    monkeypatch.setattr("uploader.pipeline.processes.forks", lambda: True)


def converted(build: Path, folder: Path, *, jobs: int) -> tuple[Outcome, ...]:
    finished = convert(Plan(paths=[build], jobs=jobs), folder, progress=Silent())
    assert len(finished.outcomes) == FILES
    return finished.outcomes


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.usefixtures("processes_pay")
def test_the_same_files_and_outcomes_whatever_the_jobs(build: Path, tmp_path: Path) -> None:
    told = {jobs: converted(build, tmp_path / str(jobs), jobs=jobs) for jobs in (1, 2, 8)}
    assert contents(tmp_path / "1") == contents(tmp_path / "2") == contents(tmp_path / "8")
    assert len(contents(tmp_path / "8")) == FILES
    assert [one.path for one in told[1]] == [one.path for one in told[2]] == [one.path for one in told[8]]


@pytest.mark.usefixtures("processes_pay")
def test_the_work_is_done_in_other_processes(build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()

    def noted(*arguments: Any, **named: Any) -> Any:
        (pids / str(os.getpid())).touch()
        return make_module.make(*arguments, **named)

    monkeypatch.setattr(convert_module, "make", noted)
    converted(build, tmp_path / "out", jobs=2)
    assert {path.name for path in pids.iterdir()}
    assert str(os.getpid()) not in {path.name for path in pids.iterdir()}


def killed_at(name: str) -> Any:
    """`make`, but at one file the process is killed."""

    def make(artifact: Any, **named: Any) -> Any:
        if artifact.path.endswith(name):
            os.kill(os.getpid(), signal.SIGKILL)
        return make_module.make(artifact, **named)

    return make


@pytest.mark.usefixtures("processes_pay")
def test_a_killed_process_costs_its_file_only_and_that_says_why(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(convert_module, "make", killed_at("binary-3"))
    outcomes = converted(build, tmp_path / "out", jobs=2)
    (lost,) = [one for one in outcomes if one.decision is Decision.FAILED]
    assert lost.path.endswith("binary-3")
    assert "killed" in lost.reason
    assert "memory" in lost.reason
    assert lost.identity is not None
    assert len(contents(tmp_path / "out")) == FILES - 1


@pytest.mark.usefixtures("processes_pay")
def test_a_killed_process_costs_an_upload_its_file_only(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Processes.call

    def killed(self: Processes, function: Any, artifact: Any, **named: Any) -> Any:
        if artifact.path.endswith("binary-4"):
            raise WorkerKilled
        return call(self, function, artifact, **named)

    monkeypatch.setattr(Processes, "call", killed)
    destination = FolderDestination(tmp_path / "store", project="default")
    finished = upload(Plan(paths=[build], jobs=2), destination, progress=Silent())
    assert {one.decision for one in finished.outcomes} == {Decision.STORED, Decision.FAILED}
    assert sum(one.decision is Decision.STORED for one in finished.outcomes) == FILES - 1


INTERRUPTED = r"""
import os, sys, time
from uploader.cli.main import main
from uploader.pipeline import convert, crew

crew.WORTH_PROCESSES_BYTES = 0

def make(*arguments, **named):
    os.write(2, b"working\n")
    time.sleep(60)

convert.make = make
main()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.parametrize("whole_group", [True, False], ids=["at the terminal", "by a supervisor"])
def test_interrupted_it_ends_with_130_no_trace_and_no_process_left(
    build: Path, tmp_path: Path, whole_group: bool
) -> None:
    command = [sys.executable, "-c", INTERRUPTED, "convert", str(build), "-o", str(tmp_path / "out"), "--jobs", "2"]
    run = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert run.stderr is not None
    at_work = (line for line in iter(run.stderr.readline, "") if line == "working\n")
    assert len(list(islice(at_work, 2))) == 2
    if whole_group:
        os.killpg(run.pid, signal.SIGINT)
    else:
        run.terminate()
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert "Traceback" not in err
    assert f"{FILES} of {FILES} files were not converted" in err
    deadline = time.monotonic() + 10
    while anybody_in(run.pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def anybody_in(group: int) -> bool:
    """Whether the group has a process that is there, or ended and nobody has asked how."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


UNNOTICED = """
import signal, threading, time
from uploader.cli.main import main
from uploader.pipeline import convert, push

def stuck(*arguments, **named):
    # The main thread waits by now. A signal that another thread gets leaves a mark for it, but doesn't wake it.
    time.sleep(0.3)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    time.sleep(60)

convert.make = push.send_parcel = stuck
main()
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals single threads")
@pytest.mark.parametrize("command", ["convert", "push"])
def test_an_interruption_that_wakes_nobody_is_noticed_soon(build: Path, tmp_path: Path, command: str) -> None:
    if command == "convert":
        words = ["convert", str(build), "-o", str(tmp_path / "out"), "--jobs", "1"]
    else:
        upload(Plan(paths=[build], jobs=1), FolderDestination(tmp_path / "from", project="default"), progress=Silent())
        words = ["push", str(tmp_path / "from"), "--to", str(tmp_path / "store")]
    run = subprocess.run(
        [sys.executable, "-c", UNNOTICED, *words], cwd=ROOT, stderr=subprocess.PIPE, text=True, timeout=30, check=False
    )
    assert run.returncode == 130, run.stderr
    assert "interrupted" in run.stderr


def test_little_is_done_without_threads_and_processes(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew_module, "Processes", None)
    monkeypatch.setattr("threading.Thread.start", None)
    finished = convert(Plan(paths=[build / "binary-1"], jobs=8), tmp_path / "out.gsym", progress=Silent())
    assert [one.decision for one in finished.outcomes] == [Decision.CONVERTED]


@pytest.mark.usefixtures("processes_pay")
def test_where_the_system_allows_no_processes_threads_do_it(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: object) -> int:
        raise OSError("no more processes")

    monkeypatch.setattr("multiprocessing.popen_fork.Popen", refused)
    assert {one.decision for one in converted(build, tmp_path / "out", jobs=2)} == {Decision.CONVERTED}


def test_a_file_that_is_there_with_the_same_bytes_is_touched_and_another_replaced(build: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.gsym"
    convert(Plan(paths=[build / "binary-1"], jobs=1), target, progress=Silent())
    os.utime(target, (1, 1))
    before = target.stat()
    convert(Plan(paths=[build / "binary-1"], jobs=1), target, progress=Silent())
    assert target.stat().st_ino == before.st_ino
    assert target.stat().st_mtime > 1

    expected = target.read_bytes()
    target.write_bytes(bytes(len(expected)))
    convert(Plan(paths=[build / "binary-1"], jobs=1), target, progress=Silent())
    assert target.read_bytes() == expected
