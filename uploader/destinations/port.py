"""A kind of destination stands behind this port; what it opens is a `uploader.protocol.words.Destination`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from uploader.values import frozen

if TYPE_CHECKING:
    from uploader.credentials.token import Token
    from uploader.protocol.words import Destination
    from uploader.store.blobs import Blobs

FindToken = Callable[[str], "Token | None"]


@frozen
class Opening:
    """The values that a destination is opened with, beside its name."""

    project: str
    """A sound name."""
    token: FindToken
    """Asked for a server's URL only."""
    env: Mapping[str, str] = field(default_factory=dict)
    """The environment, in which the providers of object storage have their own variables."""
    allow_insecure: bool = False
    """A token may travel over plain http beyond loopback."""


class DestinationKind(Protocol):
    """A kind of destination, by what its names look like."""

    @property
    def schemes(self) -> tuple[str, ...]:
        """The schemes of its URLs, in lower case; the empty one is a path's."""

    def place(self, dest: str, opening: Opening, /) -> Blobs | None:
        """The place that keeps the store's bytes; None where a server stands before it. Nothing is contacted or made yet."""

    def open(self, dest: str, opening: Opening, /) -> Destination:
        """The destination that ``dest`` names. Nothing is contacted or made yet. Raises `UsageError`."""
