"""What the walk tells of, and the port behind which files lie that hold other files; `uploader.inputs.registry` lists all that are opened.

What is found is a `uploader.objects.input.Input`: a name for people, and bytes to open. Whatever comes after the walk knows nothing else
of where a file lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from uploader.inputs.archives import Container
from uploader.objects.input import Input
from uploader.values import frozen

WITHIN = "!/"
"""What stands between the path of a file and that of another within it."""


@frozen
class Found:
    """One regular file to look at. Of several names the one is told that is no link, or that lies in the fewest folders."""

    input: Input
    size_bytes: int
    is_elf: bool
    """It begins with ELF's magic and is long enough for its header; only ``explicit`` files are told without."""
    explicit: bool
    """The user named this very file, not just a folder above it."""
    container: Container | None = None
    """What it is instead of an ELF file, where that is known."""

    @property
    def path(self) -> str:
        """What people know it by."""
        return self.input.path


@frozen
class PassedOver:
    """A file or folder that may hold symbols and was left out."""

    path: str
    what: str
    """What it is one of, for people: ``zip archives``."""
    remedy: str
    """What has it taken in."""


@frozen
class Trouble:
    """A path that couldn't be looked at, and why; the walk went on."""

    path: str
    reason: str


Told = Found | Trouble | PassedOver


class Opener(Protocol):
    """One kind of file that holds files, and can be looked into. An opener has no state; it imports costly libraries where it opens."""

    def begins(self, head: bytes, /) -> bool:
        """Whether a file is one, by its first `archives.HEAD_SIZE_BYTES` or fewer. Never raises."""

    def members(self, outer: Input, /) -> Iterator[Input | Trouble]:
        """The files in it, in its order, each called as ``outer`` with `WITHIN` and its own path behind.

        What is wrong with one member is told as trouble of it. Raises `InputError` where the rest of ``outer`` can't be read.
        """
