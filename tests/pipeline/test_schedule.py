"""Which file goes next: the largest first, no more than there is room for, all threads for one that is more than a worker's share."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from uploader.pipeline.schedule import Schedule, threads_for


def artifact(size_bytes: int) -> Any:
    return cast(Any, SimpleNamespace(size_bytes=size_bytes))


def bounded(sizes: list[int], max_memory_bytes: int, *, jobs: int = 8) -> Schedule:
    """A schedule of artifacts that take as much memory as they are large."""
    return Schedule(
        [artifact(size) for size in sizes],
        jobs=jobs,
        max_memory_bytes=max_memory_bytes,
        peak_bytes=lambda each: each.size_bytes,
    )


def taken(schedule: Schedule) -> list[int]:
    """The sizes of all that may begin now, in the order in which they do."""
    sizes = []
    while (each := schedule.take_now()) is not None:
        sizes.append(each.size_bytes)
    return sizes


def test_the_largest_goes_first_and_equals_keep_their_order() -> None:
    small, large, other_small = artifact(1), artifact(9), artifact(1)
    schedule = Schedule([small, large, other_small], jobs=3)
    assert [id(schedule.take()) for _ in range(3)] == [id(large), id(small), id(other_small)]
    assert schedule.take() is None


def test_no_more_are_under_way_than_there_are_jobs() -> None:
    schedule = Schedule([artifact(size) for size in (1, 2, 3)], jobs=2)
    assert taken(schedule) == [3, 2]


def test_what_does_not_fit_beside_the_others_waits_while_smaller_ones_pass() -> None:
    assert taken(bounded([60, 50, 30, 20], 100)) == [60, 30]


def test_room_that_is_given_back_is_used_again() -> None:
    schedule = bounded([60, 50, 30, 20], 100)
    first = schedule.take()
    assert taken(schedule) == [30]
    assert first is not None
    schedule.done(first)
    schedule.done(first)
    assert taken(schedule) == [50, 20]


def test_what_is_larger_than_the_bound_runs_alone_and_is_told() -> None:
    schedule = bounded([200, 10, 5], 100)
    assert [(each.size_bytes, needed) for each, needed in schedule.too_large()] == [(200, 200)]
    giant = schedule.take()
    assert giant is not None
    assert giant.size_bytes == 200
    assert taken(schedule) == []
    schedule.done(giant)
    assert taken(schedule) == [10, 5]


def test_a_worker_waits_for_room_and_gets_it() -> None:
    schedule = bounded([60, 50], 100)
    first = schedule.take()
    got: list[Any] = []
    waiting = threading.Thread(target=lambda: got.append(schedule.take()))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    assert first is not None
    schedule.done(first)
    waiting.join(10)
    assert [each.size_bytes for each in got] == [50]


def test_stopped_it_hands_out_nothing_and_wakes_who_waits() -> None:
    schedule = bounded([60, 50], 100)
    schedule.take()
    got: list[Any] = []
    waiting = threading.Thread(target=lambda: got.append(schedule.take()))
    waiting.start()
    schedule.stop()
    waiting.join(10)
    assert got == [None]
    assert schedule.take() is None


@given(
    sizes=st.lists(st.integers(1, 100), max_size=20), bound=st.integers(1, 120), jobs=st.integers(1, 4), data=st.data()
)
def test_all_get_their_turn_and_the_bound_holds_but_for_one_alone(
    sizes: list[int], bound: int, jobs: int, data: st.DataObject
) -> None:
    schedule = bounded(sizes, bound, jobs=jobs)
    running: list[Any] = []
    done: list[int] = []
    while len(done) < len(sizes):
        while (each := schedule.take_now()) is not None:
            running.append(each)
        assert running
        assert len(running) <= jobs
        assert len(running) == 1 or sum(each.size_bytes for each in running) <= bound
        ended = running.pop(data.draw(st.integers(0, len(running) - 1)))
        schedule.done(ended)
        done.append(ended.size_bytes)
    assert sorted(done) == sorted(sizes)


def test_a_file_alone_has_all_threads() -> None:
    assert threads_for(artifact(5 << 20), 5 << 20, 4) == 4


def test_a_small_file_has_one_thread_even_alone() -> None:
    assert threads_for(artifact(5 << 10), 5 << 10, 4) == 1


def test_a_file_that_is_more_than_a_workers_share_has_all_threads() -> None:
    assert threads_for(artifact(60 << 20), 100 << 20, 2) == 2


def test_many_equal_files_have_one_thread_each() -> None:
    assert threads_for(artifact(10 << 20), 100 << 20, 4) == 1
