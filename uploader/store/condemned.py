"""The rule that lets garbage be collected beside uploads in a place that has no locks, and whose clocks nobody compares.

A collection never deletes what it finds useless: it *condemns* it, by writing a list of keys. Once a list is older than the grace time,
what is useless still is *sentenced*: the list is swapped for one that says so. Only then it is deleted, and the list goes.
A commit begins by having its keys *spared*: it reads the lists, swaps each condemned one for one without them, and waits for a
sentenced one to go. It then has a permit for a time that is shorter than the grace time, within which it looks whether its chunks are
there and writes; once that is over it begins again.

Why nothing that was committed is lost. Let a key be deleted by way of the list L, and let a commit need it.

1. L was written before the commit read the lists. Sparing and sentencing L are swaps of one object, so one comes first. If sparing does,
   the key isn't in what is sentenced. If sentencing does, the commit waits until L is gone, or until L has not changed for the time that a
   sentence lasts; whoever deletes stops after half of that by its own clock, or swaps L again before it goes on. The commit
   then sees whether the chunk is there, and asks for it if not.
2. L was written after the commit read the lists. The commit writes its manifest within its permit, which ends before L's grace does.
   Before it sentences, the collection reads all manifests, this one among them, and takes the key off the list.

A key that one list spares can be in a later list: that is the second case. Keys are only ever taken off a list. Only lengths of time
count, each by one clock: the place's own for the grace time, a process's own for permits and sentences. A request is taken to be carried
out, or never to be, within half the time of a sentence; a process that is frozen for longer between looking at its clock and the request
breaks that, and what it takes is told as damage, and asked for again.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import field

from uploader.store import keys
from uploader.store.blobs import Blob, Blobs
from uploader.values import frozen, replace

PAUSE_SECONDS = 1.0
"""So long a commit waits before it looks again whether a sentence is over."""


def elapsed() -> float:
    """Seconds since some moment, the time that the machine slept included where the system tells it."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@frozen
class Terms:
    """The lengths of time that the rule is made of, and the clock and the way of waiting of one process."""

    grace_seconds: float = 24 * 3600.0
    """From condemning to sentencing."""
    permit_seconds: float = 3600.0
    """From reading the lists to the last write. With the time that a request may be under way, shorter than the grace time."""
    sentence_seconds: float = 900.0
    """So long an unchanged sentence is believed to be carried out. Only a commit that needs what a killed collection was deleting waits."""
    clock: Callable[[], float] = elapsed
    wait: Callable[[float], None] = time.sleep


@frozen
class Condemned:
    """One list of keys."""

    sizes_bytes: Mapping[str, int]
    """By key, the size of what lies there."""
    since: float
    """When it was written, by the place's own clock."""
    sentenced: bool = False
    nonce: str = field(default_factory=lambda: secrets.token_hex(8))
    """Makes each writing of a list another content."""

    def only(self, left: Collection[str]) -> Condemned:
        """The list with no other keys than these, written anew."""
        kept = {key: size_bytes for key, size_bytes in self.sizes_bytes.items() if key in left}
        return replace(self, sizes_bytes=kept, nonce=secrets.token_hex(8))

    def dumps(self) -> bytes:
        """The bytes to keep."""
        told: dict[str, object] = {"sentenced": self.sentenced, "since": self.since, "nonce": self.nonce}
        told["sizes_bytes"] = dict(sorted(self.sizes_bytes.items()))
        return json.dumps(told).encode()


def read_condemned(blob: Blob) -> Condemned | None:
    """The list in a blob; None where it is damaged."""
    try:
        told = json.loads(blob.data)
        return Condemned(
            sizes_bytes={key: int(size_bytes) for key, size_bytes in told["sizes_bytes"].items()},
            since=float(told["since"]),
            sentenced=told["sentenced"] is True,
            nonce=str(told["nonce"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


class Gate:
    """Spares the keys that one project's commits need."""

    def __init__(self, blobs: Blobs, project: str, terms: Terms) -> None:
        self._blobs = blobs
        self._prefix = keys.condemned_prefix(project)
        self._terms = terms
        self._known: dict[str, frozenset[str]] = {}

    def spare(self, wanted: Collection[str]) -> float:
        """Sees to it that no collection under way deletes what lies under the keys; may wait for one.

        Gives the time, by the terms' clock, until which that holds.
        """
        wanted = frozenset(wanted)
        watched: dict[str, tuple[str, float]] = {}
        while True:
            until = self._terms.clock() + self._terms.permit_seconds
            names = [info.key for info in self._blobs.list(self._prefix)]
            spared = [self._is_spared(name, wanted, watched) for name in names]
            if all(spared):
                return until
            self._terms.wait(PAUSE_SECONDS)

    def _is_spared(self, name: str, wanted: frozenset[str], watched: dict[str, tuple[str, float]]) -> bool:
        # Keys are only taken off a list, so what was read of it once is as much as it can name.
        if name in self._known and self._known[name].isdisjoint(wanted):
            return True
        blob = self._blobs.get(name)
        if blob is None:
            return True
        listed = read_condemned(blob)
        if listed is not None:
            self._known[name] = frozenset(listed.sizes_bytes)
            if self._known[name].isdisjoint(wanted):
                return True
        if listed is None or listed.sentenced:
            tag, since = watched.get(name, ("", 0.0))
            now = self._terms.clock()
            if tag != blob.tag:
                watched[name] = blob.tag, now
                return False
            if now - since < self._terms.sentence_seconds:
                return False
            if listed is None:
                return True
        return self._blobs.swap(name, listed.only(listed.sizes_bytes.keys() - wanted).dumps(), tag=blob.tag)
