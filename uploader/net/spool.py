"""Whole symbol files from a destination, kept on disk while they are looked into."""

from __future__ import annotations

import mmap
import shutil
import tempfile
from collections.abc import Iterable

from uploader.errors import Refused

_SHARE_OF_FREE = 2


def spooled(pieces: Iterable[bytes]) -> memoryview:
    """The pieces as one, mapped from a file that goes with its last user. Raises `Refused` where they would fill the disk."""
    room_size_bytes = shutil.disk_usage(tempfile.gettempdir()).free // _SHARE_OF_FREE
    size_bytes = 0
    with tempfile.TemporaryFile() as file:
        for piece in pieces:
            size_bytes += len(piece)
            if size_bytes > room_size_bytes:
                raise Refused(
                    f"the symbol file takes more than half of what is free in {tempfile.gettempdir()}",
                    remedy="Set TMPDIR to a folder with more room.",
                )
            file.write(piece)
        file.flush()
        if not size_bytes:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
