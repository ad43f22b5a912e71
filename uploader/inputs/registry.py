"""All kinds of files that are looked into for files. What is added here is opened wherever the walk meets it."""

from __future__ import annotations

from uploader.inputs.port import Opener

OPENERS: tuple[Opener, ...] = ()
"""None yet: what may hold binaries and isn't looked into is told (`uploader.inputs.archives`)."""


def opener_of(head: bytes) -> Opener | None:
    """What opens a file that begins so; None where nothing does."""
    return next((opener for opener in OPENERS if opener.begins(head)), None)
