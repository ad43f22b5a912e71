"""GSYM merged functions: the other functions of one range, which is how aliases are kept.

Source: LLVM ``llvm/DebugInfo/GSYM/MergedFunctionsInfo.h``: ``u32 count; {u32 length; record}*``, the records not aligned.
"""

from __future__ import annotations

import struct
from array import array

from uploader.errors import MalformedGsym
from uploader.gsym.function_info_decoder import FunctionInfos, decode_function_infos
from uploader.gsym.layout import Data, Header
from uploader.gsym.payloads import decode_payloads
from uploader.gsym.strings import number_offsets
from uploader.symbols.columns import SymbolTable
from uploader.values import frozen

_LENGTH_BYTES = 4


@frozen
class MergedFunctions:
    """The functions merged into those of a file; those of function ``i`` are ``first[i]:first[i + 1]``."""

    first: array[int]
    infos: FunctionInfos


def decode_merged_functions(data: Data, header: Header, start: array[int], infos: FunctionInfos) -> MergedFunctions:
    """Reads the merged functions of the functions that begin at ``start``. Their lines and inlines are left where they are.

    Raises `MalformedGsym` where the lists don't hold whole records one after the other.
    """
    first = array("I", [0])
    starts = array("Q")
    offsets = array("Q")
    ends = array("Q")
    for function, (begin, end) in enumerate(zip(infos.merged.begin, infos.merged.end, strict=True)):
        if end:
            _find_records(data, header.byte_order, begin, end, offsets, ends)
            starts.extend([start[function]] * (len(offsets) - len(starts)))
        first.append(len(offsets))
    merged = decode_function_infos(data, header, starts, offsets, strict=False)
    if merged.record_end != ends:
        raise MalformedGsym("a merged function is longer or shorter than its list says")
    return MergedFunctions(first=first, infos=merged)


def check_merged_functions(data: Data, header: Header, table: SymbolTable, merged: MergedFunctions) -> None:
    """Holds merged functions to what readers ask of any function, and to the range of the one that they are merged into.

    ``table`` has the pieces. Raises `MalformedGsym`.
    """
    infos = merged.infos
    scratch = SymbolTable(end=infos.end)
    for piece in range(len(table)):
        count = merged.first[piece + 1] - merged.first[piece]
        scratch.start.extend(table.start[piece : piece + 1] * count)
        if count and set(infos.end[merged.first[piece] : merged.first[piece + 1]]) != {table.end[piece]}:
            raise MalformedGsym("a merged function has another size than the one that it is merged into")
    if any(infos.merged.end):
        raise MalformedGsym("a merged function has merged functions of its own")
    node_names = decode_payloads(data, header, scratch, infos, strict=True)
    number_offsets((node_names,), header.strings.size_bytes)


def _find_records(data: Data, byte_order: str, begin: int, end: int, offsets: array[int], ends: array[int]) -> None:
    """Appends where each record of one list begins and where it should end."""
    number = struct.Struct(byte_order + "I")
    at = begin + _LENGTH_BYTES
    if at > end:
        raise MalformedGsym("a list of merged functions is cut off")
    (count,) = number.unpack_from(data, begin)
    for _ in range(count):
        if end - at < _LENGTH_BYTES:
            raise MalformedGsym("a list of merged functions is cut off")
        (length,) = number.unpack_from(data, at)
        at += _LENGTH_BYTES
        if length > end - at:
            raise MalformedGsym("a list of merged functions is cut off")
        offsets.append(at)
        at += length
        ends.append(at)
    if at != end:
        raise MalformedGsym("a list of merged functions is followed by something else")
