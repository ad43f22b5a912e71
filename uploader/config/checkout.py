"""The files that a checkout brings along: where they are looked for, and what they may name without asking.

People who write to a repository write its files, and others who try their changes run with these. So they choose what concerns
the checkout, and nothing beyond it: a server that only they name gets no token, and a folder outside of it is neither written
nor looked through, until the user has confirmed it. A file's owner is no test: in the containers of CI, checkouts belong to others.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from uploader import places
from uploader.errors import UsageError
from uploader.values import frozen

PROJECT_FILE = "symup.toml"

_STORES_OWN_FOLDERS = (".locks", ".tmp")


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


def is_confirmed(dest: str, *, root: Path, trusted: Iterable[str], project: str | None = None) -> bool:
    """Whether a checkout's file may name ``dest`` as it likes: a place within ``root``, or one that the user has named as trusted.

    With a ``project``, a folder within ``root`` is a store to be: nothing of that project in it may be a link.
    """
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
    place = _really(folder)
    if any(place.is_relative_to(_really(one)) for one in map(_folder, trusted) if one is not None):
        return True
    return place.is_relative_to(_really(root)) and (project is None or _is_free_of_links(place, project))


def _is_free_of_links(store: Path, project: str) -> bool:
    """Whether nothing that a store in the folder ``store`` reads or writes for ``project`` is a link, which could lead anywhere."""
    waiting = [str(store / name) for name in (project, *_STORES_OWN_FOLDERS)]
    if any(map(os.path.islink, waiting)):
        return False
    while waiting:
        # The store itself tells of folders that can't be listed, in its own words.
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    return False
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return True


def _covers(trusted: str, url: str) -> bool:
    """Whether the user's word for ``trusted`` holds for a server's URL: the same one; a host alone stands for all that it serves."""
    try:
        said = places.server_url(trusted) if places.is_server(trusted) else ""
    except UsageError:
        return False
    return url == said or (said.count("/") == len("//") and url.startswith(said + "/"))


def _really(folder: Path) -> Path:
    """The folder that it leads to: a link in a checkout may lead anywhere."""
    return Path(os.path.realpath(folder))


def _folder(trusted: str) -> Path | None:
    return None if places.scheme_of(trusted) not in ("", "file") else places.folder_of(trusted)
