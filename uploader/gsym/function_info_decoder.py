"""GSYM function infos, as `function_info_encoder` and others write them: where the parts of each record lie.

Source: LLVM ``llvm/DebugInfo/GSYM/FunctionInfo.h``.
"""

from __future__ import annotations

from array import array

import cython

from uploader.gsym.layout import INFO_END, INFO_INLINE_TREE, INFO_LINE_TABLE, INFO_MERGED_FUNCTIONS, Data
from uploader.gsym.reader import REASONS as READER_REASONS
from uploader.gsym.reader import GsymReader
from uploader.values import frozen

END_OF_LIST = cython.declare(cython.ulonglong, INFO_END)
LINE_TABLE = cython.declare(cython.ulonglong, INFO_LINE_TABLE)
INLINE_TREE = cython.declare(cython.ulonglong, INFO_INLINE_TREE)
MERGED_FUNCTIONS = cython.declare(cython.ulonglong, INFO_MERGED_FUNCTIONS)

SHARED_SLACK_BYTES = cython.declare(cython.ulonglong, 65540)
"""By so much may shared records, each time they are, outweigh all up to there: what `sharing` allows, and the padding of one."""

REASONS = (
    "runs past the end of the file",
    READER_REASONS[1],
    "runs into the next one",
    "is empty or leaves the address space",
    "overlaps the next function",
    "has a wrong end mark",
    "holds two line tables, two inline trees or two lists of merged functions",
    "is shared by more functions than a file of this size can mean",
)
CUT_OFF = cython.declare(cython.int, 0)
RUNS_INTO_NEXT = cython.declare(cython.int, 2)
BAD_SIZE = cython.declare(cython.int, 3)
OVERLAPS = cython.declare(cython.int, 4)
BAD_END = cython.declare(cython.int, 5)
TWICE = cython.declare(cython.int, 6)
SHARED_TOO_OFTEN = cython.declare(cython.int, 7)


@frozen
class FunctionInfos:
    """What records say, an entry a record. Begins and ends are bytes into the file, both 0 where there is none."""

    end: array[int]
    """The address behind the function."""
    name: array[int]
    """String offset, unchecked."""
    line_begin: array[int]
    line_end: array[int]
    inline_begin: array[int]
    inline_end: array[int]
    merged_begin: array[int]
    merged_end: array[int]
    record_end: array[int]


