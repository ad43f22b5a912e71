"""Tokens in the keyring: one for each server, never anywhere else, never shown."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import chainer, fail, null

from uploader.credentials.find import find_token
from uploader.credentials.keep import forget, keep
from uploader.credentials.token import Token
from uploader.errors import UsageError

URL = "https://symbols.example.com/base"
OTHER = "https://symbols.example.com/other"
SECRET = "s3cr3t-value"


class MemoryKeyring(KeyringBackend):
    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # keyring's own
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


class TalkativeKeyring(MemoryKeyring):
    """Fails, and says what it was given."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"can't store {password}")

    def delete_password(self, service: str, username: str) -> None:
        raise RuntimeError(f"can't delete {self.entries[service, username]}")


class ForgetfulKeyring(MemoryKeyring):
    def set_password(self, service: str, username: str, password: str) -> None:
        pass


# As keyrings.alt names its own, which writes a readable file.
PlaintextKeyring = type("PlaintextKeyring", (MemoryKeyring,), {"__module__": "keyrings.alt.file"})


@pytest.fixture(autouse=True)
def restored_keyring() -> Iterator[None]:
    before = keyring.get_keyring()
    yield
    keyring.set_keyring(before)


def use(backend: Any) -> Any:
    keyring.set_keyring(backend)
    return backend


def found(url: str) -> str | None:
    token = find_token(url, env={}, netrc=False)
    return None if token is None else token.reveal()


def test_servers_have_their_tokens_side_by_side() -> None:
    use(MemoryKeyring())
    keep(URL, Token("first"))
    keep(OTHER, Token("second"))
    keep(URL, Token("third"))
    assert (found(URL), found(OTHER)) == ("third", "second")
    assert forget(URL)
    assert (found(URL), found(OTHER)) == (None, "second")
    assert not forget(URL)


@pytest.mark.parametrize("backend", [fail.Keyring, null.Keyring, ForgetfulKeyring, TalkativeKeyring, PlaintextKeyring])
def test_where_no_keyring_keeps_it_there_is_a_hint_and_nothing_is_stored(backend: type[Any]) -> None:
    used = use(backend())
    with pytest.raises(UsageError) as caught:
        keep(URL, Token(SECRET))
    assert "SYMUP_TOKEN" in (caught.value.remedy or "")
    assert "machine symbols.example.com" in (caught.value.remedy or "")
    assert "nothing was stored" in caught.value.message
    assert SECRET not in "".join(traceback.format_exception(caught.value)) + str(caught.value.remedy)
    assert not getattr(used, "entries", {})


def test_a_plain_text_file_is_passed_over_where_there_is_something_better(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, good = PlaintextKeyring(), MemoryKeyring()
    monkeypatch.setattr(chainer.ChainerBackend, "backends", [plain, good])
    use(chainer.ChainerBackend())  # type: ignore[no-untyped-call]  # keyring's own
    keep(URL, Token(SECRET))
    assert list(good.entries.values()) == [SECRET]
    assert not plain.entries
    assert found(URL) == SECRET


def test_a_keyring_that_breaks_down_looks_like_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> KeyringBackend:
        raise OSError("no D-Bus here")

    monkeypatch.setattr(keyring, "get_keyring", broken)
    assert not forget(URL)
    with pytest.raises(UsageError, match="no keyring"):
        keep(URL, Token(SECRET))


def test_a_token_that_stays_is_told_without_showing_it() -> None:
    backend = use(TalkativeKeyring())
    backend.entries["symup", URL] = SECRET
    with pytest.raises(UsageError) as caught:
        forget(URL)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
