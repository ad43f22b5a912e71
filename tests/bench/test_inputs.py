"""Inputs come by name, once, and never half fetched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import builds
import inputs


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SYMUP_INPUTS", str(tmp_path / "cache"))
    return inputs.cache_folder()


def test_the_cache_is_where_the_environment_says(cache: Path, tmp_path: Path) -> None:
    assert cache == tmp_path / "cache"
    assert cache.is_dir()


def test_an_unknown_name_is_refused_with_the_known_ones(cache: Path) -> None:
    with pytest.raises(inputs.InputUnavailable, match=r"'nonsense'.*python3\.11"):
        inputs.input_path("nonsense")


def test_a_path_is_its_own_name(cache: Path, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.touch()
    assert inputs.input_path(str(binary)) == binary


def test_a_group_stands_for_its_members_and_a_name_for_itself() -> None:
    assert inputs.expand(["libc6", "fresh"]) == ["libc6", *builds.RECIPES]


def test_a_fetch_that_fails_leaves_nothing_behind(cache: Path) -> None:
    def half(folder: Path) -> None:
        (folder / "part").touch()
        raise inputs.InputUnavailable("the network is gone")

    with pytest.raises(inputs.InputUnavailable):
        inputs._once(cache / "package", half)
    assert list(cache.iterdir()) == []


def test_what_is_in_the_cache_is_not_fetched_again(cache: Path) -> None:
    debug = cache / "python3.11-dbg" / "usr/lib/debug/.build-id/ab"
    debug.mkdir(parents=True)
    (debug / "small.debug").write_bytes(b"1")
    (debug / "large.debug").write_bytes(b"22")
    assert inputs.input_path("python3.11") == debug / "large.debug"


def test_a_build_is_made_once_and_names_the_tool_that_is_missing(cache: Path) -> None:
    recipe = builds.Recipe(name="x", compiler="no-such-compiler", sources=builds.C_SOURCES, flags=())
    with pytest.raises(builds.BuildUnavailable, match="no-such-compiler is not installed"):
        builds.build(recipe, cache)


def test_a_recipe_that_fails_says_what_the_compiler_said(cache: Path, peer: Callable[[str], str]) -> None:
    recipe = builds.Recipe(name="x", compiler=peer("gcc"), sources=builds.C_SOURCES, flags=("-fno-such-flag",))
    with pytest.raises(builds.BuildUnavailable, match="no-such-flag"):
        builds.build(recipe, cache)
