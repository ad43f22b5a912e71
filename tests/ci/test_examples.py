"""Every example builds, stores its symbols, and resolves an address that its stripped program printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ci.conftest import EXAMPLES

MARKER = "// the sampled line"
MACHINES_GO = "go, the machine's own"
RUNS = {
    "cmake-cpp": ("build.sh", ("cmake", "c++", "strip")),
    "rust": ("build.sh", ("cargo", "strip")),
    "go": ("build.sh", ()),
    MACHINES_GO: ("build.sh", ("go",)),
    "python-wheel": ("build.sh", ("cc", "strip")),
    "container": ("try.sh", ("cc", "strip")),
    "monorepo": ("try.sh", ("cc", "strip")),
    "release": ("try.sh", ("cc", "strip", "objcopy")),
    "laptop": ("try.sh", ("cc",)),
}


def test_every_example_is_tried() -> None:
    assert {folder.name for folder in EXAMPLES.iterdir() if folder.is_dir()} == {*RUNS, "hello"} - {MACHINES_GO}


@pytest.mark.parametrize("name", RUNS)
def test_it_ends_with_the_sampled_line(
    name: str, tmp_path: Path, symup_on_path: str, peer: Callable[[str], str], request: pytest.FixtureRequest
) -> None:
    script, tools = RUNS[name]
    for tool in tools:
        peer(tool)
    path = symup_on_path
    environ = dict(os.environ)
    if name == "go":
        path += os.pathsep + request.getfixturevalue("go_path")
    if name in ("go", MACHINES_GO):
        environ |= {"GOCACHE": str(tmp_path / "go-cache"), "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"}
    folder = tmp_path / "example"
    shutil.copytree(EXAMPLES / name.partition(",")[0], folder, ignore=shutil.ignore_patterns("build"))
    for variable in [variable for variable in environ if variable.startswith(("SYMUP_", "GITHUB_"))]:
        del environ[variable]

    done = subprocess.run(
        ["sh", script],
        cwd=folder,
        env=environ | {"PATH": path, "CI": "true"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    wanted = sampled_lines(folder)
    assert wanted
    for place in wanted:
        assert re.search(
            rf"^0x[0-9a-f]{{16}}  \S.* at \S*{re.escape(place)}(  \(inlined\))?$", done.stdout, re.MULTILINE
        ), f"{place} in\n{done.stdout}"


def sampled_lines(folder: Path) -> list[str]:
    """``file:line`` of every line that is marked in the example's sources."""
    return [
        f"{path.name}:{number}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".c", ".cpp", ".rs", ".go") and "build" not in path.relative_to(folder).parts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.rstrip().endswith(MARKER)
    ]
