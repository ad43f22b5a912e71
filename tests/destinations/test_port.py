"""A kind of destination that is made here is opened by its scheme, by its place in the registry alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from uploader.destinations import open as room
from uploader.destinations.folder import FolderDestination
from uploader.destinations.port import DestinationKind, Opening
from uploader.errors import UsageError

KINDS = pytest.mark.parametrize("kind", room.KINDS, ids=lambda kind: type(kind).__name__)


@KINDS
def test_a_kind_has_schemes_of_its_own(kind: DestinationKind) -> None:
    schemes = [scheme for other in room.KINDS for scheme in other.schemes]
    assert kind.schemes
    assert all(schemes.count(scheme) == 1 and scheme == scheme.lower() for scheme in kind.schemes)


def test_one_line_in_the_registry_makes_a_destination_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Shelf:
        schemes = ("shelf",)

        def open(self, dest: str, opening: Opening) -> FolderDestination:
            return FolderDestination(tmp_path / dest.removeprefix("shelf://"), opening.project)

    with pytest.raises(UsageError, match="shelf:// is no destination that symup knows"):
        room.open_destination("shelf://a", project="web", env={})
    monkeypatch.setattr(room, "KINDS", (*room.KINDS, Shelf()))
    assert room.open_destination("shelf://a", project="web", env={}).url == str(tmp_path / "a")
