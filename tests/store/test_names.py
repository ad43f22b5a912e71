"""Which artifact a name leads to: what can't be checked never takes a name from the artifact that has it."""

from pathlib import Path

import pytest

from tests.writers.artifact_writer import Artifact, make_artifact, put_all
from uploader.model import Quality, SymbolId
from uploader.protocol.words import Answer, Committed, Holding
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore

NAMES = ("go:shared", "file:" + "0" * 32)


@pytest.fixture
def store(tmp_path: Path) -> SymbolStore:
    return SymbolStore(FolderBlobs(tmp_path / "store"), "web")


def upload(store: SymbolStore, artifact: Artifact, *, force: bool = False) -> Committed:
    put_all(store, artifact)
    return store.commit(artifact.manifest, force=force)


def leads_to(store: SymbolStore, name: str) -> str | None:
    manifest = store.manifest(SymbolId.parse(name))
    return None if manifest is None else str(manifest.identity)


def asked(store: SymbolStore, artifact: Artifact) -> Answer:
    (answer,) = store.negotiate([artifact.question])
    return answer


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_an_alias_stays_with_the_artifact_that_had_it_first(store: SymbolStore, name: str, force: bool) -> None:
    upload(store, make_artifact("aa11", quality=Quality.FUNCTIONS, aliases=(name,)))
    later = make_artifact("bb22", aliases=(name,))
    assert upload(store, later, force=force).stored
    assert leads_to(store, name) == "aa11"
    assert leads_to(store, "bb22") == "bb22"
    assert asked(store, later).holding is Holding.PRESENT


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_an_id_that_can_not_be_checked_takes_no_alias_away(store: SymbolStore, name: str, force: bool) -> None:
    upload(store, make_artifact("aa11", quality=Quality.FUNCTIONS, aliases=(name,)))
    later = make_artifact("bb22", primary=name)
    assert asked(store, later).holding is Holding.PRESENT
    committed = upload(store, later, force=force)
    assert not committed.stored
    assert "another name of aa11" in committed.reason
    assert leads_to(store, name) == "aa11"


@pytest.mark.parametrize("name", NAMES)
def test_an_alias_takes_no_id_away(store: SymbolStore, name: str) -> None:
    upload(store, make_artifact("aa11", primary=name, quality=Quality.FUNCTIONS))
    assert upload(store, make_artifact("bb22", aliases=(name,))).stored
    assert leads_to(store, name) == name


def test_a_build_id_goes_before_an_alias_that_was_there_first(store: SymbolStore) -> None:
    upload(store, make_artifact("aa11", aliases=("bb22",)))
    assert leads_to(store, "bb22") == "aa11"
    assert asked(store, make_artifact("bb22")).holding is Holding.MISSING
    assert upload(store, make_artifact("bb22")).stored
    assert leads_to(store, "bb22") == "bb22"


def test_a_name_whose_artifact_is_gone_is_free(store: SymbolStore, tmp_path: Path) -> None:
    upload(store, make_artifact("aa11", aliases=("go:shared",)))
    for path in tmp_path.rglob("aa11/gsym.json"):
        path.unlink()
    assert leads_to(store, "go:shared") is None
    upload(store, make_artifact("bb22", aliases=("go:shared",)))
    assert leads_to(store, "go:shared") == "bb22"


@pytest.mark.parametrize("damage", [b"", b"\xff", b"no id at all"])
def test_a_damaged_alias_is_given_anew(store: SymbolStore, tmp_path: Path, damage: bytes) -> None:
    artifact = make_artifact("aa11", aliases=("go:shared",))
    upload(store, artifact)
    (tmp_path / "store/web/aliases/go/shared").write_bytes(damage)
    assert asked(store, artifact).holding is Holding.POORER
    upload(store, artifact)
    assert leads_to(store, "go:shared") == "aa11"


def test_where_two_got_a_name_at_once_it_leads_to_the_one_that_has_it_as_an_alias(
    store: SymbolStore, tmp_path: Path
) -> None:
    later = make_artifact("bb22", primary="go:shared")
    upload(store, later)
    upload(store, make_artifact("aa11"))
    alias = tmp_path / "store/web/aliases/go/shared"
    alias.parent.mkdir(parents=True)
    alias.write_text("aa11")
    assert leads_to(store, "go:shared") == "aa11"
    assert "another name of aa11" in asked(store, later).reason
