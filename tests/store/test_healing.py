"""What is damaged is noticed, told for the artifact that has it, and healed by the next upload."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.writers.artifact_writer import Artifact, make_artifact, put_all
from uploader.errors import Refused, StoreDamaged
from uploader.model import SymbolId
from uploader.protocol.words import Committed, Holding
from uploader.store.blobs import Blob
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore
from uploader.values import replace

Damage = Callable[[Path], object]
SHOWS_IN_THE_SIZE: list[Damage] = [
    Path.unlink,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes()[:-1]),
    lambda path: path.write_bytes(path.read_bytes() + b"x"),
]


def flip_one_bit(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(root: Path) -> SymbolStore:
    return SymbolStore(FolderBlobs(root), "web")


@pytest.fixture
def artifact(store: SymbolStore) -> Artifact:
    made = make_artifact("aa11", chunks=3)
    put_all(store, made)
    assert store.commit(made.manifest).stored
    return made


def chunk_path(root: Path, sha256: str) -> Path:
    return root / "web/chunks" / sha256[:2] / sha256


def plain_upload(store: SymbolStore, artifact: Artifact, *, force: bool = False) -> list[str]:
    """What a client does: asks, sends what the answer wants and no more, commits. Gives the chunks sent."""
    (answer,) = store.negotiate([replace(artifact.question, force=force)])
    if answer.holding is Holding.PRESENT:
        return []
    by_digest = {chunk.sha256: chunk.data for chunk in artifact.file.chunks}
    for sha256 in answer.missing_chunks:
        store.put_chunk(sha256, by_digest[sha256])
    store.commit(artifact.manifest, force=force)
    return list(answer.missing_chunks)


def is_sound(store: SymbolStore, artifact: Artifact) -> bool:
    return b"".join(store.fetch(artifact.manifest.identity.primary)) == artifact.gsym


@pytest.mark.parametrize("damage", SHOWS_IN_THE_SIZE)
def test_a_chunk_of_another_size_is_told_and_the_next_upload_heals_it(
    store: SymbolStore, root: Path, artifact: Artifact, damage: Damage
) -> None:
    hurt = artifact.manifest.chunks[1]
    damage(chunk_path(root, hurt))
    with pytest.raises(StoreDamaged, match="aa11: 1 of its 3 chunks lost or damaged"):
        store.manifest(artifact.manifest.identity.primary)
    (answer,) = store.negotiate([artifact.question])
    assert answer.holding is Holding.MISSING
    assert "1 of its 3" in answer.reason
    assert plain_upload(store, artifact) == [hurt]
    assert is_sound(store, artifact)


def test_wrong_bytes_are_taken_out_by_who_reads_them_and_the_next_upload_heals_them(
    store: SymbolStore, root: Path, artifact: Artifact
) -> None:
    hurt = artifact.manifest.chunks[1]
    flip_one_bit(chunk_path(root, hurt))
    with pytest.raises(StoreDamaged, match="aa11") as caught:
        list(store.fetch(artifact.manifest.identity.primary))
    assert hurt in caught.value.message
    assert caught.value.remedy
    assert "again" in caught.value.remedy
    assert plain_upload(store, artifact) == [hurt]
    assert is_sound(store, artifact)


def test_a_chunk_that_is_read_by_its_name_is_checked_and_taken_out_too(
    store: SymbolStore, root: Path, artifact: Artifact
) -> None:
    hurt = artifact.manifest.chunks[0]
    flip_one_bit(chunk_path(root, hurt))
    with pytest.raises(StoreDamaged):
        store.chunk(hurt)
    assert store.chunk(hurt) is None


def test_force_reads_everything_back_and_heals_what_nobody_has_read(
    store: SymbolStore, root: Path, artifact: Artifact
) -> None:
    flip_one_bit(chunk_path(root, artifact.manifest.chunks[2]))
    assert plain_upload(store, artifact) == []
    assert plain_upload(store, artifact, force=True) == list(artifact.manifest.chunks)
    assert is_sound(store, artifact)


def test_a_forced_commit_of_the_same_content_meets_wrong_bytes(
    store: SymbolStore, root: Path, artifact: Artifact
) -> None:
    flip_one_bit(chunk_path(root, artifact.manifest.chunks[2]))
    with pytest.raises(Refused, match="other bytes"):
        store.commit(artifact.manifest, force=True)
    assert plain_upload(store, artifact) == [artifact.manifest.chunks[2]]
    committed = store.commit(artifact.manifest, force=True)
    assert committed == Committed(stored=False, reason="already stored with the same content, all of it checked anew")


def test_damage_of_one_artifact_is_no_other_ones(store: SymbolStore, root: Path, artifact: Artifact) -> None:
    sound = make_artifact("bb22", chunks=3)
    plain_upload(store, sound)
    chunk_path(root, artifact.manifest.chunks[0]).unlink()
    answers = store.negotiate([artifact.question, sound.question])
    assert [answer.holding for answer in answers] == [Holding.MISSING, Holding.PRESENT]
    assert is_sound(store, sound)
    assert store.manifest(sound.manifest.identity.primary) == sound.manifest


def test_a_reader_takes_out_no_chunk_that_was_healed_meanwhile(root: Path, artifact: Artifact) -> None:
    hurt = artifact.file.chunks[1]
    path = chunk_path(root, hurt.sha256)
    flip_one_bit(path)

    class HealedInBetween(FolderBlobs):
        def get(self, key: str) -> Blob | None:
            blob = super().get(key)
            SymbolStore(FolderBlobs(root), "web").put_chunk(hurt.sha256, hurt.data)
            return blob

    with pytest.raises(StoreDamaged):
        SymbolStore(HealedInBetween(root), "web").chunk(hurt.sha256)
    assert path.read_bytes() == hurt.data


def test_a_truncated_chunk_that_nothing_names_yet_does_not_spoil_an_upload(store: SymbolStore, root: Path) -> None:
    fresh = make_artifact("cc33", chunks=2)
    put_all(store, fresh)
    chunk_path(root, fresh.manifest.chunks[0]).write_bytes(b"")
    (answer,) = store.negotiate([fresh.question])
    assert answer.missing_chunks == fresh.manifest.chunks[:1]


class _Unreadable(FolderBlobs):
    """Some keys fail as on a bad disk: a test that runs as root can't forbid itself to read."""

    def __init__(self, root: Path, word: str) -> None:
        super().__init__(root)
        self._word = word

    def get(self, key: str) -> Blob | None:
        if self._word in key:
            with self._translated(key):
                raise OSError(5, "Input/output error")
        return super().get(key)


