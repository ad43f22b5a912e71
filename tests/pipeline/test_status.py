"""How files and ids stand at a destination, and the exit code that follows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.writers.artifact_writer import make_artifact, put_all
from tests.writers.elf_writer import CODE, Note, Section, Symbol, elf
from uploader.destinations.folder import FolderDestination
from uploader.errors import ExitCode
from uploader.model import SymbolId
from uploader.pipeline.plan import Plan
from uploader.pipeline.status import Asked, State, questions, status
from uploader.progress import Silent

TEXT = Section(".text", b"\x90" * 64, address=0x1000, flags=CODE)
ID = bytes(range(20))


@pytest.fixture
def destination(tmp_path: Path) -> FolderDestination:
    return FolderDestination(tmp_path / "store", "p")


def program(path: Path, *symbols: Symbol) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(elf([TEXT], symbols=symbols, notes=[Note("GNU", 3, ID)]))
    return path


def test_ids_and_files_are_told_in_their_order(destination: FolderDestination, tmp_path: Path) -> None:
    stored = make_artifact("aa" * 20)
    put_all(destination, stored)
    destination.commit(stored.manifest)
    ids = [Asked(label=word, symbol_id=SymbolId.parse(word)) for word in ("aa" * 20, "bb" * 20)]
    path = program(tmp_path / "bin" / "app", Symbol("f", 0x1000, 16))
    stock = status(questions(Plan(paths=[path]), ids), destination, verify=True, progress=Silent())
    assert [(one.label, one.state) for one in stock.standings] == [
        ("aa" * 20, State.STORED),
        ("bb" * 20, State.MISSING),
        (str(path), State.MISSING),
    ]
    assert stock.standings[0].reason == "stored, and all bytes are sound"
    assert stock.exit_code is ExitCode.SOME_FAILED


def test_what_has_no_symbols_is_no_loss_in_a_folder_and_is_one_where_it_was_named(
    destination: FolderDestination, tmp_path: Path
) -> None:
    path = program(tmp_path / "bin" / "app")
    for paths, state, code in (
        ([path.parent], State.EMPTY, ExitCode.DONE),
        ([path], State.MISSING, ExitCode.SOME_FAILED),
    ):
        stock = status(questions(Plan(paths=paths)), destination, verify=False, progress=Silent())
        assert [one.state for one in stock.standings] == [state]
        assert stock.exit_code is code


def test_a_file_that_cannot_be_asked_for_is_a_failure_beside_all_that_is_stored(
    destination: FolderDestination, tmp_path: Path
) -> None:
    stored = make_artifact(ID.hex())
    put_all(destination, stored)
    destination.commit(stored.manifest)
    program(tmp_path / "bin" / "app", Symbol("f", 0x1000, 16))
    (tmp_path / "bin" / "torn").write_bytes(elf([TEXT])[:-10])
    stock = status(questions(Plan(paths=[tmp_path / "bin"])), destination, verify=False, progress=Silent())
    assert [one.state for one in stock.standings] == [State.STORED]
    assert len(stock.troubles) == 1
    assert stock.exit_code is ExitCode.SOME_FAILED
