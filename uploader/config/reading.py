"""Readers of settings' values: from flags and variables, which are texts, and from TOML. Each raises `ValueError`."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping

from uploader import places
from uploader.config.settings import FAILS_BY_ITSELF, PathGate
from uploader.errors import UsageError
from uploader.model import Concern, Quality

MAX_JOBS = 512
NOTHING = "none"
"""Among the kinds of ``fail_on``: what fails a run by itself does so no longer, unless it is named."""

MIN_MEMORY_BYTES, MAX_MEMORY_BYTES = 64 << 20, 1024 << 40
_SIZE = r"(?i)([0-9]{1,9}(?:\.[0-9]{1,3})?) ?([KMGT])(?:i?B)?"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

_PROJECT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"


def text(value: object) -> str:
    """Any text but the empty one."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("must be a text that is not empty")
    return value


def project(value: object) -> str:
    """The name of a project."""
    if not isinstance(value, str) or not re.fullmatch(_PROJECT_NAME, value):
        raise ValueError("must be up to 100 letters, digits, '.', '_' and '-', beginning with a letter or digit")
    return value


def jobs(value: object) -> int:
    """A number of processes."""
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


def memory(value: object) -> int:
    """The bytes that a bound for memory stands for."""
    size_bytes = size_bytes_of(value)
    if not MIN_MEMORY_BYTES <= size_bytes <= MAX_MEMORY_BYTES:
        raise ValueError("must be from 64M to 1024T")
    return size_bytes


def gsym_version(value: object) -> int:
    """A version of GSYM."""
    if not isinstance(value, int | str) or isinstance(value, bool) or value not in (1, 2, "1", "2"):
        raise ValueError("must be 1 or 2")
    return 2 if value in (2, "2") else 1


def globs(value: object) -> tuple[str, ...]:
    """Globs; in a text with commas between."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise ValueError("must be a list of globs")  # noqa: TRY004  # told as a UsageError, like any other bad value
    return tuple(text(item.strip() if isinstance(item, str) else item) for item in items)


def folders(value: object) -> tuple[str, ...]:
    """Folders; in a text with the system's separator of paths between."""
    items = value.split(os.pathsep) if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise ValueError("must be a list of folders")  # noqa: TRY004  # told as a UsageError, like any other bad value
    return tuple(text(item) for item in items)


def trusted(value: object) -> tuple[str, ...]:
    """URLs of servers, and folders."""
    if not isinstance(value, list):
        raise ValueError("must be a list of servers' URLs and folders")  # noqa: TRY004  # told as a UsageError, like any other bad value
    for item in value:
        places.check_spelling(text(item))
        try:
            if places.is_server(item):
                places.server_url(item)
        except UsageError as error:
            raise ValueError(error.message) from None
    return tuple(value)


def quality(value: object) -> Quality:
    """A quality that can be asked for."""
    if isinstance(value, Quality):
        return value
    wanted = [quality.label for quality in Quality if quality]
    if not isinstance(value, str) or value.lower() not in wanted:
        raise ValueError(f"must be one of {', '.join(wanted)}")
    return Quality.from_label(value)


def switch(value: object) -> bool:
    """True or false."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("1", "true", "yes", "on"):
        return True
    if isinstance(value, str) and value.lower() in ("0", "false", "no", "off"):
        return False
    raise ValueError("must be true or false")


def percent(value: object) -> float:
    """A share in percent."""
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= 100:
        raise ValueError("must be a number from 0 to 100")
    return number


def concerns(value: object) -> frozenset[Concern]:
    """The kinds that fail a run: those named, and those that do so by themselves, unless `NOTHING` is named."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise ValueError("must be a list of kinds")
    words = [word.strip().lower() for item in items for word in item.split(",") if word.strip()]
    known = [concern.value for concern in Concern]
    if any(word != NOTHING and word not in known for word in words):
        raise ValueError(f"must be some of {', '.join(known)}, or {NOTHING}")
    named = frozenset(Concern(word) for word in words if word != NOTHING)
    return named if NOTHING in words else named | FAILS_BY_ITSELF


def path_gates(value: object) -> tuple[PathGate, ...]:
    """Gates for some paths."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("must be written as [[gate]] tables")
    return tuple(_path_gate(item) for item in value)


def _path_gate(members: Mapping[str, object]) -> PathGate:
    unknown = sorted(members.keys() - {"paths", "require", "min_line_coverage"})
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not known there; paths, require and min_line_coverage are")
    paths = globs(members.get("paths", ()))
    require, least = members.get("require"), members.get("min_line_coverage")
    if not paths or (require is None and least is None):
        raise ValueError("needs paths, and require or min_line_coverage")
    return PathGate(
        paths=paths,
        require=None if require is None else Quality.NONE if require == NOTHING else quality(require),
        min_line_coverage=None if least is None else percent(least),
    )
