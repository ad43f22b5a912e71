"""A TCP relay in front of a real server that misbehaves as networks and proxies do, and counts what passes."""

import contextlib
import re
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Self

_CHUNK_PUT = re.compile(rb"PUT [^ ]*/chunks/([0-9a-f]{64}) HTTP/1.1\r\n")
_REQUEST = re.compile(rb"(GET|PUT|POST) ([^ ]*) HTTP/1.1\r\n")
_TAIL = 300

Behaviour = Callable[[socket.socket], bool]
"""What a connection does at first: true where it is dealt with, false where it is to be relayed."""


def reset(client: socket.socket) -> bool:
    """The connection is reset at once."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return True


def answers(response: bytes, *, read_size_bytes: int = 65536) -> Behaviour:
    """A proxy answers in the server's place after it has read a little."""

    def act(client: socket.socket) -> bool:
        client.recv(read_size_bytes)
        client.sendall(response)
        client.shutdown(socket.SHUT_WR)
        client.settimeout(2)
        try:
            while client.recv(65536):
                pass
        except OSError:
            pass
        return True

    return act


def drips(start: bytes, drop: bytes, *, every_seconds: float = 0.05) -> Behaviour:
    """The answer begins, and then a little of it comes now and then, for as long as anybody listens."""

    def act(client: socket.socket) -> bool:
        client.recv(65536)
        try:
            client.sendall(start)
            while True:
                client.sendall(drop)
                time.sleep(every_seconds)
        except OSError:
            return True

    return act


def relays(_client: socket.socket) -> bool:
    """All is well."""
    return False


def status(line: str, *headers: str, body: bytes = b"") -> bytes:
    head = [f"HTTP/1.1 {line}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


class BadNetwork:
    """Relays to ``port``. ``behaviours`` are those of the first connections; ``cut_after`` names, for a connection's number, after
    how many bytes it is cut: of the request where positive, of the answer where negative. ``on_put`` hears of every chunk's PUT.
    """

    def __init__(
        self,
        port: int,
        *,
        behaviours: tuple[Behaviour, ...] = (),
        cut_after: Callable[[int], int | None] = lambda _number: None,
        on_put: Callable[[int], None] = lambda _count: None,
    ) -> None:
        self._port = port
        self._behaviours = behaviours
        self._cut_after = cut_after
        self._on_put = on_put
        self._guard = threading.Lock()
        self._sockets: list[socket.socket] = []
        self.connections = 0
        self.cut = 0
        """How many connections were cut."""
        self.chunk_puts: Counter[bytes] = Counter()
        self.requests: list[bytes] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        with self._guard:
            for opened in self._sockets:
                _close(opened)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            number, self.connections = self.connections, self.connections + 1
            threading.Thread(target=self._serve, args=(client, number), daemon=True).start()

    def _serve(self, client: socket.socket, number: int) -> None:
        try:
            if number < len(self._behaviours) and self._behaviours[number](client):
                client.close()
                return
            server = socket.create_connection(("127.0.0.1", self._port), timeout=30)
            server.settimeout(None)
            for opened in (client, server):
                opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError:
            client.close()
            return
        with self._guard:
            self._sockets += [client, server]
        cut = self._cut_after(number)
        answering = threading.Thread(
            target=self._relay, args=(server, client, -cut if cut is not None and cut < 0 else None, False), daemon=True
        )
        answering.start()
        self._relay(client, server, cut if cut is not None and cut > 0 else None, True)
        answering.join()

    def _relay(self, source: socket.socket, sink: socket.socket, left: int | None, counted: bool) -> None:
        seen = b""
        try:
            while data := source.recv(16384):
                if left is not None and len(data) >= left:
                    sink.sendall(data[:left])
                    self.cut += 1
                    break
                left = None if left is None else left - len(data)
                if counted:
                    seen = self._count(seen, data)
                sink.sendall(data)
        except OSError:
            pass
        _close(source)
        _close(sink)

    def _count(self, before: bytes, data: bytes) -> bytes:
        seen = before + data
        fresh = [found for found in _REQUEST.finditer(seen) if found.end() > len(before)]
        with self._guard:
            self.requests += [found[1] + b" " + found[2] for found in fresh]
            puts = [found[1] for found in _CHUNK_PUT.finditer(seen) if found.end() > len(before)]
            for digest in puts:
                self.chunk_puts[digest] += 1
            total = self.chunk_puts.total()
        for _ in puts:
            self._on_put(total)
        return seen[-_TAIL:]


def _close(opened: socket.socket) -> None:
    with contextlib.suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)
    opened.close()
