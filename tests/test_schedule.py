"""How files are spread over workers: the largest first, and all threads for one that is more than a worker's share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from uploader.pipeline.schedule import largest_first, threads_for


def artifact(size_bytes: int) -> Any:
    return cast(Any, SimpleNamespace(size_bytes=size_bytes))


def test_the_largest_goes_first_and_equals_keep_their_order() -> None:
    small, large, other_small = artifact(1), artifact(9), artifact(1)
    ordered = largest_first([small, large, other_small])
    assert [id(each) for each in ordered] == [id(large), id(small), id(other_small)]


def test_a_file_alone_has_all_threads() -> None:
    assert threads_for(artifact(5), 5, 4) == 4


def test_a_file_that_is_more_than_a_workers_share_has_all_threads() -> None:
    assert threads_for(artifact(60), 100, 2) == 2


def test_many_equal_files_have_one_thread_each() -> None:
    assert threads_for(artifact(10), 100, 4) == 1
