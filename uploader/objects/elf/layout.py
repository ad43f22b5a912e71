"""Gives the sections of a relocatable file (``.o``, ``.ko``) the addresses that no linker has given them yet (gABI, "Sections").

Executable sections lie one after another in the order of their headers, each aligned as it asks, from 0 on: distinct addresses, the
same for a module and its debug file, and equal to the offset into ``.text`` where that comes first. Several debug sections of one name
(COMDAT groups hold such) lie one after another too, as a linker would join them. Everything else is at 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uploader.objects.elf.headers import Section


def lay_out(sections: Sequence[Section], *, bits: int, size_of: Callable[[Section], int]) -> dict[int, int]:
    """The address of every executable section, and of debug sections that share their name, by the section's index.

    ``size_of`` tells the size of a debug section once it is inflated.

    Executable sections that already have distinct addresses keep them: a JIT's object files are linked in place. A section that
    would end beyond the address space keeps what its header says.
    """
    top = (1 << bits) - 1
    addresses: dict[int, int] = {}
    code = [section for section in sections if section.is_code and section.size_bytes]
    if _distinct(code):
        addresses.update((section.index, section.address) for section in code)
    else:
        reached = 0
        for section in code:
            start = _aligned(reached, section.alignment)
            if start + section.size_bytes > top:
                addresses[section.index] = section.address
                continue
            addresses[section.index] = start
            reached = start + section.size_bytes
    names = Counter(section.name for section in sections if section.name.startswith((".debug_", ".zdebug_")))
    filled: dict[str, int] = {}
    for section in sections:
        if names[section.name] > 1:
            addresses[section.index] = filled.get(section.name, 0)
            filled[section.name] = min(addresses[section.index] + size_of(section), top)
    return addresses


def _distinct(code: Sequence[Section]) -> bool:
    """Whether some linker was there: not everything is at 0, and nothing overlaps."""
    if not any(section.address for section in code):
        return False
    reached = 0
    for section in sorted(code, key=lambda each: each.address):
        if section.address < reached:
            return False
        reached = section.address + section.size_bytes
    return True


def _aligned(address: int, alignment: int) -> int:
    return -(-address // alignment) * alignment if alignment > 1 else address
