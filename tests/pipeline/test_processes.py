"""Worker processes: they answer, they may be killed, and none of them outlives the run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from uploader.errors import UsageError
from uploader.pipeline import processes
from uploader.pipeline.processes import Processes, WorkerKilled

ROOT = Path(__file__).parents[2]


def die_once(mark: Path) -> str:
    """Is killed the first time, as for want of memory; answers the second time."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse() -> None:
    raise UsageError("no", remedy="Ask again.")


def running(pid: int) -> bool:
    """Whether the process is there and has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids: list[int]) -> bool:
    """Whether all of them are gone, within a few seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end and any(running(pid) for pid in pids):
        time.sleep(0.02)
    return not any(running(pid) for pid in pids)


@pytest.fixture(params=["forked", "spawned"])
def two(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    """Two workers, started in either way."""
    monkeypatch.setattr(processes, "forks", lambda: request.param == "forked")
    made = Processes(2)
    yield made
    made.kill()


def test_a_call_runs_in_another_process_and_its_result_comes_back(two: Processes) -> None:
    assert two.call(os.getpid) != os.getpid()
    assert two.call(sorted, [3, 1, 2], reverse=True) == [3, 2, 1]


def test_what_a_call_raises_is_raised_here_with_its_remedy(two: Processes) -> None:
    with pytest.raises(UsageError, match="no") as caught:
        two.call(refuse)
    assert caught.value.remedy == "Ask again."
    assert two.call(len, "abc") == 3


def test_calls_one_after_another_start_no_further_process(two: Processes) -> None:
    assert len({two.call(os.getpid) for _ in range(6)}) <= 2


def test_two_calls_run_at_once(two: Processes) -> None:
    pids: list[int] = []
    both = threading.Barrier(2)

    def call() -> None:
        both.wait()
        two.call(time.sleep, 0.2)
        pids.append(two.call(os.getpid))

    threads = [threading.Thread(target=call) for _ in range(2)]
    started = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 2
    assert time.monotonic() - started < 10


def test_a_call_whose_process_is_killed_is_tried_once_more(two: Processes, tmp_path: Path) -> None:
    assert two.call(die_once, tmp_path / "mark") == "done"


def test_a_call_that_kills_every_process_is_told_and_others_go_on(two: Processes) -> None:
    with pytest.raises(WorkerKilled):
        two.call(die)
    assert two.call(len, "abc") == 3


def test_an_interruption_is_left_to_the_process_that_leads(two: Processes) -> None:
    pid = two.call(os.getpid)
    for _ in range(3):
        os.kill(pid, signal.SIGINT)
    assert len({two.call(os.getpid) for _ in range(4)}) >= 1
    assert running(pid)


def test_killed_they_are_gone_and_start_no_more(two: Processes) -> None:
    pids = [two.call(os.getpid)]
    two.kill()
    assert gone(pids)
    with pytest.raises(WorkerKilled):
        two.call(os.getpid)


@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
def test_none_outlives_the_process_that_leads_however_that_ends(end: str) -> None:
    script = f"""
import os, threading, time
from uploader.pipeline.processes import Processes
made = Processes(3)
pids = []
threads = [threading.Thread(target=lambda: (made.call(time.sleep, 0.3), pids.append(made.call(os.getpid)))) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(*pids, flush=True)
{end}
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=False, capture_output=True, text=True, timeout=60
    )
    pids = [int(pid) for pid in ran.stdout.split()]
    assert pids
    assert gone(pids)
    assert ran.stderr == ""
