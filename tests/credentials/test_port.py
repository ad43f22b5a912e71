"""A way to a token that is made here is asked in its turn, by its place in the registry alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from uploader.credentials import find
from uploader.credentials.port import Asked, CredentialSource
from uploader.credentials.token import Token
from uploader.errors import NotAllowed

URL = "https://symbols.example.com"
SOURCES = pytest.mark.parametrize("source", find.SOURCES, ids=lambda source: source.name)


class Drawer:
    """Has one token, made out to nobody or to this server."""

    name = "drawer"

    def __init__(self, *, made_out_to_servers: bool) -> None:
        self.made_out_to_servers = made_out_to_servers

    def token(self, asked: Asked) -> Token | None:
        return Token("from-drawer", origin=self.name) if asked.url == URL else None


@SOURCES
def test_a_way_that_has_nothing_gives_nothing(source: CredentialSource, tmp_path: Path) -> None:
    assert [other.name for other in find.SOURCES].count(source.name) == 1
    assert source.token(Asked(url="http://127.0.0.1:1/nowhere", env={"HOME": str(tmp_path)})) is None


def test_one_line_in_the_registry_makes_a_way_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = {"HOME": str(tmp_path)}
    assert find.find_token(URL, env=env, keyring=False) is None
    monkeypatch.setattr(find, "SOURCES", (*find.SOURCES, Drawer(made_out_to_servers=True)))
    for named_by in (None, Path("symup.toml")):
        token = find.find_token(URL, env=env, keyring=False, named_by=named_by)
        assert token is not None
        assert token.origin == "drawer"
    assert find.find_token(URL, env=env | {"SYMUP_TOKEN": "mine"}, keyring=False).origin == "SYMUP_TOKEN"  # type: ignore[union-attr]


def test_a_way_that_is_made_out_to_nobody_gives_nothing_to_a_server_that_only_a_checkout_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "SOURCES", (*find.SOURCES, Drawer(made_out_to_servers=False)))
    with pytest.raises(NotAllowed, match="drawer is not sent"):
        find.find_token(URL, env={"HOME": str(tmp_path)}, keyring=False, named_by=Path("symup.toml"))
