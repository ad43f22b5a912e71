import copy
import pickle
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend

from uploader.credentials.find import find_token
from uploader.credentials.stored import KEYRING_SERVICE
from uploader.credentials.token import Token
from uploader.errors import NotAllowed, UsageError

URL = "https://symbols.example.com/base"


class MemoryKeyring(KeyringBackend):
    priority = 1

    def __init__(self, entries: Any = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring's own
        self.entries = dict(entries)

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password


class BrokenKeyring(KeyringBackend):
    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        raise OSError("no D-Bus here")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise OSError("no D-Bus here")


@pytest.fixture(autouse=True)
def restored_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    path = tmp_path / ".netrc"
    path.write_text("machine symbols.example.com login me password from-netrc\ndefault login me password for-anyone\n")
    path.chmod(0o600)
    return {"HOME": str(tmp_path)}


def found(url: str, **options: Any) -> Token:
    token = find_token(url, **options)
    assert token is not None
    return token


def test_flag_comes_before_environment_before_keyring_before_netrc(home: dict[str, str]) -> None:
    keyring.set_keyring(MemoryKeyring({(KEYRING_SERVICE, URL): "from-keyring"}))
    with_variable = home | {"SYMUP_TOKEN": "from-variable\n"}

    assert found(URL, flag="from-flag", env=with_variable).reveal() == "from-flag"
    assert found(URL, env=with_variable).reveal() == "from-variable"
    assert found(URL, env=home).reveal() == "from-keyring"
    assert found(URL, env=home, keyring=False).reveal() == "from-netrc"
    assert find_token(URL, env=home, keyring=False, netrc=False) is None


def test_origin_says_where_it_was_found(home: dict[str, str]) -> None:
    assert found(URL, env=home).origin == "netrc"


def test_netrc_default_entry_is_never_handed_to_a_server(home: dict[str, str]) -> None:
    assert find_token("https://elsewhere.example.com", env=home) is None


def test_netrc_can_lie_where_the_environment_says(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere"
    path.write_text("machine symbols.example.com password from-there\n")
    assert found(URL, env={"NETRC": str(path)}).reveal() == "from-there"


def test_without_a_home_in_the_environment_netrc_lies_where_the_system_says(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", home["HOME"])
    assert found(URL, env={}).reveal() == "from-netrc"


@pytest.mark.parametrize("content", ["machine", "\0\xff", "machine symbols.example.com password 'a b'"])
def test_broken_netrc_is_as_good_as_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / ".netrc"
    path.write_text(content, encoding="latin-1")
    assert find_token(URL, env={"HOME": str(tmp_path)}) is None


def test_missing_or_broken_keyring_is_never_an_error(tmp_path: Path) -> None:
    keyring.set_keyring(BrokenKeyring())  # type: ignore[no-untyped-call]  # keyring's own
    assert find_token(URL, env={"HOME": str(tmp_path)}) is None
    keyring.set_keyring(keyring.backends.fail.Keyring())  # type: ignore[no-untyped-call]  # keyring's own
    assert find_token(URL, env={"HOME": str(tmp_path)}) is None


@pytest.mark.parametrize("bad", ["two words", "käse", "", "line\nbreak", "a\x00b"])
def test_what_cannot_be_a_token_is_refused_without_being_shown(bad: str) -> None:
    with pytest.raises(UsageError) as caught:
        find_token(URL, flag=bad, env={})
    shown = "".join(traceback.format_exception(caught.value))
    assert "--token" in caught.value.message
    assert not bad or bad not in shown


def test_token_hides_itself() -> None:
    token = Token("s3cr3t-value", origin="--token")
    shown = [repr(token), str(token), f"{token}", "%s" % token, repr([token]), repr({"token": token})]  # noqa: UP031
    assert all("s3cr3t" not in text for text in shown)
    assert not hasattr(token, "__dict__")


def test_token_can_not_be_written_anywhere() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(Token("s3cr3t-value"))
    with pytest.raises(TypeError):
        copy.deepcopy(Token("s3cr3t-value"))


NAMED_BY = Path("/checkout/symup.toml")


def test_a_server_that_only_a_checkouts_file_names_does_not_get_the_variables_token(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "SYMUP_TOKEN": "from-variable"}
    with pytest.raises(NotAllowed) as caught:
        find_token(URL, env=env, named_by=NAMED_BY)
    assert (URL in caught.value.message, str(NAMED_BY) in caught.value.message) == (True, True)
    told = caught.value.remedy or ""
    assert f"SYMUP_TO={URL}" in told
    assert f"symup login {URL}" in told
    assert "from-variable" not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(NotAllowed):
        find_token(URL, flag="from-flag", env={"HOME": str(tmp_path)}, named_by=NAMED_BY)


def test_without_any_token_such_a_server_is_used_without(tmp_path: Path) -> None:
    for variable in ("", "  "):
        env = {"HOME": str(tmp_path), "SYMUP_TOKEN": variable}
        assert find_token(URL, env=env, named_by=NAMED_BY) is None


def test_such_a_server_gets_the_token_that_was_made_out_to_it_before_any_other(home: dict[str, str]) -> None:
    env = home | {"SYMUP_TOKEN": "from-variable"}
    assert found(URL, env=env, named_by=NAMED_BY).reveal() == "from-netrc"
    keyring.set_keyring(MemoryKeyring({(KEYRING_SERVICE, URL): "from-keyring"}))
    assert found(URL, env=env, named_by=NAMED_BY).reveal() == "from-keyring"
    for other in (URL + "/more", URL + ":8443", "https://elsewhere.example.com"):
        with pytest.raises(NotAllowed):
            find_token(other.replace("/base:", ":"), env={**env, "HOME": "/nowhere"}, named_by=NAMED_BY)


@pytest.mark.parametrize(
    ("url", "gets"),
    [
        ("https://symbols.example.com", True),
        ("https://symbols.example.com:443/base", True),
        ("https://symbols.example.com:8443", False),
        ("http://symbols.example.com", False),
        ("http://symbols.example.com:443", False),
    ],
)
def test_netrc_speaks_for_a_host_not_for_what_else_listens_on_it(home: dict[str, str], url: str, gets: bool) -> None:
    token = find_token(url, env=home, named_by=NAMED_BY)
    assert (token is not None) is gets
    assert found(url, env=home).reveal() == "from-netrc", "named by its owner it is sent"
