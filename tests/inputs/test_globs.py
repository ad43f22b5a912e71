"""Globs: what they match, and that none can be so made that matching it takes long."""

from __future__ import annotations

import fnmatch
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.errors import UsageError
from uploader.inputs.globs import MAX_GLOB_CHARACTERS, matches_any

GLOBS = [
    ("*.so", "a/b/libx.so", True),
    ("*.so", "libx.so.1", False),
    ("lib?.so", "libx.so", True),
    ("lib[xy].so", "libx.so", True),
    ("lib[!xy].so", "libx.so", False),
    ("lib[]x].so", "lib].so", True),
    ("lib[^a].so", "lib^.so", True),
    ("lib[", "lib[", True),
    ("*.SO", "libx.so", False),
    ("a/*.so", "a/x.so", True),
    ("a/*.so", "a/b/x.so", False),
    ("a/**/x.so", "a/x.so", True),
    ("a/**/x.so", "a/b/c/x.so", True),
    ("**/x.so", "x.so", True),
    ("**/x.so", "b/x.so", True),
    ("**/x.so", "b/yx.so", False),
    ("a/**", "a/b/c", True),
    ("a/**", "ab/c", False),
    ("build/", "deep/build", True),
    ("./a/x", "a/x", True),
    ("a.c", "abc", False),
    ("[!a]", "/", False),
    ("x\ny", "x\ny", True),
]


@pytest.mark.parametrize(("glob", "path", "expected"), GLOBS)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert matches_any(path, [glob]) is expected


@given(glob=st.text(alphabet="ab*?[]!^-\\&|~/.(", max_size=8), path=st.text(alphabet="ab^-\\/.(", max_size=8))
def test_any_glob_matches_or_is_refused_clearly(glob: str, path: str) -> None:
    try:
        answer = matches_any(path, [glob])
    except UsageError:
        answer = False
    assert answer in {True, False}


@given(glob=st.text(alphabet="ab*?c", max_size=8), name=st.text(alphabet="abc", max_size=8))
def test_within_a_name_globs_match_what_a_shell_matches(glob: str, name: str) -> None:
    assert matches_any(name, [glob]) is fnmatch.fnmatchcase(name, glob)
    assert matches_any(f"x/{name}c", [f"x/{glob}c"]) is fnmatch.fnmatchcase(f"{name}c", f"{glob}c")


@given(
    parts=st.lists(st.sampled_from(["**/", "a/", "*/", "a*/"]), max_size=5),
    path=st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5),
)
def test_across_folders_globs_match_segment_by_segment(parts: list[str], path: list[str]) -> None:
    def matches(parts: list[str], path: list[str]) -> bool:
        if not parts:
            return len(path) == 1
        if parts[0] == "**/":
            return any(matches(parts[1:], path[skipped:]) for skipped in range(len(path)))
        return len(path) > 1 and fnmatch.fnmatchcase(path[0], parts[0][:-1]) and matches(parts[1:], path[1:])

    assert matches_any("/".join(path), ["".join(parts) + "*"]) is (matches(parts, path) if parts else True)


@pytest.mark.parametrize(
    "glob", ["*a" * 25, "**a" * 25, "x/" + "*a" * 25, "**/" + "*a*/**/" * 25 + "a", "*[a]a" * 25, "*a" * 400]
)
def test_no_glob_takes_long(glob: str) -> None:
    started = time.monotonic()
    for name in ("a" * 250 + "b", "x/" + "a" * 250 + "b", "a/" * 1000 + "b"):
        assert not matches_any(name, [glob])
    assert time.monotonic() - started < 5


def test_a_glob_is_not_longer_than_any_use_has_for_it() -> None:
    with pytest.raises(UsageError, match="longer than 1,000 characters"):
        matches_any("x", ["*" * (MAX_GLOB_CHARACTERS + 1)])
