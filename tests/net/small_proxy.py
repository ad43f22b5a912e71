"""A proxy in front of a real server that lets no request through whose body is over its limit, as nginx does."""

import http.client
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

PAGE = b"<html><title>413 Request Entity Too Large</title></html>"


class SmallProxy:
    def __init__(self, port: int, *, limit_size_bytes: int) -> None:
        proxy = self
        self.passed: list[tuple[str, int]] = []
        self.refused: Counter[int] = Counter()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self) -> None:
                size_bytes = int(self.headers.get("Content-Length", 0))
                body = self.rfile.read(size_bytes)
                if size_bytes > limit_size_bytes:
                    proxy.refused[size_bytes] += 1
                    self.answer(413, PAGE, "text/html")
                    return
                proxy.passed.append((f"{self.command} {self.path}", size_bytes))
                server = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                server.request(self.command, self.path, body or None, {"Content-Type": "application/json"})
                answer = server.getresponse()
                self.answer(answer.status, answer.read(), answer.headers["Content-Type"])
                server.close()

            def answer(self, code: int, body: bytes, kind: str) -> None:
                self.send_response(code)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Tells nothing."""

        for method in ("GET", "PUT", "POST"):
            setattr(Handler, f"do_{method}", Handler.pass_on)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
