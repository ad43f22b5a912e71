"""Colour where the terminal takes it, as NO_COLOR, FORCE_COLOR and TERM say."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from tests.cli.conftest import Symup
from tests.cli.test_terminal import on_a_terminal
from uploader.cli import colour


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environ", "on_terminal", "on_pipe"),
    [
        ({}, True, False),
        ({"TERM": "xterm"}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"CI": "true"}, False, False),
        ({"CI": "true", "FORCE_COLOR": "1"}, True, True),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
    ],
)
def test_who_decides_on_colour(environ: dict[str, str], on_terminal: bool, on_pipe: bool) -> None:
    assert colour.wanted(Terminal(), environ) is on_terminal
    assert colour.wanted(io.StringIO(), environ) is on_pipe


def test_the_state_that_a_line_begins_with_is_painted_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    stream = io.StringIO()
    assert colour.state_first("  failed   stored  failed", stream) == "  \x1b[31mfailed\x1b[0m   stored  failed"
    for line in ("", "  ", "3 files: 3 stored", "storedly"):
        assert colour.state_first(line, stream) == line


def test_a_terminal_gets_colour_and_a_pipe_none(symup: Symup, program: Path, tmp_path: Path) -> None:
    green = "\x1b[32mstored\x1b[0m"
    _, seen = on_a_terminal(symup, "upload", program, "--to", tmp_path / "store", "-v")
    assert green in seen
    assert "\x1b" not in symup("upload", program, "--to", tmp_path / "other", "-v").err
    forced = symup("upload", program, "--to", tmp_path / "third", "-v", FORCE_COLOR="1")
    assert green in forced.err
    _, plain = on_a_terminal(symup, "status", "--nope", NO_COLOR="1")
    assert "\x1b" not in plain
    assert "\x1b[31msymup: error:\x1b[0m" in symup("status", "--nope", FORCE_COLOR="1").err
