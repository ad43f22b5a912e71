"""The bytes of a regular file, for reading only: in memory, mapped, or fetched piece by piece.

A page of a mapped file that somebody cuts short kills the process that looks at it (SIGBUS). So only what a process of its own may
read is mapped; small files are read as a whole, and what only headers are wanted of is fetched as it is asked for.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import stat

from uploader.errors import InputError, MalformedElf, NotElf
from uploader.values import frozen

READ_WHOLE_BYTES = 8 << 20
"""Up to here a file is read as a whole, in a few milliseconds."""

MAX_HOLES_BYTES = 1 << 30
"""Up to here a file may be as sparse as it likes."""

MAX_SPARSENESS = 64
"""How many times its place on the disk a larger file may be long. File systems that compress make debug information a tenth."""

_BLOCK_BYTES = 512
"""What ``st_blocks`` counts, whatever the file system's own blocks are."""


class FetchedBytes:
    """A file as bytes that are read when they are asked for: slices of it are in memory, and nothing else is."""

    def __init__(self, descriptor: int, size_bytes: int, name: str) -> None:
        """Takes the descriptor over: `release` closes it."""
        self._descriptor = descriptor
        self._size_bytes = size_bytes
        self._name = name

    def __len__(self) -> int:
        return self._size_bytes

    def __getitem__(self, wanted: slice) -> memoryview:
        """Raises `InputError` where the file has become shorter than it was, or can't be read."""
        start, end, _ = wanted.indices(self._size_bytes)
        pieces = []
        while start < end:
            try:
                piece = os.pread(self._descriptor, end - start, start)
            except OSError as error:
                raise InputError(f"can't be read: {error.strerror or error}", path=self._name) from error
            if not piece:
                raise InputError("was cut short while it was read", path=self._name, remedy="Run the command again.")
            pieces.append(piece)
            start += len(piece)
        return memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def release(self) -> None:
        """Closes the file; once is enough, more is no harm."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        self.release()


@frozen
class OpenBytes:
    """The bytes of a file that is open, and what they are a view of where that has to be closed."""

    data: memoryview | FetchedBytes
    mapping: mmap.mmap | None = None

    def close(self) -> None:
        """Lets the file go; views of its bytes stay valid and keep it mapped until they are dropped."""
        with contextlib.suppress(BufferError):
            self.data.release()
            if self.mapping is not None:
                self.mapping.close()


def opened(name: str, *, mapped: bool) -> OpenBytes:
    """The bytes of a regular file.

    Large files are mapped, or without ``mapped`` fetched piece by piece. Raises `NotElf` for what isn't a regular file or empty,
    `MalformedElf` for one that is next to nothing but holes, `InputError` where it can't be opened or read.
    """
    try:
        # A device may do something where it is merely opened.
        if not stat.S_ISREG(os.stat(name).st_mode):
            raise NotElf("is not a regular file", path=name)
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as error:
        raise InputError(f"can't be opened: {getattr(error, 'strerror', None) or error}", path=name) from error
    fetched: FetchedBytes | None = None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotElf("is not a regular file", path=name)
        if not status.st_size:
            raise NotElf("is empty", path=name)
        _check_sparse(name, descriptor, status)
        if status.st_size > READ_WHOLE_BYTES and mapped:
            mapping = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
            return OpenBytes(data=memoryview(mapping), mapping=mapping)
        fetched = FetchedBytes(descriptor, status.st_size, name)
        return OpenBytes(data=fetched if status.st_size > READ_WHOLE_BYTES else fetched[:])
    except (OSError, ValueError) as error:
        raise InputError(f"can't be read: {getattr(error, 'strerror', None) or error}", path=name) from error
    finally:
        if fetched is None:
            os.close(descriptor)


def _check_sparse(name: str, descriptor: int, status: os.stat_result) -> None:
    """Raises `MalformedElf` for a file that is next to nothing but holes: it costs as much to read as if all were there."""
    least_bytes = status.st_size // MAX_SPARSENESS
    # Some file systems count blocks late, so that few of them only give reason to look.
    if status.st_size > MAX_HOLES_BYTES and getattr(status, "st_blocks", least_bytes) * _BLOCK_BYTES < least_bytes:
        filled_bytes = _filled_bytes(descriptor, least_bytes)
        if filled_bytes < least_bytes:
            raise MalformedElf(
                f"claims {status.st_size} bytes, of which all but {filled_bytes} are holes: no linker writes such a file",
                path=name,
            )


def _filled_bytes(descriptor: int, enough_bytes: int) -> int:
    """How much of a file is no hole, counted up to ``enough_bytes``; that many where the system can't tell."""
    filled_bytes = position = 0
    try:
        while filled_bytes < enough_bytes:
            position = os.lseek(descriptor, position, os.SEEK_DATA)
            end = os.lseek(descriptor, position, os.SEEK_HOLE)
            filled_bytes += end - position
            position = end
    except OSError as error:
        return filled_bytes if error.errno == errno.ENXIO else enough_bytes  # Only holes follow.
    except AttributeError:
        return enough_bytes
    return filled_bytes
