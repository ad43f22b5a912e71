"""The common parts of `login`, `logout` and `whoami`: a server's URL in the one spelling that tokens are kept under, and asking it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from uploader import places
from uploader.errors import NotAllowed, UsageError
from uploader.model import Identity, IdScheme, Quality, SymbolId

if TYPE_CHECKING:
    from uploader.credentials.token import Token
    from uploader.protocol.words import Capabilities, Destination

_NOBODYS_ID = SymbolId(scheme=IdScheme.GNU, value="00" * 20)


def checked_url(dest: str) -> str:
    """The server's URL as tokens are kept under it. Raises `UsageError` for what is no server."""
    if not places.is_server(dest):
        raise UsageError(f"{dest!r} is no server: only those want a token", remedy="Name its URL: https://host/base.")
    return places.server_url(dest)


def check(url: str, token: Token, *, allow_insecure: bool) -> Capabilities:
    """Asks the server whether it knows the token. Raises `NotAllowed`, `NetworkGaveOut`, `Refused`, `UsageError`."""
    from uploader.cli.terminal import Waits
    from uploader.destinations.server import HttpDestination

    destination = HttpDestination(url, project="default", token=token, allow_insecure=allow_insecure)
    destination.tell_waiting(Waits())
    try:
        return destination.capabilities()
    finally:
        destination.close()


def may(destination: Destination) -> tuple[bool, bool]:
    """Whether this login may upload to, and ask what is stored in, the destination's project: asked with questions that change nothing."""
    from uploader.protocol.words import Question

    return (
        _allowed(
            lambda: destination.negotiate([Question(identity=Identity(primary=_NOBODYS_ID), quality=Quality.FULL)])
        ),
        _allowed(lambda: destination.manifest(_NOBODYS_ID)),
    )


def _allowed(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except NotAllowed:
        return False
    return True
