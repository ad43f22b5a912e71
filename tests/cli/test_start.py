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
    "socket",
    "tempfile",
    "tomllib",
}

NEVER_FOR_A_LINKED_PROGRAM = {
    "uploader.objects.elf.crel",
    "uploader.objects.elf.relocate",
    "uploader.inputs.debuginfod",
    "uploader.sources.dwarf.package_index",
    "uploader.sources.dwarf.split",
    "uploader.gsym.merged_functions",
    "uploader.report.github",
    "uploader.report.gitlab",
    "uploader.report.html",
    "uploader.report.json",
}

AFTER_THE_DECODER = {
    "concurrent.futures",
    "logging",
    "uploader.cli.tell",
    "uploader.gsym.encode",
    "uploader.pipeline.gates",
    "uploader.report.text",
}
"""While the decoder is imported the largest section is inflated: these have no part in what comes before."""


def modules_after(words: list[str]) -> list[str]:
    """The modules in memory once the command line has run, in the order in which they were ready."""
    command = [sys.executable, "-c", IMPORTED.format(words=words)]
    ran = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return ran.stderr.splitlines()[-1].split()


@pytest.mark.skipif(sys.platform != "linux", reason="platformdirs is needed elsewhere")
def test_converting_imports_no_library_that_it_has_no_use_for(program: Path, tmp_path: Path) -> None:
    modules = modules_after(["convert", str(program), "-o", str(tmp_path / "out.gsym"), "--quiet"])
    assert (tmp_path / "out.gsym").exists()
    assert NEVER_AT_A_START.intersection(modules) == set()
    assert NEVER_FOR_A_LINKED_PROGRAM.intersection(modules) == set()
    assert {name for name in COMMANDS if f"uploader.cli.{name}" in modules} == {"convert"}
    assert {
        name for name in modules if name.startswith(("uploader.destinations", "uploader.store", "uploader.credentials"))
    } == set()


def test_what_is_not_needed_to_begin_waits_for_the_decoder(program: Path, tmp_path: Path) -> None:
    modules = modules_after(["convert", str(program), "-o", str(tmp_path / "out.gsym"), "--quiet"])
    before = modules[: modules.index("uploader.sources")]
    assert AFTER_THE_DECODER.intersection(before) == set()
    assert AFTER_THE_DECODER.intersection(modules) == AFTER_THE_DECODER


def test_the_version_is_told_without_reading_a_command_line() -> None:
    modules = modules_after(["--version"])
    assert "typer" not in modules
    assert "uploader.config" not in modules
