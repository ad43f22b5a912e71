"""The settings of a run, resolved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from uploader.model import Concern, Quality
from uploader.values import frozen

DEFAULT_PROJECT = "default"
FAILS_BY_ITSELF = frozenset({Concern.FAILED, Concern.CONFLICT})


def default_jobs() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


@frozen
class PathGate:
    """A gate for some files instead of the one for all. None leaves that as it is for all."""

    paths: tuple[str, ...]
    """Globs, as for ``exclude``; with a ``/`` they match the path from the working directory or from ``root``."""
    require: Quality | None = None
    min_line_coverage: float | None = None
    root: str = ""
    """The folder of the file that says so."""


@frozen
class Settings:
    """The settings of a run. ``to`` is None where no layer names a destination; tokens are no settings (`uploader.credentials`)."""

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
    """Concerns that make the exit code 1."""
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
    """Files that build systems leave for themselves are taken in."""
