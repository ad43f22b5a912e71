"""Builds GSYM bytes by hand, sound or not: an independent second voice beside `uploader.gsym`."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def uleb(value: int) -> bytes:
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        if not value:
            return bytes([*out, byte])
        out.append(byte | 0x80)


def sleb(value: int) -> bytes:
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        if (value == 0 and not byte & 0x40) or (value == -1 and byte & 0x40):
            return bytes([*out, byte])
        out.append(byte | 0x80)


def info(kind: int, payload: bytes, order: str = "<") -> bytes:
    """One piece of a function's data: type, length, bytes."""
    return struct.pack(order + "II", kind, len(payload)) + payload


def function_info(size: int, name: int, *infos: bytes, order: str = "<") -> bytes:
    """A v1 function info, padded to 4 bytes."""
    record = struct.pack(order + "II", size, name) + b"".join(infos) + bytes(8)
    return record + bytes(-len(record) % 4)


def line_table(first_line: int, *ops: bytes, window: tuple[int, int] = (0, 0)) -> bytes:
    """A line table's payload; ``ops`` without the end mark."""
    return sleb(window[0]) + sleb(window[1]) + uleb(first_line) + b"".join(ops) + b"\0"


def set_file(number: int) -> bytes:
    return b"\x01" + uleb(number)


def advance_address(by: int) -> bytes:
    return b"\x02" + uleb(by)


def advance_line(by: int) -> bytes:
    return b"\x03" + sleb(by)


def special(line: int, address: int, window: tuple[int, int]) -> bytes:
    """Opcode: advance line and address by so much, and append a row."""
    low, high = window
    return bytes([4 + line - low + address * (high - low + 1)])


def inline_node(
    ranges: Sequence[tuple[int, int]], name: int, file: int, line: int, *children: bytes, order: str = "<"
) -> bytes:
    """A node of an inline tree; ``ranges`` are (offset from the parent's first start, size)."""
    spans = b"".join(uleb(begin) + uleb(size) for begin, size in ranges)
    head = (
        uleb(len(ranges)) + spans + bytes([bool(children)]) + struct.pack(order + "I", name) + uleb(file) + uleb(line)
    )
    return head + (b"".join(children) + b"\0" if children else b"")


def gsym_v1(
    functions: Sequence[tuple[int, bytes]],
    *,
    base_address: int = 0x1000,
    uuid: bytes = b"",
    strings: bytes = b"\0",
    files: Sequence[tuple[int, int]] = ((0, 0),),
    order: str = "<",
) -> bytes:
    """A whole v1 file from (address, function info) pairs, with two-byte address offsets."""
    addresses = b"".join(struct.pack(order + "H", address - base_address) for address, _ in functions)
    addresses += bytes(-len(addresses) % 4)
    file_table = struct.pack(order + "I", len(files)) + b"".join(struct.pack(order + "II", *entry) for entry in files)
    strings_at = 48 + len(addresses) + 4 * len(functions) + len(file_table)
    at = strings_at + len(strings)
    records = bytes(-at % 4)
    at += len(records)
    offsets = b""
    for _, record in functions:
        offsets += struct.pack(order + "I", at)
        records += record
        at += len(record)
    header = struct.pack(
        order + "IHBBQIII20s", 0x4753594D, 1, 2, len(uuid), base_address, len(functions), strings_at, len(strings), uuid
    )
    return header + addresses + offsets + file_table + strings + records
