"""Blobs in a folder: atomic, durable, and safe with any number of writers in any number of processes.

A blob is written to a file of its own in ``.tmp``, synced, then renamed to its place, and the folder that now names it is
synced too (POSIX: a rename is atomic, and durable once the folder is). The file of a killed writer stays in ``.tmp`` and hurts
no one. ``.locks`` holds empty files for the step that must not be crossed: compare-and-replace.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import shutil
import stat
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TypeVar

from uploader.errors import Refused, UsageError
from uploader.store.blobs import Blob, BlobInfo
from uploader.store.lock import exclusive

T = TypeVar("T")
R = TypeVar("R")

_TEMPORARY = ".tmp"
_LOCKS = ".locks"
_LOCK_COUNT = 64
# A path that held a file a moment ago may hold a pipe now, or a link.
_READ_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_MAX_FILE_SIZE_BYTES = 16 * 1024 * 1024


class FolderBlobs:
    """`uploader.store.blobs.Blobs` over the folder ``root``, which the first write makes."""

    def __init__(self, root: Path) -> None:
        """Raises `UsageError` where ``root`` is there and is no folder."""
        self._root = root
        self._durable_folders: set[Path] = set()
        self._durable_folders_guard = threading.Lock()
        if root.exists() and not root.is_dir():
            raise UsageError(f"{root} is not a folder", remedy="Name a folder, or a path where one can be made.")

    @property
    def root(self) -> Path:
        """The folder."""
        return self._root

    def get(self, key: str) -> Blob | None:
        """See `Blobs.get`."""
        with self._translated(key):
            return self._read(self._path(key))

    def size_bytes(self, key: str) -> int | None:
        """See `Blobs.size_bytes`."""
        path = self._path(key)
        with self._translated(key):
            status = _status(path)
        if status is None or stat.S_ISDIR(status.st_mode):
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else 0

    def sizes_bytes(self, keys: Sequence[str]) -> list[int | None]:
        """See `Blobs.sizes_bytes`."""
        return [self.size_bytes(key) for key in keys]

    def map(self, task: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """See `Blobs.map`."""
        return map(task, items)

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """See `Blobs.put_if_absent`."""
        path = self._path(key)
        with self._translated(key):
            if _is_regular(path):
                return False
            self._make_folder(path.parent)
            with self._written(data) as temporary, self._locked(key):
                if _is_regular(path):
                    return False
                self._put_in_place(temporary, path)
            _sync_folder(path.parent)
            return True

    def swap(self, key: str, data: bytes, *, tag: str | None) -> bool:
        """See `Blobs.swap`."""
        path = self._path(key)
        with self._translated(key):
            self._make_folder(path.parent)
            with self._written(data) as temporary, self._locked(key):
                current = self._read(path)
                if (None if current is None else current.tag) != tag:
                    return False
                self._put_in_place(temporary, path)
            _sync_folder(path.parent)
            return True

    def replace(self, key: str, data: bytes) -> None:
        """See `Blobs.replace`."""
        path = self._path(key)
        with self._translated(key):
            self._make_folder(path.parent)
            with self._written(data) as temporary, self._locked(key):
                self._put_in_place(temporary, path)
            _sync_folder(path.parent)

    def delete(self, keys: Sequence[str]) -> None:
        """See `Blobs.delete`."""
        for key in keys:
            path = self._path(key)
            if _status(path) is None:
                continue
            with self._translated(key), self._locked(key), contextlib.suppress(FileNotFoundError, NotADirectoryError):
                if not self._put_folder_aside(path):
                    os.unlink(path)

    @property
    def guarded(self) -> bool:
        """See `Blobs.guarded`."""
        return True

    def now(self) -> float:
        """See `Blobs.now`."""
        return time.time()

    def list(self, prefix: str) -> Iterator[BlobInfo]:
        """See `Blobs.list`."""
        with self._translated(prefix):
            yield from self._walk(self._path(prefix.removesuffix("/")), prefix)

    def sweep(self, *, unmodified_since: float) -> int:
        """See `Blobs.sweep`."""
        count = 0
        with (
            self._translated(_TEMPORARY),
            contextlib.suppress(FileNotFoundError),
            os.scandir(self._root / _TEMPORARY) as entries,
        ):
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < unmodified_since:
                        if entry.is_dir(follow_symlinks=False):
                            shutil.rmtree(entry.path)
                        else:
                            os.unlink(entry.path)
                        count += 1
        return count

    @contextlib.contextmanager
    def scratch(self) -> Iterator[IO[bytes]]:
        """See `Blobs.scratch`. An error of the system that the block raises counts as the folder's trouble."""
        folder = self._root / _TEMPORARY
        with self._translated(_TEMPORARY):
            self._make_folder(folder)
            with tempfile.TemporaryFile(dir=folder) as file:
                yield file

    def _path(self, key: str) -> Path:
        names = key.split("/")
        if any(not name or name.startswith(".") or "\\" in name or "\0" in name for name in names):
            raise ValueError(f"not a key: {key[:200]!r}")
        return self._root.joinpath(*names)

    def _walk(self, folder: Path, prefix: str) -> Iterator[BlobInfo]:
        try:
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError:
            yield BlobInfo(key=prefix.removesuffix("/"), size_bytes=0, modified_at=time.time())
            return
        for entry in ordered:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._walk(Path(entry.path), f"{prefix}{entry.name}/")
            elif entry.is_file(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    yield BlobInfo(key=prefix + entry.name, size_bytes=status.st_size, modified_at=status.st_mtime)

    @staticmethod
    def _read(path: Path) -> Blob | None:
        """The bytes of a regular file of a size that the store writes: nothing else is ever opened for long."""
        status = _status(path)
        if status is None:
            return None
        if stat.S_ISDIR(status.st_mode):
            # One that can't be listed may hide entries: it is no damage of one.
            os.scandir(path).close()
            return _foreign(status, "is a folder")
        if not stat.S_ISREG(status.st_mode):
            return _foreign(status, "is no regular file")
        try:
            descriptor = os.open(path, os.O_RDONLY | _READ_FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return None
        with open(descriptor, "rb", buffering=0) as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return _foreign(status, "is no regular file")
            if status.st_size > _MAX_FILE_SIZE_BYTES:
                return _foreign(status, f"has {status.st_size} bytes, more than anything stored has")
            # A file is written before it has its name: one that grows is somebody else's.
            data = file.read(status.st_size) or b""
        return Blob(data=data, tag=hashlib.sha256(data).hexdigest())

    def _put_in_place(self, temporary: Path, path: Path) -> None:
        self._put_folder_aside(path)
        os.replace(temporary, path)

    def _put_folder_aside(self, path: Path) -> bool:
        """A folder where a file belongs goes to ``.tmp``, where it is swept with what killed writers left."""
        status = _status(path)
        if status is None or not stat.S_ISDIR(status.st_mode):
            return False
        os.rename(path, self._root / _TEMPORARY / secrets.token_hex(16))
        return True

    @contextlib.contextmanager
    def _written(self, data: bytes) -> Iterator[Path]:
        """A synced file in ``.tmp`` with the data; gone after the block unless it was moved away."""
        folder = self._root / _TEMPORARY
        self._make_folder(folder)
        path = folder / secrets.token_hex(16)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            yield path
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)

    @contextlib.contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        folder = self._root / _LOCKS
        self._make_folder(folder)
        with exclusive(folder / f"{zlib.crc32(key.encode()) % _LOCK_COUNT:02x}"):
            yield

    def _make_folder(self, folder: Path) -> None:
        """Makes ``folder`` with its parents; the names of all of them are durable when it returns."""
        with self._durable_folders_guard:
            if folder in self._durable_folders and folder.is_dir():
                return
        if folder != self._root:
            self._make_folder(folder.parent)
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder)
        else:
            os.makedirs(folder, exist_ok=True)
        _sync_folder(folder.parent)
        with self._durable_folders_guard:
            self._durable_folders.add(folder)

    @contextlib.contextmanager
    def _translated(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise Refused(
                f"the store's folder can't be used: {error.strerror or error} ({self._root}, {key})",
                remedy="Look at the folder's free space and permissions, then run the same command again.",
            ) from error


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_regular(path: Path) -> bool:
    status = _status(path)
    return status is not None and stat.S_ISREG(status.st_mode)


def _foreign(status: os.stat_result, trouble: str) -> Blob:
    return Blob(data=b"", tag=f"foreign {status.st_ino} {status.st_size} {status.st_mtime_ns}", trouble=trouble)


def _sync_folder(folder: Path) -> None:
    # Windows can't open a folder for syncing; NTFS keeps a journal of its names.
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
