"""Two programs of one id, uploaded one after the other: told, and never mixed up."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from uploader.destinations.folder import FolderDestination
from uploader.model import Concern, Decision, Outcome
from uploader.pipeline.plan import Plan
from uploader.pipeline.status import State, questions, status
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.protocol.words import differ

ONE = "int one(int a) { return a + 1; }\nint main(void) { return one(1); }\n"
OTHER = "int other(int a) { return a * 3 - 7; }\nint more(int a) { return other(a) + other(a); }\nint main(void) { return more(1); }\n"


def built(path: Path, source: str, *flags: str) -> Path:
    command = ["cc", "-g", *(flags or ("-Wl,--build-id=0x00112233",)), "-x", "c", "-", "-o", str(path)]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def stored(path: Path, store: Path, *, force: bool = False, dry_run: bool = False) -> Outcome:
    plan = Plan(paths=[path], jobs=1)
    destination = FolderDestination(store, "p")
    done = upload(plan, destination, progress=Silent(), environ={}, force=force, dry_run=dry_run)
    (outcome,) = done.outcomes
    return outcome


def state(path: Path, store: Path) -> State:
    plan = Plan(paths=[path], jobs=1)
    (one,) = status(questions(plan), FolderDestination(store, "p"), verify=False, progress=Silent()).standings
    return one.state


@pytest.mark.parametrize("dry_run", [False, True])
def test_another_program_of_that_id_is_a_conflict_and_what_is_stored_stays(tmp_path: Path, dry_run: bool) -> None:
    one, other, store = built(tmp_path / "one", ONE), built(tmp_path / "other", OTHER), tmp_path / "store"
    assert stored(one, store).decision is Decision.STORED
    outcome = stored(other, store, dry_run=dry_run)
    assert (outcome.decision, outcome.concern, outcome.exit_code) == (Decision.FAILED, Concern.CONFLICT, 1)
    assert "of another program" in outcome.reason
    assert outcome.remedy
    assert (state(one, store), state(other, store)) == (State.STORED, State.OTHER)


def test_force_replaces_it(tmp_path: Path) -> None:
    one, other, store = built(tmp_path / "one", ONE), built(tmp_path / "other", OTHER), tmp_path / "store"
    stored(one, store)
    assert stored(other, store, force=True).decision is Decision.STORED
    assert (state(one, store), state(other, store)) == (State.OTHER, State.STORED)


def test_copies_that_were_stripped_or_hold_the_debug_information_alone_are_the_same_program(tmp_path: Path) -> None:
    one, store = built(tmp_path / "one", ONE), tmp_path / "store"
    stripped, debug = tmp_path / "stripped", tmp_path / "one.debug"
    subprocess.run(["strip", "-o", stripped, one], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", one, debug], check=True)
    assert stored(stripped, store).concern is not Concern.CONFLICT
    for path in (debug, one, stripped):
        assert stored(path, store).concern is not Concern.CONFLICT, path
        assert state(path, store) is State.STORED


def test_files_without_an_id_are_told_apart_by_all_of_their_bytes(tmp_path: Path) -> None:
    whole = bytearray(built(tmp_path / "one", ONE, "-Wl,--build-id=none").read_bytes())
    # The file id is made of the file's beginning, end and length.
    at = len(whole) // 2
    assert 4096 < at < len(whole) - 4096
    whole[at] ^= 1
    (tmp_path / "other").write_bytes(whole)
    store = tmp_path / "store"
    assert stored(tmp_path / "one", store).decision is Decision.STORED
    assert stored(tmp_path / "one", store).decision is Decision.PRESENT
    assert stored(tmp_path / "other", store).concern is Concern.CONFLICT


def test_fingerprints_of_other_kinds_speak_for_nothing() -> None:
    assert differ(("go:a", "code:b"), ("go:a", "code:c"))
    assert not differ(("go:a",), ("code:c", "bytes:d"))
    assert not differ(("code:a", "nonsense"), ("code:a", "more nonsense"))
    assert not differ((), ("code:a",))
