"""What becomes one symbol file."""

from __future__ import annotations

from dataclasses import dataclass

from uploader.binary.identity import Identified
from uploader.model import Identity, Quality, Source

_GIVES = {
    Source.DWARF: Quality.FULL,
    Source.DWARF_LINES: Quality.LINES,
    Source.SYMTAB: Quality.FUNCTIONS,
    Source.DYNSYM: Quality.FUNCTIONS,
}
"""The sources that `extract` reads, and the quality that each should give."""


def expected_quality(file: Identified, *, dwarf: bool) -> Quality:
    """The quality that reading ``file`` should give: a higher one would have it read again at every run."""
    usable = (source for source in file.sources if dwarf or not source.startswith("dwarf"))
    return max((_GIVES.get(source, Quality.NONE) for source in usable), default=Quality.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """One symbol file to be: an id, and the files that speak for it, the richest first."""

    identity: Identity
    inputs: tuple[Identified, ...]
    expected_quality: Quality
    """What its sources should give; extracting may yet prove it wrong."""

    @property
    def main(self) -> Identified:
        """The file whose symbols count most."""
        return self.inputs[0]

    @property
    def path(self) -> str:
        """The path that this artifact is told by."""
        return self.main.path
