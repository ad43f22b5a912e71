"""A manifest that was changed where it lies, or lies under another id, is damage: told, and healed by the next upload."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.writers.artifact_writer import Artifact, make_artifact
from uploader.destinations.folder import FolderDestination
from uploader.errors import StoreDamaged
from uploader.protocol.wire import artifacts, json_text
from uploader.protocol.words import Holding
from uploader.store.seal import opened, sealed

ONE, OTHER = make_artifact("aa" * 20), make_artifact("bb" * 20, functions=3)
SEALED = sealed(ONE.manifest)


def put(destination: FolderDestination, *artifacts: Artifact) -> None:
    for artifact in artifacts or (ONE,):
        for chunk in artifact.file.chunks:
            destination.put_chunk(chunk.sha256, chunk.data)
        destination.commit(artifact.manifest)


def place_of(folder: Path, artifact: Artifact) -> Path:
    value = artifact.manifest.identity.primary.value
    (found,) = [path for path in folder.rglob("*.json") if value in str(path)]
    return found


def test_what_was_sealed_opens() -> None:
    assert opened(SEALED) == ONE.manifest
    assert opened(json_text.dumps(artifacts.MANIFEST.write(ONE.manifest))) == ONE.manifest, "as earlier stores kept it"


@given(st.integers(0, len(SEALED) * 8 - 1))
def test_no_flipped_bit_makes_another_manifest(bit: int) -> None:
    data = bytearray(SEALED)
    data[bit // 8] ^= 1 << bit % 8
    try:
        found = opened(bytes(data))
    except ValueError:
        return
    assert found == ONE.manifest


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("content_size_bytes", 1),
        ("content_sha256", "0" * 64),
        ("quality", "functions"),
        ("compression", "zstf"),
        ("kind", "x"),
    ],
)
def test_a_changed_member_is_damage_that_the_next_upload_heals(tmp_path: Path, name: str, value: object) -> None:
    destination = FolderDestination(tmp_path, "p")
    put(destination)
    place = place_of(tmp_path, ONE)
    members = json.loads(place.read_bytes())
    assert members[name] != value
    place.write_text(json.dumps(members | {name: value}))
    (answer,) = destination.negotiate([ONE.question])
    assert (answer.holding, "damaged" in answer.reason) == (Holding.MISSING, True)
    with pytest.raises(StoreDamaged):
        destination.manifest(ONE.manifest.identity.primary)
    put(destination)
    assert destination.manifest(ONE.manifest.identity.primary) == ONE.manifest


def test_a_manifest_under_another_id_is_told_as_that_and_replaced(tmp_path: Path) -> None:
    destination = FolderDestination(tmp_path, "p")
    put(destination, ONE, OTHER)
    place_of(tmp_path, OTHER).write_bytes(place_of(tmp_path, ONE).read_bytes())
    first, second = destination.negotiate([ONE.question, OTHER.question])
    assert first.holding is Holding.PRESENT
    assert second.holding is Holding.MISSING
    assert f"is that of {ONE.manifest.identity.primary}" in second.reason
    with pytest.raises(StoreDamaged):
        destination.manifest(OTHER.manifest.identity.primary)
    put(destination, OTHER)
    assert destination.manifest(OTHER.manifest.identity.primary) == OTHER.manifest
