"""Writes files that nobody sees half of, and never puts a file in the place of something else."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from pathlib import Path

from uploader.errors import NotWritten, UsageError

READER_SECONDS = 10.0
"""So long a pipe may have no reader: whoever starts both at once can't tell which is there first."""

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BROKEN = {
    errno.EIO: "Look at the disk, or name a place on another one.",
    errno.EPIPE: "See why what reads from it ended before it had all.",
}


def write_whole(target: Path, data: bytes) -> None:
    """Writes under another name first, and renames. What is there already with these bytes is only touched.

    Where a link is, what it leads to is written so. Into a pipe or a character device the bytes are written as they are, and it
    stays; a pipe's reader is waited for a while. Raises `NotWritten` where there is no room or no reader, and else `UsageError`, as
    for folders, sockets and disks.
    """
    try:
        place = _place(target)
        if place is None:
            with open(_opened(target), "wb") as stream:
                stream.write(data)
        elif not _holds(place, data):
            _replace(place, data)
    except OSError as error:
        told = f"can't write {target}: {error.strerror or error}"
        if error.errno in _NO_ROOM:
            raise NotWritten(told) from error
        if error.errno in _BROKEN:
            raise NotWritten(told, remedy=_BROKEN[error.errno]) from error
        raise UsageError(told) from error


def _opened(target: Path) -> int:
    """A pipe or a device, open for writing. To open a pipe would wait for its reader, who may never come."""
    ends = time.monotonic() + READER_SECONDS
    while True:
        try:
            descriptor = os.open(target, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(target.stat().st_mode):
                raise
            if time.monotonic() >= ends:
                raise NotWritten(
                    f"can't write {target}: nobody reads from this pipe",
                    remedy="Start what reads it first, or name a file.",
                ) from error
            time.sleep(0.02)
        else:
            os.set_blocking(descriptor, True)
            return descriptor


def _place(target: Path) -> Path | None:
    """The regular file to make or to replace; None where something is that takes bytes and has to stay."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(target))
    if stat.S_ISREG(mode):
        return Path(os.path.realpath(target))
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        return None
    what = "a folder" if stat.S_ISDIR(mode) else "a disk" if stat.S_ISBLK(mode) else "a socket"
    raise UsageError(f"can't write {target}: it is {what}", remedy="Name another file.")


def _replace(place: Path, data: bytes) -> None:
    temporary = place.with_name(f".{place.name[:100]}.{os.urandom(8).hex()}")
    # Never what lies there under that name: in a folder of many users, a link of another one may.
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:
        try:
            file.write(data)
            file.flush()
            temporary.replace(place)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def _holds(place: Path, data: bytes) -> bool:
    """Whether the file is there with these very bytes, which are now of this moment.

    Renaming onto a file makes file systems write the new one to the disk at once, which takes longer than converting a small one.
    """
    with contextlib.suppress(OSError):
        if place.lstat().st_size == len(data) and place.read_bytes() == data:
            os.utime(place)
            return True
    return False
