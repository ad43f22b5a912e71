"""Mangled names as programmers wrote them, for display only; stored files keep them mangled."""

from __future__ import annotations

import atexit
import re
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path

MAX_NAME_LENGTH = 8192
MAX_SECONDS = 1.0
"""How long one name may take before it is shown as it is."""

_MANGLED = re.compile(r"(?:__?Z|_R)[A-Za-z0-9_.$@]+")
_RUST_LEGACY_HASH = re.compile(r"::h[0-9a-f]{16}$")
_COMPILER_SUFFIX = re.compile(r"\.(?:llvm|isra|part|cold|constprop|lto_priv|localalias)\b.*$")


@lru_cache(maxsize=1 << 16)
def demangle(name: str) -> str:
    """The readable form of a C++ or Rust name; the name itself where it is neither, or can't be read in bounded time and memory."""
    if len(name) > MAX_NAME_LENGTH or not _MANGLED.fullmatch(name):
        return name
    if name.startswith("_R"):
        suffix = _COMPILER_SUFFIX.search(name)
        readable = _apart.ask(name[: suffix.start()] if suffix else name)
        return readable + (suffix.group() if suffix else "") if readable else name
    return _RUST_LEGACY_HASH.sub("", _apart.ask(name)) or name


class _Apart:
    """The demangler in a process of its own, started when it is first needed and replaced where it gets stuck."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def ask(self, name: str) -> str:
        """The readable name, or an empty text."""
        with self._lock:
            process = self._process or self._start()
            if process is None or process.stdin is None or process.stdout is None:
                return ""
            stuck = threading.Timer(MAX_SECONDS, process.kill)
            stuck.start()
            try:
                process.stdin.write(name + "\n")
                process.stdin.flush()
                answer = process.stdout.readline()
            except OSError:
                answer = ""
            stuck.cancel()
            if not answer.endswith("\n"):
                self._stop()
                return ""
            return answer.rstrip("\n")

    def _start(self) -> subprocess.Popen[str] | None:
        command = [sys.executable, "-I", str(Path(__file__).with_name("demangler.py"))]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8"
            )
        except OSError:
            return None
        return self._process

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


_apart = _Apart()
atexit.register(_apart._stop)
