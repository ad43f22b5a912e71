"""The bytes of a GSYM file to its header and `SymbolTable`: all of it, and strictly."""

from __future__ import annotations

from array import array

from uploader.core.columns import read_items
from uploader.errors import MalformedGsym
from uploader.gsym.function_info_decoder import decode_function_infos
from uploader.gsym.layout import ADDRESS_OFFSET_TYPES, MAX_UINT64, Data, Header, Section, parse_header
from uploader.gsym.merged_functions import check_merged_functions, decode_merged_functions
from uploader.gsym.payloads import decode_payloads
from uploader.gsym.strings import number_offsets, read_strings
from uploader.symbols.columns import SymbolTable


def decode(data: Data) -> tuple[Header, SymbolTable]:
    """Reads a whole GSYM file, v1 or v2, in either byte order.

    The table holds all invariants of `SymbolTable`; names and files are numbered by the file's order of use. Data of kinds that
    a `SymbolTable` has no place for (call sites, unknown ones) is skipped; of merged functions, which have to be sound, the
    names are kept, as aliases. Raises `MalformedGsym` for
    everything else: any bytes give one or the other, with work and memory in proportion to their number.
    """
    header = parse_header(data)
    strings = bytes(data[header.strings.offset_bytes : header.strings.end_bytes])
    if not strings.startswith(b"\0") or not strings.endswith(b"\0"):
        raise MalformedGsym("the GSYM string table doesn't begin and end with a zero byte")
    table = SymbolTable(start=_starts(data, header))
    table.files = read_files(data, header, strings)
    infos = decode_function_infos(data, header, table.start, info_offsets(data, header), strict=True)
    table.end = infos.end
    node_name_offsets = decode_payloads(data, header, table, infos, strict=True)
    alias_offsets = array("Q")
    if any(infos.merged.end):
        merged = decode_merged_functions(data, header, table.start, infos)
        check_merged_functions(data, header, table, merged)
        alias_offsets = merged.infos.name
        if len(alias_offsets):
            table.alias_first = merged.first
    columns = (infos.name, node_name_offsets, alias_offsets)
    (table.name, table.node_name, table.alias_name), offsets = number_offsets(columns, len(strings))
    table.names = read_strings(strings, offsets)
    if b"" in table.names[1:]:
        raise MalformedGsym("a function has an empty name")
    _forget_nameless_file(table)
    return header, table


def _forget_nameless_file(table: SymbolTable) -> None:
    """Takes away the file that `encode` writes for inlines of unknown places: in a table these have file 0."""
    last = len(table.files) - 1
    if last > 0 and table.files[last] == (b"", b"") and last not in table.row_file:
        table.node_call_file = array("I", [0 if file == last else file for file in table.node_call_file])
        table.files = table.files[:last]


def _starts(data: Data, header: Header) -> array[int]:
    offsets = address_offsets(data, header)
    if offsets and header.base_address + max(offsets) > MAX_UINT64:
        raise MalformedGsym("a function starts past the end of the address space")
    starts = array("Q", [header.base_address + offset for offset in offsets])
    if any(map(int.__ge__, starts, starts[1:])):
        raise MalformedGsym("the functions' addresses don't ascend")
    return starts


def address_offsets(data: Data, header: Header) -> array[int]:
    """The functions' starts, counted from the base address."""
    typecode = ADDRESS_OFFSET_TYPES[header.address_offset_bytes]
    return _section_items(data, header, header.address_offsets, typecode)


def info_offsets(data: Data, header: Header) -> array[int]:
    """Where the function infos begin, in bytes from the file's begin. Raises `MalformedGsym` for one past all bounds."""
    offsets = _section_items(data, header, header.info_offsets, _offset_type(header))
    section = header.function_infos
    if offsets and max(offsets) > section.size_bytes:
        raise MalformedGsym("a function info lies past the end of the file")
    return array("Q", [section.offset_bytes + offset for offset in offsets])


def read_files(data: Data, header: Header, strings: bytes) -> list[tuple[bytes, bytes]]:
    """The file table as (directory, base name) pairs. Raises `MalformedGsym` unless entry 0 is the empty one."""
    offsets = _section_items(data, header, header.files, _offset_type(header))
    if len(offsets) < 2 or offsets[0] != 0 or offsets[1] != 0:
        raise MalformedGsym("the GSYM file table doesn't begin with the empty entry")
    distinct = list(dict.fromkeys(offsets))
    string_at = dict(zip(distinct, read_strings(strings, distinct), strict=True))
    paths = [string_at[offset] for offset in offsets]
    return list(zip(paths[::2], paths[1::2], strict=True))


def _offset_type(header: Header) -> str:
    return "I" if header.version == 1 else "Q"


def _section_items(data: Data, header: Header, section: Section, typecode: str) -> array[int]:
    """A section's unsigned items of one ``array`` type."""
    return read_items(typecode, data[section.offset_bytes : section.end_bytes], header.little_endian)
