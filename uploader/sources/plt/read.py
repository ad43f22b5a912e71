"""PLT stubs by name: ``puts@plt`` for the code through which a binary calls what another file defines.

Each stub is decoded for the slot of the GOT that it jumps by, and the relocation of that slot tells the symbol. Positions don't
count: linkers order stubs and relocations differently. x86-64 psABI §5.2, i386 psABI §5.2, AArch64 ELF ABI "PLT".
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from uploader.core.columns import addresses, read_items
from uploader.errors import MalformedElf
from uploader.objects.elf.elf_file import ElfFile
from uploader.objects.elf.headers import EM_386, EM_AARCH64, EM_X86_64, Section
from uploader.sources.elf_symbols.source import ENTRY_BYTES

SHT_RELA, SHT_REL, SHT_DYNAMIC = 4, 9, 6
SHF_ALLOC = 2
DT_PLTGOT = 3
R_IRELATIVE = {EM_X86_64: 37, EM_386: 42, EM_AARCH64: 1032}
R_X86_64_JUMP_SLOT = 7

MAX_STUBS = 1 << 20
"""Stubs that are read in one file; the largest binaries known have some ten thousand."""

MAX_RELOCATIONS = 1 << 24

MAX_NAME_BYTES = 1 << 16

_JUMPS_IN_ENTRY = (b"\xff\x25", b"\xf2\xff\x25")
_JUMPS_BY_EBX = (b"\xff\xa3", b"\xf2\xff\xa3")
_LANDING_PADS = (b"\xf3\x0f\x1e\xfa", b"\xf3\x0f\x1e\xfb")


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class PltStubs:
    """Named stubs: disjoint, in no order. ``names`` are as `nm` and `objdump` write them, with ``@plt``."""

    start: array[int] = field(default_factory=addresses)
    end: array[int] = field(default_factory=addresses)
    names: list[bytes] = field(default_factory=list)


class _Stub(NamedTuple):
    start: int
    end: int
    slot: int | None
    """The address of the GOT slot that it jumps by."""
    relocation: int | None = None
    """The number in ``.rela.plt`` that it pushes for the lazy resolver, where it does nothing else."""


class _Relocation(NamedTuple):
    symbol: int
    type: int
    addend: int | None
    """None where the relocation leaves it in the slot (SHT_REL)."""


def read_plt(elf: ElfFile) -> PltStubs:
    """The stubs in ``.plt``, ``.plt.sec``, ``.plt.got`` and their like; for x86-64, x32, 386 and arm64, and none for other machines.

    Empty where the binary's own bytes are elsewhere. A stub whose slot no relocation speaks of is left out, the header of
    ``.plt`` with it. Raises `MalformedElf` where a section that is needed lies beyond the file's end.
    """
    found = PltStubs()
    sections = [each for each in elf.sections if each.is_code and each.has_bytes and _is_plt(each.name)]
    if not sections or elf.machine not in R_IRELATIVE or not elf.little_endian:
        return found
    stubs = list(islice(_stubs(elf, sections), MAX_STUBS))
    slots = {stub.slot for stub in stubs if stub.slot is not None}
    by_slot, lazy = _relocations(elf, slots)
    names = _Names(elf)
    for stub in stubs:
        relocation = by_slot.get(stub.slot) if stub.slot is not None else None
        if stub.relocation is not None and stub.relocation < len(lazy):
            relocation = lazy[stub.relocation]
        name = names.of(relocation) if relocation is not None else b""
        if name:
            found.start.append(stub.start)
            found.end.append(stub.end)
            found.names.append(name)
    return found


def _is_plt(name: str) -> bool:
    return name in (".plt", ".iplt") or name.startswith((".plt.", ".iplt."))


def _stubs(elf: ElfFile, sections: list[Section]) -> Iterator[_Stub]:
    got = _got(elf) if elf.machine == EM_386 else None
    for section in sections:
        code = bytes(elf.contents(section))
        if elf.machine == EM_AARCH64:
            yield from _arm64_stubs(code, section.address)
        else:
            yield from _x86_stubs(code, section, elf, got)


def _x86_stubs(code: bytes, section: Section, elf: ElfFile, got: int | None) -> Iterator[_Stub]:
    """Entries of 8 or 16 bytes, each with one indirect jump, or of 16 with the push of a relocation's number and a direct jump."""
    size = _x86_entry_size(code)
    wide = elf.machine == EM_X86_64
    for at in range(0, len(code) - size + 1, size):
        entry = code[at : at + size]
        start = section.address + at
        body = 4 if entry.startswith(_LANDING_PADS) else 0
        instruction = entry[body:]
        if instruction.startswith(_JUMPS_IN_ENTRY) or (not wide and instruction.startswith(_JUMPS_BY_EBX)):
            operand = body + (3 if instruction[0] == 0xF2 else 2)
            if operand + 4 > size:
                continue
            displacement: int = struct.unpack_from("<i" if wide else "<I", entry, operand)[0]
            if wide:
                slot = start + operand + 4 + displacement
            elif entry[operand - 1] == 0xA3:
                if got is None:
                    continue
                slot = (got + displacement) & 0xFFFFFFFF
            else:
                slot = displacement
            yield _Stub(start, start + size, slot)
        elif size == 16 and instruction[:1] == b"\x68" and instruction[5:6] in (b"\xe9", b"\xf2"):
            number: int = struct.unpack_from("<I", instruction, 1)[0]
            # i386 pushes the offset of an Elf32_Rel, x86-64 the number.
            yield _Stub(start, start + size, None, number if wide else number // 8)


def _x86_entry_size(code: bytes) -> int:
    """Eight bytes where every entry is a jump and a two-byte nop, as in GNU ld's ``.plt.got`` and in static programs; else 16."""
    jump = code[:2] in (b"\xff\x25", b"\xff\xa3")
    return 8 if jump and code[6:8] == b"\x66\x90" and code[8:10] in (b"", code[:2]) else 16


def _arm64_stubs(code: bytes, address: int) -> Iterator[_Stub]:
    """``adrp x16, page; ldr x17, [x16, offset]; add; br x17``, with ``bti c`` before it or a pointer's check before the ``br``."""
    words = struct.unpack_from(f"<{len(code) // 4}I", code)
    found: list[tuple[int, int]] = []
    for index in range(len(words) - 1):
        adrp, load = words[index], words[index + 1]
        if adrp & 0x9F00001F != 0x90000010 or load & 0xFFC003FF != 0xF9400211:
            continue
        page = (adrp >> 3 & 0x1FFFFC) | (adrp >> 29 & 3)
        if page & 0x100000:
            page -= 0x200000
        slot = ((address + 4 * index) & ~0xFFF) + (page << 12) + ((load >> 10 & 0xFFF) << 3)
        begin = index - 1 if index and words[index - 1] == 0xD503245F else index
        found.append((begin, slot & 0xFFFFFFFFFFFFFFFF))
    for number, (begin, slot) in enumerate(found):
        following = found[number + 1][0] if number + 1 < len(found) else len(words)
        end = begin
        while end < following and words[end] != 0xD61F0220:
            end += 1
        end += 1
        # Padding to the next stub belongs to this one.
        while end < following and words[end] == 0xD503201F:
            end += 1
        if end <= following:
            yield _Stub(address + 4 * begin, address + 4 * end, slot)


def _got(elf: ElfFile) -> int | None:
    """What %ebx holds in position-independent 386 code: DT_PLTGOT, else the address of ``.got.plt`` or ``.got``."""
    for section in elf.sections:
        if section.type == SHT_DYNAMIC and section.has_bytes:
            data = elf.contents(section)
            for tag, value in struct.iter_unpack("<II", data[: len(data) - len(data) % 8]):
                if tag == DT_PLTGOT:
                    return int(value)
                if not tag:
                    break
    got = elf.section(".got.plt") or elf.section(".got")
    return got.address if got is not None else None


def _relocations(elf: ElfFile, slots: set[int]) -> tuple[dict[int, _Relocation], list[_Relocation]]:
    """The relocations of these slots, and all that the lazy resolver knows by number."""
    by_slot: dict[int, _Relocation] = {}
    lazy: list[_Relocation] = []
    budget = MAX_RELOCATIONS
    for section in elf.sections:
        if section.type not in (SHT_RELA, SHT_REL) or not section.flags & SHF_ALLOC or not section.has_bytes:
            continue
        has_addend = section.type == SHT_RELA
        width = 3 if has_addend else 2
        words = _words(elf, section, width)
        budget -= len(words) // width
        if budget < 0:
            raise MalformedElf(f"has more than {MAX_RELOCATIONS} relocations", path=elf.called)

        def entry(
            index: int, words: array[int] = words, width: int = width, has_addend: bool = has_addend
        ) -> _Relocation:
            info = words[width * index + 1]
            shift = 32 if elf.bits == 64 else 8
            return _Relocation(
                info >> shift, info & ((1 << shift) - 1), words[width * index + 2] if has_addend else None
            )

        if section.name in (".rela.plt", ".rel.plt") and not lazy:
            lazy = [entry(index) for index in range(len(words) // width)]
        for index, slot in enumerate(words[0::width]):
            if slot in slots:
                by_slot.setdefault(slot, entry(index))
    return by_slot, lazy


def _words(elf: ElfFile, section: Section, width: int) -> array[int]:
    """A section as words of the file's class, in whole entries of so many."""
    return read_items("Q" if elf.bits == 64 else "I", elf.contents(section), elf.little_endian, group=width)


class _Names:
    """Names of dynamic symbols by number."""

    def __init__(self, elf: ElfFile) -> None:
        self._elf = elf
        self._table = memoryview(b"")
        self._strings = b""
        table = next((each for each in elf.sections if each.name == ".dynsym" and each.has_bytes), None)
        if table is not None and table.link < len(elf.sections):
            self._table = elf.contents(table)
            self._strings = bytes(elf.contents(elf.sections[table.link]))
        self._entry_bytes = ENTRY_BYTES[elf.bits]

    def of(self, relocation: _Relocation) -> bytes:
        """``name@plt``, with ``+0x…`` for an addend; ``*ABS*+0x…@plt`` where only a resolver's address is known; or nothing."""
        if not relocation.symbol:
            if relocation.type != R_IRELATIVE[self._elf.machine]:
                return b""
            return b"*ABS*" + _plus(relocation.addend) + b"@plt"
        offset = relocation.symbol * self._entry_bytes
        if offset + 4 > len(self._table):
            return b""
        (begin,) = struct.unpack_from("<I", self._table, offset)
        end = self._strings.find(b"\0", begin, begin + MAX_NAME_BYTES)
        if begin >= len(self._strings) or end <= begin:
            return b""
        # `ld -z mark-plt` keeps the stub's own address there, which is nothing that the loader adds (x86-64 psABI, table 4.9).
        marked = (self._elf.machine, relocation.type) == (EM_X86_64, R_X86_64_JUMP_SLOT)
        return self._strings[begin:end] + _plus(None if marked else relocation.addend) + b"@plt"


def _plus(addend: int | None) -> bytes:
    return b"+%#x" % addend if addend else b""