@cython.final
@cython.cclass
class _Decoder(GsymReader):
    starts: cython.ulonglong[::1]
    offsets: cython.ulonglong[::1]
    ends: cython.ulonglong[::1]
    names: cython.ulonglong[::1]
    line_begin: cython.ulonglong[::1]
    line_end: cython.ulonglong[::1]
    inline_begin: cython.ulonglong[::1]
    inline_end: cython.ulonglong[::1]
    merged_begin: cython.ulonglong[::1]
    merged_end: cython.ulonglong[::1]
    record_end: cython.ulonglong[::1]
    own: cython.ulonglong[::1]
    own_count: cython.Py_ssize_t
    name_bytes: cython.int
    strict: cython.bint

    def __init__(
        self,
        data: Data,
        starts: array[int],
        offsets: array[int],
        columns: FunctionInfos,
        limit: int,
        name_bytes: int,
        little: bool,
        strict: bool,
    ) -> None:
        GsymReader.__init__(self, data, "a function info", REASONS, little)
        self.starts = starts
        self.offsets = offsets
        self.ends = columns.end
        self.names = columns.name
        self.line_begin = columns.line_begin
        self.line_end = columns.line_end
        self.inline_begin = columns.inline_begin
        self.inline_end = columns.inline_end
        self.merged_begin = columns.merged_begin
        self.merged_end = columns.merged_end
        self.record_end = columns.record_end
        self.own = array("Q", [0]) * max(len(starts), 1)
        self.own_count = 0
        self.end = limit
        self.name_bytes = name_bytes
        self.strict = strict

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def record(self, piece: cython.Py_ssize_t) -> cython.int:
        start: cython.ulonglong = self.starts[piece]
        limit: cython.ulonglong = 0xFFFFFFFFFFFFFFFF
        size: cython.ulonglong = self.fixed(4)
        if size > limit - start or (self.strict and size == 0):
            self.fail(BAD_SIZE)
        self.ends[piece] = start + size
        self.names[piece] = self.fixed(self.name_bytes)
        kind: cython.ulonglong
        length: cython.ulonglong
        left: cython.ulonglong
        while True:
            kind = self.fixed(4)
            length = self.fixed(4)
            if kind == END_OF_LIST:
                if length != 0 and self.strict:
                    self.fail(BAD_END)
                return 0
            left = self.end - self.at
            if length > left:
                self.fail(CUT_OFF)
            if kind == LINE_TABLE:
                if self.line_end[piece] != 0 and self.strict:
                    self.fail(TWICE)
                self.line_begin[piece] = self.at
                self.line_end[piece] = self.at + length
            elif kind == INLINE_TREE:
                if self.inline_end[piece] != 0 and self.strict:
                    self.fail(TWICE)
                self.inline_begin[piece] = self.at
                self.inline_end[piece] = self.at + length
            elif kind == MERGED_FUNCTIONS:
                if self.merged_end[piece] != 0 and self.strict:
                    self.fail(TWICE)
                self.merged_begin[piece] = self.at
                self.merged_end[piece] = self.at + length
            self.at += length
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def known(self, offset: cython.ulonglong) -> cython.bint:
        """Whether a record was read there before: functions that say the same may share one."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.own_count
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.own[middle] < offset:
                low = middle + 1
            else:
                high = middle
        return low < self.own_count and self.own[low] == offset

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def records(self, count: cython.Py_ssize_t) -> cython.int:
        piece: cython.Py_ssize_t
        file_end: cython.ulonglong = self.end
        before: cython.ulonglong = 0
        shared: cython.ulonglong = 0
        begin: cython.ulonglong = self.offsets[0] if count > 0 else 0
        for piece in range(count):
            if self.offsets[piece] > file_end:
                self.fail(CUT_OFF)
            self.at = self.offsets[piece]
            if self.offsets[piece] < before and not self.known(self.offsets[piece]):
                self.fail(RUNS_INTO_NEXT)
            self.record(piece)
            self.record_end[piece] = self.at
            if self.offsets[piece] < before:
                shared += self.record_end[piece] - self.offsets[piece]
                if shared > before - begin + SHARED_SLACK_BYTES:
                    self.fail(SHARED_TOO_OFTEN)
            else:
                before = self.at
                self.own[self.own_count] = self.offsets[piece]
                self.own_count += 1
            if self.strict and piece + 1 < count and self.ends[piece] > self.starts[piece + 1]:
                self.fail(OVERLAPS)
        return 0

    def run(self, count: cython.Py_ssize_t) -> None:
        with cython.nogil:
            self.records(count)


def decode_function_infos(
    data: Data,
    starts: array[int],
    offsets: array[int],
    *,
    end_bytes: int,
    name_bytes: int,
    little_endian: bool,
    strict: bool,
) -> FunctionInfos:
    """Reads the records at ``offsets``, which have to follow each other without overlap, up to ``end_bytes``.

    Functions may share one, but those shared may hardly outweigh the others: a small file can't decode to a large table.

    Other kinds of data than `FunctionInfos` has are skipped. Strict also asks for sizes over 0 and for pieces that don't
    overlap. Raises `MalformedGsym`. Releases the GIL.
    """
    columns = [array("Q", [0]) * len(starts) for _ in range(9)]
    infos = FunctionInfos(
        end=columns[0],
        name=columns[1],
        line_begin=columns[2],
        line_end=columns[3],
        inline_begin=columns[4],
        inline_end=columns[5],
        merged_begin=columns[6],
        merged_end=columns[7],
        record_end=columns[8],
    )
    _Decoder(data, starts, offsets, infos, end_bytes, name_bytes, little_endian, strict).run(len(starts))
    return infos
