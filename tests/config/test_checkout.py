"""A checkout's file is looked for up to the root of its repository, and speaks of nothing beyond it."""

from __future__ import annotations

from pathlib import Path

import pytest

from uploader.config.checkout import Checkout, checkout_of, is_confirmed

HOST = "https://symbols.example.com"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository, with a file of settings above it that somebody else may have put there."""
    (tmp_path / "symup.toml").touch()
    folder = tmp_path / "repository"
    (folder / ".git").mkdir(parents=True)
    (folder / "deep" / "down").mkdir(parents=True)
    return folder


def test_the_nearest_file_up_to_the_repositorys_root_counts(repository: Path) -> None:
    (repository / "symup.toml").touch()
    down = repository / "deep" / "down"
    assert checkout_of(down) == Checkout(root=repository, file=repository / "symup.toml")
    (repository / "deep" / "symup.toml").touch()
    assert checkout_of(down) == Checkout(root=repository, file=repository / "deep" / "symup.toml")


def test_nothing_above_the_repository_counts(repository: Path) -> None:
    assert checkout_of(repository / "deep") is None


def test_a_worktree_and_a_submodule_have_a_file_for_their_root(repository: Path) -> None:
    (repository / "symup.toml").touch()
    (repository / "deep" / ".git").write_text("gitdir: ../.git/modules/deep\n")
    assert checkout_of(repository / "deep" / "down") is None
    (repository / "deep" / "symup.toml").touch()
    found = checkout_of(repository / "deep" / "down")
    assert found is not None
    assert found.root == repository / "deep"


def test_without_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "symup.toml").touch()
    assert checkout_of(tmp_path / "sub") is None
    assert checkout_of(tmp_path) == Checkout(root=tmp_path, file=tmp_path / "symup.toml")


@pytest.mark.parametrize(
    ("dest", "confirmed"),
    [
        ("{root}", True),
        ("{root}/symbols", True),
        ("{root}/deep/../symbols", True),
        ("file://{root}/symbols", True),
        ("FILE://{root}/../symbols", False),
        ("file://elsewhere/{root}", False),
        ("{root}/../symbols", False),
        ("{root}-beside", False),
        ("{root}/out/symbols", False),
        ("{root}/in/symbols", True),
        ("{root}/circle/symbols", True),
        ("~nobody-of-this-name/symbols", False),
        ("gs://bucket", False),
    ],
)
def test_a_folder_of_the_checkout_needs_no_word_of_the_user(repository: Path, dest: str, confirmed: bool) -> None:
    (repository / "out").symlink_to(repository.parent)
    (repository / "in").symlink_to(repository / "deep")
    (repository / "circle").symlink_to(repository / "circle")
    assert is_confirmed(dest.format(root=repository), root=repository, trusted=()) is confirmed


@pytest.mark.parametrize(
    ("dest", "trusted", "confirmed"),
    [
        (HOST, [], False),
        (HOST, [HOST], True),
        (HOST + "/", [HOST], True),
        (HOST.upper(), [HOST], True),
        (HOST + "/base", [HOST], True),
        (HOST + "/base", [HOST + "/base/"], True),
        (HOST, [HOST + "/base"], False),
        (HOST + "/base2", [HOST + "/base"], False),
        (HOST + "/base/../other", [HOST + "/base"], False),
        (HOST + ":8443", [HOST], False),
        (HOST + ".evil.example", [HOST], False),
        ("http://symbols.example.com", [HOST], False),
        ("https://symbols.example.com@evil.example", [HOST], False),
        ("https://evil.example", [HOST, "/srv"], False),
        (HOST, ["https://bad:port", HOST], True),
        ("https://[", [HOST], False),
        ("/srv/symbols", [HOST, "/srv"], True),
        ("/srv/symbols", ["file:///srv/symbols"], True),
        ("/srv2", ["/srv"], False),
        ("gs://bucket", ["gs://bucket"], True),
    ],
)
def test_the_users_word_holds_for_the_server_or_folder_that_it_names(
    tmp_path: Path, dest: str, trusted: list[str], confirmed: bool
) -> None:
    assert is_confirmed(dest, root=tmp_path, trusted=trusted) is confirmed
