"""Files of settings: the place of the user's own, and the entries of any."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from uploader.errors import UsageError

USER_FILE = "config.toml"
MAX_FILE_SIZE_BYTES = 64 * 1024
MAX_LINE_SIZE_BYTES = 4096
"""The reader of TOML takes time by the square of the parts of a dotted key, which lies within a line."""


def own_file() -> Path | None:
    """The place of the user's own config file, which need not be there; None where the user has no home."""
    if sys.platform == "linux":
        # As platformdirs has it, which takes longer to import than all else that is read of the settings.
        configured = os.environ.get("XDG_CONFIG_HOME", "").strip()
        folder = configured if os.path.isabs(configured) else os.path.expanduser("~/.config")
    else:
        import platformdirs

        return Path(platformdirs.user_config_dir("symup")) / USER_FILE
    return Path(folder) / "symup" / USER_FILE if os.path.isabs(folder) else None


def told_own_file() -> str:
    """The user's own config file, for people."""
    path = own_file()
    return f"your configuration directory as symup/{USER_FILE}" if path is None else str(path)


def user_config_file() -> Path | None:
    """The user's own config file, where there is one."""
    path = own_file()
    return path if path is not None and path.is_file() else None


def entries(path: Path) -> Iterator[tuple[str, object]]:
    """The entries of a file, key by key. Raises `UsageError`."""
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_SIZE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can't read {path}: {error.strerror or error}") from error
    if len(text) > MAX_FILE_SIZE_BYTES:
        raise UsageError(f"{path} is over {MAX_FILE_SIZE_BYTES} bytes")
    for number, line in enumerate(text.split(b"\n"), 1):
        if len(line) > MAX_LINE_SIZE_BYTES:
            raise UsageError(
                f"{path}: line {number} is over {MAX_LINE_SIZE_BYTES} bytes",
                remedy="Write a long list over several lines.",
            )
    import tomllib

    try:
        document = tomllib.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    yield from document.items()
