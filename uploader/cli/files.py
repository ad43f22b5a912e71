"""Opens the files that a command reads as they are."""

from __future__ import annotations

import mmap
from pathlib import Path

from uploader.errors import InputError


def mapped(path: Path) -> memoryview:
    """The bytes of a file, mapped read-only; the mapping goes with its last reader. Raises `InputError`."""
    try:
        with path.open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path} is empty") from error
