"""A test whose peer is not on this machine is skipped with its name, or fails where peers are required."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NEEDS_A_COMPILER = "tests/objects/elf/test_elf.py::test_the_build_id_is_the_one_that_readelf_tells"


@pytest.mark.parametrize(("flags", "told"), [((), "skipped in"), (("--require-peers",), "peers are required here")])
def test_a_test_whose_compiler_is_missing_is_skipped_unless_peers_are_required(
    tmp_path: Path, flags: tuple[str, ...], told: str
) -> None:
    environment = {**os.environ, "PATH": str(tmp_path)}
    for name in ("SYMUP_REQUIRE_PEERS", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        environment.pop(name, None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", *flags, NEEDS_A_COMPILER],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert told in done.stdout
    assert "gcc is not installed" in done.stdout
