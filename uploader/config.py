"""The settings of a run, from four layers: flag > environment > ``symup.toml`` of the checkout > the user's config file.

A file names settings as the flags do, without the dashes in front and with ``_`` for those within::

    to = "https://symbols.example.com"
    project = "backend"
    jobs = 4
    max_memory = "2G"
    include = ["build/**"]
    exclude = ["*.o"]
    require = "lines"
    min_line_coverage = 90
    fail_on = ["missing-debug"]
    dwarf = true
    debug_dir = ["symbols"]
    gsym_version = 2
    keep_aliases = true
    allow_missing = true
    build_internals = true

    [[gate]]
    paths = ["build/vendor/**"]
    require = "functions"
    min_line_coverage = 0

Files never hold a token: they get committed and copied. A relative ``to`` or ``debug_dir`` in a file is relative to that file's folder.
What a checkout's file names beyond the checkout is `Settings.unconfirmed`, unless the user's own file lists it::

    trusted = ["https://symbols.example.com", "/srv/symbols"]
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from uploader import places
from uploader.checkout import Checkout, checkout_of, is_confirmed
from uploader.errors import UsageError
from uploader.model import Concern, Quality
from uploader.values import frozen, replace

USER_FILE = "config.toml"
DEFAULT_PROJECT = "default"
MAX_JOBS = 512
MAX_FILE_SIZE_BYTES = 64 * 1024
MAX_LINE_SIZE_BYTES = 4096
"""The reader of TOML takes time by the square of the parts of a dotted key, which lies within a line."""

NOTHING = "none"
"""Among the kinds of ``fail_on``: what fails a run by itself does so no longer, unless it is named."""

FAILS_BY_ITSELF = frozenset({Concern.FAILED, Concern.CONFLICT})

MIN_MEMORY_BYTES, MAX_MEMORY_BYTES = 64 << 20, 1024 << 40
_SIZE = r"(?i)([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([KMGT])(?:i?B)?"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

_PROJECT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"


def default_jobs() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


@frozen
class PathGate:
    """What is asked of some files instead of what is asked of all. None leaves that as it is for all."""

    paths: tuple[str, ...]
    """Globs, as for ``exclude``; with a ``/`` they match the path from the working directory or from ``root``."""
    require: Quality | None = None
    min_line_coverage: float | None = None
    root: str = ""
    """The folder of the file that says so."""


@frozen
class Settings:
    """What a run goes by. ``to`` is None where no layer names a destination; a token is no setting: `auth.credentials` finds it."""

    to: str | None = None
    project: str = DEFAULT_PROJECT
    jobs: int = field(default_factory=default_jobs)
    max_memory: int | None = None
    """Bytes that the files under way may take together; None for a share of what there is."""
    only_lowers_memory: bool = False
    """Only a file of the checkout sets ``max_memory``: more than that share is not its to give."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    require: Quality | None = None
    min_line_coverage: float | None = None
    """The least share of a file's code with lines, in percent."""
    fail_on: frozenset[Concern] = FAILS_BY_ITSELF
    """What makes the exit code 1."""
    gate: tuple[PathGate, ...] = ()
    """The first that matches a path speaks for it."""
    dwarf: bool = True
    debug_dir: tuple[str, ...] = ()
    debuginfod: bool = False
    gsym_version: int | None = None
    """None: 1, and 2 by itself where v1 can't hold a file."""
    keep_aliases: bool = False
    unconfirmed: Mapping[str, Path] = field(default_factory=dict)
    """The settings among ``to`` and ``debug_dir`` that name a place beyond the checkout and that only a file of the checkout has
    the word on: that file by the setting."""
    allow_missing: bool = False
    """Paths that are not there are skipped."""
    build_internals: bool = False
    """What build systems leave for themselves is taken in."""


