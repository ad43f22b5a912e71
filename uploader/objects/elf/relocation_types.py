"""What the relocations of debug sections do, by machine and type (each machine's ELF supplement)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from uploader.objects.elf.headers import (
    EM_386,
    EM_AARCH64,
    EM_ARM,
    EM_MIPS,
    EM_PPC64,
    EM_RISCV,
    EM_S390,
    EM_X86_64,
)

STORE: Final = 0x00
ADD: Final = 0x10
SUB: Final = 0x20
STORE_LEB: Final = 0x30
SUB_LEB: Final = 0x40
STORE_6: Final = 0x50
ADD_6: Final = 0x60
SUB_6: Final = 0x70
NOTHING: Final = 0x80
"""What a relocation does; the low four bits say to how many bytes. Those of 6 bits leave the others of a byte alone."""

WIDTH_BITS: Final = 0x0F
ACTION_BITS: Final = 0xF0
UNKNOWN: Final = 0xFF

MOST_TYPES: Final = 2048
"""No machine has as many types."""

PPC, SPARC, SPARC64, LOONGARCH = 20, 2, 43, 258

OPERATIONS: Final[Mapping[int, Mapping[int, int]]] = {
    EM_X86_64: {1: 8, 10: 4, 11: 4, 12: 2, 14: 1, 17: 8, 21: 4},
    EM_386: {1: 4, 20: 2, 22: 1, 32: 4},
    EM_AARCH64: {1: 4, 257: 8, 258: 4, 259: 2, 1029: 8},
    EM_ARM: {2: 4, 5: 2, 8: 1, 38: 4, 106: 4},
    EM_RISCV: {
        1: 4,
        2: 8,
        33: ADD | 1,
        34: ADD | 2,
        35: ADD | 4,
        36: ADD | 8,
        37: SUB | 1,
        38: SUB | 2,
        39: SUB | 4,
        40: SUB | 8,
        51: NOTHING,
        52: SUB_6 | 1,
        53: STORE_6 | 1,
        54: 1,
        55: 2,
        56: 4,
        60: STORE_LEB | 1,
        61: SUB_LEB | 1,
    },
    EM_PPC64: {1: 4, 3: 2, 24: 4, 38: 8, 43: 8, 78: 8},
    PPC: {1: 4, 3: 2, 24: 4, 78: 4},
    EM_S390: {1: 1, 3: 2, 4: 4, 22: 8, 52: 4, 53: 8},
    EM_MIPS: {2: 4, 18: 8, 39: 4, 41: 8},
    SPARC: {1: 1, 2: 2, 3: 4, 23: 4, 54: 8},
    SPARC64: {1: 1, 2: 2, 3: 4, 23: 4, 32: 8, 54: 8},
    LOONGARCH: {
        1: 4,
        2: 8,
        47: ADD | 1,
        48: ADD | 2,
        50: ADD | 4,
        51: ADD | 8,
        52: SUB | 1,
        53: SUB | 2,
        55: SUB | 4,
        56: SUB | 8,
        100: NOTHING,
        105: ADD_6 | 1,
        106: SUB_6 | 1,
        107: STORE_LEB | 1,
        108: SUB_LEB | 1,
    },
}
"""What the relocations of each machine do, by their type. LoongArch adds to what it has set to 0, which storing does as well."""


def operations_of(machine: int) -> bytes:
    """What each type of a machine's relocations does, `UNKNOWN` where that isn't told here; type 0 does nothing anywhere."""
    operations = bytearray([UNKNOWN] * MOST_TYPES)
    operations[0] = NOTHING
    for kind, operation in OPERATIONS[machine].items():
        operations[kind] = operation
    return bytes(operations)
