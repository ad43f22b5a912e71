"""The frame of a GSYM file: header, section places, and the numbers that the format fixes.

Source: LLVM ``llvm/DebugInfo/GSYM`` (``Header.h``, ``HeaderV2.h``, ``GlobalData.h``).
"""

from __future__ import annotations

import struct

from uploader.errors import MalformedGsym
from uploader.values import frozen

MAGIC = 0x4753594D
VERSIONS = (1, 2)

V1_HEADER_BYTES = 48
V1_UUID_MAX_BYTES = 20
V2_HEADER_BYTES = 20
V2_SECTION_ENTRY_BYTES = 20

SECTION_ADDRESS_OFFSETS = 1
SECTION_INFO_OFFSETS = 2
SECTION_STRINGS = 3
SECTION_FILES = 4
SECTION_FUNCTION_INFOS = 5
SECTION_UUID = 6
V2_REQUIRED_SECTIONS = (
    SECTION_ADDRESS_OFFSETS,
    SECTION_INFO_OFFSETS,
    SECTION_STRINGS,
    SECTION_FILES,
    SECTION_FUNCTION_INFOS,
)

INFO_END = 0
INFO_LINE_TABLE = 1
INFO_INLINE_TREE = 2
INFO_MERGED_FUNCTIONS = 3
INFO_HEAD_BYTES = 8
"""Before each kind of data of a function info stand its number and its length; of ``INFO_END`` there is nothing else."""

SHARED_SLACK_BYTES = 1 << 16
"""Function infos are shared until those left out outweigh those kept by so much: readers that decode a file whole bound its growth.
In large C++ libraries those left out are a thirtieth of those kept."""

LINE_END = 0
LINE_SET_FILE = 1
LINE_ADVANCE_ADDRESS = 2
LINE_ADVANCE_LINE = 3
LINE_FIRST_SPECIAL = 4
"""Opcodes of line tables; from the last one on each advances both, and puts a row."""

MAX_INLINE_DEPTH = 4096
"""Deeper inline trees are neither written nor read: readers recurse."""

MAX_UINT32 = 0xFFFFFFFF
MAX_UINT64 = 0xFFFFFFFFFFFFFFFF

