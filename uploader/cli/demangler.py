"""Reads mangled names on stdin, a line each, and answers each with a line: the readable name, or nothing.

A process of its own, started by `uploader.cli.demangle`: a crafted name of 200 bytes can make any demangler write gigabytes, so this
one runs with little memory, and the process that asks stops waiting.
"""

from __future__ import annotations

import re
import sys

MAX_MEMORY_BYTES = 1 << 30
RUST_LEGACY = re.compile(r"_ZN.+17h[0-9a-f]{16}E")
NAMELESS = re.compile(r"\{(\w+):#")
MAX_READABLE_LENGTH = 1 << 16
"""Longer ones help no one."""


def readable(name: str) -> str:
    """The readable form of a C++ or Rust name; empty where there is none."""
    try:
        # The older scheme of Rust looks like C++, but for the hash at its end.
        if name.startswith("_R") or RUST_LEGACY.fullmatch(name):
            import rust_demangler

            found = rust_demangler.demangle(name)
        else:
            import cpp_demangle

            found = cpp_demangle.demangle(name)
    # The libraries raise whatever a crafted name leads them into: IndexError, RecursionError, ValueError.
    except Exception:  # noqa: BLE001  # a name that can't be read is shown as it is
        return ""
    if not isinstance(found, str) or len(found) > MAX_READABLE_LENGTH or not found.isprintable():
        return ""
    # A special namespace without a name has no colon in rustc's own form.
    return NAMELESS.sub(r"{\1#", found) if name.startswith("_R") else found


def main() -> None:
    """Answers until stdin ends."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    except (ImportError, ValueError, OSError):
        # Not every system can limit it; the time limit of the process that asks still holds.
        pass
    for line in sys.stdin:
        sys.stdout.write(readable(line.rstrip("\n")) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
