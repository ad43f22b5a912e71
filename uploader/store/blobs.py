"""The port that a store needs of the place that keeps its bytes: a folder, or a bucket."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from uploader.values import frozen


@frozen
class Blob:
    """The bytes under a key, and the tag that `Blobs.swap` recognises this very content by."""

    data: bytes
    tag: str


@frozen
class BlobInfo:
    """One key of a listing. ``modified_at`` is seconds since the epoch, by the place's own clock."""

    key: str
    size_bytes: int
    modified_at: float


class Blobs(Protocol):
    """Whole, small objects under keys of ``/``-separated names. Every write is atomic and durable once it returns.

    All methods may be called from several threads and processes at once. Trouble of the place itself (no space, no
    permission) is raised as `uploader.errors.Refused`.
    """

    def get(self, key: str) -> Blob | None:
        """The whole content, or None where there is none."""

    def exists(self, key: str) -> bool:
        """Whether there is anything under the key."""

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Stores ``data`` where nothing is yet; false where something is, which stays as it is."""

    def swap(self, key: str, data: bytes, *, tag: str | None) -> bool:
        """Replaces, all at once, the content that ``tag`` names (None: absence); false where it is another by now."""

    def refresh(self, key: str) -> bool:
        """Makes the content as young as one just written, and as durable; false where there is none."""

    def delete(self, key: str, *, unmodified_since: float) -> bool:
        """Deletes the content unless it was written or refreshed since; never crosses a `refresh` that returned true."""

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        """All keys below ``prefix`` (a key's leading names, ending with ``/``), in order; what comes or goes meanwhile may be missed."""

    def sweep(self, *, unmodified_since: float) -> int:
        """Removes what killed writers left behind before that time; how many leftovers went."""
