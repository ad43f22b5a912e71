"""What a destination's text names: a server by its URL, a folder otherwise; and nothing that could be either."""

from __future__ import annotations

from pathlib import Path

import pytest

from uploader.errors import UsageError
from uploader.places import check_spelling, folder_of, is_server, scheme_of


@pytest.mark.parametrize(
    "dest",
    [
        "symbols.example.com",
        "symbols.example.com/",
        "symbols.example.com/base/more",
        "symbols.example.com:8753",
        "symbols:8753/base",
        "localhost",
        "localhost:8753",
        "10.0.0.1",
        "[::1]:8753",
        "Symbols-2.Example.COM.",
    ],
)
def test_what_looks_like_a_host_says_which_it_is(dest: str) -> None:
    with pytest.raises(ValueError, match="may be a server or a folder") as caught:
        check_spelling(dest)
    assert f"://{dest} " in str(caught.value)


@pytest.mark.parametrize(("dest", "url"), [("localhost:1", "http://"), ("127.0.0.1:1", "http://"), ("a.b", "https://")])
def test_this_machine_is_proposed_over_http_and_others_over_https(dest: str, url: str) -> None:
    with pytest.raises(ValueError, match=url + dest):
        check_spelling(dest)


@pytest.mark.parametrize(
    "dest",
    [
        "symbols",
        "build/symbols.d",
        "./symbols.example.com",
        "../symbols.example.com",
        "/srv/symbols.example.com",
        "~/symbols.example.com",
        ".symbols",
        "a b.c",
        "out_1.2",
        "https://symbols.example.com",
        "file:///srv",
        "C:/symbols",
    ],
)
def test_what_can_only_be_one_of_them_is_fine(dest: str) -> None:
    check_spelling(dest)


def test_a_folder_that_is_there_is_meant(tmp_path: Path) -> None:
    (tmp_path / "symbols.example.com").mkdir()
    check_spelling("symbols.example.com", beside=tmp_path)
    with pytest.raises(ValueError, match="may be a server or a folder"):
        check_spelling("symbols.example.com", beside=tmp_path / "elsewhere")


def test_a_scheme_says_what_is_named() -> None:
    assert scheme_of("HTTPS://host") == "https"
    assert scheme_of("a/b") == scheme_of("c:/d") == ""
    assert is_server("HTTP://host")
    assert not is_server("ftp://host")
    assert folder_of("file:///srv/a%20b") == Path("/srv/a b")
    assert folder_of("FILE://localhost/srv") == Path("/srv")
    assert folder_of("s3://bucket") is None
    assert folder_of("~") == Path.home()


@pytest.mark.parametrize("dest", ["file://elsewhere/srv", "file://", "~nobody-of-this-name/x"])
def test_a_folder_that_can_not_be_is_a_usage_error(dest: str) -> None:
    with pytest.raises(UsageError):
        folder_of(dest)
