"""Ids as people write them."""

from __future__ import annotations

import pytest

from uploader.model import SymbolId

PRINTED = "zlQo4ca6Cx4gIwxLKZdw/CZYKDRTmX4xJNRxj6Lmy/ARlbcRn5cmtcAWRhRtp-/cgrZ6X0UpxHJ8voxby39"
KEPT = "go:" + PRINTED.replace("/", "~")


@pytest.mark.parametrize(
    ("word", "told"),
    [
        (PRINTED, KEPT),
        (f"go:{PRINTED}", KEPT),
        (KEPT, KEPT),
        (KEPT.removeprefix("go:"), KEPT),
        ("go:a/b", "go:a~b"),
        ("C0FFEE", "c0ffee"),
        ("file:" + "0" * 32, "file:" + "0" * 32),
    ],
)
def test_an_id_is_known_as_go_prints_it_too(word: str, told: str) -> None:
    assert str(SymbolId.of_word(word)) == told


@pytest.mark.parametrize(
    "word", ["build/server", "a/b/c/d", PRINTED + "/", f"./{PRINTED}", PRINTED[:20], "file:a/b", "go:"]
)
def test_a_path_is_no_id(word: str) -> None:
    with pytest.raises(ValueError, match="not a valid"):
        SymbolId.of_word(word)
