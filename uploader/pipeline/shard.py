"""Splits one set of files between several jobs, by their ids alone."""

from __future__ import annotations

import hashlib
import re

from uploader.errors import UsageError
from uploader.model import SymbolId
from uploader.values import frozen

MAX_SHARDS = 10_000
_FORM = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


@frozen
class Shard:
    """One of ``total`` parts, counted from 1. Each id belongs to exactly one, the same on any machine and for any order of files."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Reads ``2/5``. Raises `UsageError`."""
        matched = _FORM.fullmatch(text.strip())
        number, total = (int(matched[1]), int(matched[2])) if matched else (0, 0)
        if not 1 <= number <= total <= MAX_SHARDS:
            raise UsageError(
                f"--shard: {text[:40]!r} is no part of a whole",
                remedy="Write the number of this part and of all parts: 2/5.",
            )
        return cls(number=number, total=total)

    def holds(self, symbol_id: SymbolId) -> bool:
        """Whether the id belongs to this part."""
        digest = hashlib.sha256(str(symbol_id).encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.total == self.number - 1
