"""All settings: each with its key, how its value is read, and the layers that may set it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from uploader import places
from uploader.config import reading
from uploader.config.settings import PathGate
from uploader.values import frozen, replace

Read = Callable[[object, Path | None], Any]
"""Reads a value. In a file, paths start from its folder, which is given then. Raises `ValueError`."""


@frozen
class Setting:
    """One setting. Its flag is its key with hyphens."""

    key: str
    read: Read
    in_files_alone: bool = False
    """It is no flag, and no variable."""
    users_own: bool = False
    """It stands in the user's own file alone, not in one that comes with a checkout."""

    @property
    def variable(self) -> str | None:
        """The variable of the environment; None where there is none."""
        return None if self.in_files_alone else "SYMUP_" + self.key.upper()


def _anywhere(read: Callable[[object], object]) -> Read:
    """Reads what means the same wherever it stands."""
    return lambda value, _folder: read(value)


def _to(value: object, folder: Path | None) -> str:
    text = reading.text(value)
    places.check_spelling(text, beside=folder)
    return _place(text, folder)


def _trusted(value: object, folder: Path | None) -> tuple[str, ...]:
    return tuple(_place(one, folder) for one in reading.trusted(value))


def _debug_dir(value: object, folder: Path | None) -> tuple[str, ...]:
    found = reading.folders(value)
    return found if folder is None else tuple(str(folder / places.expanded(one)) for one in found)


def _gate(value: object, folder: Path | None) -> tuple[PathGate, ...]:
    return tuple(replace(gate, root=str(folder or "")) for gate in reading.path_gates(value))


def _place(text: str, folder: Path | None) -> str:
    return text if folder is None or places.scheme_of(text) else str(folder / places.expanded(text))


SETTINGS = {
    setting.key: setting
    for setting in (
        Setting(key="to", read=_to),
        Setting(key="project", read=_anywhere(reading.project)),
        Setting(key="jobs", read=_anywhere(reading.jobs)),
        Setting(key="max_memory", read=_anywhere(reading.memory)),
        Setting(key="include", read=_anywhere(reading.globs)),
        Setting(key="exclude", read=_anywhere(reading.globs)),
        Setting(key="require", read=_anywhere(reading.quality)),
        Setting(key="min_line_coverage", read=_anywhere(reading.percent)),
        Setting(key="fail_on", read=_anywhere(reading.concerns)),
        Setting(key="gate", read=_gate, in_files_alone=True),
        Setting(key="dwarf", read=_anywhere(reading.switch)),
        Setting(key="debug_dir", read=_debug_dir),
        Setting(key="debuginfod", read=_anywhere(reading.switch)),
        Setting(key="gsym_version", read=_anywhere(reading.gsym_version)),
        Setting(key="keep_aliases", read=_anywhere(reading.switch)),
        Setting(key="allow_missing", read=_anywhere(reading.switch)),
        Setting(key="build_internals", read=_anywhere(reading.switch)),
        Setting(key="trusted", read=_trusted, in_files_alone=True, users_own=True),
    )
}
"""In the order in which README tells them."""
