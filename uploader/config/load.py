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
Places beyond the checkout that its file names are `Settings.unconfirmed`, unless the user's own file lists them::

    trusted = ["https://symbols.example.com", "/srv/symbols"]
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uploader.config.checkout import Checkout, checkout_of, is_confirmed
from uploader.config.declared import SETTINGS, Setting
from uploader.config.files import entries, told_own_file, user_config_file
from uploader.config.settings import DEFAULT_PROJECT, Settings, default_jobs
from uploader.errors import UsageError


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
            where = "--" + key.replace("_", "-")
            given[key] = _checked(_known(key, where), value, where)
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


def _from_file(path: Path, *, users: bool) -> dict[str, Any]:
    """The settings of a file: the user's own, or one that came with a checkout."""
    settings: dict[str, Any] = {}
    for key, value in entries(path):
        if key == "token":
            raise UsageError(
                f"{path}: 'token' has no place in a file",
                remedy="Set the environment variable SYMUP_TOKEN instead.",
            )
        where = f"{path}: {key!r}"
        setting = _known(key, where)
        if setting.users_own and not users:
            raise UsageError(
                f"{where} has no place in a file of a checkout, which can't vouch for itself",
                remedy=f"Write it into {told_own_file()}.",
            )
        settings[key] = _checked(setting, value, where, folder=path.parent)
    return settings


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, setting in SETTINGS.items():
        if setting.variable is None:
            continue
        value = environ.get(setting.variable, "").strip()
        if value:
            settings[key] = _checked(setting, value, setting.variable)
    return settings


def _known(key: str, where: str) -> Setting:
    setting = SETTINGS.get(key)
    if setting is None:
        raise UsageError(f"{where} is not a setting", remedy=f"The settings are: {', '.join(SETTINGS)}.")
    return setting


def _checked(setting: Setting, value: object, where: str, *, folder: Path | None = None) -> Any:
    """The value of one setting, in its own type; in a file, ``folder`` is that file's. Raises `UsageError` that begins with ``where``."""
    try:
        return setting.value(value, folder)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
