"""Symbol servers among the kinds of destination: httpx, which takes long to import, is only wanted where one is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uploader import places
from uploader.destinations.port import Opening

if TYPE_CHECKING:
    from uploader.protocol.words import Destination


class ServerKind:
    """``https://host/base`` and ``http://…``."""

    schemes = ("http", "https")

    def place(self, _dest: str, _opening: Opening) -> None:
        """See `DestinationKind`: what a server stands before is its own."""

    def open(self, dest: str, opening: Opening) -> Destination:
        """See `DestinationKind`."""
        from uploader.destinations.server import HttpDestination

        url = places.server_url(dest)
        return HttpDestination(
            url, project=opening.project, token=opening.token(url), allow_insecure=opening.allow_insecure
        )
