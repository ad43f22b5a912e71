"""A slow line is as slow as it says, upwards only, and alters nothing."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import throttle


@contextmanager
def echo() -> Iterator[int]:
    """A server that gives back all that one connection sends, once that one is through."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    size = int.from_bytes(connection.recv(4, socket.MSG_WAITALL))
                    connection.sendall(connection.recv(size, socket.MSG_WAITALL))

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def through(line: throttle.SlowLine, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", line.port)) as connection:
        connection.sendall(len(data).to_bytes(4) + data)
        return connection.recv(len(data), socket.MSG_WAITALL)


DATA = bytes(range(256)) * 1000


@pytest.mark.parametrize("megabits", [4, 40])
def test_what_is_sent_takes_as_long_as_the_rate_says(megabits: int) -> None:
    with echo() as port, throttle.SlowLine(port, megabits * 1e6) as line:
        begin = time.monotonic()
        assert through(line, DATA) == DATA
        seconds = time.monotonic() - begin
    assert len(DATA) * 8 / (megabits * 1e6) <= seconds < len(DATA) * 8 / (megabits * 1e6) + 0.3


def test_connections_share_the_line() -> None:
    with echo() as port, throttle.SlowLine(port, 8e6) as line:
        begin = time.monotonic()
        threads = [threading.Thread(target=through, args=(line, DATA)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - begin >= 3 * len(DATA) / 1e6
