"""Packs relocations into a compact table, SHT_CREL."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tests.writers.dwarf_writer import sleb, uleb

SHT_CREL = 0x40000014


class CrelEntry(NamedTuple):
    offset: int
    type: int
    symbol: int
    addend: int = 0


def crel_table(entries: Iterable[CrelEntry], *, addends: bool = True, shift: int = 0) -> bytes:
    """The table of these entries; their offsets are multiples of ``1 << shift``."""
    listed = list(entries)
    flag_bits = 3 if addends else 2
    out = bytearray(uleb(len(listed) << 3 | (4 if addends else 0) | shift))
    before = CrelEntry(0, 0, 0, 0)
    for entry in listed:
        changes = [entry.symbol - before.symbol, entry.type - before.type, entry.addend - before.addend]
        flags = sum(1 << at for at, change in enumerate(changes[:flag_bits]) if change)
        step = (entry.offset - before.offset) % (1 << 64) >> shift
        low = step % (1 << (7 - flag_bits))
        if step == low:
            out.append(low << flag_bits | flags)
        else:
            out.append(0x80 | low << flag_bits | flags)
            out += uleb(step >> (7 - flag_bits))
        for at, change in enumerate(changes[:flag_bits]):
            if flags >> at & 1:
                out += sleb(change)
        before = entry
    return bytes(out)
