"""What the walk does at a DIE, told from its abbreviation alone."""

from __future__ import annotations

import cython

from uploader.sources.dwarf import constants

HAS_CODE = cython.declare(cython.longlong, 1 << constants.SLOT_LOW_PC | 1 << constants.SLOT_RANGES)
HAS_OTHER_NAME = cython.declare(
    cython.longlong,
    1 << constants.SLOT_LINKAGE_NAME | 1 << constants.SLOT_ABSTRACT_ORIGIN | 1 << constants.SLOT_SPECIFICATION,
)


def kind_of(tag: cython.ulonglong, slots: cython.longlong, declared: cython.bint) -> cython.int:
    """The kind (`constants.KIND_SUBPROGRAM` and its like) of DIEs with this tag, these slots (a bit set), and DW_AT_declaration or not."""
    if tag == constants.TAG_INLINED_SUBROUTINE:
        return constants.KIND_INLINED
    if tag == constants.TAG_SUBPROGRAM or tag == constants.TAG_ENTRY_POINT:
        if slots & HAS_CODE:
            return constants.KIND_SUBPROGRAM if tag == constants.TAG_SUBPROGRAM else constants.KIND_ENTRY_POINT
        if declared:
            return constants.KIND_OTHER if slots & HAS_OTHER_NAME else constants.KIND_DECLARATION
        return constants.KIND_NAMED_ELSEWHERE if slots & HAS_OTHER_NAME else constants.KIND_ABSTRACT
    if tag == constants.TAG_NAMESPACE:
        return constants.KIND_NAMESPACE
    if tag == constants.TAG_STRUCTURE_TYPE or tag == constants.TAG_CLASS_TYPE or tag == constants.TAG_UNION_TYPE:
        return constants.KIND_SCOPE
    if tag == constants.TAG_ENUMERATION_TYPE or tag == constants.TAG_MODULE or tag == constants.TAG_INTERFACE_TYPE:
        return constants.KIND_SCOPE
    return constants.KIND_OTHER
