"""Patience with a network that fails: exponential pauses with full jitter, or those that a server asks for."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

from uploader.values import frozen

TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""The statuses of answers that another attempt may get a better one for."""

_LONGEST_SECONDS = 1e9
"""As good as for ever: a longer pause that a server asks for is a number too long for people."""


@frozen
class Patience:
    """When to try again and when to give up. Clocks and chance come from outside, so that tests need not wait."""

    first_pause_seconds: float = 0.5
    longest_pause_seconds: float = 30.0
    give_up_after_seconds: float = 180.0
    """For one request, from its first attempt."""
    first_contact_seconds: float = 20.0
    """The same, while the destination has never answered at all: it may not exist."""
    exchange_seconds: float = 150.0
    """The time that one attempt may take while next to nothing moves (`uploader.net.network.Allowance`)."""
    commit_seconds: float = 960.0
    """The same for a commit: the server reads the whole artifact back before it answers."""
    monotonic: Callable[[], float] = time.monotonic
    wall_clock: Callable[[], float] = time.time
    uniform: Callable[[float, float], float] = random.uniform

    def pause_seconds(
        self, *, attempt: int, elapsed_seconds: float, retry_after: str | None, contacted: bool
    ) -> float | None:
        """How long to wait after failed attempt number ``attempt`` (from 0), or None to give up.

        Never less than a ``Retry-After`` header asks for (RFC 9110 §10.2.3, seconds or a date).
        """
        ceiling = min(self.longest_pause_seconds, self.first_pause_seconds * 2.0 ** min(attempt, 30))
        asked = self.asked_seconds(retry_after)
        pause = self.uniform(0.0, ceiling) if asked is None else asked + self.uniform(0.0, self.first_pause_seconds)
        return pause if elapsed_seconds + pause <= self.limit_seconds(contacted=contacted) else None

    def limit_seconds(self, *, contacted: bool) -> float:
        """After how long a request is given up."""
        return self.give_up_after_seconds if contacted else self.first_contact_seconds

    def asked_seconds(self, retry_after: str | None) -> float | None:
        """The pause that a ``Retry-After`` header asks for; None where it asks for nothing that can be read."""
        if retry_after is None:
            return None
        text = retry_after.strip()
        if text.isascii() and text.isdigit():
            return min(float(text), _LONGEST_SECONDS)
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - self.wall_clock())
        except (ValueError, OverflowError):
            return None


def duration(seconds: float) -> str:
    """A time for people, like ``7 s`` or ``3 h``, rounded up."""
    for unit, size_seconds in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size_seconds:
            return f"{math.ceil(seconds / size_seconds)} {unit}"
    return f"{max(0, math.ceil(seconds))} s"
