"""A real symbol server in a process of its own, to be asked, killed and started again."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Self

PROGRAM = """
import os
import sys
from pathlib import Path
from uploader.destinations.open import open_place
from uploader.server.serve import serve
store, port, tokens, limit = sys.argv[1:]
serve(
    open_place(store, env=os.environ), port=int(port), tokens_path=Path(tokens) if tokens else None, max_request_size_bytes=int(limit),
    on_listening=lambda url: print(url, flush=True),
)
"""


class RunningServer:
    """Over the folder ``store``, or the store ``dest``.

    Started when made; ``url`` is where it answers. ``start`` after ``kill`` takes the same port again."""

    def __init__(
        self,
        store: Path,
        *,
        dest: str = "",
        tokens: Path | None = None,
        max_request_size_bytes: int = 8 * 1024 * 1024 + 65536,
    ) -> None:
        self._arguments = [str(tokens or ""), str(max_request_size_bytes)]
        self.store_path = store
        self._dest = dest or str(store)
        self.log_path = store.parent / f"{store.name}.log"
        self.url = ""
        self.port = 0
        self.start()

    def start(self) -> None:
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, self._dest, str(self.port), *self._arguments],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
            )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        assert self.url, self.log_path.read_text()
        self.port = int(self.url.rpartition(":")[2])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30)

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)

    def log(self) -> str:
        return self.log_path.read_text()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()
        if self._process.stdout is not None:
            self._process.stdout.close()