def load(
    flags: Mapping[str, object],
    *,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    user_file: Path | None = None,
    files: bool = True,
) -> Settings:
    """The settings for ``flags`` (those that are None or empty were not given) over the other three layers.

    ``folder`` is where the search for the checkout's file starts; the working directory by default. ``user_file`` is the
    user's config file; by default the one where this system keeps such files. Without ``files`` neither of the two is
    read. Raises `UsageError` that names the file or variable and the key for anything unknown or out of bounds.
    """
    environ = os.environ if environ is None else environ
    own: dict[str, Any] = {}
    brought: dict[str, Any] = {}
    checkout: Checkout | None = None
    if files:
        user_path = user_file if user_file is not None else user_config_file()
        if user_path is not None:
            own = _from_file(user_path, users=True)
        checkout = checkout_of(folder or Path.cwd())
        if checkout is not None:
            brought = _from_file(checkout.file, users=False)
    given = _from_environment(environ)
    for key, value in flags.items():
        if value is not None and value != () and value != []:
            given[key] = _checked(key, value, "--" + key.replace("_", "-"))
    trusted = (*own.pop("trusted", ()), *([own["to"]] if "to" in own else []))
    last_word = {key: value for key, value in brought.items() if key not in given}
    _lower(brought, own)
    chosen = own | brought | given
    project = chosen.get("project", DEFAULT_PROJECT)
    return Settings(
        **chosen,
        only_lowers_memory="max_memory" in last_word and "max_memory" not in own,
        unconfirmed={} if checkout is None else _unconfirmed(last_word, checkout, trusted, project),
    )


def _lower(brought: dict[str, Any], own: Mapping[str, Any]) -> None:
    """Keeps a checkout from taking more of the machine than its user would give: its file lowers such a bound, and never raises it."""
    if "jobs" in brought:
        brought["jobs"] = min(brought["jobs"], own.get("jobs", default_jobs()))
    if "max_memory" in brought and "max_memory" in own:
        brought["max_memory"] = min(brought["max_memory"], own["max_memory"])


def _unconfirmed(
    brought: Mapping[str, Any], checkout: Checkout, trusted: tuple[str, ...], project: str
) -> dict[str, Path]:
    root, unconfirmed = checkout.root, []
    if "to" in brought and not is_confirmed(brought["to"], root=root, trusted=trusted, project=project):
        unconfirmed.append("to")
    if not all(is_confirmed(place, root=root, trusted=trusted) for place in brought.get("debug_dir", ())):
        unconfirmed.append("debug_dir")
    return dict.fromkeys(unconfirmed, checkout.file)


def own_file() -> Path | None:
    """Where the user's own config file lies, or would; None where the user has no home."""
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


def _from_file(path: Path, *, users: bool) -> dict[str, Any]:
    """The settings of a file: the user's own, or one that came with a checkout."""
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
    settings: dict[str, Any] = {}
    for key, value in document.items():
        if key == "token":
            raise UsageError(
                f"{path}: 'token' has no place in a file",
                remedy="Set the environment variable SYMUP_TOKEN instead.",
            )
        if key == "trusted" and not users:
            raise UsageError(
                f"{path}: 'trusted' has no place in a file of a checkout, which can't vouch for itself",
                remedy=f"Write it into {told_own_file()}.",
            )
        settings[key] = _checked(key, value, f"{path}: {key!r}", beside=path.parent)
    return settings


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key in READERS:
        if key in ONLY_IN_FILES:
            continue
        variable = "SYMUP_" + key.upper()
        value = environ.get(variable, "").strip()
        if value:
            settings[key] = _checked(key, value, variable)
    return settings


def _checked(key: str, value: object, where: str, *, beside: Path | None = None) -> Any:
    """The value of one setting, in its own type; paths start from the folder ``beside``, where one is given.

    Raises `UsageError` that begins with ``where``.
    """
    reader = READERS.get(key)
    if reader is None:
        raise UsageError(
            f"{where} is not a setting",
            remedy=f"The settings are: {', '.join(READERS)}.",
        )
    try:
        read: Any = reader(value)
        if key == "to":
            places.check_spelling(read, beside=beside)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
    return read if beside is None else _placed(key, read, beside)


def _placed(key: str, value: Any, folder: Path) -> Any:
    """A setting of a file in ``folder``: the paths in it start from there."""
    if key == "to":
        return _place_from(folder, value)
    if key == "trusted":
        return tuple(_place_from(folder, one) for one in value)
    if key == "debug_dir":
        return tuple(str(folder / places.expanded(one)) for one in value)
    if key == "gate":
        return tuple(replace(gate, root=str(folder)) for gate in value)
    return value


def _place_from(folder: Path, text: str) -> str:
    return text if places.scheme_of(text) else str(folder / places.expanded(text))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be a text that is not empty")
    return value


