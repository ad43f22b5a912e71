"""What README says of the command line is what the command line does."""

from __future__ import annotations

import re
from pathlib import Path

from tests.cli.conftest import Symup
from tests.cli.test_help import variables
from uploader.config.declared import SETTINGS
from uploader.config.settings import Settings
from uploader.errors import ExitCode

README = (Path(__file__).parents[2] / "README.md").read_text()
COMMANDS = (
    "upload",
    "convert",
    "inspect",
    "lookup",
    "status",
    "push",
    "serve",
    "gc",
    "init",
    "login",
    "logout",
    "whoami",
    "completion",
    "help",
    "version",
)
NOT_OF_SYMUP = {"--build-id", "--merged-functions"}


def test_every_command_is_in_the_table(symup: Symup) -> None:
    offered = re.findall(r"^  (\w+) ", symup("--help").out.partition("Commands:")[2], re.MULTILINE)
    told = re.findall(r"^\| `symup (\w+)", README, re.MULTILINE)
    assert tuple(offered) == tuple(told) == COMMANDS


def test_every_flag_that_is_told_is_there(symup: Symup) -> None:
    helps = " ".join(symup(command, "--help").out for command in COMMANDS) + symup("--help").out
    offered = set(re.findall(r"--[a-z][a-z-]+", helps))
    told = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) - NOT_OF_SYMUP
    assert told <= offered


def test_every_exit_code_is_told() -> None:
    told = [int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)]
    assert told == sorted(ExitCode)


def test_the_table_of_settings_says_what_flags_variables_and_keys_there_are() -> None:
    told = []
    for line in README.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[2].startswith("`"):
            flags, variable, key = (
                {*re.findall(pattern, cell)}
                for pattern, cell in zip((r"--[a-z-]+", r"SYMUP_\w+", r"\w+"), cells, strict=False)
            )
            told.append((key.pop(), variable.pop() if variable else None, flags))
    declared = variables()
    assert told == [
        (key, setting.variable, declared[setting.variable] if setting.variable else set())
        for key, setting in SETTINGS.items()
    ]


def test_the_table_of_settings_tells_their_defaults() -> None:
    told = dict(re.findall(r"^\|(?:\\.|[^|\\])*\|[^|]*\| `(\w+)` \| `(\w+)` \|", README, re.MULTILINE))
    assert told == {
        key: str(default).lower()
        for key in SETTINGS
        if isinstance(default := getattr(Settings(), key, None), bool) or key == "project"
    }


def test_every_variable_that_is_told_is_one() -> None:
    others = {"TOKEN", "RESULT_", "DEBUG", "COMPILE"}
    told = set(re.findall(r"SYMUP_([A-Z_]+)", README))
    assert {f"SYMUP_{name}" for name in told - others} <= {setting.variable for setting in SETTINGS.values()}
