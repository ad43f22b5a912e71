"""What the walk does at a DIE, told from its abbreviation alone."""

from __future__ import annotations

import cython

from uploader.sources.dwarf import constants

CLASS_TYPE = cython.declare(cython.ulonglong, constants.TAG_CLASS_TYPE)
ENTRY_POINT = cython.declare(cython.ulonglong, constants.TAG_ENTRY_POINT)
ENUMERATION_TYPE = cython.declare(cython.ulonglong, constants.TAG_ENUMERATION_TYPE)
INLINED_SUBROUTINE = cython.declare(cython.ulonglong, constants.TAG_INLINED_SUBROUTINE)
INTERFACE_TYPE = cython.declare(cython.ulonglong, constants.TAG_INTERFACE_TYPE)
MODULE = cython.declare(cython.ulonglong, constants.TAG_MODULE)
NAMESPACE = cython.declare(cython.ulonglong, constants.TAG_NAMESPACE)
STRUCTURE_TYPE = cython.declare(cython.ulonglong, constants.TAG_STRUCTURE_TYPE)
SUBPROGRAM = cython.declare(cython.ulonglong, constants.TAG_SUBPROGRAM)
UNION_TYPE = cython.declare(cython.ulonglong, constants.TAG_UNION_TYPE)

KIND_OTHER = cython.declare(cython.int, constants.KIND_OTHER)
KIND_SCOPE = cython.declare(cython.int, constants.KIND_SCOPE)
KIND_NAMESPACE = cython.declare(cython.int, constants.KIND_NAMESPACE)
KIND_NAMED_ELSEWHERE = cython.declare(cython.int, constants.KIND_NAMED_ELSEWHERE)
KIND_DECLARATION = cython.declare(cython.int, constants.KIND_DECLARATION)
KIND_ABSTRACT = cython.declare(cython.int, constants.KIND_ABSTRACT)
KIND_SUBPROGRAM = cython.declare(cython.int, constants.KIND_SUBPROGRAM)
KIND_ENTRY_POINT = cython.declare(cython.int, constants.KIND_ENTRY_POINT)
KIND_INLINED = cython.declare(cython.int, constants.KIND_INLINED)

HAS_CODE = cython.declare(cython.longlong, 1 << constants.SLOT_LOW_PC | 1 << constants.SLOT_RANGES)
HAS_OTHER_NAME = cython.declare(
    cython.longlong,
    1 << constants.SLOT_LINKAGE_NAME | 1 << constants.SLOT_ABSTRACT_ORIGIN | 1 << constants.SLOT_SPECIFICATION,
)


def kind_of(tag: cython.ulonglong, slots: cython.longlong, declared: cython.bint) -> cython.int:
    """The kind (`constants.KIND_SUBPROGRAM` and its like) of DIEs with this tag, these slots (a bit set), and DW_AT_declaration or not."""
    if tag == INLINED_SUBROUTINE:
        return KIND_INLINED
    if tag == SUBPROGRAM or tag == ENTRY_POINT:
        if slots & HAS_CODE:
            return KIND_SUBPROGRAM if tag == SUBPROGRAM else KIND_ENTRY_POINT
        if declared:
            return KIND_OTHER if slots & HAS_OTHER_NAME else KIND_DECLARATION
        return KIND_NAMED_ELSEWHERE if slots & HAS_OTHER_NAME else KIND_ABSTRACT
    if tag == NAMESPACE:
        return KIND_NAMESPACE
    if tag == STRUCTURE_TYPE or tag == CLASS_TYPE or tag == UNION_TYPE:
        return KIND_SCOPE
    if tag == ENUMERATION_TYPE or tag == MODULE or tag == INTERFACE_TYPE:
        return KIND_SCOPE
    return KIND_OTHER
