"""Which core runs: the decoders and encoders compiled by Cython, or the same files as plain Python."""

from __future__ import annotations

from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

REMEDY = (
    "Install a C compiler and Python's headers (Debian: gcc python3-dev), then build symup anew, since pip keeps what it built before: "
    "pip install --force-reinstall --no-deps --no-cache-dir symup"
)

SHARED = "_cython"
"""The extension module that holds what all of the core's modules have from Cython (``setup.py``)."""

_MARKS_CORE = rb"(?m)^import cython$"
_MARK_WITHIN_BYTES = 8192


@cache
def uncompiled_modules() -> tuple[str, ...]:
    """The core's modules that run as plain Python, sorted; empty where the whole core is compiled.

    A module belongs to the core when it says ``import cython``; it is compiled when an extension module stands beside it,
    which Python then prefers.
    """
    import re

    package = Path(__file__).parent.parent
    suffixes = tuple(EXTENSION_SUFFIXES)
    names = []
    for source in package.rglob("*.py"):
        with source.open("rb") as file:
            if not re.search(_MARKS_CORE, file.read(_MARK_WITHIN_BYTES)):
                continue
        if not any(source.with_name(source.stem + suffix).exists() for suffix in suffixes):
            names.append(".".join((package.name, *source.relative_to(package).with_suffix("").parts)))
    return tuple(sorted(names))


@cache
def compiled() -> bool:
    """Whether the core runs compiled: installing compiles all of it, what its modules share included, or leaves nothing behind."""
    return any(Path(__file__).with_name(SHARED + suffix).exists() for suffix in EXTENSION_SUFFIXES)


def description() -> str:
    """The running core in one line: ``compiled``, or ``plain Python`` with the remedy."""
    if compiled():
        return "compiled"
    return f"plain Python, up to 40 times slower. {REMEDY}"
