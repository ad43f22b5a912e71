"""Reads the numbers of GSYM: LEB128 (DWARF 5 §7.6) and fixed sizes, none of them beyond its end.

What overflows 64 bits is an error and never wraps. Part of the core: compiled or not, the same results.
"""

from __future__ import annotations

import cython

from uploader.errors import MalformedGsym
from uploader.gsym.layout import Data

CUT_OFF = 0
TOO_LARGE = 1
REASONS = ("is cut off", "holds a number that is too large")
"""What every kind of data can suffer from; reasons of its own come behind these."""

MAX_SLEB_SHIFT = 49
MAX_SLEB = 0x1FFFFFFFF
"""No signed number of the format steps further: lines have 32 bits."""


class GsymReader:
    """A place in a file, up to where the kind of data being read ends. ``what`` names that kind, ``reasons`` what can be wrong with it."""

    def __init__(self, data: Data, what: str, reasons: tuple[str, ...], little: bool) -> None:
        self.data = data
        self.what = what
        self.reasons = reasons
        self.little = little
        self.at = 0
        self.end = 0

    def fail(self, reason: cython.int) -> cython.int:
        """Raises `MalformedGsym` for one of the reasons."""
        with cython.gil:
            raise MalformedGsym(f"{self.what} {self.reasons[reason]} (at byte {self.at} of the file)")
        return 0

    def byte(self) -> cython.int:
        """The next byte."""
        if self.at >= self.end:
            self.fail(CUT_OFF)
        self.at += 1
        return self.data[self.at - 1]

    def uleb(self) -> cython.ulonglong:
        """An unsigned LEB128."""
        value: cython.ulonglong = 0
        byte: cython.ulonglong
        shift: cython.int = 0
        while True:
            byte = self.byte()
            if shift == 63 and byte > 1:
                self.fail(TOO_LARGE)
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
        return 0

    def sleb(self) -> cython.longlong:
        """A signed LEB128."""
        value: cython.longlong = 0
        byte: cython.longlong
        one: cython.longlong = 1
        shift: cython.int = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
            if shift > MAX_SLEB_SHIFT:
                self.fail(TOO_LARGE)
        if byte & 0x40:
            value -= one << shift
        if value > MAX_SLEB or value < -MAX_SLEB:
            self.fail(TOO_LARGE)
        return value

    def fixed(self, size_bytes: cython.int) -> cython.ulonglong:
        """An unsigned number of so many bytes in the file's byte order."""
        value: cython.ulonglong = 0
        byte: cython.ulonglong
        index: cython.int
        if self.end - self.at < size_bytes:
            self.fail(CUT_OFF)
        for index in range(size_bytes):
            byte = self.data[self.at + index]
            if self.little:
                value |= byte << (8 * index)
            else:
                value = (value << 8) | byte
        self.at += size_bytes
        return value
