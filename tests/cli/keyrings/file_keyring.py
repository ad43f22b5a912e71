"""Keyrings for symup as a process of its own, loaded as keyring loads any: by PYTHON_KEYRING_BACKEND."""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend


class FileKeyring(KeyringBackend):
    """Stands for a desktop's keyring; keeps its entries where the test says."""

    priority = 1
    name = "a test's keyring"

    def _read(self) -> dict[str, str]:
        path = Path(os.environ["TEST_KEYRING_FILE"])
        found: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
        return found

    def _write(self, entries: dict[str, str]) -> None:
        Path(os.environ["TEST_KEYRING_FILE"]).write_text(json.dumps(entries))

    def get_password(self, service: str, username: str) -> str | None:
        return self._read().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._write(self._read() | {f"{service} {username}": password})

    def delete_password(self, service: str, username: str) -> None:
        entries = self._read()
        del entries[f"{service} {username}"]
        self._write(entries)


class TalkativeKeyring(FileKeyring):
    """Fails, and says what it was given."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"can't store {password}")
