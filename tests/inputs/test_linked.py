"""Where the files are looked for that DWARF names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uploader.inputs.linked import FilesBeside


def test_a_package_lies_beside_the_binary_or_its_debug_file() -> None:
    assert list(FilesBeside("/out/app").packages()) == ["/out/app.dwp"]
    assert list(FilesBeside("/out/app.debug").packages()) == ["/out/app.debug.dwp", "/out/app.dwp"]
    assert "/more/app.dwp" in FilesBeside("/out/app", ["/more"]).packages()


def test_a_split_unit_lies_where_it_was_compiled_or_beside_the_binary() -> None:
    found = FilesBeside("/out/app").split(b"/build", b"obj/a.dwo")
    assert list(found) == ["/build/obj/a.dwo", "/out/obj/a.dwo", "/out/a.dwo"]
    assert list(FilesBeside("/out/app").split(b"/build", b"/abs/a.dwo")) == ["/abs/a.dwo", "/out/a.dwo"]


def test_a_relative_folder_of_compilation_counts_only_for_a_binary_named_without_folder() -> None:
    assert list(FilesBeside("/out/app").split(b"obj", b"a.dwo")) == ["/out/a.dwo"]
    assert "obj/a.dwo" in FilesBeside("app").split(b"obj", b"a.dwo")


def test_a_link_leads_to_the_folder_of_the_real_file(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "app").write_bytes(b"")
    (tmp_path / "app").symlink_to(real / "app")
    files = FilesBeside(tmp_path / "app")
    assert str(real / "a.dwo") in files.split(b"/build", b"a.dwo")
    assert str(real / "app.dwp") in files.packages()


def test_what_lies_beside_a_link_is_found_from_a_relative_path_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "app").symlink_to(tmp_path / "app")
    monkeypatch.chdir(tmp_path)
    found = FilesBeside("out/app").split(b"/build", b"obj/a.dwo")
    assert {"out/obj/a.dwo", "out/a.dwo", str(tmp_path / "a.dwo")} <= set(found)


def test_a_supplementary_file_is_found_by_path_by_tree_and_by_id() -> None:
    files = FilesBeside("/unpacked/usr/lib/debug/.build-id/aa/bb.debug", ["/more"])
    found = files.supplementary(b"/usr/lib/debug/.dwz/x86_64-linux-gnu/foo.debug", bytes.fromhex("abcdef01"))
    assert found[0] == "/usr/lib/debug/.dwz/x86_64-linux-gnu/foo.debug"
    assert {
        "/unpacked/usr/lib/debug/.dwz/x86_64-linux-gnu/foo.debug",
        "/unpacked/usr/lib/debug/.build-id/ab/cdef01.debug",
        "/usr/lib/debug/.build-id/ab/cdef01.debug",
        "/more/.build-id/ab/cdef01.debug",
    } <= set(found)


@given(*[st.lists(st.sampled_from([b"/", b"\0", b"..", b"a", b"\xff"]), max_size=8).map(b"".join)] * 2)
def test_any_names_give_paths(directory: bytes, name: bytes) -> None:
    files = FilesBeside("/out/app", ["/more"])
    for path in (*files.split(directory, name), *files.supplementary(name, directory)):
        assert path
        assert "\0" not in path


def test_only_of_the_users_own_places_it_is_told_what_lies_there(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "away").symlink_to("/etc")
    files = FilesBeside(tmp_path / "out" / "app", [tmp_path / "more"])
    for own in ("out/a.dwo", "out/obj/a.dwo", "more/a.dwo"):
        assert files.may_tell_of(str(tmp_path / own))
    for other in ("a.dwo", "out/../a.dwo", "outside/a.dwo", "away/shadow"):
        assert not files.may_tell_of(str(tmp_path / other))
    assert not files.may_tell_of("/etc/shadow")
    assert files.may_tell_of("/usr/lib/debug/.dwz/common.debug")
