"""GSYM function infos, as `function_info_encoder` and others write them: where the parts of each record lie.

Source: LLVM ``llvm/DebugInfo/GSYM/FunctionInfo.h``.
"""

from __future__ import annotations

from array import array

import cython

from uploader.core.columns import taken
from uploader.core.search import first_after
from uploader.gsym.layout import (
    INFO_END,
    INFO_INLINE_TREE,
    INFO_LINE_TABLE,
    INFO_MERGED_FUNCTIONS,
    MAX_UINT64,
    SHARED_SLACK_BYTES,
    Data,
    Header,
)
from uploader.gsym.payload_reader import Payloads
from uploader.gsym.reader import REASONS as READER_REASONS
from uploader.gsym.reader import GsymReader
from uploader.values import frozen

KINDS = INFO_MERGED_FUNCTIONS + 1
"""The kinds below are told apart; `INFO_END` is one of them."""

NUMBER_BYTES = 4

SLACK_BYTES = SHARED_SLACK_BYTES + 4
"""By so much may shared records, each time they are, outweigh all up to there: what encoders allow, and the padding of one."""

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
CUT_OFF, _TOO_LARGE, RUNS_INTO_NEXT, BAD_SIZE, OVERLAPS, BAD_END, TWICE, SHARED_TOO_OFTEN = range(len(REASONS))


@frozen
class FunctionInfos:
    """What records say, an entry a record."""

    end: array[int]
    """The address behind the function."""
    name: array[int]
    """String offset, unchecked."""
    record_end: array[int]
    """The offset behind the record."""
    lines: Payloads
    inlines: Payloads
    merged: Payloads


class _Decoder(GsymReader):
    """Reads records one after the other. Where the data of kind ``k`` lies stands in item ``k * records + piece`` of two columns."""

    def __init__(self, data: Data, header: Header, starts: array[int], offsets: array[int], strict: bool) -> None:
        GsymReader.__init__(self, data, "a function info", REASONS, header.little_endian)
        self.records = len(starts)
        self.starts = starts
        self.offsets = offsets
        self.ends, self.names, self.record_end = _zeros(3, len(starts))
        self.payload_begin, self.payload_end = _zeros(2, KINDS * len(starts))
        self.own = array("Q", [0]) * max(len(starts), 1)
        self.own_count = 0
        self.end = header.function_infos.end_bytes
        self.name_bytes = header.offset_size_bytes
        self.strict = strict

    def read_record(self, piece: cython.Py_ssize_t) -> cython.int:
        start: cython.ulonglong = self.starts[piece]
        size: cython.ulonglong = self.fixed(NUMBER_BYTES)
        if size > MAX_UINT64 - start or (self.strict and size == 0):
            self.fail(BAD_SIZE)
        self.ends[piece] = start + size
        self.names[piece] = self.fixed(self.name_bytes)
        kind: cython.ulonglong
        length: cython.ulonglong
        left: cython.ulonglong
        place: cython.Py_ssize_t
        while True:
            kind = self.fixed(NUMBER_BYTES)
            length = self.fixed(NUMBER_BYTES)
            if kind == INFO_END:
                if length != 0 and self.strict:
                    self.fail(BAD_END)
                return 0
            left = self.end - self.at
            if length > left:
                self.fail(CUT_OFF)
            if kind < KINDS:
                place = cython.cast(cython.Py_ssize_t, kind) * self.records + piece
                if self.payload_end[place] != 0 and self.strict:
                    self.fail(TWICE)
                self.payload_begin[place] = self.at
                self.payload_end[place] = self.at + length
            self.at += length
        return 0

    def known(self, offset: cython.ulonglong) -> cython.bint:
        """Whether a record was read there before: functions that say the same may share one."""
        behind: cython.Py_ssize_t = first_after(self.own, 0, self.own_count, offset)
        return behind > 0 and self.own[behind - 1] == offset

    def read_records(self) -> cython.int:
        piece: cython.Py_ssize_t
        count: cython.Py_ssize_t = self.records
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
            self.read_record(piece)
            self.record_end[piece] = self.at
            if self.offsets[piece] < before:
                shared += self.record_end[piece] - self.offsets[piece]
                if shared > before - begin + SLACK_BYTES:
                    self.fail(SHARED_TOO_OFTEN)
            else:
                before = self.at
                self.own[self.own_count] = self.offsets[piece]
                self.own_count += 1
            if self.strict and piece + 1 < count and self.ends[piece] > self.starts[piece + 1]:
                self.fail(OVERLAPS)
        return 0

    def read(self) -> FunctionInfos:
        with cython.nogil:
            self.read_records()
        return FunctionInfos(
            end=taken(self.ends, self.records),
            name=taken(self.names, self.records),
            record_end=taken(self.record_end, self.records),
            lines=self._payloads(INFO_LINE_TABLE),
            inlines=self._payloads(INFO_INLINE_TREE),
            merged=self._payloads(INFO_MERGED_FUNCTIONS),
        )

    def _payloads(self, kind: int) -> Payloads:
        first, last = kind * self.records, (kind + 1) * self.records
        return Payloads(
            begin=array("Q", memoryview(self.payload_begin)[first:last]),
            end=array("Q", memoryview(self.payload_end)[first:last]),
        )


def _zeros(columns: int, items: int) -> list[array[int]]:
    return [array("Q", [0]) * items for _ in range(columns)]


def decode_function_infos(
    data: Data, header: Header, starts: array[int], offsets: array[int], *, strict: bool
) -> FunctionInfos:
    """Reads the records at ``offsets``, which have to follow each other without overlap.

    Functions may share one, but those shared may hardly outweigh the others: a small file can't decode to a large table.

    Other kinds of data than `FunctionInfos` has are skipped. Strict also asks for sizes over 0 and for pieces that don't
    overlap. Raises `MalformedGsym`. Releases the GIL.
    """
    return _Decoder(data, header, starts, offsets, strict).read()
