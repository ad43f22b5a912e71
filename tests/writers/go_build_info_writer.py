"""What Go's linker writes of a build: the texts behind a header (Go 1.18 on), or strings that the header points to."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from tests.writers.elf_writer import ALLOC, Section, Segment, elf
from tests.writers.pclntab_writer import uvarint

MAGIC = b"\xff Go buildinf:"
FRAME = b"0w\xaf\x0c\x92t\x08\x02A\xe1\xc1\x07\xe6\xd6\x18\xe6", b"\xf92C1\x86\x18 r\x00\x82B\x10A\x16\xd8\xf2"
AT = 0x500000


def modules(*facts: Sequence[str]) -> bytes:
    """The text of `runtime/debug.BuildInfo`, as it stands in a program."""
    return FRAME[0] + "".join("\t".join(fact) + "\n" for fact in facts).encode("utf-8", "surrogateescape") + FRAME[1]


def texts_behind(toolchain: bytes, text: bytes, *, bits: int = 64) -> bytes:
    """As since Go 1.18."""
    head = (MAGIC + bytes((bits // 8, 2))).ljust(32, b"\0")
    return head + uvarint(len(toolchain)) + toolchain + uvarint(len(text)) + text


def texts_pointed_to(toolchain: bytes, text: bytes, *, bits: int = 64, little_endian: bool = True) -> bytes:
    """As before Go 1.18: two pointers to strings, each a pointer to its bytes and a length. It stands at `AT`."""
    order, word_bytes = ("<" if little_endian else ">"), bits // 8
    word = "Q" if bits == 64 else "I"
    strings_at = AT + 32
    bytes_at = strings_at + 4 * word_bytes
    head = MAGIC + bytes((word_bytes, not little_endian))
    head += struct.pack(f"{order}2{word}", strings_at, strings_at + 2 * word_bytes)
    strings = struct.pack(f"{order}4{word}", bytes_at, len(toolchain), bytes_at + len(toolchain), len(text))
    return head.ljust(32, b"\0") + strings + toolchain + text


def program(
    info: bytes,
    *,
    name: str = ".go.buildinfo",
    bits: int = 64,
    little_endian: bool = True,
    section_headers: bool = True,
    before: bytes = b"",
) -> bytes:
    """A program that has ``info`` in loaded data, at `AT` where nothing stands before it."""
    section = Section(name, before + info, flags=ALLOC | 1, address=AT, alignment=16)
    return elf(
        [section],
        segments=[Segment(flags=6, section=name)],
        bits=bits,
        little_endian=little_endian,
        section_headers=section_headers,
    )
