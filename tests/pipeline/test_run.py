"""One run over many things: trouble with one is its outcome, and what ends a run ends it for the first reason."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from uploader.errors import ExitCode, Interrupted, NetworkGaveOut, NotAllowed, Refused, SymupError
from uploader.model import Decision, Outcome
from uploader.pipeline.run import Run
from uploader.progress import Silent


@dataclass
class Thing:
    path: str

    def about(self, outcome: Outcome) -> Outcome:
        return outcome


def carried(run: Run, error: Exception) -> Outcome:
    def carry(_: Thing) -> Outcome:
        raise error

    return run.carried(Thing("a"), carry)


def test_what_is_carried_has_the_outcome_of_its_own() -> None:
    done = Outcome(path="a", decision=Decision.STORED, reason="new")
    assert Run(progress=Silent()).carried(Thing("a"), lambda _: done) == done


@pytest.mark.parametrize("error", [Refused("no"), OSError(5, "broken"), RuntimeError("?"), MemoryError()])
def test_trouble_with_one_thing_is_its_outcome_and_the_run_goes_on(error: Exception) -> None:
    run = Run(progress=Silent())
    outcome = carried(run, error)
    assert (outcome.decision, outcome.path) == (Decision.FAILED, "a")
    assert outcome.exit_code is not ExitCode.DONE
    assert (run.error, run.stopped.is_set()) == (None, False)


@pytest.mark.parametrize("error", [NotAllowed("no token"), NetworkGaveOut("gone")])
def test_a_login_or_a_network_that_fails_ends_the_run_for_the_first_reason(error: SymupError) -> None:
    run = Run(progress=Silent())
    assert carried(run, error).reason == f"not sent: {error.message}"
    assert carried(run, NetworkGaveOut("later")).reason == f"not sent: {error.message}", "it is not even tried"
    run.give_up(NotAllowed("much later"))
    assert run.error is error


def interrupt() -> None:
    raise KeyboardInterrupt


def test_an_interruption_is_answered_by_what_was_reached() -> None:
    run = Run(progress=Silent(), unreached=3)
    with run.interruptible(lambda: Interrupted(f"{run.unreached} left")):
        interrupt()
    assert run.error is not None
    assert (run.error.message, run.stopped.is_set()) == ("3 left", True)
