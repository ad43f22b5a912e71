"""Gates: what is asked of files, by their path, and what it does to a run's end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.runs import broken, full, poor, skipped
from tests.writers.artifact_writer import make_artifact, put_all
from uploader.config.settings import FAILS_BY_ITSELF, PathGate
from uploader.destinations.folder import FolderDestination
from uploader.errors import ExitCode, NetworkGaveOut
from uploader.model import Concern, Decision, Figures, Identity, IdScheme, Outcome, Quality, SymbolId
from uploader.pipeline.gates import Gates, Stored, judged, stored_figures
from uploader.pipeline.outcomes import Finished, conclude
from uploader.values import replace


def finished(*outcomes: Outcome, error: NetworkGaveOut | None = None) -> Finished:
    return conclude(outcomes, error=error, extracted=0, unreached=0, allow_empty=False, paths=("build",))


def codes(done: Finished) -> dict[str, int]:
    return {outcome.path: outcome.exit_code for outcome in done.outcomes}


def test_without_gates_nothing_changes() -> None:
    before = finished(full(), poor(), broken(), skipped())
    assert judged(before, Gates()) == before


def test_a_quality_below_what_is_required_is_7_and_names_the_files_and_what_to_do() -> None:
    done = judged(finished(full(), *(poor(f"p{i}") for i in range(5))), Gates(require=Quality.LINES))
    assert done.exit_code is ExitCode.QUALITY
    assert done.error is not None
    assert done.error.message == "5 files are below the gate: p0, p1, p2 and 2 more"
    assert "-g1" in (done.error.remedy or "")
    assert (
        done.outcomes[1].reason
        == "new in the store; quality functions is below the lines required (90 % of the code named)"
    )
    assert codes(done)["build/app"] == 0


def test_the_figures_stand_beside_what_a_gate_says_and_the_one_remedy_is_the_runs_too() -> None:
    figures = Figures(executable_bytes=100, function_bytes=80, line_bytes=41, inline_bytes=4, functions=9, line_rows=9)
    dwo = replace(full(), quality=Quality.LINES, figures=figures, warnings=("lost",), remedy="Keep the .dwo files.")
    told = "80 % of the code named, 41 % with lines, 10 % of these with what is inlined"
    for gates in (Gates(require=Quality.FULL), Gates(fail_on=frozenset({Concern.WARNINGS}))):
        assert judged(finished(dwo), gates).outcomes[0].reason.endswith(f" ({told})")
    error = judged(finished(dwo, replace(dwo, path="other")), Gates(require=Quality.FULL)).error
    assert error is not None
    assert error.remedy == "Keep the .dwo files. Or ask less with a [[gate]] in symup.toml."


def test_what_a_destination_claims_to_hold_without_a_quality_passes_no_gate() -> None:
    untold = replace(full(), decision=Decision.PRESENT, quality=None, figures=None)
    done = judged(finished(untold), Gates(require=Quality.LINES))
    assert done.exit_code is ExitCode.QUALITY
    assert "does not tell its quality" in done.outcomes[0].reason
    assert "--force" in (done.outcomes[0].remedy or "")
    assert judged(finished(untold), Gates()).exit_code is ExitCode.DONE


@pytest.mark.parametrize(("least", "code"), [(90.0, 0), (90.1, 7), (0.0, 0)])
def test_line_coverage_is_a_least(least: float, code: int) -> None:
    done = judged(finished(full(lines=0.9)), Gates(min_line_coverage=least))
    assert done.exit_code == code


def test_a_file_without_lines_has_no_coverage_and_skipped_files_are_not_asked() -> None:
    done = judged(finished(replace(poor(), figures=None), skipped(), full()), Gates(min_line_coverage=1))
    assert codes(done) == {"build/plain": 7, "build/copy": 0, "build/app": 0}


def test_of_what_was_there_already_the_destination_is_asked_once_it_matters() -> None:
    present = replace(full(), decision=Decision.PRESENT, figures=None)
    asked = []

    def stored(outcome: Outcome) -> Figures | None:
        asked.append(outcome.path)
        return Figures(executable_bytes=100, line_bytes=10, functions=1, line_rows=1)

    assert judged(finished(present), Gates(require=Quality.FULL), stored=stored).exit_code is ExitCode.DONE
    assert asked == []
    done = judged(finished(present), Gates(min_line_coverage=50), stored=stored)
    assert done.exit_code is ExitCode.QUALITY
    assert done.outcomes[0].reason == "new in the store; 10 % of the code has lines, below the 50 % required"
    silent: Stored = lambda _outcome: None  # noqa: E731
    assert judged(finished(present), Gates(min_line_coverage=50), stored=silent).exit_code is ExitCode.DONE


def test_the_destination_tells_the_figures_of_what_it_holds_and_else_none(tmp_path: Path) -> None:
    destination = FolderDestination(tmp_path, "web")
    artifact = make_artifact("c0ffee")
    put_all(destination, artifact)
    destination.commit(artifact.manifest)
    held = replace(full(), identity=artifact.manifest.identity)
    assert stored_figures(held, destination) == artifact.manifest.figures is not None
    other = Identity(primary=SymbolId(scheme=IdScheme.GNU, value="ab" * 20))
    assert stored_figures(replace(full(), identity=other), destination) is None
    assert stored_figures(replace(full(), identity=None), destination) is None


def test_a_plan_is_not_judged_by_what_it_would_replace() -> None:
    planned = replace(full(), decision=Decision.PLANNED, figures=None)
    stored: Stored = lambda _outcome: Figures(executable_bytes=100, functions=1)  # noqa: E731
    assert judged(finished(planned), Gates(min_line_coverage=50), stored=stored).exit_code is ExitCode.DONE


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [
        (FAILS_BY_ITSELF, 1),
        (frozenset({Concern.CONFLICT}), 0),
        (frozenset(), 0),
        (frozenset({Concern.FAILED}), 1),
    ],
)
def test_a_broken_file_fails_the_run_only_as_the_gate_says(fail_on: frozenset[Concern], code: int) -> None:
    done = judged(finished(broken(), full()), Gates(fail_on=fail_on))
    assert done.exit_code == code
    assert done.outcomes[1].decision is Decision.FAILED


@pytest.mark.parametrize(
    ("outcome", "concern"),
    [
        (replace(broken(), concern=Concern.CONFLICT), Concern.CONFLICT),
        (poor(), Concern.MISSING_DEBUG),
        (replace(full(), decision=Decision.PRESENT, concern=Concern.DECLINED), Concern.DECLINED),
        (replace(full(), warnings=("look at this",)), Concern.WARNINGS),
        (broken(), Concern.FAILED),
    ],
)
def test_each_kind_fails_for_itself_alone(outcome: Outcome, concern: Concern) -> None:
    assert judged(finished(outcome, full("other")), Gates(fail_on=frozenset({concern}))).exit_code == 1
    others = frozenset(Concern) - {concern, Concern.WARNINGS}
    assert judged(finished(outcome, full("other")), Gates(fail_on=others)).exit_code == 0


def test_no_gate_hides_what_stopped_the_run() -> None:
    lost = replace(broken(), exit_code=ExitCode.NETWORK)
    done = judged(finished(lost, error=NetworkGaveOut("gone")), Gates(fail_on=frozenset()))
    assert done.exit_code is ExitCode.NETWORK


def test_the_first_gate_that_matches_a_path_speaks_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gates = Gates(
        require=Quality.FULL,
        min_line_coverage=80,
        by_path=(
            PathGate(paths=("build/vendor/**",), require=Quality.FUNCTIONS, min_line_coverage=0, root=str(tmp_path)),
            PathGate(paths=("build/**", "*.plugin"), min_line_coverage=50),
        ),
    )
    assert gates.for_path("build/vendor/deep/lib.so") == (Quality.FUNCTIONS, 0)
    assert gates.for_path("./build/vendor/lib.so") == (Quality.FUNCTIONS, 0)
    assert gates.for_path(str(tmp_path / "build/vendor/lib.so")) == (Quality.FUNCTIONS, 0)
    assert gates.for_path("build/app") == (Quality.FULL, 50)
    assert gates.for_path("elsewhere/x.plugin") == (Quality.FULL, 50)
    assert gates.for_path("elsewhere/app") == (Quality.FULL, 80)


@pytest.mark.parametrize("code", [ExitCode.USAGE, ExitCode.NOT_ALLOWED, ExitCode.REFUSED, ExitCode.NETWORK])
@pytest.mark.parametrize(
    "gates",
    [
        Gates(require=Quality.FULL),
        Gates(min_line_coverage=99.0),
        Gates(fail_on=frozenset({Concern.MISSING_DEBUG, Concern.WARNINGS})),
    ],
)
def test_what_has_its_exit_code_keeps_it_whatever_is_asked(code: ExitCode, gates: Gates) -> None:
    unsent = replace(poor(), decision=Decision.FAILED, reason="not sent", exit_code=code)
    done = judged(finished(unsent), gates)
    assert (done.exit_code, codes(done)) == (code, {"build/plain": code})
    assert done.outcomes[0].reason == "not sent"
    stored = replace(poor(), exit_code=code)
    assert judged(finished(stored), gates).exit_code is code


def test_what_is_built_without_g_for_the_most_part_is_told_so() -> None:
    few = replace(poor(), figures=Figures(executable_bytes=9000, function_bytes=9000, line_bytes=9, functions=9))
    done = judged(finished(few), Gates(require=Quality.LINES))
    assert (done.outcomes[0].remedy or "").startswith("Part of its code was built without -g")
