"""Rules of the house that no linter's configuration states."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "uploader"
SOURCES = sorted(PACKAGE.rglob("*.py"))


def module_of(source: Path) -> str:
    """The dotted name of a source file of the package."""
    parts = source.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(source: Path) -> Iterator[str]:
    """The names of the modules that a source file imports anywhere in it."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def layers() -> list[str]:
    """The modules that the layers contract of the import linter names."""
    settings: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers")
    return [module.strip() for layer in contract["layers"] for module in layer.split("|")]


@pytest.mark.parametrize(
    ("library", "owner"),
    [
        ("httpcore", "uploader.net.network"),
        ("httpx", "uploader.net"),
        ("keyring", "uploader.credentials"),
        ("elftools", "uploader.objects.elf.describe"),
        ("fastapi", "uploader.server"),
        ("uvicorn", "uploader.server"),
        ("typer", "uploader.cli"),
        ("tqdm", "uploader.cli"),
    ],
)
def test_a_library_has_one_owner(library: str, owner: str) -> None:
    users = {module_of(source) for source in SOURCES for name in imports_of(source) if name.split(".")[0] == library}
    assert {user for user in users if not f"{user}.".startswith(f"{owner}.")} == set()


def test_only_the_command_line_writes_to_the_terminal() -> None:
    writes = re.compile(r"\bprint\(|\bsys\.(stdout|stderr)\b|\binput\(")
    offenders = {
        module_of(source)
        for source in SOURCES
        if writes.search(source.read_text(encoding="utf-8"))
        and not f"{module_of(source)}.".startswith(("uploader.cli.", "uploader.__main__."))
    }
    assert offenders == set()


def test_only_the_command_line_ends_the_process() -> None:
    ends = re.compile(r"\bsys\.exit\(|\bos\._exit\(|\braise SystemExit\b")
    offenders = {module_of(source) for source in SOURCES if ends.search(source.read_text(encoding="utf-8"))}
    assert {name for name in offenders if not f"{name}.".startswith(("uploader.cli.", "uploader.__main__."))} == set()


def test_every_module_has_its_place_in_the_layers() -> None:
    """A module that the layers contract forgets would be free to import anything."""
    named = layers()
    placed = {
        module_of(source) for source in SOURCES if any(f"{module_of(source)}.".startswith(f"{one}.") for one in named)
    }
    packages = {"uploader"}
    assert {module_of(source) for source in SOURCES} - placed - packages == set()


def test_values_are_made_where_it_costs_least() -> None:
    """`uploader.values` tells why."""
    offenders = {
        module_of(source) for source in SOURCES if re.search(r"^@dataclass\(.*frozen", source.read_text(), re.MULTILINE)
    }
    assert offenders == set()


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "base"}
    assert [str(source) for source in SOURCES if source.stem in drawers] == []


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        module_of(source)
        for source in SOURCES
        if source.name != "__init__.py" and not ast.get_docstring(ast.parse(source.read_text(encoding="utf-8")))
    ]
    assert silent == []


def test_compiled_modules_declare_their_kin_beside_them() -> None:
    """A ``.pxd`` belongs to a module of the core, or gives a module's numbers to it; one left over from a module that is gone would
    break the build."""
    marks_core = re.compile(r"^import cython$", re.MULTILINE)
    for declaration in PACKAGE.rglob("*.pxd"):
        source = declaration.with_suffix(".py")
        assert source.exists(), declaration
        of_numbers = re.fullmatch(r"(#.*\n)?cdef enum:\n(    \w+ = -?\w+\n)+", declaration.read_text(encoding="utf-8"))
        assert of_numbers or marks_core.search(source.read_text(encoding="utf-8")), source


def test_the_linters_rule_out_printing_below_the_command_line() -> None:
    """T20 is what stops ``print`` in review; it must stay switched on, with the edge as its only way out in the package."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert "T20" in settings["select"]
    released = {
        path for path, rules in settings["per-file-ignores"].items() if "T20" in rules and path.startswith("uploader")
    }
    assert released == {"uploader/cli/**"}
