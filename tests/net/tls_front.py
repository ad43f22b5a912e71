"""TLS before scripted answers, with a certificate made for the test."""

import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Self


def openssl() -> str | None:
    return shutil.which("openssl")


def certificate(folder: Path, *, host: str, days: int = 2) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    pem, key = folder / f"{host}.pem", folder / f"{host}.key"
    names = f"subjectAltName=DNS:{host}" + (",IP:127.0.0.1" if host == "localhost" else "")
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(pem), "-days", str(days)]
    subprocess.run(["openssl", *made, "-subj", f"/CN={host}", "-addext", names], check=True, capture_output=True)
    return pem, key


class TlsFront:
    """Gives the answers one after the other, each to a connection of its own, then the last one again."""

    def __init__(self, pem: Path, key: Path, *answers: bytes) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(pem, key)
        self._answers = answers
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}"
        self.asked: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _serve(self) -> None:
        number = 0
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                with self._context.wrap_socket(client, server_side=True) as secured:
                    self.asked.append(secured.recv(65536))
                    secured.sendall(self._answers[min(number, len(self._answers) - 1)])
                    number += 1
            except OSError:
                client.close()
