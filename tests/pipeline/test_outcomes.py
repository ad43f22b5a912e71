"""How a run ends: its outcomes in one order, whichever worker was done first."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.report.runs import full
from uploader.model import Identity, Outcome, SymbolId
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
