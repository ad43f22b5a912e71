"""Which level pays is measured on real uploads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from uploader.protocol import chunks

import cores
import levels


def test_a_higher_level_gives_less() -> None:
    content = b"".join(str(number * number).encode() for number in range(50_000))
    assert levels.compression(content, 19)["bytes"] < levels.compression(content, 1)["bytes"]


def test_uploads_go_through_the_line_at_each_level(
    built_binary: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "MEGABITS", (1,))
    monkeypatch.setattr(levels, "MEASURED_LEVELS", (3, chunks.LEVEL))
    binary = built_binary("g++-dwarf5")
    taken = levels.measure(cores.installed(), binary, runs=1)
    assert set(taken["uploads"]["1"]) == {"3", str(chunks.LEVEL)}
    for seconds in taken["uploads"]["1"].values():
        assert seconds[0] > taken["levels"]["9"]["bytes"] * 8 / 1e6
