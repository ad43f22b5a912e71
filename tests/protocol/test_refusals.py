"""The protocol's page tells every error that crosses, with its status."""

import re
from pathlib import Path

import pytest

from uploader.protocol.refusals import REFUSALS, Refusal

ROWS = re.findall(
    r"^\| ([0-9, ]+) \| (.*?) \|", (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(), re.MULTILINE
)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.code)
def test_it_stands_in_the_table_of_errors(refusal: Refusal) -> None:
    (codes,) = (codes for status, codes in ROWS if status == str(refusal.status))
    assert f"`{refusal.code}`" in codes
