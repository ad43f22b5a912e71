"""GSYM function infos: the record of each piece, which holds its line table, its inline tree and its aliases.

Source: LLVM ``llvm/DebugInfo/GSYM/FunctionInfo.h``: ``u32 size; string name; {u32 type; u32 length; bytes}*; u32 0; u32 0``,
each record aligned to 4 bytes; and ``MergedFunctionsInfo.h``: ``u32 count; {u32 length; record}*``, these not aligned.
"""

from __future__ import annotations

from array import array

import cython

from uploader.errors import InputError
from uploader.gsym.layout import INFO_HEAD_BYTES, INFO_INLINE_TREE, INFO_LINE_TABLE, INFO_MERGED_FUNCTIONS, MAX_UINT32
from uploader.gsym.writer import NameForm, NamingWriter
from uploader.symbols.columns import SymbolTable

NUMBER_BYTES = 4
ALIGNMENT_BYTES = 4

COPIES_BYTES = 16384
COPIES_FACTOR = 8
"""Lines and inlines are repeated for each alias until that takes so many bytes, or so many times their own; further aliases
have the name alone. No symbol table makes much of little."""

REFUSALS = (
    "a function longer than 4 GiB",
    "a function whose lines or inlined calls take more than 4 GiB",
    "a function whose aliases take more than 4 GiB",
)
FUNCTION_TOO_LONG, INFOS_TOO_LONG, ALIASES_TOO_LONG = range(len(REFUSALS))


