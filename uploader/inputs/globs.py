"""Globs over paths, matched in time that grows with path and glob: a glob comes from a checkout, and must not be able to stop a run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from uploader.errors import UsageError

MAX_GLOB_CHARACTERS = 1000
_MAX_KNOWN_STEPS = 20_000
"""So many steps are remembered at once; what a real glob meets is far below."""

_ACROSS, _WITHIN, _FOLDERS = "**", "*", "**/"


def matches_any(relative: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs matches the path below the folder given.

    A glob without ``/`` is matched with the base name, one with ``/`` with the whole path. ``*`` and ``?`` stop at ``/``, ``**``
    doesn't, ``[abc]`` and ``[!abc]`` are sets; case counts. Raises `UsageError` for a glob that makes no sense.
    """
    base = relative.rpartition("/")[2]
    return any(compiled(glob).matches(relative if "/" in glob.rstrip("/") else base) for glob in globs)


@cache
def compiled(glob: str) -> Glob:
    """The glob, ready to be matched. Raises `UsageError`."""
    return Glob(glob)


class Glob:
    """All ways to match are followed at once: a state is the set of places in the glob that may come next, a bit for each.

    No way is tried twice, unlike by a regular expression, which tries all ways that stars can share a text, one after another.
    What a character does to a state is remembered.
    """

    def __init__(self, glob: str) -> None:
        """Raises `UsageError` for a glob that makes no sense."""
        if len(glob) > MAX_GLOB_CHARACTERS:
            raise UsageError(f"the glob {glob[:40]!r}… is longer than {MAX_GLOB_CHARACTERS:,} characters")
        try:
            self._parts = list(_parts(glob.removeprefix("./").rstrip("/")))
        except re.error as error:
            raise UsageError(f"the glob {glob!r} can't be understood: {error}") from error
        self._end = 1 << len(self._parts)
        self._start = self._entered(0)
        self._known: dict[tuple[int, str], int] = {}

    def matches(self, text: str) -> bool:
        """Whether all of the text matches all of the glob."""
        known = self._known
        state = self._start
        for character in text:
            step = state, character
            following = known.get(step)
            if following is None:
                if len(known) >= _MAX_KNOWN_STEPS:
                    known.clear()
                following = known[step] = self._following(state, character)
            if not following:
                return False
            state = following
        return bool(state & self._end)

    def _following(self, state: int, character: str) -> int:
        following = 0
        while state:
            lowest = state & -state
            state ^= lowest
            place = lowest.bit_length() - 1
            if place == len(self._parts):
                continue
            part = self._parts[place]
            if not isinstance(part, str):
                if part.fullmatch(character):
                    following |= self._entered(place + 1)
            elif part == _ACROSS or (part == _WITHIN and character != "/"):
                following |= self._entered(place)
            elif part == _FOLDERS:
                following |= lowest
                if character == "/":
                    following |= self._entered(place + 1)
        return following

    def _entered(self, place: int) -> int:
        """The state once all before ``place`` is matched: a star may stand for nothing."""
        state = 1 << place
        while place < len(self._parts) and isinstance(self._parts[place], str):
            place += 1
            state |= 1 << place
        return state


def _parts(glob: str) -> Iterator[str | re.Pattern[str]]:
    """Stars as they are written, and a pattern for every other single character."""
    for part in re.findall(r"\*\*/|\*\*+|\*|\?|\[!?\]?[^\]]*\]|.", glob, re.DOTALL):
        if part == _FOLDERS or part == _WITHIN:
            yield part
        elif part.startswith(_ACROSS):
            yield _ACROSS
        elif part == "?":
            yield re.compile("[^/]")
        elif part.startswith("[") and len(part) > 1:
            negated = part[1] == "!"
            members = part[2 if negated else 1 : -1].replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
            members = members.replace("^", "\\^").replace("&&", "&\\&").replace("||", "|\\|").replace("~~", "~\\~")
            yield re.compile(f"[{'^/' if negated else ''}{members}]")
        else:
            yield re.compile(re.escape(part))
