"""Opens the files that a command reads as they are."""

from __future__ import annotations

import mmap
import os
import stat
from pathlib import Path

from uploader.errors import InputError


def mapped(path: Path) -> memoryview:
    """The bytes of a regular file, mapped read-only; the mapping goes with its last reader. Raises `InputError`."""
    try:
        # A pipe waits for its writer where it is opened, and a device may do something.
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise InputError(f"{path} is not a regular file", remedy="Write what it gives into a file, and name that.")
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path} is empty") from error
