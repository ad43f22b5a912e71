"""GSYM function infos: the record of each piece, which holds its line table, its inline tree and its aliases.

Source: LLVM ``llvm/DebugInfo/GSYM/FunctionInfo.h``: ``u32 size; string name; {u32 type; u32 length; bytes}*; u32 0; u32 0``,
each record aligned to 4 bytes; and ``MergedFunctionsInfo.h``: ``u32 count; {u32 length; record}*``, these not aligned.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import zeros
from uploader.errors import InputError
from uploader.gsym.layout import INFO_INLINE_TREE, INFO_LINE_TABLE, INFO_MERGED_FUNCTIONS
from uploader.symbols.columns import SymbolTable

LINE_TABLE = cython.declare(cython.ulonglong, INFO_LINE_TABLE)
INLINE_TREE = cython.declare(cython.ulonglong, INFO_INLINE_TREE)
MERGED_FUNCTIONS = cython.declare(cython.ulonglong, INFO_MERGED_FUNCTIONS)

COPIES_BYTES = cython.declare(cython.ulonglong, 16384)
COPIES_FACTOR = cython.declare(cython.ulonglong, 8)
"""Lines and inlines are repeated for each alias until that takes so many bytes, or so many times their own; further aliases
have the name alone. No symbol table makes much of little."""


@cython.final
@cython.cclass
class _Encoder:
    start: cython.ulonglong[::1]
    end: cython.ulonglong[::1]
    name: cython.uint[::1]
    name_offset: cython.ulonglong[::1]
    has_aliases: cython.bint
    alias_first: cython.uint[::1]
    alias_name: cython.uint[::1]
    lines: cython.const[cython.uchar][::1]
    line_ends: cython.ulonglong[::1]
    inlines: cython.const[cython.uchar][::1]
    inline_ends: cython.ulonglong[::1]
    offsets: cython.ulonglong[::1]
    out: cython.uchar[::1]
    at: cython.Py_ssize_t
    name_bytes: cython.int
    little: cython.bint

    def __init__(
        self,
        table: SymbolTable,
        name_offset: array[int],
        lines: tuple[memoryview, array[int]],
        inlines: tuple[memoryview, array[int]],
        name_bytes: int,
        little: bool,
        offsets: array[int],
    ) -> None:
        self.start = table.start
        self.end = table.end
        self.name = table.name
        self.name_offset = name_offset
        self.has_aliases = len(table.alias_name) > 0
        self.alias_first = table.alias_first
        self.alias_name = table.alias_name
        self.lines, self.line_ends = lines
        self.inlines, self.inline_ends = inlines
        self.offsets = offsets
        self.at = 0
        self.name_bytes = name_bytes
        self.little = little

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def refuse(self, what: cython.int) -> cython.int:
        with cython.gil:
            if what == 0:
                raise InputError("a function longer than 4 GiB can't be held in GSYM")
            if what == 1:
                raise InputError("a function whose lines or inlined calls take more than 4 GiB can't be held in GSYM")
            raise InputError("a function whose aliases take more than 4 GiB can't be held in GSYM")
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=True)
    def copies(self, count: cython.ulonglong, infos: cython.ulonglong) -> cython.ulonglong:
        """How many of ``count`` aliases repeat lines and inlines that take ``infos`` bytes."""
        room: cython.ulonglong = COPIES_FACTOR * infos
        if infos == 0:
            return 0
        if room < COPIES_BYTES:
            room = COPIES_BYTES
        return min(room // infos, count)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def place(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.longlong:
        """Sets each record's offset; returns the size of all."""
        piece: cython.Py_ssize_t
        at: cython.ulonglong = 0
        line_at: cython.ulonglong = 0
        inline_at: cython.ulonglong = 0
        lines: cython.ulonglong
        inlines: cython.ulonglong
        infos: cython.ulonglong
        count: cython.ulonglong
        aliases: cython.ulonglong
        longest: cython.ulonglong = 0xFFFFFFFF
        for piece in range(first, last):
            lines = self.line_ends[piece - first] - line_at
            inlines = self.inline_ends[piece - first] - inline_at
            line_at += lines
            inline_at += inlines
            if self.end[piece] - self.start[piece] > longest:
                self.refuse(0)
            if lines > longest or inlines > longest:
                self.refuse(1)
            self.offsets[piece - first] = at
            at += 12 + self.name_bytes
            infos = 0
            if lines > 0:
                infos += 8 + lines
            if inlines > 0:
                infos += 8 + inlines
            at += infos
            if self.has_aliases:
                count = self.alias_first[piece + 1] - self.alias_first[piece]
                if count > 0:
                    aliases = 4 + count * (16 + self.name_bytes) + self.copies(count, infos) * infos
                    if aliases > longest:
                        self.refuse(2)
                    at += 8 + aliases
            at += (4 - at % 4) % 4
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put(self, value: cython.ulonglong, size_bytes: cython.int) -> cython.int:
        index: cython.int
        for index in range(size_bytes):
            if self.little:
                self.out[self.at + index] = (value >> (8 * index)) & 0xFF
            else:
                self.out[self.at + index] = (value >> (8 * (size_bytes - 1 - index))) & 0xFF
        self.at += size_bytes
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_infos(
        self,
        line_at: cython.Py_ssize_t,
        line_until: cython.Py_ssize_t,
        inline_at: cython.Py_ssize_t,
        inline_until: cython.Py_ssize_t,
    ) -> cython.int:
        """Puts a line table and an inline tree, as far as they are there."""
        size: cython.Py_ssize_t = line_until - line_at
        if size > 0:
            self.put(LINE_TABLE, 4)
            self.put(size, 4)
            self.out[self.at : self.at + size] = self.lines[line_at:line_until]
            self.at += size
        size = inline_until - inline_at
        if size > 0:
            self.put(INLINE_TREE, 4)
            self.put(size, 4)
            self.out[self.at : self.at + size] = self.inlines[inline_at:inline_until]
            self.at += size
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_aliases(
        self,
        piece: cython.Py_ssize_t,
        line_at: cython.Py_ssize_t,
        line_until: cython.Py_ssize_t,
        inline_at: cython.Py_ssize_t,
        inline_until: cython.Py_ssize_t,
    ) -> cython.int:
        """Puts a record for each alias, like its function's but for the name."""
        first: cython.Py_ssize_t = self.alias_first[piece]
        last: cython.Py_ssize_t = self.alias_first[piece + 1]
        if first == last:
            return 0
        alias: cython.Py_ssize_t
        infos: cython.ulonglong = 0
        name: cython.ulonglong
        root_name: cython.Py_ssize_t = inline_at + 2
        end: cython.Py_ssize_t
        if line_until > line_at:
            infos += 8 + line_until - line_at
        if inline_until > inline_at:
            infos += 8 + inline_until - inline_at
            # The tree's root, which is the function itself, begins: one range, at 0, its size, whether there are children.
            while self.inlines[root_name] >= 0x80:
                root_name += 1
            root_name += 2
        copies: cython.ulonglong = self.copies(last - first, infos)
        bare_size: cython.ulonglong = 12 + self.name_bytes
        self.put(MERGED_FUNCTIONS, 4)
        self.put(4 + (last - first) * (4 + bare_size) + copies * infos, 4)
        self.put(last - first, 4)
        for alias in range(first, last):
            name = self.name_offset[self.alias_name[alias]]
            if copies == 0:
                infos = 0
            self.put(bare_size + infos, 4)
            self.put(self.end[piece] - self.start[piece], 4)
            self.put(name, self.name_bytes)
            if copies > 0:
                copies -= 1
                self.put_infos(line_at, line_until, inline_at, inline_until)
                if inline_until > inline_at:
                    end = self.at
                    self.at -= inline_until - root_name
                    self.put(name, self.name_bytes)
                    self.at = end
            self.at += 8
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def put_pieces(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        piece: cython.Py_ssize_t
        line_at: cython.Py_ssize_t = 0
        inline_at: cython.Py_ssize_t = 0
        line_until: cython.Py_ssize_t
        inline_until: cython.Py_ssize_t
        for piece in range(first, last):
            self.at = self.offsets[piece - first]
            self.put(self.end[piece] - self.start[piece], 4)
            self.put(self.name_offset[self.name[piece]], self.name_bytes)
            line_until = self.line_ends[piece - first]
            inline_until = self.inline_ends[piece - first]
            self.put_infos(line_at, line_until, inline_at, inline_until)
            if self.has_aliases:
                self.put_aliases(piece, line_at, line_until, inline_at, inline_until)
            line_at = line_until
            inline_at = inline_until
        return 0

    def run(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> memoryview:
        size: cython.longlong
        with cython.nogil:
            size = self.place(first, last)
        records = zeros("B", size)
        self.out = records
        with cython.nogil:
            self.put_pieces(first, last)
        return records


def encode_function_infos(
    table: SymbolTable,
    first: int,
    last: int,
    *,
    name_offset: array[int],
    lines: tuple[memoryview, array[int]],
    inlines: tuple[memoryview, array[int]],
    name_bytes: int,
    little_endian: bool,
) -> tuple[memoryview, array[int]]:
    """The records of pieces ``first`` to ``last`` (excluded), padded to 4 bytes each, and the offset of each in them.

    ``lines`` and ``inlines`` are what `encode_line_tables` and `encode_inline_trees` gave for the same pieces. Raises
    `InputError` where a length doesn't fit 32 bits. Releases the GIL.
    """
    offsets = array("Q", [0]) * (last - first)
    encoder = _Encoder(
        table,
        name_offset,
        lines,
        inlines,
        name_bytes,
        little_endian,
        offsets,
    )
    return encoder.run(first, last), offsets
