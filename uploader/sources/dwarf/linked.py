"""What DWARF says of other files that hold parts of it, and where those may lie: finding them is the caller's.

A name in DWARF may be a lie that leads to any file which whoever runs symup may read. So such a file is opened only where it is a regular
one, is read only where it has the id that is looked for, and what it is or whether it is there at all is told only of places
that the user gave.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Protocol

from uploader.errors import InputError
from uploader.objects.elf.elf_file import ElfFile

KERNEL_FOLDERS = ("/dev/", "/proc/", "/sys/")
"""What looks like a file there may do something when it is opened, and is no debug file."""


class LinkedFiles(Protocol):
    """Where to look for the files that a file's DWARF refers to.

    Each answer is a list of paths, the most likely first; that something is there is not promised, and what is there
    counts only where its id fits.
    """

    def packages(self) -> Sequence[str]:
        """Where a ``.dwp`` file with all split units may lie."""

    def split(self, directory: bytes, name: bytes) -> Sequence[str]:
        """Where a ``.dwo`` file may lie that a skeleton unit names, from its compilation directory."""

    def supplementary(self, name: bytes, build_id: bytes) -> Sequence[str]:
        """Where the file may lie that ``.gnu_debugaltlink`` or ``.debug_sup`` names (dwz)."""

    def may_tell_of(self, path: str) -> bool:
        """Whether the path leads to a place that the user gave, not only a name in DWARF: what lies there may be told."""


class NoLinkedFiles:
    """For bytes that come from nowhere: nothing is looked for."""

    def packages(self) -> Sequence[str]:
        """None."""
        return ()

    def split(self, directory: bytes, name: bytes) -> Sequence[str]:  # noqa: ARG002  # the protocol's
        """None."""
        return ()

    def supplementary(self, name: bytes, build_id: bytes) -> Sequence[str]:  # noqa: ARG002  # the protocol's
        """None."""
        return ()

    def may_tell_of(self, path: str) -> bool:  # noqa: ARG002  # the protocol's
        """Of no place."""
        return False


def opened(path: str) -> ElfFile | None:
    """The ELF file that a name in DWARF leads to; None where there is none that may be read, whatever else is there."""
    if os.path.realpath(path).startswith(KERNEL_FOLDERS):
        return None
    try:
        return ElfFile.open(path)
    except InputError:
        return None
