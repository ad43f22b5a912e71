"""The observer by which the street tells of its work without touching a terminal; the edge brings it in."""

from __future__ import annotations

from typing import Protocol

from uploader.model import Outcome


class Progress(Protocol):
    """Receives what happens, from any thread. Every method returns at once and never raises."""

    def stage(self, name: str, total: int | None = None) -> None:
        """A stage begins: ``discover``, ``identify``, ``ask``, ``extract``, ``send``; ``total`` units where known."""

    def advance(self, name: str, amount: int = 1) -> None:
        """``amount`` more units of the stage are done (files, or bytes for ``send``)."""

    def finished(self, outcome: Outcome) -> None:
        """One file has its outcome."""

    def note(self, message: str) -> None:
        """Something a person may want to know, in one line."""

    def waiting(self, message: str) -> None:
        """Trouble with the destination is being outlasted, in one line that takes the place of the one before; empty when it is over."""


class Silent:
    """The observer that looks away."""

    def stage(self, name: str, total: int | None = None) -> None:
        """Ignores it."""

    def advance(self, name: str, amount: int = 1) -> None:
        """Ignores it."""

    def finished(self, outcome: Outcome) -> None:
        """Ignores it."""

    def note(self, message: str) -> None:
        """Ignores it."""

    def waiting(self, message: str) -> None:
        """Ignores it."""
