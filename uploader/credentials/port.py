"""The port of all places that a token for a symbol server can come from; `uploader.credentials.find` asks them in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.credentials.token import Token


@frozen
class Asked:
    """For which server a token is wanted, and what the command line and the environment say."""

    url: str
    """In one spelling, without a credential and without a trailing slash."""
    env: Mapping[str, str]
    flag: str | None = None
    unconfirmed: bool = False
    """Nobody but a file of a checkout names the server."""


class CredentialSource(Protocol):
    """One way to a token."""

    @property
    def name(self) -> str:
        """Its name for people: it becomes `Token.origin` or a part of it."""

    @property
    def made_out_to_servers(self) -> bool:
        """Its tokens each belong to a server by its name. Other tokens are never sent to a server that only a checkout's file names."""

    def token(self, asked: Asked, /) -> Token | None:
        """The token for this server, or None. A source that is missing or broken has none.

        Raises `UsageError`, never with the secret in it, for what the user gave for this very run and can't be a token.
        """
