"""Counts the executable bytes that a GSYM file (v1) speaks for, with a small reader of its own that shares nothing with symup.

A lenient one: llvm-gsymutil's files hold functions that overlap, start together, or have no size (those reach to the next start).
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

MAGIC = 0x4753594D
LINE_TABLE = 1

Ranges = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a GSYM file says of the executable bytes of its binary."""

    functions: int
    executable_bytes: int
    function_bytes: int
    line_bytes: int

    @property
    def function_percent(self) -> float:
        """The share of executable bytes with a function."""
        return 100.0 * self.function_bytes / max(self.executable_bytes, 1)

    @property
    def line_percent(self) -> float:
        """The share of executable bytes with a file and a line other than 0."""
        return 100.0 * self.line_bytes / max(self.executable_bytes, 1)


def measure(gsym: Path, sections: Ranges) -> Coverage:
    """Counts within ``sections``, the executable ones; a function ends with the section that it starts in, at the latest."""
    count, functions, lines = spoken_for(gsym, sections)
    return Coverage(
        functions=count,
        executable_bytes=union_bytes(sections),
        function_bytes=union_bytes(functions),
        line_bytes=union_bytes(lines),
    )


def spoken_for(gsym: Path, sections: Ranges) -> tuple[int, Ranges, Ranges]:
    """How many functions a GSYM file has, and where in ``sections`` it has a function, and a line."""
    data = gsym.read_bytes()
    order = "<" if data[:4] == b"MYSG" else ">"
    magic, version, width, _, base, count, _, _ = struct.unpack_from(order + "IHBBQIII", data)
    if magic != MAGIC or version != 1:
        raise RuntimeError(f"{gsym} is not GSYM version 1")
    at = 48 + -48 % width
    offsets = struct.unpack_from(f"{order}{count}{'BHIQ'[width.bit_length() - 1]}", data, at)
    at += count * width
    infos = struct.unpack_from(f"{order}{count}I", data, at + -at % 4)
    starts = sorted({base + offset for offset in offsets})
    following = dict(zip(starts, starts[1:], strict=False))
    functions: list[tuple[int, int]] = []
    lines: list[tuple[int, int]] = []
    section_starts = [start for start, _ in sections]
    for offset, info in zip(offsets, infos, strict=True):
        start = base + offset
        section = bisect_right(section_starts, start) - 1
        if section < 0 or start >= sections[section][1]:
            continue
        limit = sections[section][1]
        size = struct.unpack_from(order + "I", data, info)[0]
        end = min(start + size if size else following.get(start, limit), limit)
        functions.append((start, end))
        lines += _line_ranges(data, order, info + 8, start, end)
    return count, functions, lines


def union_bytes(ranges: Iterable[tuple[int, int]]) -> int:
    """How many addresses lie in any of the ranges."""
    total, reached = 0, 0
    for start, end in sorted(ranges):
        total += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return total


def _line_ranges(data: bytes, order: str, at: int, start: int, end: int) -> list[tuple[int, int]]:
    """Where a function's line table knows a line; ``at`` is the first of its typed parts."""
    while True:
        kind, size = struct.unpack_from(order + "II", data, at)
        if kind == LINE_TABLE:
            return _known(_rows(data, at + 8, start), end)
        if not kind and not size:
            return []
        at += 8 + size


def _known(rows: Sequence[tuple[int, int, int]], end: int) -> list[tuple[int, int]]:
    ends = [min(address, end) for address, _, _ in rows[1:]] + [end]
    return [
        (address, until)
        for (address, file, line), until in zip(rows, ends, strict=True)
        if file and line and address < until
    ]


def _rows(data: bytes, at: int, start: int) -> list[tuple[int, int, int]]:
    """(address, file, line) of each row of a line table."""

    def number(signed: bool) -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value - (1 << shift) if signed and byte & 0x40 else value

    low, high = number(True), number(True)
    span = high - low + 1
    address, file, line = start, 1, number(False)
    rows: list[tuple[int, int, int]] = []
    while op := data[at]:
        at += 1
        if op == 1:
            file = number(False)
        elif op == 2:
            address += number(False)
            rows.append((address, file, line))
        elif op == 3:
            line += number(True)
        else:
            line += low + (op - 4) % span
            address += (op - 4) // span
            rows.append((address, file, line))
    return rows
