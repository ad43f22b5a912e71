"""The numbers of DWARF 2 to 5 (DWARF 5 §7) that symup reads, and those by which its own modules understand each other.

Those that loops of the core ask for stand in `constants.pxd`, too, as constants of C.
"""

from __future__ import annotations

from typing import Final

FORM_ADDR: Final = 0x01
FORM_BLOCK2: Final = 0x03
FORM_BLOCK4: Final = 0x04
FORM_DATA2: Final = 0x05
FORM_DATA4: Final = 0x06
FORM_DATA8: Final = 0x07
FORM_STRING: Final = 0x08
FORM_BLOCK: Final = 0x09
FORM_BLOCK1: Final = 0x0A
FORM_DATA1: Final = 0x0B
FORM_FLAG: Final = 0x0C
FORM_SDATA: Final = 0x0D
FORM_STRP: Final = 0x0E
FORM_UDATA: Final = 0x0F
FORM_REF_ADDR: Final = 0x10
FORM_REF1: Final = 0x11
FORM_REF2: Final = 0x12
FORM_REF4: Final = 0x13
FORM_REF8: Final = 0x14
FORM_REF_UDATA: Final = 0x15
FORM_INDIRECT: Final = 0x16
FORM_SEC_OFFSET: Final = 0x17
FORM_EXPRLOC: Final = 0x18
FORM_FLAG_PRESENT: Final = 0x19
FORM_STRX: Final = 0x1A
FORM_ADDRX: Final = 0x1B
FORM_REF_SUP4: Final = 0x1C
FORM_STRP_SUP: Final = 0x1D
FORM_DATA16: Final = 0x1E
FORM_LINE_STRP: Final = 0x1F
FORM_REF_SIG8: Final = 0x20
FORM_IMPLICIT_CONST: Final = 0x21
FORM_LOCLISTX: Final = 0x22
FORM_RNGLISTX: Final = 0x23
FORM_REF_SUP8: Final = 0x24
FORM_STRX1: Final = 0x25
FORM_STRX2: Final = 0x26
FORM_STRX3: Final = 0x27
FORM_STRX4: Final = 0x28
FORM_ADDRX1: Final = 0x29
FORM_ADDRX2: Final = 0x2A
FORM_ADDRX3: Final = 0x2B
FORM_ADDRX4: Final = 0x2C
FORM_GNU_ADDR_INDEX: Final = 0x1F01
FORM_GNU_STR_INDEX: Final = 0x1F02
FORM_GNU_REF_ALT: Final = 0x1F20
FORM_GNU_STRP_ALT: Final = 0x1F21

UNIT_COMPILE: Final = 0x01
UNIT_TYPE: Final = 0x02
UNIT_PARTIAL: Final = 0x03
UNIT_SKELETON: Final = 0x04
UNIT_SPLIT_COMPILE: Final = 0x05
UNIT_SPLIT_TYPE: Final = 0x06

TAG_ENTRY_POINT: Final = 0x03
TAG_CLASS_TYPE: Final = 0x02
TAG_ENUMERATION_TYPE: Final = 0x04
TAG_STRUCTURE_TYPE: Final = 0x13
TAG_UNION_TYPE: Final = 0x17
TAG_INLINED_SUBROUTINE: Final = 0x1D
TAG_MODULE: Final = 0x1E
TAG_SUBPROGRAM: Final = 0x2E
TAG_INTERFACE_TYPE: Final = 0x38
TAG_NAMESPACE: Final = 0x39

AT_DECLARATION: Final = 0x3C

LNCT_PATH: Final = 1
LNCT_DIRECTORY_INDEX: Final = 2

LNS_COPY: Final = 1
LNS_ADVANCE_PC: Final = 2
LNS_ADVANCE_LINE: Final = 3
LNS_SET_FILE: Final = 4
LNS_SET_COLUMN: Final = 5
LNS_NEGATE_STMT: Final = 6
LNS_SET_BASIC_BLOCK: Final = 7
LNS_CONST_ADD_PC: Final = 8
LNS_FIXED_ADVANCE_PC: Final = 9
LNS_SET_PROLOGUE_END: Final = 10
LNS_SET_EPILOGUE_BEGIN: Final = 11
LNS_SET_ISA: Final = 12

LNE_END_SEQUENCE: Final = 1
LNE_SET_ADDRESS: Final = 2
LNE_DEFINE_FILE: Final = 3

RLE_END_OF_LIST: Final = 0
RLE_BASE_ADDRESSX: Final = 1
RLE_STARTX_ENDX: Final = 2
RLE_STARTX_LENGTH: Final = 3
RLE_OFFSET_PAIR: Final = 4
RLE_BASE_ADDRESS: Final = 5
RLE_START_END: Final = 6
RLE_START_LENGTH: Final = 7

