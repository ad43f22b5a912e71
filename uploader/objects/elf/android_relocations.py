"""Relocations as Android's linkers pack them (``DT_ANDROID_RELA``, lld's ``--pack-dyn-relocs=android``): groups of what relocations share.

All numbers are signed LEB128: how many relocations there are, the first offset, and then groups, each with its size, flags, what its
relocations share, and what each has of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from uploader.core.numbers import NumberReader

MAGIC = b"APS2"
BY_INFO, BY_OFFSET, BY_ADDEND, WITH_ADDEND = 1, 2, 4, 8
ALL_BITS = (1 << 64) - 1


def unpack(data: memoryview, most: int) -> Iterator[tuple[int, int, int]]:
    """(offset, info, addend) of ``most`` relocations at most; of a table that is cut off, those before. Numbers are of 64 bits."""
    numbers = _Numbers(data)
    if bytes(data[: len(MAGIC)]) != MAGIC:
        return
    try:
        left, offset = min(numbers.next(), most), numbers.next()
        info = addend = 0
        while left > 0:
            size, flags = numbers.next(), numbers.next()
            step = numbers.next() if flags & BY_OFFSET else 0
            info = numbers.next() if flags & BY_INFO else info
            addend = _addend(numbers, addend, flags, shared=True)
            if size <= 0:
                return
            for _ in range(min(size, left)):
                offset += step if flags & BY_OFFSET else numbers.next()
                info = info if flags & BY_INFO else numbers.next()
                addend = _addend(numbers, addend, flags, shared=False)
                yield offset & ALL_BITS, info & ALL_BITS, addend & ALL_BITS
            left -= size
    except IndexError:
        return


def _addend(numbers: _Numbers, addend: int, flags: int, *, shared: bool) -> int:
    if not flags & WITH_ADDEND:
        return 0
    return addend + numbers.next() if bool(flags & BY_ADDEND) is shared else addend


class _Numbers:
    """One signed number after the other."""

    def __init__(self, data: memoryview) -> None:
        self._reader = NumberReader(data)
        self._at = len(MAGIC)

    def next(self) -> int:
        value, end = self._reader.read_uleb(self._at)
        bits = min(7 * (end - self._at), 64)
        self._at = end
        return value - (1 << bits) if value >> (bits - 1) else value
