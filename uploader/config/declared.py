"""All settings: each with its key, how its value is read, and the layers that may set it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from uploader import places
from uploader.config import reading
from uploader.config.settings import PathGate
from uploader.values import frozen, replace


@frozen
class Setting:
    """One setting. Its flag is its key with hyphens."""

    key: str
    read: Callable[[object], Any]
    """Reads a value. Raises `ValueError`."""
    placed: Callable[[Any, Path | None], Any] | None = None
    """Makes what was read mean the same wherever it was said: in a file, whose folder is given then, paths start from there."""
    in_files_alone: bool = False
    """It is no flag, and no variable."""
    users_own: bool = False
    """It stands in the user's own file alone, not in one that comes with a checkout."""

    @property
    def variable(self) -> str | None:
        """The variable of the environment; None where there is none."""
        return None if self.in_files_alone else "SYMUP_" + self.key.upper()

    def value(self, said: object, folder: Path | None) -> Any:
        """The value in its own type. ``folder`` is that of the file that says it, if one does. Raises `ValueError`."""
        read = self.read(said)
        return read if self.placed is None else self.placed(read, folder)


def _place(text: str, folder: Path | None) -> str:
    return text if folder is None or places.scheme_of(text) else str(folder / places.expanded(text))


def _destination(text: str, folder: Path | None) -> str:
    places.check_spelling(text, beside=folder)
    return _place(text, folder)


def _trusted(named: tuple[str, ...], folder: Path | None) -> tuple[str, ...]:
    return tuple(_place(one, folder) for one in named)


def _folders(named: tuple[str, ...], folder: Path | None) -> tuple[str, ...]:
    return named if folder is None else tuple(str(folder / places.expanded(one)) for one in named)


def _gates(gates: tuple[PathGate, ...], folder: Path | None) -> tuple[PathGate, ...]:
    return tuple(replace(gate, root=str(folder or "")) for gate in gates)


SETTINGS = {
    setting.key: setting
    for setting in (
        Setting(key="to", read=reading.text, placed=_destination),
        Setting(key="project", read=reading.project),
        Setting(key="jobs", read=reading.jobs),
        Setting(key="max_memory", read=reading.memory),
        Setting(key="include", read=reading.globs),
        Setting(key="exclude", read=reading.globs),
        Setting(key="require", read=reading.quality),
        Setting(key="min_line_coverage", read=reading.percent),
        Setting(key="fail_on", read=reading.concerns),
        Setting(key="gate", read=reading.path_gates, placed=_gates, in_files_alone=True),
        Setting(key="dwarf", read=reading.switch),
        Setting(key="debug_dir", read=reading.folders, placed=_folders),
        Setting(key="debuginfod", read=reading.switch),
        Setting(key="gsym_version", read=reading.gsym_version),
        Setting(key="keep_aliases", read=reading.switch),
        Setting(key="allow_missing", read=reading.switch),
        Setting(key="build_internals", read=reading.switch),
        Setting(key="trusted", read=reading.trusted, placed=_trusted, in_files_alone=True, users_own=True),
    )
}
"""In the order in which README tells them."""