def _project(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(_PROJECT_NAME, value):
        raise ValueError("must be up to 100 letters, digits, '.', '_' and '-', beginning with a letter or digit")
    return value


def _jobs(value: object) -> int:
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        number = None
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_JOBS:
        raise ValueError(f"must be a whole number from 1 to {MAX_JOBS}")
    return number


def size_bytes_of(value: object) -> int:
    """The bytes that a size like ``800M`` stands for. Raises `ValueError` for what is none."""
    matched = re.fullmatch(_SIZE, value.strip()) if isinstance(value, str) else None
    if matched is None:
        raise ValueError("must be a size like 800M, 2G or 1.5G")
    return int(float(matched[1]) * _UNITS[matched[2].upper()])


def _memory(value: object) -> int:
    size_bytes = size_bytes_of(value)
    if not MIN_MEMORY_BYTES <= size_bytes <= MAX_MEMORY_BYTES:
        raise ValueError("must be from 64M to 1024T")
    return size_bytes


def _gsym_version(value: object) -> int:
    if not isinstance(value, int | str) or isinstance(value, bool) or value not in (1, 2, "1", "2"):
        raise ValueError("must be 1 or 2")
    return 2 if value in (2, "2") else 1


def _globs(value: object) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise ValueError("must be a list of globs")  # noqa: TRY004  # told as a UsageError, like any other bad value
    return tuple(_text(item.strip() if isinstance(item, str) else item) for item in items)


def _folders(value: object) -> tuple[str, ...]:
    items = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise ValueError("must be a list of folders")  # noqa: TRY004  # told as a UsageError, like any other bad value
    return tuple(_text(item) for item in items)


def _trusted(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError("must be a list of servers' URLs and folders")  # noqa: TRY004  # told as a UsageError, like any other bad value
    for item in value:
        places.check_spelling(_text(item))
        try:
            if places.is_server(item):
                places.server_url(item)
        except UsageError as error:
            raise ValueError(error.message) from None
    return tuple(value)


def _quality(value: object) -> Quality:
    if isinstance(value, Quality):
        return value
    wanted = [quality.label for quality in Quality if quality]
    if not isinstance(value, str) or value.lower() not in wanted:
        raise ValueError(f"must be one of {', '.join(wanted)}")
    return Quality.from_label(value)


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("1", "true", "yes", "on"):
        return True
    if isinstance(value, str) and value.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError("must be true or false")


def _percent(value: object) -> float:
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= 100:
        raise ValueError("must be a number from 0 to 100")
    return number


def _concerns(value: object) -> frozenset[Concern]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise ValueError("must be a list of kinds")
    words = [word.strip().lower() for item in items for word in item.split(",") if word.strip()]
    known = [concern.value for concern in Concern]
    if any(word != NOTHING and word not in known for word in words):
        raise ValueError(f"must be some of {', '.join(known)}, or {NOTHING}")
    named = frozenset(Concern(word) for word in words if word != NOTHING)
    return named if NOTHING in words else named | FAILS_BY_ITSELF


def _path_gates(value: object) -> tuple[PathGate, ...]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("must be written as [[gate]] tables")
    return tuple(_path_gate(item) for item in value)


def _path_gate(members: Mapping[str, object]) -> PathGate:
    unknown = sorted(members.keys() - {"paths", "require", "min_line_coverage"})
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not known there; paths, require and min_line_coverage are")
    paths = _globs(members.get("paths", ()))
    require, least = members.get("require"), members.get("min_line_coverage")
    if not paths or (require is None and least is None):
        raise ValueError("needs paths, and require or min_line_coverage")
    return PathGate(
        paths=paths,
        require=None if require is None else Quality.NONE if require == NOTHING else _quality(require),
        min_line_coverage=None if least is None else _percent(least),
    )


ONLY_IN_FILES = frozenset({"gate", "trusted"})
READERS: dict[str, Callable[[object], object]] = {
    "to": _text,
    "project": _project,
    "jobs": _jobs,
    "max_memory": _memory,
    "include": _globs,
    "exclude": _globs,
    "require": _quality,
    "min_line_coverage": _percent,
    "fail_on": _concerns,
    "gate": _path_gates,
    "dwarf": _switch,
    "debug_dir": _folders,
    "debuginfod": _switch,
    "gsym_version": _gsym_version,
    "keep_aliases": _switch,
    "allow_missing": _switch,
    "build_internals": _switch,
    "trusted": _trusted,
}
