"""The files that a checkout brings along: where they are looked for, and what they may name without asking.

Whoever writes to a repository writes its files, and whoever tries a change of somebody else runs theirs. So they choose what concerns
the checkout, and nothing beyond it: a server that only they name gets no token, and a folder outside of it is neither written
nor looked through, until the user has confirmed it. Who owns a file is no test: in the containers of CI, checkouts belong to others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from uploader import places
from uploader.errors import UsageError
from uploader.values import frozen

PROJECT_FILE = "symup.toml"


@frozen
class Checkout:
    """A checkout with a file of settings."""

    root: Path
    """The repository's folder, or without a repository the file's own."""
    file: Path


def checkout_of(folder: Path) -> Checkout | None:
    """The nearest `PROJECT_FILE` from ``folder`` up to the root of its repository; without a repository, that of ``folder`` itself."""
    start = folder.absolute()
    above = (start, *start.parents)
    root = next((place for place in above if os.path.lexists(place / ".git")), start)
    for place in above[: above.index(root) + 1]:
        path = place / PROJECT_FILE
        if path.is_file():
            return Checkout(root=root, file=path)
    return None


def is_confirmed(dest: str, *, root: Path, trusted: Iterable[str]) -> bool:
    """Whether a checkout's file may name ``dest`` as it likes: a place within ``root``, or one that the user has named as trusted."""
    if places.is_server(dest):
        try:
            url = places.server_url(dest)
        except UsageError:
            return False
        return any(_covers(one, url) for one in trusted)
    try:
        folder = places.folder_of(dest)
    except UsageError:
        return False
    if folder is None:
        return dest in trusted
    folders = (root, *(one for one in map(_folder, trusted) if one is not None))
    return any(_really(folder).is_relative_to(_really(one)) for one in folders)


def _covers(trusted: str, url: str) -> bool:
    """Whether the user's word for ``trusted`` holds for a server's URL: the same one; a host alone stands for all that it serves."""
    try:
        said = places.server_url(trusted) if places.is_server(trusted) else ""
    except UsageError:
        return False
    return url == said or (said.count("/") == len("//") and url.startswith(said + "/"))


def _really(folder: Path) -> Path:
    """Where it leads: a link in a checkout may lead anywhere."""
    return Path(os.path.realpath(folder))


def _folder(trusted: str) -> Path | None:
    return None if places.scheme_of(trusted) not in ("", "file") else places.folder_of(trusted)
