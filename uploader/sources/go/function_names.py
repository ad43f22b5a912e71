"""The names of functions in Go's table, by where they begin: each is taken into the binary's table of names once."""

from __future__ import annotations

import cython

from uploader.symbols.columns import NameTable


class FunctionNames:
    """Names that are each ended by a zero byte."""

    def __init__(self, texts: bytes, names: NameTable) -> None:
        self.texts = texts
        self.names = names
        self.numbers: dict[int, int] = {}

    def number(self, offset: cython.ulonglong) -> cython.uint:
        """The number of the name at an offset; that of the empty name where none ends there."""
        key = offset
        number = self.numbers.get(key)
        if number is None:
            end = self.texts.find(b"\0", key) if key < len(self.texts) else -1
            number = self.names.intern(self.texts[key:end] if end > key else b"")
            self.numbers[key] = number
        return number
