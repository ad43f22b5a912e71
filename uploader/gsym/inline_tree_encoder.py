"""GSYM inline trees: the inlined calls of pieces to nested nodes.

Source: LLVM ``llvm/DebugInfo/GSYM/InlineInfo.h``. The root stands for the function itself; every node's ranges count from
the start of its parent's first range, the root's from the function's start.
"""

from __future__ import annotations

from array import array

import cython

from uploader.errors import InputError
from uploader.gsym.layout import MAX_INLINE_DEPTH
from uploader.gsym.writer import NameForm, NamingWriter
from uploader.symbols.columns import SymbolTable

NODE_MAX_BYTES = 48
RANGE_MAX_BYTES = 24
END_OF_CHILDREN = 0


class _Encoder(NamingWriter):
    def __init__(self, table: SymbolTable, file_number: array[int], names: NameForm, room_bytes: int) -> None:
        NamingWriter.__init__(self, table, room_bytes, names)
        self.file_number = file_number
        self.base = array("Q", [0]) * (MAX_INLINE_DEPTH + 1)

    def refuse(self, node: cython.Py_ssize_t) -> cython.int:
        with cython.gil:
            if self.table.range_first[node] == self.table.range_first[node + 1]:
                raise InputError("an inlined call without a range can't be held in GSYM")
            raise InputError(
                f"inlined calls nest {self.table.node_depth[node]} deep, more than GSYM readers can follow"
            )
        return 0

    def payload(self, piece: cython.Py_ssize_t) -> cython.int:
        """The tree of a piece, without a byte where it has no nodes."""
        first: cython.Py_ssize_t = self.table.node_first[piece]
        last: cython.Py_ssize_t = self.table.node_first[piece + 1]
        if first == last:
            return 0
        self.put_root(piece)
        node: cython.Py_ssize_t
        depth: cython.Py_ssize_t
        next_depth: cython.Py_ssize_t = self.table.node_depth[first]
        for node in range(first, last):
            depth = next_depth
            next_depth = self.table.node_depth[node + 1] if node + 1 < last else 0
            self.put_ranges(node, depth)
            self.uleb(1 if next_depth > depth else 0)
            self.name(self.table.node_name[node])
            self.uleb(self.file_number[self.table.node_call_file[node]])
            self.uleb(self.table.node_call_line[node])
            while depth > next_depth:
                self.out[self.at] = END_OF_CHILDREN
                self.at += 1
                depth -= 1
        return 0

    def put_root(self, piece: cython.Py_ssize_t) -> cython.int:
        """Puts the function itself: one range, children, its name, and no call site."""
        self.reserve(NODE_MAX_BYTES)
        self.base[0] = self.table.start[piece]
        self.uleb(1)
        self.uleb(0)
        self.uleb(self.table.end[piece] - self.table.start[piece])
        self.uleb(1)
        self.name(self.table.name[piece])
        self.uleb(0)
        self.uleb(0)
        return 0

    def put_ranges(self, node: cython.Py_ssize_t, depth: cython.Py_ssize_t) -> cython.int:
        """Puts a node's ranges, and makes room for all else of it."""
        first: cython.Py_ssize_t = self.table.range_first[node]
        last: cython.Py_ssize_t = self.table.range_first[node + 1]
        if depth > MAX_INLINE_DEPTH or first == last:
            self.refuse(node)
        self.reserve(NODE_MAX_BYTES + (last - first) * RANGE_MAX_BYTES + depth)
        base: cython.ulonglong = self.base[depth - 1]
        begin: cython.ulonglong
        item: cython.Py_ssize_t
        self.base[depth] = self.table.range_start[first]
        self.uleb(last - first)
        for item in range(first, last):
            begin = self.table.range_start[item]
            self.uleb(begin - base)
            self.uleb(self.table.range_end[item] - begin)
        return 0


def encode_inline_trees(
    table: SymbolTable, first: int, last: int, file_number: array[int], names: NameForm
) -> tuple[memoryview, array[int]]:
    """The inline trees of pieces ``first`` to ``last`` (excluded), one after the other, and where each one ends.

    A piece without nodes gets no bytes. ``file_number`` gives each entry of ``table.files`` its number in the GSYM file.
    The buffer may be longer than the last end. Raises `InputError` for a node deeper than `MAX_INLINE_DEPTH` or without a
    range. Releases the GIL; ``table`` is only read.
    """
    nodes = table.node_first[last] - table.node_first[first]
    return _Encoder(table, file_number, names, 1024 + 20 * nodes).write(first, last)
