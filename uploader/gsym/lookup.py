"""Addresses to frames, straight from a GSYM file: only the functions that are asked for get decoded."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict

from uploader.errors import MalformedGsym
from uploader.gsym.decode import address_offsets, info_offsets
from uploader.gsym.function_info_decoder import FunctionInfos, decode_function_infos
from uploader.gsym.layout import MAX_UINT64, Data, Header, parse_header
from uploader.gsym.merged_functions import decode_merged_functions
from uploader.gsym.payloads import decode_payloads
from uploader.symbols.columns import SymbolTable
from uploader.values import frozen

KEPT_ROWS = 1 << 20
"""How many rows and inlined calls of decoded functions a `Gsym` keeps for the next addresses."""


@frozen
class Frame:
    """One frame of an address's chain; directory and base are empty and the line is 0 where the place is not known."""

    name: bytes
    directory: bytes
    base: bytes
    line: int
    offset_bytes: int
    """How far the address lies past the begin of this function, or of this inlined call's first range."""


@frozen
class _Function:
    """One decoded function: a table of a single piece, whose nodes' names are string offsets."""

    piece: SymbolTable
    infos: FunctionInfos
    node_name_offsets: array[int]

    @property
    def weight(self) -> int:
        return 16 + len(self.piece.row_address) + len(self.piece.range_start)


class Gsym:
    """A GSYM file opened for lookups, v1 or v2, in either byte order; llvm-gsymutil's own files, too.

    ``data`` may view a mapped file, which has to stay open as long as this. Opening reads the header and the address table;
    raises `MalformedGsym` where these are unsound.
    """

    def __init__(self, data: Data) -> None:
        self._data = data
        self.header: Header = parse_header(data)
        self._addresses = address_offsets(data, self.header)
        self._infos = info_offsets(data, self.header)
        self._functions: OrderedDict[int, _Function] = OrderedDict()
        self._kept = 0

    def lookup(self, address: int) -> list[Frame]:
        """The chain of frames at ``address``, innermost first; empty where no function covers it.

        As llvm-gsymutil answers, but for what that tool leaves out: an inlined call whose call site is not known still gives its
        frame, and inlined calls show without a line row, too. Raises `MalformedGsym` where the function's data is unsound.
        """
        function = self._function_at(address)
        if function is None:
            return []
        piece = function.piece
        place = self._row_place(piece, address)
        frames = []
        for node in reversed(_chain(piece, address)):
            name = self._string(function.node_name_offsets[node])
            frames.append(_frame(name, place, address - piece.range_start[piece.range_first[node]]))
            place = (*self._file(piece.node_call_file[node]), piece.node_call_line[node])
        frames.append(_frame(self._string(function.infos.name[0]), place, address - piece.start[0]))
        return frames

    def aliases(self, address: int) -> list[bytes]:
        """The other names of the function at ``address``, which is the outermost frame of `lookup`; the file's order.

        They are those of llvm-gsymutil's merged functions. Raises `MalformedGsym` where the function's data is unsound.
        """
        function = self._function_at(address)
        if function is None or not function.infos.merged.end[0]:
            return []
        merged = decode_merged_functions(self._data, self.header, function.piece.start, function.infos)
        return [self._string(offset) for offset in merged.infos.name]

    def _function_at(self, address: int) -> _Function | None:
        """The first function that covers the address, of those that start last at or before it."""
        offset = address - self.header.base_address
        if offset < 0:
            return None
        last = bisect_right(self._addresses, offset) - 1
        if last < 0:
            return None
        first = bisect_left(self._addresses, self._addresses[last], 0, last + 1)
        for index in range(first, last + 1):
            size_bytes = self._size_bytes(index)
            if size_bytes == 0 or offset - self._addresses[index] < size_bytes:
                return self._decoded(index)
        return None

    def _size_bytes(self, index: int) -> int:
        at = self._infos[index]
        if at + 4 > self.header.function_infos.end_bytes:
            raise MalformedGsym("a function info runs past the end of the file")
        return self._number(at, 4)

    def _decoded(self, index: int) -> _Function:
        known = self._functions.get(index)
        if known is not None:
            self._functions.move_to_end(index)
            return known
        start = self.header.base_address + self._addresses[index]
        if start > MAX_UINT64:
            raise MalformedGsym("a function starts past the end of the address space")
        piece = SymbolTable(start=array("Q", [start]))
        infos = decode_function_infos(
            self._data, self.header, piece.start, self._infos[index : index + 1], strict=False
        )
        piece.end = infos.end if infos.end[0] != start else array("Q", [MAX_UINT64])
        node_name_offsets = decode_payloads(self._data, self.header, piece, infos, strict=False)
        function = _Function(piece=piece, infos=infos, node_name_offsets=node_name_offsets)
        self._functions[index] = function
        self._kept += function.weight
        while self._kept > KEPT_ROWS and len(self._functions) > 1:
            self._kept -= self._functions.popitem(last=False)[1].weight
        return function

    def _row_place(self, piece: SymbolTable, address: int) -> tuple[bytes, bytes, int]:
        """Directory, base name and line of the last row at or before the address."""
        row = bisect_right(piece.row_address, address) - 1
        if row < 0:
            return b"", b"", 0
        return (*self._file(piece.row_file[row]), piece.row_line[row])

    def _file(self, number: int) -> tuple[bytes, bytes]:
        if number >= self.header.file_count:
            raise MalformedGsym("a row names a file that isn't there")
        width = self.header.offset_size_bytes
        at = self.header.files.offset_bytes + 2 * width * number
        directory = self._number(at, width)
        base = self._number(at + width, width)
        return self._string(directory), self._string(base)

    def _number(self, at: int, size_bytes: int) -> int:
        return int.from_bytes(self._data[at : at + size_bytes], "little" if self.header.little_endian else "big")

    def _string(self, offset_bytes: int) -> bytes:
        strings = self.header.strings
        if offset_bytes >= strings.size_bytes:
            raise MalformedGsym("a string lies outside the string table")
        begin = strings.offset_bytes + offset_bytes
        window_bytes = 256
        while True:
            text = bytes(self._data[begin : min(begin + window_bytes, strings.end_bytes)])
            end = text.find(b"\0")
            if end >= 0:
                return text[:end]
            if begin + window_bytes >= strings.end_bytes:
                raise MalformedGsym("a string doesn't end in the string table")
            window_bytes *= 4


def _chain(piece: SymbolTable, address: int) -> list[int]:
    """The nodes that hold the address, outermost first: at each depth the first one."""
    chain: list[int] = []
    hidden_depth = 0
    for node, depth in enumerate(piece.node_depth):
        if depth <= len(chain):
            break
        if hidden_depth and depth > hidden_depth:
            continue
        ranges = range(piece.range_first[node], piece.range_first[node + 1])
        if any(piece.range_start[item] <= address < piece.range_end[item] for item in ranges):
            chain.append(node)
            hidden_depth = 0
        else:
            hidden_depth = depth
    return chain


def _frame(name: bytes, place: tuple[bytes, bytes, int], offset_bytes: int) -> Frame:
    return Frame(name=name, directory=place[0], base=place[1], line=place[2], offset_bytes=offset_bytes)
