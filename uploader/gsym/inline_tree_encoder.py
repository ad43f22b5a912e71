"""GSYM inline trees: the inlined calls of pieces to nested nodes.

Source: LLVM ``llvm/DebugInfo/GSYM/InlineInfo.h``. The root stands for the function itself; every node's ranges count from
the start of its parent's first range, the root's from the function's start.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import grown, zeros
from uploader.errors import InputError
from uploader.gsym.layout import MAX_INLINE_DEPTH
from uploader.symbols.columns import SymbolTable

DEPTH_LIMIT = cython.declare(cython.Py_ssize_t, MAX_INLINE_DEPTH)
NODE_MAX_BYTES = cython.declare(cython.Py_ssize_t, 48)
RANGE_MAX_BYTES = cython.declare(cython.Py_ssize_t, 24)


@cython.final
@cython.cclass
class _Encoder:
    start: cython.ulonglong[::1]
    end: cython.ulonglong[::1]
    name: cython.uint[::1]
    node_first: cython.uint[::1]
    node_depth: cython.uint[::1]
    node_name: cython.uint[::1]
    node_call_file: cython.uint[::1]
    node_call_line: cython.uint[::1]
    range_first: cython.uint[::1]
    range_start: cython.ulonglong[::1]
    range_end: cython.ulonglong[::1]
    file_number: cython.uint[::1]
    name_offset: cython.ulonglong[::1]
    ends: cython.ulonglong[::1]
    base: cython.ulonglong[::1]
    out: cython.uchar[::1]
    capacity: cython.Py_ssize_t
    at: cython.Py_ssize_t
    name_bytes: cython.int
    little: cython.bint

    def __init__(
        self,
        table: SymbolTable,
        file_number: array[int],
        name_offset: array[int],
        ends: array[int],
        name_bytes: int,
        little: bool,
        capacity: int,
    ) -> None:
        self.start = table.start
        self.end = table.end
        self.name = table.name
        self.node_first = table.node_first
        self.node_depth = table.node_depth
        self.node_name = table.node_name
        self.node_call_file = table.node_call_file
        self.node_call_line = table.node_call_line
        self.range_first = table.range_first
        self.range_start = table.range_start
        self.range_end = table.range_end
        self.file_number = file_number
        self.name_offset = name_offset
        self.ends = ends
        self.base = array("Q", [0]) * (MAX_INLINE_DEPTH + 1)
        self.out = zeros("B", capacity)
        self.capacity = capacity
        self.at = 0
        self.name_bytes = name_bytes
        self.little = little

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def reserve(self, size_bytes: cython.Py_ssize_t) -> cython.int:
        """Makes room for so many bytes more."""
        if self.at + size_bytes <= self.capacity:
            return 0
        with cython.gil:
            self._grow(size_bytes)
        return 0

    def _grow(self, size_bytes: int) -> None:
        self.out = grown(self.out, self.capacity + size_bytes)
        self.capacity = len(self.out)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_uleb(self, value: cython.ulonglong) -> cython.int:
        at: cython.Py_ssize_t = self.at
        while value >= 0x80:
            self.out[at] = (value & 0x7F) | 0x80
            at += 1
            value >>= 7
        self.out[at] = value
        self.at = at + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_name(self, name: cython.uint) -> cython.int:
        value: cython.ulonglong = self.name_offset[name]
        at: cython.Py_ssize_t = self.at
        byte: cython.int
        for byte in range(self.name_bytes):
            if self.little:
                self.out[at] = (value >> (8 * byte)) & 0xFF
            else:
                self.out[at] = (value >> (8 * (self.name_bytes - 1 - byte))) & 0xFF
            at += 1
        self.at = at
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def refuse(self, node: cython.Py_ssize_t) -> cython.int:
        with cython.gil:
            if self.range_first[node] == self.range_first[node + 1]:
                raise InputError("an inlined call without a range can't be held in GSYM")
            raise InputError(f"inlined calls nest {self.node_depth[node]} deep, more than GSYM readers can follow")
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_tree(self, piece: cython.Py_ssize_t) -> cython.int:
        first: cython.Py_ssize_t = self.node_first[piece]
        last: cython.Py_ssize_t = self.node_first[piece + 1]
        if first == last:
            return 0
        self.reserve(NODE_MAX_BYTES)
        self.base[0] = self.start[piece]
        self.put_uleb(1)
        self.put_uleb(0)
        self.put_uleb(self.end[piece] - self.start[piece])
        self.put_uleb(1)
        self.put_name(self.name[piece])
        self.put_uleb(0)
        self.put_uleb(0)
        node: cython.Py_ssize_t
        item: cython.Py_ssize_t
        depth: cython.Py_ssize_t
        next_depth: cython.Py_ssize_t = self.node_depth[first]
        for node in range(first, last):
            depth = next_depth
            next_depth = self.node_depth[node + 1] if node + 1 < last else 0
            from_range: cython.Py_ssize_t = self.range_first[node]
            to_range: cython.Py_ssize_t = self.range_first[node + 1]
            if depth > DEPTH_LIMIT or from_range == to_range:
                self.refuse(node)
            self.reserve(NODE_MAX_BYTES + (to_range - from_range) * RANGE_MAX_BYTES + depth)
            base: cython.ulonglong = self.base[depth - 1]
            self.base[depth] = self.range_start[from_range]
            self.put_uleb(to_range - from_range)
            for item in range(from_range, to_range):
                begin: cython.ulonglong = self.range_start[item]
                self.put_uleb(begin - base)
                self.put_uleb(self.range_end[item] - begin)
            self.put_uleb(1 if next_depth > depth else 0)
            self.put_name(self.node_name[node])
            self.put_uleb(self.file_number[self.node_call_file[node]])
            self.put_uleb(self.node_call_line[node])
            while depth > next_depth:
                self.out[self.at] = 0
                self.at += 1
                depth -= 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_pieces(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        piece: cython.Py_ssize_t
        for piece in range(first, last):
            self.put_tree(piece)
            self.ends[piece - first] = self.at
        return 0

    def run(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> memoryview:
        with cython.nogil:
            self.put_pieces(first, last)
        return memoryview(self.out)


def encode_inline_trees(
    table: SymbolTable,
    first: int,
    last: int,
    *,
    file_number: array[int],
    name_offset: array[int],
    name_bytes: int,
    little_endian: bool,
) -> tuple[memoryview, array[int]]:
    """The inline trees of pieces ``first`` to ``last`` (excluded), one after the other, and where each one ends.

    A piece without nodes gets no bytes. ``file_number`` gives each entry of ``table.files`` its number in the GSYM file,
    ``name_offset`` each of ``table.names`` its offset in the string table, written with ``name_bytes`` bytes.
    The buffer may be longer than the last end. Raises `InputError` for a node deeper than `MAX_INLINE_DEPTH` or without a
    range. Releases the GIL; ``table`` is only read.
    """
    ends = array("Q", [0]) * (last - first)
    nodes = table.node_first[last] - table.node_first[first]
    encoder = _Encoder(table, file_number, name_offset, ends, name_bytes, little_endian, 1024 + 20 * nodes)
    return encoder.run(first, last), ends
