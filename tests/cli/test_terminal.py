"""What a person sees: bars on a terminal, plain lines elsewhere, and nothing that a file name could smuggle in."""

from __future__ import annotations

import fcntl
import os
import pty
import shutil
import socket
import struct
import subprocess
import termios
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.conftest import Symup
from uploader.cli.terminal import Lines, Waits
from uploader.core import which
from uploader.words import printable


def on_a_terminal(symup: Symup, *words: object, **env: str) -> tuple[int, str]:
    """Runs symup with its stderr on a terminal of 100 columns and gives what was written there."""
    control, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    process = subprocess.Popen(
        symup.words(*words), stdin=terminal, stdout=terminal, stderr=terminal, env=symup.environ(TERM="xterm", **env)
    )
    os.close(terminal)
    seen = b""
    while True:
        try:
            piece = os.read(control, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(control)
    return process.wait(), seen.decode()


def test_a_terminal_gets_bars_and_then_the_report(symup: Symup, programs: Path, tmp_path: Path) -> None:
    code, seen = on_a_terminal(symup, "upload", programs, "--to", tmp_path / "store")
    assert code == 0
    assert "extracting" in seen
    assert "/50 [" in seen
    assert "50 files: 50 stored" in seen


def test_ci_gets_lines_even_on_a_terminal(symup: Symup, programs: Path, tmp_path: Path) -> None:
    code, seen = on_a_terminal(symup, "upload", programs, "--to", tmp_path / "store", CI="true")
    assert code == 0
    assert "/50 [" not in seen
    assert "\x1b" not in seen
    assert "50 files: 50 stored" in seen


def test_long_runs_tell_how_far_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(every_seconds=0)
    lines.stage("identify")
    lines.advance("identify")
    lines.stage("extract", 3000)
    lines.stage("send")
    lines.advance("extract")
    lines.advance("send", 4_200_000)
    assert capsys.readouterr().err.splitlines() == [
        "symup: looked at 1 file so far",
        "symup: extracted 1 of 3,000 files",
        "symup: extracted 1 of 3,000 files, 4.2 MB sent",
    ]


def test_an_uncompiled_core_says_so_once_with_the_remedy(symup: Symup, program: Path, tmp_path: Path) -> None:
    ran = symup("convert", program, "-o", tmp_path / "out.gsym")
    times = 0 if which.compiled() else 1
    assert ran.err.count("runs as plain Python") == times
    assert ran.err.count("Install a C compiler") == times


def test_a_file_name_can_not_steer_the_terminal(symup: Symup, program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    shutil.copy(program, folder / "evil\x1b[2Jname\nsecond line")
    ran = symup("upload", folder, "--to", tmp_path / "store")
    assert ran.code == 0, ran.err
    assert "\x1b" not in ran.err
    assert "evil\\x1b[2Jname\\nsecond line" in ran.err


def test_a_name_that_is_not_utf8_is_reported(symup: Symup, program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    shutil.copy(os.fsencode(program), os.fsencode(folder) + b"/caf\xe9")
    ran = symup("upload", folder, "--to", tmp_path / "store", "--json", LC_ALL="C.UTF-8")
    assert ran.code == 0, ran.err
    assert ran.document["counts"]["stored"] == 1


def unanswered() -> str:
    """The URL of a server that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_that_a_server_does_not_answer_is_told_while_it_is_waited_for(symup: Symup, program: Path) -> None:
    url = unanswered()
    with ThreadPoolExecutor(2) as both:
        bars = both.submit(on_a_terminal, symup, "upload", program, "--to", url)
        told = both.submit(symup, "upload", program, "--to", url).result()
    code, seen = bars.result()
    assert code == told.code == 6
    for text in (seen, told.err):
        waiting = text.index(f"no good answer from {url.removeprefix('http://')}; trying again in")
        assert waiting < text.index("could not be reached in")
    assert told.err.count("trying again in") < 6, "a line now and then, not one for each attempt"


def test_status_tells_that_it_waits_as_well(symup: Symup) -> None:
    told = symup("status", "abcd", "--to", unanswered(), "--json")
    assert told.code == 6
    assert "trying again in" in told.err


def test_waiting_is_told_at_once_and_then_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    waits = Waits(every_seconds=60)
    for message in ("no answer; trying again in 1 s\x1b[2J", "no answer; trying again in 2 s", ""):
        waits(message)
    assert capsys.readouterr().err.splitlines() == [
        f"symup: {printable('no answer; trying again in 1 s')}" + "\\x1b[2J"
    ]
