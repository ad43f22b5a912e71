"""A remedy names only flags that the command whose user reads it has."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from uploader.cli import commands
from uploader.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
FLAG = re.compile(r"(?<![\w,-])--[a-z][a-z0-9-]*")
COMMAND = re.compile(rf"symup ({'|'.join(COMMANDS)})\b")
UPLOADING = ("destinations", "protocol", "net", "pipeline", "inputs", "sources", "objects", "gsym", "symbols")
"""Rooms whose errors reach the users of `upload`."""


def remedies() -> Iterator[tuple[Path, int, str]]:
    """Every text that is given as a remedy, by its keyword or by the name of a constant."""
    for path in sorted((ROOT / "uploader").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "remedy":
                yield path, node.value.lineno, text_of(node.value)
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                names = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
                if any(isinstance(name, ast.Name) and name.id.lower().endswith(("remedy", "advice")) for name in names):
                    yield path, node.lineno, text_of(node.value)


def text_of(node: ast.expr) -> str:
    return "".join(
        inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    )


@functools.cache
def options_of(command: str) -> frozenset[str]:
    group: Any = typer.main.get_command(commands._application([]))
    return frozenset(name for one in group.commands[command].params for name in one.opts)


def readers(path: Path) -> set[str]:
    """The commands whose users read a remedy that names no command beside a flag: one of them must have the flag."""
    room = path.relative_to(ROOT / "uploader").parts
    if room[0] in UPLOADING:
        return {"upload"}
    if room[0] in ("server", "store"):
        return {"serve", "upload"}
    if room[0] == "cli" and room[1].removesuffix(".py") in COMMANDS:
        return {room[1].removesuffix(".py")}
    return set(COMMANDS)


def flags_by_command(path: Path, text: str) -> Iterator[tuple[str, set[str]]]:
    """Each flag, and the commands of which one has it: the one named before it in the same clause, if there is one."""
    for clause in re.split(r"[.:;,`](?:\s|$)", text):
        for flag in FLAG.finditer(clause):
            named = COMMAND.findall(clause[: flag.start()])
            if "pip " in clause[: flag.start()]:
                continue
            yield flag[0], {named[-1]} if named else readers(path)


REMEDIES = [(path, line, text) for path, line, text in remedies() if FLAG.search(text)]


def test_there_are_remedies_with_flags() -> None:
    assert len(REMEDIES) > 5


@pytest.mark.parametrize(
    ("path", "line", "text"), REMEDIES, ids=[f"{path.relative_to(ROOT)}:{line}" for path, line, _ in REMEDIES]
)
def test_a_remedy_names_flags_that_are_there(path: Path, line: int, text: str) -> None:
    for flag, those in flags_by_command(path, text):
        assert flag in {"--help"}.union(*map(options_of, those)), text


def test_a_flag_that_is_not_there_would_be_seen() -> None:
    transfer = ROOT / "uploader/destinations/server.py"
    for text, works in (
        ("Start the server with symup serve --max-such-size.", False),
        ("Use https, or say --allow-insecure.", False),
        ("Say so once: symup login --allow-insecure.", True),
        ("Name one with --to.", True),
    ):
        found = list(flags_by_command(transfer, text))
        assert found
        assert all(flag in options_of(one) for flag, those in found for one in those) is works
