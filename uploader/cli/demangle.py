"""Mangled names as programmers wrote them, for display only; stored files keep them mangled."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

MAX_NAME_LENGTH = 8192
"""Longer names are shown as they are: demangling may blow them up a thousandfold."""

_RUST_LEGACY_HASH = re.compile(r"::h[0-9a-f]{16}$")
_COMPILER_SUFFIX = re.compile(r"\.(?:llvm|isra|part|cold|constprop|lto_priv|localalias)\b.*$")


def demangle(name: str) -> str:
    """The readable form of a C++ or Rust name; the name itself where it is neither or can't be read."""
    if len(name) > MAX_NAME_LENGTH:
        return name
    if name.startswith(("_Z", "__Z")):
        readable = _cpp()(name)
        return name if readable is None else _RUST_LEGACY_HASH.sub("", readable)
    if name.startswith("_R"):
        suffix = _COMPILER_SUFFIX.search(name)
        readable = _rust()(name[: suffix.start()] if suffix else name)
        if readable is not None:
            return readable + (suffix.group() if suffix else "")
    return name


@cache
def _cpp() -> Callable[[str], str | None]:
    try:
        import cpp_demangle
    except ImportError:
        return _unreadable

    return _careful(cpp_demangle.demangle)


@cache
def _rust() -> Callable[[str], str | None]:
    try:
        import rust_demangler
    except ImportError:
        return _unreadable

    return _careful(rust_demangler.demangle)


def _unreadable(_name: str) -> str | None:
    return None


def _careful(function: Callable[[str], object]) -> Callable[[str], str | None]:
    def demangled(name: str) -> str | None:
        try:
            readable = function(name)
        # The libraries raise whatever a crafted name leads them into: IndexError, RecursionError, ValueError.
        except Exception:  # noqa: BLE001  # a name that can't be read is shown as it is
            return None
        return readable if isinstance(readable, str) and readable else None

    return demangled
