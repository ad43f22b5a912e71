"""What is planned is what would come of it, where files are missing that the debug information refers to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from uploader.destinations.folder import FolderDestination
from uploader.errors import ExitCode
from uploader.model import Concern, Decision, Quality
from uploader.pipeline.gates import Gates, judged
from uploader.pipeline.missing import REMEDY_FILES
from uploader.pipeline.outcomes import Finished
from uploader.pipeline.plan import Conversion, Plan
from uploader.pipeline.push import push
from uploader.pipeline.upload import upload
from uploader.progress import Silent
from uploader.store.folder import FolderBlobs
from uploader.store.store import SymbolStore

CALLS = "static inline __attribute__((always_inline)) int in_{n}(int x) {{ volatile int y = x; return y * 3; }}\n"
BODY = CALLS + "int {n}(int x) {{ return in_{n}(x) + in_{n}(x + 1); }}\n"
MAIN = CALLS.format(n="main") + "int main(int n, char **w) { (void)w; return in_main(n) + in_main(n + 1); }\n"


def run(*command: str, at: Path) -> None:
    subprocess.run(command, check=True, cwd=at)


@pytest.fixture
def split(tmp_path: Path) -> Path:
    """A program of two split units."""
    (tmp_path / "one.c").write_text(MAIN)
    (tmp_path / "two.c").write_text(BODY.format(n="two"))
    run("gcc", "-O2", "-g", "-gsplit-dwarf", "-c", "one.c", "two.c", at=tmp_path)
    run("gcc", "-Wl,--build-id", "one.o", "two.o", "-o", "app", at=tmp_path)
    return tmp_path / "app"


def uploaded(path: Path, store: Path, *, dry_run: bool = False, dwarf: bool = True, force: bool = False) -> Finished:
    return upload(
        Plan(paths=[path], jobs=1, conversion=Conversion(dwarf=dwarf)),
        FolderDestination(store, "p"),
        progress=Silent(),
        environ={},
        dry_run=dry_run,
        force=force,
    )


@pytest.mark.parametrize("gone", [("one.dwo",), ("two.dwo",), ("one.dwo", "two.dwo"), ()])
@pytest.mark.parametrize(
    "gates",
    [
        Gates(require=Quality.FULL),
        Gates(fail_on=frozenset({Concern.WARNINGS})),
        Gates(fail_on=frozenset({Concern.MISSING_DEBUG})),
    ],
    ids=["require", "warnings", "missing-debug"],
)
def test_a_dry_run_passes_the_gates_that_the_upload_passes(
    split: Path, tmp_path: Path, gone: tuple[str, ...], gates: Gates
) -> None:
    for name in gone:
        (tmp_path / name).unlink()
    planned = judged(uploaded(split, tmp_path / "store", dry_run=True), gates)
    done = judged(uploaded(split, tmp_path / "store"), gates)
    (foretold,), (came) = planned.outcomes, done.outcomes[0]
    assert foretold.decision is Decision.PLANNED
    assert (foretold.quality, foretold.warnings, foretold.remedy) == (came.quality, came.warnings, came.remedy)
    assert planned.exit_code is done.exit_code
    assert (foretold.remedy == REMEDY_FILES) is bool(gone)
    if len(gone) == 2:
        assert foretold.quality is Quality.LINES
        assert planned.exit_code is not ExitCode.DONE


def test_what_dwz_moved_out_is_foreseen_to_be_missing(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text(MAIN)
    for name in ("one", "two"):
        run("gcc", "-O2", "-g", f"-DN_{name}", "-Wl,--build-id", "one.c", "-o", name, at=tmp_path)
    run("dwz", "-m", "common.debug", "one", "two", at=tmp_path)
    if b"gnu_debugaltlink" not in (tmp_path / "one").read_bytes():
        pytest.skip("dwz found nothing to share")
    (tmp_path / "common.debug").unlink()
    (foretold,) = uploaded(tmp_path / "one", tmp_path / "store", dry_run=True).outcomes
    (came,) = uploaded(tmp_path / "one", tmp_path / "store").outcomes
    assert (foretold.quality, foretold.warnings, foretold.remedy) == (came.quality, came.warnings, came.remedy)
    assert came.warnings


def test_what_is_not_to_be_read_is_not_missed(split: Path, tmp_path: Path) -> None:
    (tmp_path / "one.dwo").unlink()
    (foretold,) = uploaded(split, tmp_path / "store", dry_run=True, dwarf=False).outcomes
    assert (foretold.quality, foretold.warnings) == (Quality.FUNCTIONS, ())


def test_a_push_tells_the_remedy_that_the_upload_told(split: Path, tmp_path: Path) -> None:
    (tmp_path / "one.dwo").unlink()
    (tmp_path / "two.dwo").unlink()
    uploaded(split, tmp_path / "store")
    source = SymbolStore(FolderBlobs(tmp_path / "store"), "p")
    for dry_run in (True, False, False):
        pushed = push(
            source, FolderDestination(tmp_path / "other", "p"), progress=Silent(), label="it", dry_run=dry_run
        )
        done = judged(pushed, Gates(require=Quality.FULL))
        assert done.outcomes[0].remedy == REMEDY_FILES
        assert done.error is not None
        assert (done.error.remedy or "").startswith(REMEDY_FILES)


def test_an_upload_that_is_forced_claims_no_damage(split: Path, tmp_path: Path) -> None:
    uploaded(split, tmp_path / "store")
    (again,) = uploaded(split, tmp_path / "store", force=True).outcomes
    assert (again.decision, again.chunks_sent) == (Decision.PRESENT, 1)
    assert again.reason.endswith("all of it was sent anew, as --force asks")
    assert "damaged" not in again.reason
