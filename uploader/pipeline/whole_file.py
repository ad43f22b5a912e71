"""Writes files that nobody sees half of, and never puts a file in the place of something else."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from uploader.errors import UsageError


def write_whole(target: Path, data: bytes) -> None:
    """Writes under another name first, and renames. What is there already with these bytes is only touched.

    Where a link is, what it leads to is written so. Into a pipe or a character device the bytes are written as they are, and it
    stays. Raises `UsageError`, and for folders, sockets and disks.
    """
    try:
        place = _place(target)
        if place is None:
            with open(os.open(target, os.O_WRONLY | os.O_NOCTTY), "wb") as stream:
                stream.write(data)
        elif not _holds(place, data):
            _replace(place, data)
    except OSError as error:
        raise UsageError(f"can't write {target}: {error.strerror or error}") from error


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
