"""Builds real binaries from the sources in ``bench/programs``, the way users' compilers would."""

from __future__ import annotations


class BuildUnavailable(Exception):
    """A compiler is missing or fails."""


RECIPES: dict[str, object] = {}
