"""Profiles of Cargo, and the debug information that they leave, by the keys ``debug`` and ``strip`` of Cargo.toml."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from uploader.values import frozen

_NO_DEBUG = (None, False, 0, "none")
_STRIPPING = (True, "symbols", "debuginfo")
_DEEPEST_INHERITANCE = 16


@frozen
class Profile:
    """A profile as far as symbols depend on it."""

    name: str
    debug: bool
    strip: bool
    debug_said: str
    """The key as Cargo.toml has it; empty where it has none."""
    strip_said: str

    def variable(self, key: str) -> str:
        """The variable by which a job goes before Cargo.toml."""
        return f"CARGO_PROFILE_{self.name.upper().replace('-', '_')}_{key}"


def profile(manifest: str, name: str) -> Profile:
    """The profile ``name`` of a Cargo.toml; Cargo's own where the text says nothing of it, or can't be read."""
    try:
        profiles = tomllib.loads(manifest).get("profile")
    except (ValueError, RecursionError):
        profiles = None
    debug, strip, heir = None, None, name
    for _ in range(_DEEPEST_INHERITANCE):
        keys: Any = profiles.get(heir) if isinstance(profiles, dict) else None
        keys = keys if isinstance(keys, dict) else {}
        debug = keys.get("debug") if debug is None else debug
        strip = keys.get("strip") if strip is None else strip
        if not isinstance(keys.get("inherits"), str):
            break
        heir = keys["inherits"]
    by_itself = debug is None and heir in ("dev", "test")
    return Profile(
        name=name,
        debug=by_itself or debug not in _NO_DEBUG,
        strip=strip in _STRIPPING,
        debug_said="" if debug is None else f"debug = {_spelled(debug)}",
        strip_said="" if strip is None else f"strip = {_spelled(strip)}",
    )


def hint(manifest: str, name: str) -> str:
    """A hint on the variables that give a profile's binaries debug information; empty where they have it."""
    told = profile(manifest, name)
    debug, strip = told.variable("DEBUG"), told.variable("STRIP")
    if told.strip:
        afterwards = "in the job's env, and strip what ships after the symbols are sent."
        if told.debug:
            with_debug = f"has debug information{_in_brackets(told.debug_said)}"
            return f"Cargo.toml's {name} profile {with_debug}, and strips it ({told.strip_said}): set {strip} to none {afterwards}"
        without = f"has no debug information{_in_brackets(told.debug_said)}"
        return (
            f"Cargo.toml's {name} profile {without}, and strips besides ({told.strip_said}): set {debug} to 1 and {strip} to "
            f"none {afterwards}"
        )
    if told.debug:
        return ""
    if told.debug_said:
        return f"Cargo.toml's {name} profile has no debug information ({told.debug_said}): set {debug} to 1 in the job's env."
    return f"Cargo's {name} profile has no debug information by itself: set {debug} to 1 and {strip} to none in the job's env."


def switched_on(manifest: str) -> str:
    """A hint on what a job that sets both variables does to the release profile."""
    told = profile(manifest, "release")
    done = []
    if not told.debug:
        done.append(
            f"Cargo.toml's release profile has no debug information ({told.debug_said}): the job switches it on with "
            f"{told.variable('DEBUG')}."
            if told.debug_said
            else "A release build has no debug information by itself: the job switches it on with CARGO_PROFILE_RELEASE_DEBUG."
        )
    if told.strip:
        done.append(
            f"Cargo.toml's release profile strips ({told.strip_said}): the job switches that off with {told.variable('STRIP')}."
        )
    return " ".join(done)


def _in_brackets(said: str) -> str:
    return f" ({said})" if said else ""


def _spelled(value: object) -> str:
    return json.dumps(value)[:40] if isinstance(value, (bool, int, str)) else "…"