def test_an_entry_that_can_not_be_read_is_the_answer_to_its_question_only(
    store: SymbolStore, root: Path, artifact: Artifact
) -> None:
    sound = make_artifact("bb22")
    plain_upload(store, sound)
    failing = SymbolStore(_Unreadable(root, "aa11/gsym.json"), "web")
    answers = failing.negotiate([artifact.question, sound.question])
    assert [answer.holding for answer in answers] == [Holding.MISSING, Holding.PRESENT]
    assert answers[0].reason == "the stored entry can't be read"
    assert {key: manifest is None for key, manifest in failing.manifests()} == {
        "web/artifacts/aa/aa11/gsym.json": True,
        "web/artifacts/bb/bb22/gsym.json": False,
    }


def test_a_chunk_that_can_not_be_read_is_damage_of_its_artifact_and_stays(
    store: SymbolStore, root: Path, artifact: Artifact
) -> None:
    hurt = artifact.manifest.chunks[1]
    with pytest.raises(StoreDamaged, match=r"aa11.*Input/output error") as caught:
        list(SymbolStore(_Unreadable(root, hurt), "web").fetch(artifact.manifest.identity.primary))
    assert str(root) not in caught.value.message
    assert is_sound(store, artifact)


def test_a_chunk_that_can_not_be_read_is_written_anew_by_force(root: Path, artifact: Artifact) -> None:
    hurt = artifact.file.chunks[1]
    path = chunk_path(root, hurt.sha256)
    before = path.stat().st_ino
    SymbolStore(_Unreadable(root, hurt.sha256), "web").put_chunk(hurt.sha256, hurt.data)
    assert path.stat().st_ino != before
    assert path.read_bytes() == hurt.data


