"""``symup version``."""

from __future__ import annotations

from uploader.cli import terminal


def command() -> int:
    """Tell the version and which core runs, as --version does."""
    terminal.tell_version()
    return 0
