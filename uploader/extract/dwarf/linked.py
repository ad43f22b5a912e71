"""What DWARF says of other files that hold parts of it, and where those may lie: finding them is the caller's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


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
