"""A whole symbol file on disk, as far as there is room."""

import shutil
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from uploader.errors import Refused
from uploader.net.spool import spooled


def test_the_pieces_are_one() -> None:
    assert bytes(spooled([b"one", b"", b"two"])) == b"onetwo"
    assert bytes(spooled([])) == b""


def test_no_more_is_taken_than_half_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: SimpleNamespace(free=1000))
    taken: list[int] = []

    def endless() -> Iterator[bytes]:
        while True:
            taken.append(100)
            yield bytes(100)

    with pytest.raises(Refused, match="more than half of what is free") as caught:
        spooled(endless())
    assert sum(taken) == 600
    assert "TMPDIR" in str(caught.value.remedy)