class _Encoder(NamingWriter):
    """Memory that was never written to is zero: the end of each record, and what aligns the next one, is only passed over."""

    def __init__(
        self,
        table: SymbolTable,
        first: int,
        lines: tuple[memoryview, array[int]],
        inlines: tuple[memoryview, array[int]],
        names: NameForm,
    ) -> None:
        """``first`` is the first of the pieces that ``lines`` and ``inlines`` are of."""
        self.bare_bytes = NUMBER_BYTES + names.size_bytes + INFO_HEAD_BYTES
        # All but aliases have room.
        pieces = len(lines[1])
        payload_bytes = sum(ends[pieces - 1] for _, ends in (lines, inlines)) if pieces else 0
        other_bytes = self.bare_bytes + 2 * INFO_HEAD_BYTES + ALIGNMENT_BYTES
        NamingWriter.__init__(self, table, payload_bytes + pieces * other_bytes, names)
        self.first = first
        self.has_aliases = len(table.alias_name) > 0
        self.lines, self.line_ends = lines
        self.inlines, self.inline_ends = inlines
        self.line_until = 0
        self.inline_until = 0

    def refuse(self, what: cython.int) -> cython.int:
        with cython.gil:
            raise InputError(f"{REFUSALS[what]} can't be held in GSYM")
        return 0

    def payload(self, piece: cython.Py_ssize_t) -> cython.int:
        """The record of a piece."""
        size: cython.ulonglong = self.table.end[piece] - self.table.start[piece]
        if size > MAX_UINT32:
            self.refuse(FUNCTION_TOO_LONG)
        self.next_infos(piece - self.first)
        self.reserve(self.bare_bytes + self.infos_bytes + ALIGNMENT_BYTES)
        self.fixed(size, NUMBER_BYTES)
        self.name(self.table.name[piece])
        self.put_infos()
        if self.has_aliases and self.table.alias_first[piece] < self.table.alias_first[piece + 1]:
            self.put_aliases(piece, size)
        self.at += INFO_HEAD_BYTES
        self.at += (ALIGNMENT_BYTES - self.at % ALIGNMENT_BYTES) % ALIGNMENT_BYTES
        return 0

    def next_infos(self, index: cython.Py_ssize_t) -> cython.int:
        """Goes on to the line table and the inline tree of the next piece, and to what both take in a record."""
        self.line_at = self.line_until
        self.line_until = self.line_ends[index]
        self.inline_at = self.inline_until
        self.inline_until = self.inline_ends[index]
        lines: cython.ulonglong = self.line_until - self.line_at
        inlines: cython.ulonglong = self.inline_until - self.inline_at
        if lines > MAX_UINT32 or inlines > MAX_UINT32:
            self.refuse(INFOS_TOO_LONG)
        self.infos_bytes = 0
        if lines > 0:
            self.infos_bytes += INFO_HEAD_BYTES + lines
        if inlines > 0:
            self.infos_bytes += INFO_HEAD_BYTES + inlines
        return 0

    def put_infos(self) -> cython.int:
        """Puts the line table and the inline tree, as far as they are there."""
        size: cython.Py_ssize_t = self.line_until - self.line_at
        if size > 0:
            self.fixed(INFO_LINE_TABLE, NUMBER_BYTES)
            self.fixed(size, NUMBER_BYTES)
            self.out[self.at : self.at + size] = self.lines[self.line_at : self.line_until]
            self.at += size
        size = self.inline_until - self.inline_at
        if size > 0:
            self.fixed(INFO_INLINE_TREE, NUMBER_BYTES)
            self.fixed(size, NUMBER_BYTES)
            self.out[self.at : self.at + size] = self.inlines[self.inline_at : self.inline_until]
            self.at += size
        return 0

    def put_aliases(self, piece: cython.Py_ssize_t, size: cython.ulonglong) -> cython.int:
        """Puts a record for each alias, like its function's but for the name, and not aligned."""
        first: cython.Py_ssize_t = self.table.alias_first[piece]
        last: cython.Py_ssize_t = self.table.alias_first[piece + 1]
        count: cython.ulonglong = last - first
        copies: cython.ulonglong = self.copies(count)
        list_bytes: cython.ulonglong = (
            NUMBER_BYTES + count * (NUMBER_BYTES + self.bare_bytes) + copies * self.infos_bytes
        )
        if list_bytes > MAX_UINT32:
            self.refuse(ALIASES_TOO_LONG)
        self.reserve(2 * INFO_HEAD_BYTES + list_bytes + ALIGNMENT_BYTES)
        self.fixed(INFO_MERGED_FUNCTIONS, NUMBER_BYTES)
        self.fixed(list_bytes, NUMBER_BYTES)
        self.fixed(count, NUMBER_BYTES)
        behind_root_name: cython.Py_ssize_t = self.inline_until - self.root_name()
        alias: cython.Py_ssize_t
        name: cython.uint
        end: cython.Py_ssize_t
        for alias in range(first, last):
            name = self.table.alias_name[alias]
            self.fixed(self.bare_bytes + (self.infos_bytes if copies > 0 else 0), NUMBER_BYTES)
            self.fixed(size, NUMBER_BYTES)
            self.name(name)
            if copies > 0:
                copies -= 1
                self.put_infos()
                if self.inline_until > self.inline_at:
                    end = self.at
                    self.at -= behind_root_name
                    self.name(name)
                    self.at = end
            self.at += INFO_HEAD_BYTES
        return 0

    def copies(self, count: cython.ulonglong) -> cython.ulonglong:
        """How many of so many aliases repeat the lines and inlines of their function."""
        if self.infos_bytes == 0:
            return 0
        return min(max(COPIES_FACTOR * self.infos_bytes, COPIES_BYTES) // self.infos_bytes, count)

    def root_name(self) -> cython.Py_ssize_t:
        """Where, among the inline trees, the name stands in the root of this one, which is the function itself."""
        # Before it: one range, at 0, its size, whether there are children.
        at: cython.Py_ssize_t = self.inline_at + 2
        if self.inline_at == self.inline_until:
            return at
        while self.inlines[at] >= 0x80:
            at += 1
        return at + 2


def encode_function_infos(
    table: SymbolTable,
    first: int,
    last: int,
    lines: tuple[memoryview, array[int]],
    inlines: tuple[memoryview, array[int]],
    names: NameForm,
) -> tuple[memoryview, array[int]]:
    """The records of pieces ``first`` to ``last`` (excluded), padded to 4 bytes each, and the offset of each in them.

    ``lines`` and ``inlines`` are what `encode_line_tables` and `encode_inline_trees` gave for the same pieces. Raises
    `InputError` where a length doesn't fit 32 bits. Releases the GIL.
    """
    records, ends = _Encoder(table, first, lines, inlines, names).write(first, last)
    offsets = (array("Q", [0]) + ends)[: last - first]
    size_bytes = ends[last - first - 1] if first < last else 0
    return records[:size_bytes], offsets
