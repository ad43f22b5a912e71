"""Numbers and foreign text in a form that people can read and a terminal can't be fooled by."""

from __future__ import annotations

_UNITS = ("B", "kB", "MB", "GB", "TB")


def size(size_bytes: int) -> str:
    """A size in at most three digits and a decimal unit: ``512 B``, ``4.2 MB``."""
    value = float(size_bytes)
    for unit in _UNITS:
        if value < 999.5 or unit == _UNITS[-1]:
            return f"{value:.1f} {unit}" if unit != "B" and value < 9.95 else f"{value:.0f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


def duration(seconds: float) -> str:
    """A duration: ``0.3 s``, ``42 s``, ``3 min 20 s``, ``24 h``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 2 * 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = whole // 60 % 60
    return f"{whole // 3600} h" + (f" {minutes} min" if minutes else "")


def count(number: int, noun: str, plural: str = "") -> str:
    """``1 file``, ``2,980 files``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def share(part: int, whole: int) -> str:
    """A share in percent that is 100 only where nothing is missing, and 0 only where nothing is there."""
    if not whole:
        return "-"
    percent = 100 * part / whole
    if 0 < part < whole:
        percent = min(max(percent, 0.1), 99.9)
    return f"{percent:.0f} %" if part in (0, whole) or 0.95 < percent < 98.5 else f"{percent:.1f} %"


def percent(value: float | None) -> str:
    """A share that is already in percent, as `share` writes one; ``-`` where it is not known."""
    return "-" if value is None else share(round(value * 1_000_000), 100_000_000)


def one_line(text: str, most_characters: int) -> str:
    """The text on one line of bounded length, without what could steer a terminal or is no Unicode."""
    return "".join(char for char in text[: 4 * most_characters] if char.isprintable())[:most_characters]


def printable(text: str) -> str:
    """File names and messages as one line without control characters: a name must not be able to steer a terminal."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "backslashreplace").decode() for char in text
    )
