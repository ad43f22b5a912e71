"""Blobs in a dictionary, as short as the port allows: another place that holds what the port asks, and a store over no folder at all."""

from __future__ import annotations

import hashlib
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import IO, TypeVar

from uploader.store.blobs import Blob, BlobInfo

T = TypeVar("T")
R = TypeVar("R")


class MemoryBlobs:
    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._held: dict[str, tuple[bytes, float]] = {}
        self._guard = threading.Lock()

    def get(self, key: str) -> Blob | None:
        with self._guard:
            held = self._held.get(key)
        return None if held is None else Blob(data=held[0], tag=_tag(held[0]))

    def size_bytes(self, key: str) -> int | None:
        blob = self.get(key)
        return None if blob is None else len(blob.data)

    def sizes_bytes(self, keys: Sequence[str]) -> list[int | None]:
        return [self.size_bytes(key) for key in keys]

    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        return map(task, items)

    guarded = True

    def put_if_absent(self, key: str, data: bytes) -> bool:
        return self.swap(key, data, tag=None)

    def swap(self, key: str, data: bytes, *, tag: str | None) -> bool:
        with self._guard:
            held = self._held.get(key)
            if (None if held is None else _tag(held[0])) != tag:
                return False
            self._held[key] = bytes(data), self._clock()
            return True

    def replace(self, key: str, data: bytes) -> None:
        with self._guard:
            self._held[key] = bytes(data), self._clock()

    def delete(self, keys: Sequence[str]) -> None:
        with self._guard:
            for key in keys:
                self._held.pop(key, None)

    def now(self) -> float:
        return self._clock()

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        with self._guard:
            held = sorted(self._held.items())
        for key, (data, modified_at) in held:
            if key.startswith(prefix):
                yield BlobInfo(key=key, size_bytes=len(data), modified_at=modified_at)

    def sweep(self, *, unmodified_since: float) -> int:
        return 0

    def scratch(self) -> AbstractContextManager[IO[bytes]]:
        return tempfile.TemporaryFile()


def _tag(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
