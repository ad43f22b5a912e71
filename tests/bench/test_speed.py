"""The stopwatch: what it measures of a real process, and how samples become medians and ratios."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import cores
import speed
from speed import Contender, Sample


def program(name: str, code: str) -> Contender:
    """A converter that is a line of Python, given the source and the output as its arguments."""
    return Contender(
        name=name,
        command=lambda source, out: [sys.executable, "-c", code, str(source), str(out)],
        environment=dict(os.environ),
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(b"x" * 1000)
    return path


def test_a_run_measures_time_memory_and_output_of_the_process(source: Path) -> None:
    code = "import sys, time; kept = b'x' * 200_000_000; time.sleep(0.2); open(sys.argv[2], 'wb').write(b'y' * 4321)"
    sample = speed.run(program("hungry", code), source)
    assert sample.wall_seconds >= 0.2
    assert sample.cpu_seconds < sample.wall_seconds
    assert sample.peak_bytes > 200_000_000
    assert sample.output_bytes == 4321


def test_the_memory_of_grandchildren_counts(source: Path) -> None:
    inner = "import sys; kept = b'x' * 200_000_000; open(sys.argv[1], 'w').write('y')"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}, sys.argv[2]], check=True)"
    assert speed.run(program("shell", code), source).peak_bytes > 200_000_000


def test_the_memory_of_processes_that_run_at_once_adds_up(source: Path) -> None:
    inner = "import time; kept = b'x' * 100_000_000; time.sleep(1)"
    code = (
        f"import subprocess, sys; started = [subprocess.Popen([sys.executable, '-c', {inner!r}]) for _ in range(3)]\n"
        "print([one.wait() for one in started]); open(sys.argv[2], 'w').write('y')"
    )
    assert 300_000_000 < speed.run(program("family", code), source).peak_bytes < 400_000_000


def test_memory_that_processes_share_counts_once(source: Path) -> None:
    code = (
        "import os, sys, time; kept = b'x' * 200_000_000; children = [os.fork() for _ in range(2)]; time.sleep(1)\n"
        "if all(children): [os.waitpid(child, 0) for child in children if child]; open(sys.argv[2], 'w').write('y')"
    )
    # Not all are looked at in one moment: while they fork, memory may be seen twice, but never three times.
    assert 200_000_000 < speed.run(program("forked", code), source).peak_bytes < 450_000_000


def test_a_small_process_is_not_charged_for_the_size_of_its_input(tmp_path: Path) -> None:
    """In a process of its own: the one that starts a contender counts towards its peak."""
    large = tmp_path / "large"
    with large.open("wb") as stream:
        stream.truncate(300_000_000)
    program = (
        "import os, sys; from pathlib import Path; import speed\n"
        "command = lambda source, out: ['cp', '/dev/null', str(out)]\n"
        "tiny = speed.Contender(name='tiny', command=command, environment=dict(os.environ))\n"
        "print(speed.measure(Path(sys.argv[1]), [tiny], 1)['tiny'][0].peak_bytes)"
    )
    bench = str(Path(speed.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", program, str(large)], cwd=bench, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 60_000_000


def test_the_digest_tells_whether_two_runs_wrote_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    code = "import sys; [open(f'{sys.argv[2]}/{name}', 'w').write(text) for name, text in %r]"

    def digest(*files: tuple[str, str]) -> str:
        return speed.run(program("writer", code % (files,)), tmp_path / "folder").output_digest

    assert digest(("a", "1"), ("b", "2")) == digest(("b", "2"), ("a", "1"))
    assert len({digest(("a", "1")), digest(("a", "2")), digest(("b", "1")), digest(("a", "1"), ("b", "2"))}) == 4


def test_a_failing_converter_is_no_sample(source: Path) -> None:
    with pytest.raises(RuntimeError, match="broken exited 3: no luck"):
        speed.run(program("broken", "import sys; print('no luck'); sys.exit(3)"), source)


def test_a_converter_that_writes_nothing_is_no_sample(source: Path) -> None:
    with pytest.raises(RuntimeError, match="wrote nothing"):
        speed.run(program("idle", "pass"), source)


def test_contenders_run_in_turn(source: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = "import sys; open({log!r}, 'a').write({name!r}); open(sys.argv[2], 'w').write('y')"
    contenders = [program(name, code.format(log=str(log), name=name)) for name in "AB"]
    samples = speed.measure(source, contenders, runs=3)
    assert log.read_text() == "ABABAB"
    assert {name: len(taken) for name, taken in samples.items()} == {"A": 3, "B": 3}


def test_a_contender_that_takes_long_runs_less_often(source: Path) -> None:
    code = "import sys; open(sys.argv[2], 'w').write('y')"
    contenders = [program("A", code), replace(program("slow", code), most_runs=1)]
    samples = speed.measure(source, contenders, runs=3)
    assert {name: len(taken) for name, taken in samples.items()} == {"A": 3, "slow": 1}


def test_ratios_are_those_of_medians() -> None:
    def samples(*walls: float) -> list[Sample]:
        return [
            Sample(wall_seconds=wall, cpu_seconds=1.0, peak_bytes=100, output_bytes=10, output_files=1)
            for wall in walls
        ]

    summary = speed.summarize(
        {"symup": samples(1.0, 9.0, 2.0), "llvm-gsymutil": samples(4.0, 4.0, 40.0)}, "llvm-gsymutil"
    )
    assert summary["medians"]["symup"]["wall_seconds"] == 2.0
    assert summary["ratios"] == {
        "symup": {"wall_seconds": 0.5, "cpu_seconds": 1.0, "peak_bytes": 1.0, "output_bytes": 1.0}
    }
    assert len(summary["samples"]["symup"]) == 3


def test_a_plain_core_is_a_copy_of_the_sources_alone(tmp_path: Path) -> None:
    core = cores.plain(tmp_path)
    copied = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.suffix for path in copied} == {".py"}
    assert copied == {path.relative_to(cores.ROOT) for path in (cores.ROOT / "uploader").rglob("*.py")}
    assert core.run("--version").returncode == 0
