"""Finds the files that may hold symbols below the paths given: by what they begin with, never by how they are called.

Nothing but regular files is ever opened, and of those only the first four bytes are read. The walk tells of files one by one;
what belongs together (a binary and its debug file) is for the stage that knows their ids. Archives are told as plain files
that aren't ELF: the stage that looks into them comes between this one and `binary.identity`.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from uploader.binary.headers import MAGIC, MIN_SIZE_BYTES
from uploader.errors import UsageError
from uploader.values import frozen

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


@frozen
class Found:
    """One regular file to look at. Of a file with several names only the first met is told."""

    path: str
    size_bytes: int
    is_elf: bool
    """It begins with ELF's magic and is long enough for its header; only ``explicit`` files are told without."""
    explicit: bool
    """The user named this very file, not just a folder above it."""


@frozen
class Trouble:
    """A path that couldn't be looked at, and why; the walk went on."""

    path: str
    reason: str


def walk(
    paths: Iterable[str | os.PathLike[str]],
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> Iterator[Found | Trouble]:
    """The ELF files at and below ``paths``, in the order of the paths and sorted by name below each.

    Folders are walked to the bottom. Symbolic links to files are followed; links to folders only where the user named them, so
    that a link can't lead the walk out of what it was given. A file is told once, whatever its names. Sockets, pipes and devices
    are passed over, or told as `Trouble` where the user named them, as are paths that don't exist.

    A file below a folder counts if it matches any of ``include`` (or there are none) and none of ``exclude``; a folder that
    matches ``exclude`` isn't entered. A glob without ``/`` is matched with the base name, one with ``/`` with the path relative
    to the folder given. ``*`` and ``?`` stop at ``/``, ``**`` doesn't, ``[abc]`` and ``[!abc]`` are sets; case counts. A file named
    explicitly is told whatever the globs say. Raises `UsageError` for a glob that makes no sense.
    """
    for glob in (*include, *exclude):
        _pattern(glob)
    seen: set[tuple[int, int]] = set()
    for path in paths:
        root = os.fspath(path)
        try:
            status = os.stat(root)
        except (OSError, ValueError) as error:
            yield Trouble(path=root, reason=_reason(error))
            continue
        if stat.S_ISDIR(status.st_mode):
            yield from _walk_folder(root, status, include, exclude, seen)
        elif not stat.S_ISREG(status.st_mode):
            yield Trouble(path=root, reason=f"is a {_kind(status.st_mode)}, not a file")
        else:
            found = _look(root, status, explicit=True)
            if _first_time(status, seen):
                yield found


def _walk_folder(
    root: str,
    status: os.stat_result,
    include: Sequence[str],
    exclude: Sequence[str],
    seen: set[tuple[int, int]],
) -> Iterator[Found | Trouble]:
    if not _first_time(status, seen):
        return
    # A stack of its own: folders nest deeper than Python may recurse.
    stack = [_entries(root, "")]
    while stack:
        try:
            entry, relative = next(stack[-1])
        except StopIteration:
            stack.pop()
            continue
        except OSError as error:
            stack.pop()
            yield Trouble(path=error.filename or root, reason=_reason(error))
            continue
        try:
            if matches_any(relative, exclude):
                continue
            if entry.is_dir(follow_symlinks=False):
                if _first_time(entry.stat(), seen):
                    stack.append(_entries(entry.path, relative + "/"))
                continue
            if not entry.is_file() or (include and not matches_any(relative, include)):
                continue
            status = entry.stat()
        except OSError as error:
            # A link that leads back to itself is as broken as one that leads nowhere.
            if error.errno != errno.ELOOP:
                yield Trouble(path=entry.path, reason=_reason(error))
            continue
        if status.st_size >= MIN_SIZE_BYTES:
            found = _look(entry.path, status, explicit=False)
            # What isn't told isn't remembered: the user may name it yet.
            if (isinstance(found, Trouble) or found.is_elf) and _first_time(status, seen):
                yield found


def _entries(folder: str, prefix: str) -> Iterator[tuple[os.DirEntry[str], str]]:
    with os.scandir(folder) as scan:
        entries = sorted(scan, key=lambda entry: os.fsencode(entry.name))
    for entry in entries:
        yield entry, prefix + entry.name


def _look(path: str, status: os.stat_result, *, explicit: bool) -> Found | Trouble:
    is_elf = False
    if status.st_size >= MIN_SIZE_BYTES:
        try:
            descriptor = os.open(path, _OPEN_FLAGS)
            try:
                is_elf = os.read(descriptor, len(MAGIC)) == MAGIC
            finally:
                os.close(descriptor)
        except OSError as error:
            return Trouble(path=path, reason=_reason(error))
    return Found(path=path, size_bytes=status.st_size, is_elf=is_elf, explicit=explicit)


def _first_time(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    identity = (status.st_dev, status.st_ino)
    if identity in seen:
        return False
    seen.add(identity)
    return True


def matches_any(relative: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs matches the path below the folder given; their form is told at `walk`."""
    base = relative.rpartition("/")[2]
    return any(_pattern(glob).fullmatch(relative if "/" in glob.rstrip("/") else base) for glob in globs)


@cache
def _pattern(glob: str) -> re.Pattern[str]:
    try:
        return re.compile("".join(_regex_of_parts(glob.removeprefix("./").rstrip("/"))), re.DOTALL)
    except re.error as error:
        raise UsageError(f"the glob {glob!r} can't be understood: {error}") from error


def _regex_of_parts(glob: str) -> Iterator[str]:
    for part in re.findall(r"\*\*/|\*\*+|\*|\?|\[!?\]?[^\]]*\]|.", glob, re.DOTALL):
        if part == "**/":
            yield "(?:.*/)?"
        elif part.startswith("**"):
            yield ".*"
        elif part == "*":
            yield "[^/]*"
        elif part == "?":
            yield "[^/]"
        elif part.startswith("[") and len(part) > 1:
            negated = part[1] == "!"
            members = part[2 if negated else 1 : -1].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            members = members.replace("^", "\\^").replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
            yield f"[{'^/' if negated else ''}{members}]"
        else:
            yield re.escape(part)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


def _kind(mode: int) -> str:
    for check, name in (
        (stat.S_ISFIFO, "pipe"),
        (stat.S_ISSOCK, "socket"),
        (stat.S_ISBLK, "device"),
        (stat.S_ISCHR, "device"),
    ):
        if check(mode):
            return name
    return "special file"
