"""What a start costs: a command imports what it needs, and nothing that only others need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from uploader.cli.commands import COMMANDS

ROOT = Path(__file__).parents[2]
IMPORTED = (
    "import sys; from uploader.cli.main import run; run({words!r}); print(' '.join(sys.modules), file=sys.stderr)"
)

NEVER_AT_A_START = {
    "httpx",
    "keyring",
    "elftools",
    "platformdirs",
    "rich",
    "pydantic",
    "fastapi",
    "tqdm",
    "zstandard",
    "multiprocessing",
}


def modules_after(words: list[str]) -> set[str]:
    """The modules in memory once the command line has run."""
    command = [sys.executable, "-c", IMPORTED.format(words=words)]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return set(ran.stderr.splitlines()[-1].split())


@pytest.mark.skipif(sys.platform != "linux", reason="platformdirs is needed elsewhere")
def test_converting_imports_no_library_that_it_has_no_use_for(program: Path, tmp_path: Path) -> None:
    modules = modules_after(["convert", str(program), "-o", str(tmp_path / "out.gsym"), "--quiet"])
    assert (tmp_path / "out.gsym").exists()
    assert modules & NEVER_AT_A_START == set()
    assert {name for name in COMMANDS if f"uploader.cli.{name}" in modules} == {"convert"}
    assert {
        name for name in modules if name.startswith(("uploader.transfer", "uploader.store", "uploader.auth"))
    } == set()


def test_the_version_is_told_without_reading_a_command_line() -> None:
    modules = modules_after(["--version"])
    assert "typer" not in modules
    assert "uploader.config" not in modules
