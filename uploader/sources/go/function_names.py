"""The names of functions in Go's table, by where they begin: each is taken into the binary's table of names once."""

from __future__ import annotations

import cython

from uploader.errors import MalformedGoTable
from uploader.symbols.columns import NameTable

TIMES_READ = 4
ROOM_BYTES = 1 << 16
"""Names may be read so many times over, and a little more: linkers keep equal ones once, and let one end in another at most."""


class FunctionNames:
    """Names that are each ended by a zero byte."""

    def __init__(self, texts: bytes, names: NameTable) -> None:
        self.texts = texts
        self.names = names
        self.numbers: dict[int, int] = {}
        self.left_bytes = ROOM_BYTES + TIMES_READ * len(texts)

    def number(self, offset: cython.ulonglong) -> cython.uint:
        """The number of the name at an offset; that of the empty name where none ends there."""
        number = self.numbers.get(offset)
        if number is None:
            end = self.texts.find(b"\0", offset) if offset < len(self.texts) else -1
            name = self.texts[offset:end] if end >= 0 else b""
            self.left_bytes -= len(name)
            if self.left_bytes < 0:
                raise MalformedGoTable("has names that overlap beyond measure")
            number = self.numbers[offset] = self.names.intern(name)
        return number