@pytest.mark.parametrize("what", ["aa11/gsym.json", "aliases/go/x"])
def test_a_folder_in_the_place_of_an_entry_hurts_no_other(store: SymbolStore, root: Path, what: str) -> None:
    hurt, sound = make_artifact("aa11", aliases=("go:x",)), make_artifact("bb22")
    for one in (hurt, sound):
        plain_upload(store, one)
    (path,) = (path for path in root.rglob("*") if str(path).endswith(what))
    path.unlink()
    path.mkdir()
    answers = store.negotiate([hurt.question, sound.question])
    assert answers[0].holding is not Holding.PRESENT
    assert answers[1].holding is Holding.PRESENT
    assert store.manifest(SymbolId.parse("bb22")) == sound.manifest


def test_a_folder_that_can_not_be_listed_is_told_and_the_others_are(
    store: SymbolStore, root: Path, artifact: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_upload(store, make_artifact("bb22"))
    scandir = os.scandir

    def failing(path: Any) -> Any:
        if str(path).endswith("artifacts/aa"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", failing)
    listed = [(key, manifest is None) for key, manifest in store.manifests()]
    assert listed == [("web/artifacts/aa", True), ("web/artifacts/bb/bb22/gsym.json", False)]
    with pytest.raises(StoreDamaged, match="artifacts/aa"):
        store.gc(now=4e9)


def _make_pipe(path: Path) -> None:
    os.mkfifo(path)


def _make_endless_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _make_vast(path: Path) -> None:
    path.touch()
    os.truncate(path, 30 << 30)


def _make_folder(path: Path) -> None:
    path.mkdir()
    (path / "inner").write_bytes(b"x")


@pytest.mark.skipif(os.name != "posix", reason="needs pipes and links")
@pytest.mark.parametrize("make", [_make_pipe, _make_endless_link, _make_vast, _make_folder])
@pytest.mark.parametrize("part", ["manifest", "chunk"])
def test_what_is_no_file_of_a_store_is_damage_that_a_plain_upload_heals(
    store: SymbolStore, root: Path, artifact: Artifact, make: Damage, part: str
) -> None:
    if part == "chunk":
        path = chunk_path(root, artifact.manifest.chunks[1])
    else:
        (path,) = (root / "web/artifacts").rglob("*.json")
    path.unlink()
    make(path)
    (answer,) = store.negotiate([artifact.question])
    assert answer.holding is Holding.MISSING
    if part == "chunk":
        assert "damaged" in answer.reason
        assert answer.missing_chunks == (artifact.manifest.chunks[1],)
    else:
        assert answer.reason.startswith("the stored entry is damaged: it ")
    plain_upload(store, artifact)
    assert is_sound(store, artifact)
    assert store.gc(now=time.time() + 30 * 24 * 3600).chunks == 0
    assert is_sound(store, artifact)


@pytest.mark.skipif(os.name != "posix", reason="needs pipes and links")
@pytest.mark.parametrize(
    ("make", "told"),
    [
        (_make_pipe, "is no regular file"),
        (_make_endless_link, "is no regular file"),
        (_make_vast, "has 32212254720 bytes"),
        (_make_folder, "is a folder"),
    ],
)
def test_a_chunk_that_is_no_file_is_told_and_taken_out_by_who_reads_it(
    store: SymbolStore, root: Path, artifact: Artifact, make: Damage, told: str
) -> None:
    hurt = artifact.manifest.chunks[0]
    chunk_path(root, hurt).unlink()
    make(chunk_path(root, hurt))
    with pytest.raises(StoreDamaged, match=told):
        store.chunk(hurt)
    assert store.chunk(hurt) is None
