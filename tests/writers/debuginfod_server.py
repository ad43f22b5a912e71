"""Debian's debuginfod over a folder, and a small HTTP server that misbehaves as it is told."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

START_SECONDS = 30


@contextlib.contextmanager
def debuginfod(command: str, folder: Path, log: Path, *, ready: str) -> Iterator[str]:
    """The URL of a real server over the ELF files of a folder, once it knows the build-id ``ready``."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [command, "-F", "-d", ":memory:", "-p", str(port), "-t0", "-g0", "-vv", str(folder)],
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            deadline = time.monotonic() + START_SECONDS
            while _status(port, f"/buildid/{ready}/debuginfo") != 200:
                assert server.poll() is None, log.read_text()
                assert time.monotonic() < deadline, log.read_text()
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(START_SECONDS)


def _status(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


class Request:
    """One request that a `scripted` server got, and the means to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self.method, self.path = handler.command, handler.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self._handler = handler

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Answers with a length, and headers whose names have ``_`` for ``-``; an empty one is left out."""
        self._handler.send_response(status)
        headers.setdefault("Content_Length", str(len(body)))
        for name, value in headers.items():
            if not value:
                continue
            self._handler.send_header(name.replace("_", "-"), value)
        self._handler.end_headers()
        self.send(body)

    def send(self, data: bytes) -> None:
        """Sends a part of a body."""
        self._handler.wfile.write(data)
        self._handler.wfile.flush()


class Scripted:
    """A running server: its URL, and the requests that it got."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Request] = []


@contextlib.contextmanager
def scripted(answer: Callable[[Request], object]) -> Iterator[Scripted]:
    """A server on loopback that lets ``answer`` deal with every request."""
    running = Scripted("")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            request = Request(self)
            running.requests.append(request)
            with contextlib.suppress(OSError):
                answer(request)

        do_HEAD = do_PUT = do_POST = do_GET  # noqa: N815  # names that http.server asks for

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
