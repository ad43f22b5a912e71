"""A slow line to a server on this machine: what clients send passes at so many bits a second, what comes back passes freely."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from types import TracebackType
from typing import Self

PIECE_BYTES = 16 << 10


class SlowLine:
    """A proxy on loopback while the block runs, at ``port``; all connections share its rate."""

    def __init__(self, server_port: int, bits_per_second: float) -> None:
        self._server_port = server_port
        self._seconds_per_byte = 8 / bits_per_second
        self._free_at = 0.0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._server_port))
            for side in (client, server):
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._pass_on, args=(client, server, True), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, False), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, slowly: bool) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE_BYTES):
                if slowly:
                    self._wait_for(len(piece))
                target.sendall(piece)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _wait_for(self, size_bytes: int) -> None:
        with self._lock:
            self._free_at = max(self._free_at, time.monotonic()) + size_bytes * self._seconds_per_byte
            wait = self._free_at - time.monotonic()
        if wait > 0:
            time.sleep(wait)
