"""Where the bytes of one file come from: a port, behind which a file on the disk, one in memory and one within another look alike.

Whoever reads, pairs, converts or reports files knows them as `Input` and never opens a path.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from typing import Protocol

from uploader.objects.file_bytes import OpenBytes, opened
from uploader.values import frozen


class Input(Protocol):
    """One file, wherever it lies. It holds nothing open and can be pickled, so that another process may be the one that reads it."""

    @property
    def path(self) -> str:
        """What people know it by, in reports, gates and globs: its path, or that of what it lies in and, after ``!/``, its own."""

    @property
    def place(self) -> str | None:
        """Its path in this machine's file system. None where it has none: then nothing lies beside it, and nothing overwrites it."""

    def key(self) -> Hashable | None:
        """The same for two inputs that are one file, whatever they are called. None where that can't be told."""

    def open(self, *, mapped: bool = True) -> OpenBytes:
        """Its bytes. Without ``mapped`` they are fetched as they are asked for, where there are many.

        Raises `NotElf` for what is no regular file, or empty, `MalformedElf` for what is next to nothing but holes, `InputError` where
        it can't be opened or read.
        """


@frozen
class FileInput:
    """A file of this machine. Its path is where it lies and what people know it by."""

    path: str

    @property
    def place(self) -> str:
        """Its path."""
        return self.path

    def key(self) -> tuple[int, int] | None:
        """Device and inode, whatever its name; None where nothing is there."""
        try:
            status = os.stat(self.path)
        except (OSError, ValueError):
            return None
        return status.st_dev, status.st_ino

    def open(self, *, mapped: bool = True) -> OpenBytes:
        """Its bytes, as `Input` says."""
        return opened(self.path, mapped=mapped)


@frozen
class BytesInput:
    """A file that is in memory already."""

    data: bytes | memoryview
    path: str = ""

    @property
    def place(self) -> None:
        """It has none."""

    def key(self) -> None:
        """It can't be told from another with the same bytes."""

    def open(self, *, mapped: bool = True) -> OpenBytes:  # noqa: ARG002  # the port's: there is nothing to map
        """Its bytes, as they are."""
        return OpenBytes(data=memoryview(self.data).toreadonly())
