"""Colour, where a person's terminal wants it: as `NO_COLOR <https://no-color.org>`_ and FORCE_COLOR have it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TextIO

BOLD, DIM, RED, GREEN, YELLOW, CYAN = "1", "2", "31", "32", "33", "36"

OF_STATE = {
    "stored": GREEN,
    "converted": GREEN,
    "present": DIM,
    "skipped": DIM,
    "planned": CYAN,
    "declined": YELLOW,
    "missing": YELLOW,
    "failed": RED,
}
"""The beginnings of lines about files, as reports word them."""


def wanted(stream: TextIO, environ: Mapping[str, str] | None = None) -> bool:
    """Whether ``stream`` takes colour: NO_COLOR speaks before FORCE_COLOR, and that before what the terminal can.

    CI keeps what a terminal shows as a text file.
    """
    environ = os.environ if environ is None else environ
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "") not in ("", "0"):
        return True
    return environ.get("TERM") != "dumb" and not environ.get("CI") and stream.isatty()


def painted(text: str, style: str, stream: TextIO) -> str:
    """The text in a style, for this stream."""
    return f"\x1b[{style}m{text}\x1b[0m" if style and wanted(stream) else text


def state_first(line: str, stream: TextIO) -> str:
    """A line of a report with the state of its file, which it begins with, in that state's colour."""
    word = line.split(maxsplit=1)[0] if line and not line.isspace() else ""
    style = OF_STATE.get(word, "")
    return line.replace(word, painted(word, style, stream), 1) if style else line
