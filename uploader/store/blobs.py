"""The port that a store needs of the place that keeps its bytes: a folder, or a bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO, Protocol, TypeVar

from uploader.values import frozen

T = TypeVar("T")
R = TypeVar("R")


@frozen
class Blob:
    """The bytes under a key, and the tag that `Blobs.swap` recognises this very content by."""

    data: bytes
    tag: str
    trouble: str | None = None
    """The reason why it can't be anybody's content ("is a folder"); ``data`` is empty then, and it can be replaced."""


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

    def size_bytes(self, key: str) -> int | None:
        """How long the content is, without reading it; None where there is none."""

    def sizes_bytes(self, keys: Sequence[str]) -> list[int | None]:
        """`size_bytes` of many keys, asked side by side where that takes less time."""

    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """What a task of several requests gives for each item, in their order; side by side where that takes less time.

        A task must not call this.
        """

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Stores ``data`` where nothing is yet; false where something is, which stays as it is."""

    def swap(self, key: str, data: bytes, *, tag: str | None) -> bool:
        """Replaces, all at once, the content that ``tag`` names (None: absence); false where it is another by now.

        It may be true where that other is ``data`` itself: an attempt whose answer was lost finds its own work.
        """

    def replace(self, key: str, data: bytes) -> None:
        """Stores ``data`` in the place of whatever is there, readable or not."""

    def delete(self, keys: Sequence[str]) -> None:
        """Deletes the contents, whatever they are by now. `uploader.store.condemned` says who may."""

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        """All keys below ``prefix`` (a key's leading names, ending with ``/``), in order; what comes or goes meanwhile may be missed.

        Where what lies below a key can't be listed, the key itself is named, and `get` of it tells why.
        """

    def sweep(self, *, unmodified_since: float) -> int:
        """Removes what killed writers left behind before that time; how many leftovers went."""

    @property
    def guarded(self) -> bool:
        """Whether `swap` and `put_if_absent` are atomic here; where they aren't, nothing is collected."""

    def now(self) -> float:
        """Seconds since the epoch, by the place's own clock."""

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        """An empty file without a name, for what is too large for memory; gone after the block, or when its writer dies."""
