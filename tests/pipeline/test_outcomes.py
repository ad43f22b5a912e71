"""How a run ends: its outcomes in one order, whichever worker was done first."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.report.runs import broken, full
from uploader.errors import ExitCode
from uploader.model import Decision, Identity, LeftOut, Outcome, SymbolId
from uploader.pipeline.outcomes import conclude
from uploader.values import replace

OUTCOMES = [
    replace(full(), path=path, identity=identity)
    for path in ("build/app", "build/lib/app", "")
    for identity in (
        None,
        Identity(primary=SymbolId.parse("01" * 20)),
        Identity(primary=SymbolId.parse("02" * 20)),
        Identity(primary=SymbolId.parse("file:" + "01" * 16)),
    )
]


def told(come: Sequence[Outcome]) -> tuple[Outcome, ...]:
    done = conclude(come, error=None, extracted=0, unreached=0, allow_empty=False, paths=("build",))
    return done.outcomes


@given(st.permutations(OUTCOMES))
def test_outcomes_are_told_by_path_then_id_in_whatever_order_they_came(come: list[Outcome]) -> None:
    assert told(come) == told(OUTCOMES)
    assert [outcome.path for outcome in told(come)] == sorted(outcome.path for outcome in OUTCOMES)


def nothing_found(*outcomes: Outcome, left_out: tuple[LeftOut, ...] = ()) -> str:
    done = conclude(
        outcomes, error=None, extracted=0, unreached=0, allow_empty=False, paths=("build",), left_out=left_out
    )
    assert done.error is not None
    assert done.exit_code is ExitCode.NOTHING_FOUND
    return done.error.remedy or ""


def test_where_nothing_is_found_the_remedy_is_for_what_was_met() -> None:
    ends = " --allow-empty makes this no failure."
    stripped = Outcome(
        path="build/app",
        decision=Decision.SKIPPED,
        reason="no function symbols in it",
        remedy="Give the unstripped file.",
    )
    wheels = LeftOut(what="zip archives", number=2, examples=("a.whl", "b.whl"), remedy="unpack them")
    links = LeftOut(what="linked folders", number=1, examples=("bazel-bin",), remedy="name them")
    assert nothing_found(stripped, left_out=(wheels,)) == f"Give the unstripped file.{ends}"
    assert nothing_found(left_out=(links, wheels)) == f"Only zip archives were there: unpack them.{ends}"
    assert nothing_found() == f"Check the paths and patterns.{ends}"


def test_where_a_file_failed_something_was_found_and_the_run_ends_with_that() -> None:
    done = conclude([broken()], error=None, extracted=0, unreached=0, allow_empty=False, paths=("build",))
    assert (done.error, done.exit_code) == (None, broken().exit_code)
