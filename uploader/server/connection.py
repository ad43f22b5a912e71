"""Keeps connections within bounds: how many there are, how long a request may take to arrive, and how long an answer to be taken.

uvicorn bounds the time between two requests; what is added here is all that a peer could otherwise drag out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import ClassVar, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from uploader.values import frozen


@frozen
class Bounds:
    """The time and bytes that one connection may take, and how many there may be."""

    connections: int
    connections_of_one_address: int
    head_seconds: float = 20.0
    """From the first byte of a request, or from connecting, to the end of its headers."""
    window_seconds: float = 60.0
    window_size_bytes: int = 64 * 1024
    """The bytes that must arrive of a body, or be taken of an answer that waits, in each window."""
    refused_body_seconds: float = 30.0
    """For the rest of a body that is answered already."""
    check_seconds: float = 5.0


class Census:
    """The open connections by the address that they come from."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._by_address: dict[str, dict[BoundedProtocol, None]] = {}
        self._count = 0

    def enter(self, newcomer: BoundedProtocol) -> bool:
        """Counts a connection in; where there is no room, the one goes that has waited longest without a request under way."""
        neighbours = self._by_address.get(newcomer.address, {})
        if len(neighbours) >= self._bounds.connections_of_one_address and not self._make_room(neighbours):
            return False
        if self._count >= self._bounds.connections and not self._make_room(
            one for some in self._by_address.values() for one in some
        ):
            return False
        self._by_address.setdefault(newcomer.address, {})[newcomer] = None
        self._count += 1
        return True

    def leave(self, connection: BoundedProtocol) -> None:
        """Counts a connection out; again changes nothing."""
        neighbours = self._by_address.get(connection.address, {})
        if connection in neighbours:
            del neighbours[connection]
            self._count -= 1
        if not neighbours:
            self._by_address.pop(connection.address, None)

    def _make_room(self, candidates: Iterable[BoundedProtocol]) -> bool:
        waiting = [one for one in candidates if not one.is_busy]
        if not waiting:
            return False
        longest = min(waiting, key=lambda one: one.quiet_since)
        self.leave(longest)
        longest.transport.abort()
        return True


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with a watch on it; `bounded_protocol` makes the class for one server."""

    bounds: ClassVar[Bounds]
    census: ClassVar[Census]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as its parent's
        """Lets the connection in, or not."""
        super().connection_made(transport)
        now = self.loop.time()
        self.address = self.client[0] if self.client else ""
        self.quiet_since = now
        self._head_since: float | None = now
        self._answered_since: float | None = None
        self._window_since = now
        self._window_bytes = 0
        self._unsent_since: float | None = None
        self._unsent_size_bytes = 0
        self._watch: asyncio.TimerHandle | None = None
        if self.census.enter(self):
            self._watch = self.loop.call_later(self.bounds.check_seconds, self._check)
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Counts the connection out."""
        if self._watch is not None:
            self._watch.cancel()
        self.census.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Takes what arrives, and notes what part of a request it belongs to."""
        was_in_body = self._is_in_body
        super().data_received(data)
        now = self.loop.time()
        self.quiet_since = now
        self._window_bytes += len(data)
        if self._is_in_body and not was_in_body:
            self._window_since, self._window_bytes, self._answered_since = now, 0, None
        if self.conn.their_state is not h11.IDLE:
            self._head_since = None
        elif self._head_since is None:
            self._head_since = now

    def resume_writing(self) -> None:
        """The peer takes the answer again."""
        self._unsent_since = None
        super().resume_writing()

    @property
    def is_busy(self) -> bool:
        """Whether a request is under way that has no whole answer yet."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    @property
    def _is_in_body(self) -> bool:
        return self.conn.their_state is h11.SEND_BODY

    def _check(self) -> None:
        if self.transport.is_closing():
            return
        now = self.loop.time()
        if self._is_late(now) or self._is_stalled(now):
            self.transport.abort()
        else:
            self._watch = self.loop.call_later(self.bounds.check_seconds, self._check)

    def _is_late(self, now: float) -> bool:
        """Whether the peer takes too long with the request."""
        if self._head_since is not None:
            return now - self._head_since > self.bounds.head_seconds
        if not self._is_in_body:
            return False
        if not self.is_busy:
            if self._answered_since is None:
                self._answered_since = now
            return now - self._answered_since > self.bounds.refused_body_seconds
        if self.flow.read_paused:
            self._window_since, self._window_bytes = now, 0
        if now - self._window_since < self.bounds.window_seconds:
            return False
        arrived, self._window_since, self._window_bytes = self._window_bytes, now, 0
        return arrived < self.bounds.window_size_bytes

    def _is_stalled(self, now: float) -> bool:
        """Whether the peer takes too long with the answer."""
        if not self.flow.write_paused:
            return False
        unsent_size_bytes = self.transport.get_write_buffer_size()
        if self._unsent_since is None:
            self._unsent_since, self._unsent_size_bytes = now, unsent_size_bytes
        if now - self._unsent_since < self.bounds.window_seconds:
            return False
        taken = self._unsent_size_bytes - unsent_size_bytes
        self._unsent_since, self._unsent_size_bytes = now, unsent_size_bytes
        return taken < self.bounds.window_size_bytes


def bounded_protocol(bounds: Bounds) -> type[BoundedProtocol]:
    """The protocol of one server, whose connections are counted together."""
    members = {"bounds": bounds, "census": Census(bounds)}
    return cast("type[BoundedProtocol]", type("Bounded", (BoundedProtocol,), members))
