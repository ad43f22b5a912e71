"""What the linkage name of a function tells of the scopes that it stands in."""

from __future__ import annotations

import re

_LENGTH = re.compile(rb"[1-9][0-9]{0,3}")


def scoped_name(linkage_name: bytes) -> bytes:
    """The name with its scopes that a linkage name of C++ or D spells out, without parameters; empty where it holds more than names."""
    if linkage_name.startswith(b"_ZN"):
        at = 3
        while linkage_name[at : at + 1] in (b"r", b"V", b"K", b"R", b"O"):
            at += 1
    elif linkage_name.startswith(b"_D"):
        at = 2
    else:
        return b""
    parts = []
    while (digits := _LENGTH.match(linkage_name, at)) is not None:
        at = digits.end() + int(digits[0])
        parts.append(linkage_name[digits.end() : at])
    ended = linkage_name[at : at + 1]
    if at > len(linkage_name) or not (ended == b"E" if linkage_name.startswith(b"_ZN") else ended in (b"F", b"M")):
        return b""
    return b"::".join(b"(anonymous namespace)" if part == b"_GLOBAL__N_1" else part for part in parts)
