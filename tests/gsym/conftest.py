"""What the tests of the format share."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gsym.llvm_answers import Gsymutil


@pytest.fixture
def gsymutil(peer: Callable[[str], str]) -> Gsymutil:
    """Runs llvm-gsymutil, which may not complain, and gives what it printed."""
    tool = peer("llvm-gsymutil-22")

    def run(*arguments: str | Path) -> str:
        done = subprocess.run([tool, *arguments], capture_output=True, text=True, check=True, timeout=120)
        assert not done.stderr, done.stderr
        return done.stdout

    return run
