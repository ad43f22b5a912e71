"""Shards: every id in exactly one, wherever and in whatever order files are met."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.report.runs import gnu_ids
from uploader.errors import UsageError
from uploader.model import SymbolId
from uploader.pipeline.shard import Shard


@given(gnu_ids, st.integers(1, 50))
def test_every_id_is_in_exactly_one_shard(symbol_id: SymbolId, total: int) -> None:
    holding = [number for number in range(1, total + 1) if Shard(number=number, total=total).holds(symbol_id)]
    assert len(holding) == 1


def test_shards_stay_what_they_are_from_version_to_version() -> None:
    """A pipeline's jobs may run different versions for a while."""
    ids = [SymbolId.parse(f"{number:040x}") for number in range(12)]
    assert [next(n for n in (1, 2, 3) if Shard(number=n, total=3).holds(one)) for one in ids] == [
        2,
        2,
        1,
        2,
        1,
        3,
        2,
        2,
        2,
        3,
        2,
        3,
    ]


def test_shards_are_of_like_size() -> None:
    ids = [SymbolId.parse(f"{number:040x}") for number in range(3000)]
    sizes = [sum(Shard(number=number, total=5).holds(one) for one in ids) for number in range(1, 6)]
    assert max(sizes) - min(sizes) < 120


@pytest.mark.parametrize("text", ["0/5", "6/5", "5", "a/b", "", "-1/3", "1/0", "1/99999", "٣/٥"])
def test_what_is_no_part_of_a_whole_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Shard.parse(text)


def test_a_shard_is_written_as_it_is_read() -> None:
    assert str(Shard.parse(" 2/5 ")) == "2/5"
