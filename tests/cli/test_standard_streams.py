"""What becomes of a result that nobody can take: a line that says so and an exit code, never a traceback."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Symup
from uploader.errors import ExitCode

COMMANDS = [
    "--help",
    "--version",
    "completion zsh",
    "whoami --json --to ./store",
    "status --json --to ./store 00",
    "serve --nope --json",
]


def in_a_shell(symup: Symup, words: str, redirection: str) -> subprocess.CompletedProcess[str]:
    command = f'"$@" {redirection}'
    return subprocess.run(
        ["sh", "-c", command, "sh", *symup.words(*words.split())],
        capture_output=True, text=True, check=False, env=symup.environ(), cwd=symup.home,
    )  # fmt: skip


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", COMMANDS)
def test_a_full_disk_behind_stdout_is_told_and_no_success(symup: Symup, words: str) -> None:
    whole = in_a_shell(symup, words, "")
    ran = in_a_shell(symup, words, ">/dev/full")
    assert ran.returncode == (whole.returncode or ExitCode.SOME_FAILED)
    assert ran.stderr.count("stdout did not take the whole result: No space left on device") == 1
    assert "Traceback" not in ran.stderr
    assert "Exception" not in ran.stderr


@pytest.mark.parametrize("words", COMMANDS)
def test_a_closed_stdout_is_told_and_no_success(symup: Symup, words: str) -> None:
    ran = in_a_shell(symup, words, ">&-")
    assert ran.returncode in (ExitCode.SOME_FAILED, ExitCode.USAGE)
    assert "stdout did not take the whole result: Bad file descriptor" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_is_stored_while_streams_are_closed_is_whole(symup: Symup, program: Path, tmp_path: Path) -> None:
    """The next file that is opened would else be stdout or stderr, and take what is said."""
    ran = in_a_shell(symup, f"upload {program} --to {tmp_path / 'store'}", "<&- >&- 2>&-")
    assert ran.returncode == ExitCode.DONE
    assert symup("status", program, "--to", tmp_path / "store").code == ExitCode.DONE
    assert symup("lookup", program, "0x1000", "--from", tmp_path / "store").code == ExitCode.DONE


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_a_stderr_that_takes_nothing_changes_no_result(symup: Symup, redirection: str) -> None:
    ran = in_a_shell(symup, "whoami --json --to ./store", redirection)
    assert (ran.returncode, ran.stderr) == (ExitCode.DONE, "")
    assert '"exit_code": 0' in ran.stdout
    assert in_a_shell(symup, "upload ./nope --to ./store", redirection).returncode != ExitCode.DONE


def test_a_reader_that_goes_away_is_no_failure(symup: Symup) -> None:
    script = '"$@" | head -c 1 >/dev/null; exit "${PIPESTATUS[0]}"'
    ran = subprocess.run(
        ["bash", "-c", script, "bash", *symup.words("upload", "--help")],
        capture_output=True, text=True, check=False, env=symup.environ(),
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (ExitCode.DONE, "")
