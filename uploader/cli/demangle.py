"""Mangled names as programmers wrote them, for display only; stored files keep them mangled."""

from __future__ import annotations

import atexit
import re
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path

from uploader.cli.demangle_d import demangle_d
from uploader.cli.demangle_rules import demangle_ada, demangle_fortran, demangle_haskell, demangle_nim

MAX_NAME_LENGTH = 8192
MAX_SECONDS = 1.0
"""How long one name may take before it is shown as it is."""

_MANGLED = re.compile(r"(?:__?Z|_R)[A-Za-z0-9_.$@]+")
_MANGLED_BY_D = re.compile(r"_D(?:[0-9]\w+|main)")
_RUST_LEGACY = re.compile(r"(_ZN.+17h[0-9a-f]{16}E)(\.[A-Za-z0-9_.@]+)?")
_RUST_LEGACY_HASH = re.compile(r"::h[0-9a-f]{16}$")
_COMPILER_SUFFIX = re.compile(r"\.(?:llvm|isra|part|cold|constprop|lto_priv|localalias)\b.*$")
_PLAIN = re.compile(r"[A-Za-z0-9_.]+")

_LANGUAGES = {
    **dict.fromkeys((".adb", ".ads", ".ada"), "Ada"),
    **dict.fromkeys((".hs", ".lhs"), "Haskell"),
    **dict.fromkeys((".nim", ".nim.c", ".nim.cpp"), "Nim"),
}


def demangle(name: str, file: str = "") -> str:
    """The readable form of a mangled name; the name itself where it is none, or can't be read in bounded time and memory.

    Ada's and Nim's names look like C's: they are read where the ``file`` that the function stands in is of that language.
    """
    return _demangle(name, next((each for end, each in _LANGUAGES.items() if file.lower().endswith(end)), ""))


@lru_cache(maxsize=1 << 16)
def _demangle(name: str, language: str) -> str:
    if len(name) > MAX_NAME_LENGTH:
        return name
    if _MANGLED.fullmatch(name):
        return _by_library(name)
    if _MANGLED_BY_D.match(name):
        suffix = _COMPILER_SUFFIX.search(name)
        readable = demangle_d(name[: suffix.start()] if suffix else name)
        return readable + (suffix.group() if suffix else "") if readable else name
    return _by_rules(name, language) if _PLAIN.fullmatch(name) else name


def _by_library(name: str) -> str:
    if name.startswith("_R"):
        suffix = _COMPILER_SUFFIX.search(name)
        readable = _apart.ask(name[: suffix.start()] if suffix else name)
        return readable + (suffix.group() if suffix else "") if readable else name
    if legacy := _RUST_LEGACY.fullmatch(name):
        readable = _RUST_LEGACY_HASH.sub("", _apart.ask(legacy[1]))
        return readable + (legacy[2] or "") if readable else name
    return _apart.ask(name) or name


def _by_rules(name: str, language: str) -> str:
    """Of names that C could have, too: what no other language writes, and the names of the language that is known."""
    readable = demangle_fortran(name) or demangle_haskell(name, certain=language == "Haskell")
    if language == "Ada" or name.startswith("_ada_") or name.endswith(("___elabb", "___elabs")):
        readable = readable or demangle_ada(name)
    elif language == "Nim":
        readable = readable or demangle_nim(name)
    return readable or name


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
