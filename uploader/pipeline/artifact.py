"""What becomes one symbol file."""

from __future__ import annotations

from collections.abc import Iterable

from uploader.inputs.companions import Search
from uploader.model import Build, Identity, Outcome, Quality, Source
from uploader.sources.identify import Identified
from uploader.sources.registry import expected
from uploader.values import frozen, replace


def expected_quality(files: Iterable[Identified], *, dwarf: bool) -> Quality:
    """The quality that reading ``files`` together should give."""
    return expected((source for file in files for source in file.sources), dwarf=dwarf)


@frozen
class Artifact:
    """One symbol file to be: an id, and the files that are read for it, the binary first, as far as it is there."""

    identity: Identity
    inputs: tuple[Identified, ...]
    expected_quality: Quality
    """What its sources should give; extracting may yet prove it wrong."""
    search: Search | None = None
    """What came of looking for the debug information that was not among the files met."""
    ask_debuginfod: bool = False
    """A debuginfod server may yet have what is missing: it is asked once the destination wants the artifact."""

    @property
    def main(self) -> Identified:
        """The file that runs, or the richest where that isn't among them."""
        return self.inputs[0]

    @property
    def path(self) -> str:
        """The path that this artifact is told by."""
        return self.main.path

    @property
    def size_bytes(self) -> int:
        """The size of all files that are read for it."""
        return sum(file.size_bytes for file in self.inputs)

    @property
    def build(self) -> Build | None:
        """How the program was built, as the first of its files tells that says so."""
        return next((file.build for file in self.inputs if file.build is not None), None)

    def about(self, outcome: Outcome) -> Outcome:
        """The outcome with what is known of this artifact."""
        return replace(outcome, identity=self.identity, input_size_bytes=self.size_bytes)

    def has(self, source: Source) -> bool:
        """Whether one of its files has that source."""
        return any(source in file.sources for file in self.inputs)
