"""Paths that are not there: all of them named at once, with the one that was likely meant, before anything is looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from uploader.errors import UsageError
from uploader.inputs.missing import NAMES_COMPARED, insist, nearest


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("build/Release/bin", "src"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "build/server").write_bytes(b"x")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("buidl/", "build/"),
        ("buidl", "build/"),
        ("Build", "build/"),
        ("buidl/release/bin", "build/Release/bin/"),
        ("build/sever", "build/server"),
        ("build/server/", "build/server"),
        ("./bulid", "./build/"),
        ("dist", None),
        ("build/Release/elsewhere", None),
        ("", None),
        ("a\0b", None),
    ],
)
@pytest.mark.usefixtures("folder")
def test_the_nearest_name_is_told_and_none_where_none_is_near(path: str, meant: str | None) -> None:
    told = nearest(path)
    assert (told and os.path.normpath(told)) == (meant and os.path.normpath(meant))
    assert (told or "").endswith("/") is (meant or "").endswith("/")


def test_what_is_there_passes(folder: Path) -> None:
    insist([folder, "build/", Path("build/server")], may_allow=True)


@pytest.mark.usefixtures("folder")
def test_all_that_is_missing_is_named_with_what_to_do() -> None:
    with pytest.raises(UsageError, match=r"^buidl/, dist do not exist$") as told:
        insist(["build", "buidl/", "dist"], may_allow=True)
    assert told.value.remedy == "Did you mean build/? --allow-missing skips paths that are not there."


@pytest.mark.usefixtures("folder")
def test_an_empty_path_as_of_an_unset_variable_is_told_as_such() -> None:
    with pytest.raises(UsageError, match=r"^the empty path '' does not exist$"):
        insist([""], may_allow=True)


def test_where_nothing_is_near_the_error_says_where_paths_start(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"^dist does not exist$") as told:
        insist(["dist"], may_allow=True)
    assert (told.value.remedy or "").startswith(f"Relative paths start from {folder}.")
    with pytest.raises(UsageError) as told:
        insist(["build/*.so"], may_allow=True)
    assert (told.value.remedy or "").startswith("No name matches the pattern")


def test_a_link_that_leads_nowhere_says_so(folder: Path) -> None:
    (folder / "current").symlink_to("releases/7")
    with pytest.raises(UsageError, match=r"^current is a link to releases/7, which does not exist$"):
        insist(["current"], may_allow=True)


@pytest.mark.usefixtures("folder")
def test_many_missing_paths_are_counted() -> None:
    with pytest.raises(UsageError, match="n0, n1, n2, n3, n4 and 95 more do not exist"):
        insist([f"n{number}" for number in range(100)], may_allow=True)


def test_a_folder_of_any_size_is_looked_through_in_bounded_time(folder: Path) -> None:
    for number in range(NAMES_COMPARED + 50):
        (folder / "src" / f"{number:0200}").touch()
    assert nearest("src/" + "x" * 200) is None


def test_the_flag_is_named_only_where_a_command_takes_it(tmp_path: Path) -> None:
    for may_allow in (True, False):
        with pytest.raises(UsageError) as raised:
            insist([tmp_path / "gone"], may_allow=may_allow)
        assert ("--allow-missing" in str(raised.value.remedy)) is may_allow
