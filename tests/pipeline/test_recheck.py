"""Reading again what a destination holds: all of it, while others may change it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.writers.artifact_writer import make_artifact, put_all
from uploader.destinations.folder import FolderDestination
from uploader.model import SymbolId
from uploader.pipeline.recheck import damage
from uploader.protocol.words import GSYM_KIND


class Fleeting(FolderDestination):
    """A store that another run cleans just when the file has been read from it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "web")
        self.entries = root / "web" / "artifacts"

    def fetch(self, symbol_id: SymbolId, kind: str = GSYM_KIND) -> Iterator[bytes]:
        yield from super().fetch(symbol_id, kind)
        shutil.rmtree(self.entries)


def test_what_is_taken_away_after_it_was_read_is_told_as_such(tmp_path: Path) -> None:
    artifact = make_artifact("c0ffee")
    destination = FolderDestination(tmp_path, "web")
    put_all(destination, artifact)
    destination.commit(artifact.manifest)
    wanted = artifact.manifest.identity.primary
    assert damage(destination, wanted) is None
    assert damage(Fleeting(tmp_path), wanted) == "it was taken away meanwhile"
