"""Paths that the user named and that aren't there: known before anything is looked at, with the name that was likely meant."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Sequence
from itertools import islice

from uploader.errors import UsageError

NAMES_COMPARED = 5000
"""So many names of a folder are compared with one that is not there."""

NAMED_IN_ERROR = 5
ALLOW = "--allow-missing skips paths that are not there."
_GLOB_SIGNS = frozenset("*?[")


def is_missing(path: str) -> bool:
    """Whether nothing at all is there. What is there and can't be reached is no such path: that is told as the path's trouble."""
    try:
        os.stat(path)
    except OSError as error:
        return error.errno in (errno.ENOENT, errno.ENOTDIR)
    except ValueError:
        return True
    return False


def insist(paths: Sequence[str | os.PathLike[str]], *, may_allow: bool) -> None:
    """Raises `UsageError` that names every path which is not there, and what may have been meant.

    ``may_allow`` says that the command takes ``--allow-missing``.
    """
    gone = [path for path in [os.fspath(path) for path in paths] if is_missing(path)]
    if gone:
        raise UsageError(_told(gone), remedy=f"{remedy_for(gone)} {ALLOW}" if may_allow else remedy_for(gone))


def remedy_for(gone: Sequence[str]) -> str:
    """What to do about paths that are not there."""
    meant = [likely for likely in map(nearest, gone[:NAMED_IN_ERROR]) if likely is not None]
    if meant:
        return f"Did you mean {' and '.join(meant)}?"
    if all(_GLOB_SIGNS.intersection(path) for path in gone):
        return f"No name matches the pattern, from {os.getcwd()} on."
    return f"Relative paths start from {os.getcwd()}."


def nearest(path: str) -> str | None:
    """The existing path that differs least from one that is not there, a folder with a slash behind it; None where none is close."""
    if not path or "\0" in path or os.path.islink(path):
        return None
    there = "/" if path.startswith("/") else ""
    for part in filter(None, path.split("/")):
        place = there + part
        if is_missing(place):
            likely = _nearest_name(part, there or ".")
            if likely is None:
                return None
            place = there + likely
        there = place + "/"
    return there if os.path.isdir(there) else there.removesuffix("/")


def _nearest_name(name: str, folder: str) -> str | None:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, NAMES_COMPARED))
    except OSError:
        return None
    by_folded: dict[str, str] = {}
    for each in names:
        # A link that leads nowhere has the very name.
        if each != name:
            by_folded.setdefault(each.casefold(), each)
    close = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[close[0]] if close else None


def _told(gone: Sequence[str]) -> str:
    if len(gone) == 1 and os.path.islink(gone[0]):
        return f"{gone[0]} is a link to {os.readlink(gone[0])}, which does not exist"
    named = ", ".join([path or "the empty path ''" for path in gone[:NAMED_IN_ERROR]])
    more = f" and {len(gone) - NAMED_IN_ERROR:,} more" if len(gone) > NAMED_IN_ERROR else ""
    return f"{named}{more} {'does' if len(gone) == 1 else 'do'} not exist"
