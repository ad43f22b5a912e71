"""Keeps tokens in the keyring, one for each server: what ``symup login`` and ``logout`` do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from uploader.credentials.given import TOKEN_VARIABLE
from uploader.credentials.stored import KEYRING_SERVICE
from uploader.credentials.token import Token
from uploader.errors import UsageError

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend

_PLAIN_TEXT = ("keyrings.alt.file", "PlaintextKeyring")


def check_keeps(dest_url: str) -> None:
    """Raises `UsageError` where no keyring would keep a token, before anybody is asked for one."""
    _keeping(dest_url)


def keep(dest_url: str, token: Token) -> str:
    """Stores the token of the server at ``dest_url``, replacing the one before; gives the keyring's name for people.

    Raises `UsageError` where no keyring takes it: never is it written anywhere else, nor to a keyring that is a plain-text file.
    """
    backend = _keeping(dest_url)
    trouble = ""
    try:
        backend.set_password(KEYRING_SERVICE, dest_url, token.reveal())
        if backend.get_password(KEYRING_SERVICE, dest_url) == token.reveal():
            return _name(backend)
        trouble = "it does not keep what it is given"
    except Exception as error:  # noqa: BLE001  # a plugin's
        # Neither the plugin's message nor its traceback: either may hold what it was asked to keep.
        trouble = type(error).__name__
    raise _no_keyring(f"the keyring ({_name(backend)}) did not take the token: {trouble}", dest_url)


def forget(dest_url: str) -> bool:
    """Deletes the token of the server at ``dest_url``; false where there was none. Raises `UsageError` where it stays."""
    backend = _backend()
    if backend is None:
        return False
    try:
        if backend.get_password(KEYRING_SERVICE, dest_url) is None:
            return False
        backend.delete_password(KEYRING_SERVICE, dest_url)
    except Exception as error:  # noqa: BLE001  # a plugin's
        trouble = type(error).__name__
    else:
        return True
    raise UsageError(
        f"the keyring ({_name(backend)}) did not delete the token of {dest_url}: {trouble}",
        remedy="Unlock the keyring, or delete the entry 'symup' with your system's own tool.",
    )


def _keeping(dest_url: str) -> KeyringBackend:
    backend = _backend()
    if backend is None:
        raise _no_keyring("there is no keyring on this machine that could keep a token", dest_url)
    return backend


def _backend() -> KeyringBackend | None:
    """The first working backend that keeps secrets in more than a plain-text file."""
    try:
        import keyring
        from keyring.backends import fail, null

        chosen = keyring.get_keyring()
        for backend in _each(chosen):
            if not isinstance(backend, fail.Keyring | null.Keyring) and not _is_plain_text(backend):
                return backend
    except Exception:  # noqa: BLE001  # a plugin's, while it is looked for
        return None
    return None


def _each(chosen: KeyringBackend) -> Iterator[KeyringBackend]:
    inner = getattr(chosen, "backends", None)
    yield from (inner if isinstance(inner, list | tuple) else (chosen,))


def _is_plain_text(backend: KeyringBackend) -> bool:
    return any((base.__module__, base.__qualname__) == _PLAIN_TEXT for base in type(backend).__mro__)


def _name(backend: KeyringBackend) -> str:
    return str(getattr(backend, "name", "") or type(backend).__name__)


def _no_keyring(message: str, dest_url: str) -> UsageError:
    host = urlsplit(dest_url).hostname or "HOST"
    return UsageError(
        f"{message}; nothing was stored",
        remedy=f"Set {TOKEN_VARIABLE} in the environment, or write 'machine {host} login token password …' to ~/.netrc (mode 600).",
    )
