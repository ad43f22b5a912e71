"""What a repository tells of how it builds, without anything being run."""

from __future__ import annotations

from pathlib import Path

import pytest

from uploader.propose.repository import look

WHEEL = ["Python wheel with compiled modules"]


@pytest.mark.parametrize(
    ("files", "names", "paths"),
    [
        ({"CMakeLists.txt": ""}, ["CMake"], ("build",)),
        ({"meson.build": ""}, ["Meson"], ("build",)),
        ({"Cargo.toml": ""}, ["Cargo"], ("target/release",)),
        ({"go.mod": ""}, ["Go"], ("bin",)),
        ({"Makefile": ""}, ["Make"], (".",)),
        ({"CMakeLists.txt": "", "Makefile": ""}, ["CMake"], ("build",)),
        ({"CMakeLists.txt": "", "go.mod": ""}, ["CMake", "Go"], ("build", "bin")),
        ({"pyproject.toml": "requires = ['scikit-build-core']", "CMakeLists.txt": ""}, WHEEL, ("build/wheel",)),
        ({"setup.py": "setup(ext_modules=[])"}, WHEEL, ("build/wheel",)),
        ({"pyproject.toml": '[build-system]\nrequires = ["hatchling"]'}, [], ("build",)),
        ({}, [], ("build",)),
    ],
)  # fmt: skip
def test_build_systems(tmp_path: Path, files: dict[str, str], names: list[str], paths: tuple[str, ...]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = look(tmp_path)
    assert [build.name for build in found.builds] == names
    assert found.paths == paths


def test_ci_is_known_by_its_files_and_by_the_remote(tmp_path: Path) -> None:
    assert not look(tmp_path).has_github
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text('[remote "origin"]\n\turl = git@gitlab.example.com:a/b.git\n')
    assert look(tmp_path).has_gitlab
    (tmp_path / ".github").mkdir()
    assert look(tmp_path).has_github


def test_bytes_that_are_no_text_and_folders_in_a_files_place_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe" * 1000)
    (tmp_path / "CMakeLists.txt").mkdir()
    assert look(tmp_path).builds == ()
