"""A bucket of object storage as a destination."""

from __future__ import annotations

from urllib.parse import urlsplit

from uploader.destinations.direct import DirectDestination
from uploader.destinations.port import Opening
from uploader.net.loopback import is_loopback
from uploader.protocol.words import Capabilities, Destination
from uploader.store.bucket import BucketBlobs, open_bucket

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")


class BucketKind:
    """``s3://bucket/prefix``, ``gs://bucket/prefix``, ``az://container/prefix``."""

    schemes = ("s3", "gs", "az")

    def place(self, dest: str, opening: Opening) -> BucketBlobs:
        """See `DestinationKind`. Plain http is spoken to loopback only, unless told otherwise."""
        endpoints = [opening.env[name] for name in _ENDPOINTS if opening.env.get(name)]
        local = bool(endpoints) and all(is_loopback(urlsplit(url).hostname or "") for url in endpoints)
        return open_bucket(dest, env=opening.env, allow_http=opening.allow_insecure or local)

    def open(self, dest: str, opening: Opening) -> Destination:
        """See `DestinationKind`."""
        return _BucketDestination(self.place(dest, opening), opening.project, url=dest.rstrip("/"))


class _BucketDestination(DirectDestination):
    """A bucket that may not be there: the first contact asks for it."""

    def __init__(self, blobs: BucketBlobs, project: str, *, url: str) -> None:
        super().__init__(blobs, project, url=url, what="object storage")
        self._blobs = blobs
        self._contacted = False

    def capabilities(self) -> Capabilities:
        """See `Destination.capabilities`. Raises `Refused` where there is no such bucket."""
        if not self._contacted:
            self._blobs.check()
            self._contacted = True
        return super().capabilities()
