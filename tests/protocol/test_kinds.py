"""Kinds of members: what each takes and refuses."""

from __future__ import annotations

import pytest

from uploader.protocol.wire.kinds import Count


@pytest.mark.parametrize("value", [0, -1, True, 1.0, "1", None, 1 << 63])
def test_a_count_from_one_on_is_a_whole_number_of_at_least_one(value: object) -> None:
    with pytest.raises(ValueError, match="limit"):
        Count(1).read(value, "limit")


def test_a_count_is_what_it_is() -> None:
    assert [Count().read(0, "x"), Count(1).read(1, "x"), Count().read((1 << 63) - 1, "x")] == [0, 1, (1 << 63) - 1]