ADDRESS_OFFSET_TYPES = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""The ``array`` type for each size of an address offset."""

Data = bytes | bytearray | memoryview


@frozen
class Section:
    """A stretch of the file: ``offset_bytes`` from its begin, ``size_bytes`` long; checked to lie in it."""

    offset_bytes: int
    size_bytes: int

    @property
    def end_bytes(self) -> int:
        """The offset of the first byte behind it."""
        return self.offset_bytes + self.size_bytes


@frozen
class Header:
    """What the head of a GSYM file says, with every section's place checked against the file's size.

    In v1 offsets of function infos count from the file's begin, so ``function_infos`` is the whole file; in v2 they count
    from their section.
    """

    version: int
    little_endian: bool
    base_address: int
    uuid: bytes
    function_count: int
    address_offset_bytes: int
    address_offsets: Section
    info_offsets: Section
    files: Section
    strings: Section
    function_infos: Section
    uuid_section: Section

    @property
    def byte_order(self) -> str:
        """The prefix for `struct`: ``<`` or ``>``."""
        return "<" if self.little_endian else ">"

    @property
    def offset_size_bytes(self) -> int:
        """The width of string offsets and of info offsets: 4 in v1, 8 in v2."""
        return 4 if self.version == 1 else 8

    @property
    def file_count(self) -> int:
        """How many files the table of files has, the empty one included."""
        return self.files.size_bytes // (2 * self.offset_size_bytes)


def align(offset_bytes: int, alignment_bytes: int) -> int:
    """The next multiple of ``alignment_bytes`` at or after ``offset_bytes``."""
    return -(-offset_bytes // alignment_bytes) * alignment_bytes


def parse_header(data: Data) -> Header:
    """Reads the head of a GSYM file, v1 or v2, in either byte order.

    Raises `MalformedGsym` unless the magic, the version and every section's place make sense for the file's size.
    """
    magic = bytes(data[:4])
    if magic == MAGIC.to_bytes(4, "little"):
        order = "<"
    elif magic == MAGIC.to_bytes(4, "big"):
        order = ">"
    else:
        raise MalformedGsym("not a GSYM file: it doesn't begin with the magic number")
    if len(data) < V2_HEADER_BYTES:
        raise MalformedGsym(f"a GSYM file of {len(data)} bytes has no room for its header")
    version, address_offset_bytes = struct.unpack_from(order + "HB", data, 4)
    if version not in VERSIONS:
        raise MalformedGsym(f"GSYM version {version} is not known", remedy="Use a newer symup, or convert again.")
    if address_offset_bytes not in ADDRESS_OFFSET_TYPES:
        raise MalformedGsym(f"{address_offset_bytes} is no size for a GSYM address offset")
    return (_parse_v1 if version == 1 else _parse_v2)(data, order, address_offset_bytes)


def head_size_bytes(data: Data) -> int:
    """How many bytes from the file's begin hold its UUID and what stands before that; two files may differ in them alone.

    Raises `MalformedGsym`.
    """
    header = parse_header(data)
    if header.version == 1:
        return V1_HEADER_BYTES
    return max(header.uuid_section.end_bytes, V2_HEADER_BYTES)


def _parse_v1(data: Data, order: str, address_offset_bytes: int) -> Header:
    if len(data) < V1_HEADER_BYTES:
        raise MalformedGsym(f"a GSYM file of {len(data)} bytes has no room for its header")
    uuid_bytes = data[7]
    if uuid_bytes > V1_UUID_MAX_BYTES:
        raise MalformedGsym(f"the GSYM header claims a UUID of {uuid_bytes} bytes; {V1_UUID_MAX_BYTES} have room")
    base_address, count, strings_offset, strings_bytes = struct.unpack_from(order + "QIII", data, 8)
    address_offsets = _section(
        data, "address offsets", align(V1_HEADER_BYTES, address_offset_bytes), count * address_offset_bytes
    )
    info_offsets = _section(data, "function offsets", align(address_offsets.end_bytes, 4), count * 4)
    return Header(
        version=1,
        little_endian=order == "<",
        base_address=base_address,
        uuid=bytes(data[28 : 28 + uuid_bytes]),
        function_count=count,
        address_offset_bytes=address_offset_bytes,
        address_offsets=address_offsets,
        info_offsets=info_offsets,
        files=_files_section(data, order + "I", info_offsets.end_bytes, len(data), 8),
        strings=_section(data, "strings", strings_offset, strings_bytes),
        function_infos=Section(offset_bytes=0, size_bytes=len(data)),
        uuid_section=Section(offset_bytes=28, size_bytes=uuid_bytes),
    )


def _parse_v2(data: Data, order: str, address_offset_bytes: int) -> Header:
    string_encoding, base_address, count = struct.unpack_from(order + "BQI", data, 7)
    if string_encoding != 0:
        raise MalformedGsym(f"GSYM string encoding {string_encoding} is not known")
    sections: dict[int, Section] = {}
    at = V2_HEADER_BYTES
    while True:
        if at + V2_SECTION_ENTRY_BYTES > len(data):
            raise MalformedGsym("the GSYM section list runs past the end of the file")
        kind, offset, size = struct.unpack_from(order + "IQQ", data, at)
        at += V2_SECTION_ENTRY_BYTES
        if kind == offset == size == 0:
            break
        if kind in sections:
            raise MalformedGsym(f"the GSYM section {kind} occurs twice")
        sections[kind] = _section(data, f"section {kind}", offset, size)
    for kind in V2_REQUIRED_SECTIONS:
        if kind not in sections:
            raise MalformedGsym(f"the GSYM section {kind} is missing")
    for kind, item_bytes in ((SECTION_ADDRESS_OFFSETS, address_offset_bytes), (SECTION_INFO_OFFSETS, 8)):
        if sections[kind].size_bytes != count * item_bytes:
            raise MalformedGsym(f"the GSYM section {kind} doesn't fit {count} functions")
    uuid = sections.get(SECTION_UUID, Section(offset_bytes=0, size_bytes=0))
    files = sections[SECTION_FILES]
    return Header(
        version=2,
        little_endian=order == "<",
        base_address=base_address,
        uuid=bytes(data[uuid.offset_bytes : uuid.end_bytes]),
        function_count=count,
        address_offset_bytes=address_offset_bytes,
        address_offsets=sections[SECTION_ADDRESS_OFFSETS],
        info_offsets=sections[SECTION_INFO_OFFSETS],
        files=_files_section(data, order + "I", files.offset_bytes, files.end_bytes, 16),
        strings=sections[SECTION_STRINGS],
        function_infos=sections[SECTION_FUNCTION_INFOS],
        uuid_section=uuid,
    )


def _section(data: Data, what: str, offset_bytes: int, size_bytes: int) -> Section:
    if offset_bytes + size_bytes > len(data):
        raise MalformedGsym(f"the GSYM {what} ({size_bytes} bytes at {offset_bytes}) run past the end of the file")
    return Section(offset_bytes=offset_bytes, size_bytes=size_bytes)


def _files_section(data: Data, count_format: str, offset_bytes: int, end_bytes: int, entry_bytes: int) -> Section:
    """The entries of the file table, without the count that stands before them."""
    if offset_bytes + 4 > end_bytes:
        raise MalformedGsym("the GSYM file table runs past the end of the file")
    (count,) = struct.unpack_from(count_format, data, offset_bytes)
    if offset_bytes + 4 + count * entry_bytes > end_bytes:
        raise MalformedGsym(f"the GSYM file table has no room for its {count} entries")
    return Section(offset_bytes=offset_bytes + 4, size_bytes=count * entry_bytes)