STEP_LEB: Final = -1
STEP_CSTRING: Final = -2
STEP_BLOCK1: Final = -3
STEP_BLOCK2: Final = -4
STEP_BLOCK4: Final = -5
STEP_BLOCK: Final = -6
STEP_INDIRECT: Final = -7
STEP_CONSTANT: Final = -8
STEP_UNKNOWN: Final = -100
"""How a form is passed that can't be sized without looking; a step that isn't negative is a count of bytes (`forms`)."""

PC_NONE: Final = 0
PC_BOUNDS: Final = 1
PC_RANGES: Final = 2
"""How a DIE says where its code lies: not at all, by two bounds, by a reference to a range list."""

ASKED_FORMS: Final = 48
ASKED_RANGES: Final = 1 << 48
ASKED_GNU_ADDR_INDEX: Final = 1 << 49
ASKED_GNU_STR_INDEX: Final = 1 << 50
"""What `abbrev.Abbrevs.asked` tells: each of the first forms has the bit of its number, the others follow."""

IN_SUPPLEMENTARY: Final = 1 << 61
"""Added to the offset of a DIE in the supplementary file."""

NO_MEANING: Final = 1 << 61
"""A reference of so much or more leads nowhere."""

KIND_OTHER: Final = 0
"""A DIE of no interest."""
KIND_SCOPE: Final = 1
KIND_NAMESPACE: Final = 2
"""A scope, too."""
KIND_NAMED_ELSEWHERE: Final = 3
"""A subprogram without code that another name or DIE names: functions may stand in it."""
KIND_DECLARATION: Final = 4
"""A declaration of a subprogram that names itself: it may need its scopes for a qualified name."""
KIND_ABSTRACT: Final = 5
"""A subprogram without code that names itself, and that functions may stand in."""
KIND_SUBPROGRAM: Final = 6
"""A subprogram with code."""
KIND_ENTRY_POINT: Final = 7
"""Another entry of the subprogram around it, with code of its own: it stands beside that one."""
KIND_INLINED: Final = 8

SLOT_NAME: Final = 0
SLOT_LINKAGE_NAME: Final = 1
SLOT_ABSTRACT_ORIGIN: Final = 2
SLOT_SPECIFICATION: Final = 3
SLOT_LOW_PC: Final = 4
SLOT_HIGH_PC: Final = 5
SLOT_RANGES: Final = 6
SLOT_CALL_FILE: Final = 7
SLOT_CALL_LINE: Final = 8
SLOT_DECL_FILE: Final = 9
SLOT_DECL_LINE: Final = 10
SLOT_STMT_LIST: Final = 11
SLOT_COMP_DIR: Final = 12
SLOT_ENTRY_PC: Final = 13
SLOT_STR_OFFSETS_BASE: Final = 14
SLOT_ADDR_BASE: Final = 15
SLOT_RNGLISTS_BASE: Final = 16
SLOT_GNU_RANGES_BASE: Final = 17
SLOT_DWO_NAME: Final = 18
SLOT_GNU_DWO_ID: Final = 19
SLOT_COUNT: Final = 20

SLOT_OF_ATTRIBUTE: Final[dict[int, int]] = {
    0x03: SLOT_NAME,
    0x6E: SLOT_LINKAGE_NAME,
    0x2007: SLOT_LINKAGE_NAME,  # DW_AT_MIPS_linkage_name
    0x31: SLOT_ABSTRACT_ORIGIN,
    0x47: SLOT_SPECIFICATION,
    0x11: SLOT_LOW_PC,
    0x12: SLOT_HIGH_PC,
    0x55: SLOT_RANGES,
    0x58: SLOT_CALL_FILE,
    0x59: SLOT_CALL_LINE,
    0x3A: SLOT_DECL_FILE,
    0x3B: SLOT_DECL_LINE,
    0x10: SLOT_STMT_LIST,
    0x1B: SLOT_COMP_DIR,
    0x72: SLOT_STR_OFFSETS_BASE,
    0x73: SLOT_ADDR_BASE,
    0x2133: SLOT_ADDR_BASE,  # DW_AT_GNU_addr_base
    0x74: SLOT_RNGLISTS_BASE,
    0x2132: SLOT_GNU_RANGES_BASE,
    0x76: SLOT_DWO_NAME,
    0x2130: SLOT_DWO_NAME,  # DW_AT_GNU_dwo_name
    0x2131: SLOT_GNU_DWO_ID,
    0x52: SLOT_ENTRY_PC,
}
