"""What becomes one symbol file."""

from __future__ import annotations

from dataclasses import dataclass

from uploader.binary.identity import Identified
from uploader.model import Identity, Quality


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One symbol file to be: an id, and the files that speak for it, the richest first."""

    identity: Identity
    inputs: tuple[Identified, ...]

    @property
    def main(self) -> Identified:
        """The file whose symbols count most."""
        return self.inputs[0]

    @property
    def path(self) -> str:
        """The path that this artifact is told by."""
        return self.main.path

    @property
    def expected_quality(self) -> Quality:
        """What its sources should give."""
        return self.main.expected_quality
