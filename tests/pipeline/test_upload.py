"""The street without a command line: what goes together, and what a run's exit code is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from uploader.destinations.folder import FolderDestination
from uploader.errors import ExitCode, NetworkGaveOut
from uploader.model import Decision, Outcome, Quality
from uploader.pipeline.gather import gather
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.protocol.words import Committed, Manifest

SOURCE = "static int twice(int x) { return 2 * x; }\nint main(int n, char **w) { (void)w; return twice(n); }\n"


class Remembers(Silent):
    """An observer that keeps what it is told, for the tests that look at it."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []

    def finished(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("build") / "app"
    command = ["cc", "-g", "-O1", "-Wl,--build-id", "-x", "c", "-", "-o", str(target)]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    return target


def test_a_stripped_binary_and_its_debug_file_are_one_artifact(app: Path, tmp_path: Path) -> None:
    stripped, debug = tmp_path / "app", tmp_path / "app.debug"
    subprocess.run(["strip", "-o", stripped, app], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", app, debug], check=True)
    gathered = gather(Plan(paths=[tmp_path]), progress=Silent())
    (artifact,) = gathered.artifacts
    assert artifact.path == str(stripped), "the file that runs is what the artifact is told by"
    assert [file.path for file in artifact.inputs] == [str(stripped), str(debug)]
    assert len(artifact.identity.aliases) == 2, "the file ids of both find it"
    assert artifact.expected_quality is Quality.FULL
    (left,) = gathered.outcomes
    assert (left.path, left.decision) == (str(debug), Decision.SKIPPED)
    assert left.reason == f"part of {stripped}, which it is read with"


def test_without_dwarf_no_more_is_expected_than_functions(app: Path) -> None:
    (artifact,) = gather(Plan(paths=[app], conversion=Conversion(dwarf=False)), progress=Silent()).artifacts
    assert artifact.expected_quality is Quality.FUNCTIONS


def test_object_files_are_skipped_with_a_reason(tmp_path: Path) -> None:
    subprocess.run(["cc", "-g", "-c", "-x", "c", "-", "-o", tmp_path / "a.o"], input=SOURCE, text=True, check=True)
    gathered = gather(Plan(paths=[tmp_path]), progress=Silent())
    assert gathered.artifacts == ()
    assert gathered.outcomes[0].decision is Decision.SKIPPED
    assert "object file without a build-id" in gathered.outcomes[0].reason


def test_the_observer_hears_of_every_file(app: Path, tmp_path: Path) -> None:
    shutil.copy(app, tmp_path / "copy")
    (tmp_path / "broken").write_bytes(app.read_bytes()[:1000])
    observer = Remembers()
    done = upload(
        Plan(paths=[app, tmp_path], jobs=2), FolderDestination(tmp_path / "store", "p"), progress=observer, environ={}
    )
    assert sorted(o.path for o in observer.outcomes) == [o.path for o in done.outcomes]
    assert done.exit_code is ExitCode.SOME_FAILED
    assert done.extracted == 1


class OutOfReach(FolderDestination):
    """A folder whose commits never get through."""

    commits = 0

    def commit(self, manifest: Manifest, *, force: bool = False) -> Committed:
        self.commits += 1
        raise NetworkGaveOut("the host is gone")


def test_once_the_network_gave_out_the_other_files_are_not_tried(tmp_path: Path) -> None:
    build = tmp_path / "build"
    build.mkdir()
    for n in range(30):
        source = f"int f{n}(int x) {{ return x + {n}; }}\n"
        command = ["cc", "-g", "-shared", "-fPIC", "-Wl,--build-id", "-x", "c", "-", "-o", str(build / f"lib{n}.so")]
        subprocess.run(command, input=source, text=True, check=True)
    destination = OutOfReach(tmp_path / "store", "p")
    done = upload(Plan(paths=[build], jobs=1), destination, progress=Silent(), environ={})
    assert done.exit_code is ExitCode.NETWORK
    assert isinstance(done.error, NetworkGaveOut)
    assert len(done.outcomes) == 30
    assert all(o.exit_code == ExitCode.NETWORK and "the host is gone" in o.reason for o in done.outcomes)
    assert destination.commits < 10
