"""How people find their way: pages of help, the version, what a shell completes, what a typo meant."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from typer.models import OptionInfo

from tests.cli.conftest import Symup
from uploader.cli.commands import COMMANDS
from uploader.config.declared import SETTINGS
from uploader.errors import ExitCode


def variables() -> dict[str, set[str]]:
    """The flags by the variable that says the same, as the commands' options declare them."""
    found: dict[str, set[str]] = {}
    for name in COMMANDS:
        for hint in get_type_hints(import_module(f"uploader.cli.{name}").command, include_extras=True).values():
            for info in get_args(hint)[1:]:
                if isinstance(info, OptionInfo) and info.envvar:
                    flag = next(
                        str(word) for word in (info.default, *(info.param_decls or ())) if str(word).startswith("--")
                    )
                    found.setdefault(str(info.envvar), set()).add(flag)
    return found


SERVERS_OWN = {"SYMUP_MAX_REQUEST_SIZE"}
"""Variables of `symup serve`, which reads no settings file."""


def test_every_setting_of_the_environment_is_told_beside_its_flag(symup: Symup) -> None:
    settings = {setting.variable for setting in SETTINGS.values() if setting.variable}
    assert variables().keys() == settings | SERVERS_OWN
    page = " ".join(symup("upload", "--help").out.split())
    for variable in settings:
        assert f"[env {variable}]" in page


def test_a_variable_counts_as_a_variable_not_as_a_flag(symup: Symup, program: Path, tmp_path: Path) -> None:
    ran = symup("upload", program, "--to", tmp_path / "store", SYMUP_JOBS="many")
    assert (ran.code, "SYMUP_JOBS" in ran.err, "--jobs" in ran.err) == (ExitCode.USAGE, True, False)
    ran = symup("upload", tmp_path, "--to", tmp_path / "store", "--allow-empty", SYMUP_EXCLUDE="a b, *.o")
    assert ran.code == ExitCode.DONE


def test_options_stand_in_groups(symup: Symup) -> None:
    page = symup("upload", "--help").out
    headings = [line.rstrip(":") for line in page.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert headings[:3] == ["Arguments", "Where to", "What to take"]
    assert headings[-1] == "Options"
    assert page.startswith("Usage: symup upload [OPTIONS] PATHS...\n")


@pytest.mark.parametrize("command", ["upload", "lookup", "help"])
def test_help_shows_a_commands_page(symup: Symup, command: str) -> None:
    assert symup("help", command).out == symup(command, "--help").out != ""
    assert symup("help").out == symup("--help").out == symup().out


def test_help_for_what_is_no_command_proposes_one(symup: Symup) -> None:
    ran = symup("help", "uplaod")
    assert (ran.code, "'upload'" in ran.err) == (ExitCode.USAGE, True)


def test_the_version_is_told_however_one_asks(symup: Symup) -> None:
    told = symup("--version").out
    assert told.startswith("symup ")
    assert symup("-V").out == symup("version").out == told
    command = [sys.executable, "-m", "symup", "version"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=symup.environ())
    assert ran.stdout == told


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--requir", " (did you mean --require?)"),
        ("--re", " (did you mean --require or --report-json or --report-html?)"),
        ("--exlcude", " (did you mean --exclude?)"),
        ("--colour-me", ""),
        ("-x", ""),
    ],
)
def test_a_mistyped_option_is_told_the_ones_that_begin_so_or_the_one_most_like_it(
    symup: Symup, typed: str, meant: str
) -> None:
    ran = symup("upload", typed, "here")
    assert ran.code == ExitCode.USAGE
    assert f"No such option: {typed}{meant}\n" in ran.err
    assert "try: symup upload --help" in ran.err


def test_the_page_is_as_wide_as_the_terminal_up_to_what_reads_well(symup: Symup) -> None:
    for columns, least, most in (("60", 50, 60), ("100", 80, 100), ("400", 80, 100)):
        widest = max(map(len, symup("upload", "--help", COLUMNS=columns).out.splitlines()))
        assert least <= widest <= most, columns


COMPLETED = [
    ("symup upl", ["upload"]),
    ("symup upload --requ", ["--require"]),
    ("symup upload --require ", ["full", "lines", "functions"]),
    ("symup completion ", ["bash", "zsh", "fish"]),
]


@pytest.mark.parametrize(("line", "offered"), COMPLETED)
def test_bash_completes_commands_options_and_values(
    symup: Symup, tmp_path: Path, line: str, offered: list[str]
) -> None:
    named = tmp_path / "bin" / "symup"
    named.parent.mkdir()
    named.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m uploader "$@"\n')
    named.chmod(0o755)
    last = " ''" if line.endswith(" ") else ""
    script = f"""
eval "$(symup completion bash)"
COMP_WORDS=({line}{last}) COMP_CWORD={len(line.split(" ")) - 1}
_symup_completion symup
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    path = os.pathsep.join([str(named.parent), symup.environ()["PATH"]])
    ran = subprocess.run(
        ["bash", "-c", script], check=True, capture_output=True, text=True, env=symup.environ(PATH=path)
    )
    assert ran.stdout.splitlines() == offered, ran.stderr


@pytest.mark.parametrize("shell", ["zsh", "fish"])
@pytest.mark.parametrize(("line", "offered"), COMPLETED)
def test_other_shells_are_answered_too(symup: Symup, shell: str, line: str, offered: list[str]) -> None:
    asked = {
        "_SYMUP_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    answer = subprocess.run(symup.words(), check=True, capture_output=True, text=True, env=symup.environ(**asked))
    for word in offered:
        assert word in answer.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_lines_for_a_shell_are_ones_that_it_reads(symup: Symup, shell: str) -> None:
    lines = symup("completion", shell).out
    assert "_SYMUP_COMPLETE=complete_" + shell in lines
    if shutil.which(shell):
        subprocess.run([shell, "-n", "/dev/stdin"], input=lines, text=True, check=True)


def test_what_is_no_shell_is_told_which_are(symup: Symup) -> None:
    ran = symup("completion", "tcsh")
    assert (ran.code, "'fish'" in ran.err) == (ExitCode.USAGE, True)
