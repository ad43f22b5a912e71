from email.utils import formatdate

import pytest

from uploader.net.patience import Patience, duration

LONGEST = Patience(uniform=lambda low, high: high)


def pause(
    patience: Patience, attempt: int = 0, *, elapsed: float = 0.0, retry_after: str | None = None
) -> float | None:
    return patience.pause_seconds(attempt=attempt, elapsed_seconds=elapsed, retry_after=retry_after, contacted=True)


def test_pauses_grow_to_a_ceiling_with_full_jitter() -> None:
    assert [pause(LONGEST, attempt) for attempt in (0, 1, 2, 6, 1000)] == [0.5, 1.0, 2.0, 30.0, 30.0]
    assert pause(Patience(uniform=lambda low, high: low), 5) == 0.0


@pytest.mark.parametrize("retry_after", ["7", " 7 ", formatdate(1007, usegmt=True)])
def test_a_server_may_ask_for_more(retry_after: str) -> None:
    patience = Patience(uniform=lambda low, high: low, wall_clock=lambda: 1000.0)
    assert pause(patience, retry_after=retry_after) == 7.0


@pytest.mark.parametrize("retry_after", ["", "soon", "-5", "1e9", "٣", "Fri, 99 Foo 2000"])
def test_nonsense_is_as_good_as_not_asking(retry_after: str) -> None:
    assert pause(LONGEST, retry_after=retry_after) == 0.5


@pytest.mark.parametrize("digits", [9, 10, 400, 5000])
def test_the_longest_wait_is_given_up_and_told(digits: int) -> None:
    assert pause(LONGEST, retry_after="9" * digits) is None
    asked = LONGEST.asked_seconds("9" * digits)
    assert asked is not None
    assert duration(asked) == "11575 d"


def test_a_date_gone_by_asks_for_nothing() -> None:
    patience = Patience(uniform=lambda low, high: low, wall_clock=lambda: 2000.0)
    assert pause(patience, retry_after=formatdate(1007, usegmt=True)) == 0.0


def test_it_ends_when_the_next_attempt_would_come_too_late() -> None:
    assert pause(LONGEST, elapsed=179.0) == 0.5
    assert pause(LONGEST, elapsed=179.6) is None
    assert pause(LONGEST, retry_after="3600") is None


def test_what_never_answered_is_given_up_sooner() -> None:
    never = LONGEST.pause_seconds(attempt=0, elapsed_seconds=25.0, retry_after=None, contacted=False)
    assert never is None
