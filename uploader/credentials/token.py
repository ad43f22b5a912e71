"""A credential that can't be shown by accident."""

from __future__ import annotations

from typing import final


@final
class Token:
    """Holds a secret; only `reveal` gives it out. ``repr``, ``str`` and formatting hide it, and it refuses to be pickled."""

    __slots__ = ("_secret", "origin")

    origin: str
    """The place where it was found, for people: ``--token``, ``SYMUP_TOKEN``, ``keyring``, ``netrc``."""

    def __init__(self, secret: str, *, origin: str = "") -> None:
        """Raises `ValueError` (without the secret in it) for an empty secret, or one that can't stand in an HTTP header."""
        if not secret or not secret.isascii() or not secret.isprintable() or " " in secret:
            raise ValueError("a token is made of printable ASCII characters without spaces")
        self._secret = secret
        self.origin = origin

    def reveal(self) -> str:
        """The secret itself, for the one place that sends it."""
        return self._secret

    def __repr__(self) -> str:
        return f"Token(***, origin={self.origin!r})"

    def __str__(self) -> str:
        return "***"

    def __reduce__(self) -> str:
        raise TypeError("a token is not written anywhere")
