"""How many ranges of functions and inlined calls a source states that its symbols don't follow to the letter."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class RangeCounts:
    """What linkers drop is no loss and not counted, and neither is a range that several functions share."""

    dropped: int = 0
    """Those that no answer comes from: malformed, not in code, not in their function, without a name."""
    cut: int = 0
    """Those of which a part only is answered from: they leave their function, or another range speaks for the rest."""
    widened: int = 0
    """Those of inlined calls outside of what they are inlined into, which was widened by them."""

    def add(self, other: RangeCounts) -> None:
        """Adds the counts of another stage."""
        self.dropped += other.dropped
        self.cut += other.cut
        self.widened += other.widened
