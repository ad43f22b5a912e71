"""Reads data of one kind, line tables or inline trees, for piece after piece. Part of the core: compiled or not, the same results."""

from __future__ import annotations

from array import array

import cython

from uploader.gsym.layout import MAX_UINT32, Data, Header
from uploader.gsym.reader import REASONS as READER_REASONS
from uploader.gsym.reader import GsymReader
from uploader.symbols.columns import SymbolTable
from uploader.values import frozen

TOO_LARGE = 1


def numbers_of(reasons: tuple[str, ...]) -> range:
    """The numbers that a kind's reasons have for `GsymReader.fail`."""
    return range(len(READER_REASONS), len(READER_REASONS) + len(reasons))


@frozen
class Payloads:
    """Where the data of one kind lies, an entry a function: bytes into the file, begin and end both 0 where there is none."""

    begin: array[int]
    end: array[int]


class PayloadReader(GsymReader):
    """Fills columns of a `SymbolTable`. Each kind has a `payload` of its own, and reasons behind those of `GsymReader`."""

    def __init__(self, data: Data, header: Header, what: str, reasons: tuple[str, ...], strict: bool) -> None:
        GsymReader.__init__(self, data, what, READER_REASONS + reasons, header.little_endian)
        self.files = header.file_count
        self.strict = strict

    def payload(self, start: cython.ulonglong, end: cython.ulonglong) -> cython.Py_ssize_t:
        """Reads what the piece ``start`` to ``end`` has; gives how many items have been read of all pieces."""
        with cython.gil:
            raise NotImplementedError(start, end)
        return 0

    def payloads(
        self,
        starts: cython.ulonglong[::1],
        ends: cython.ulonglong[::1],
        begin: cython.ulonglong[::1],
        until: cython.ulonglong[::1],
        pieces: cython.Py_ssize_t,
    ) -> cython.int:
        """Reads what all pieces have, and sets the first item of each."""
        piece: cython.Py_ssize_t
        items: cython.Py_ssize_t = 0
        for piece in range(pieces):
            if begin[piece] != until[piece]:
                self.at = begin[piece]
                self.end = until[piece]
                items = self.payload(starts[piece], ends[piece])
            if items > MAX_UINT32:
                self.fail(TOO_LARGE)
            self.first[piece + 1] = items
        return 0

    def read(self, table: SymbolTable, payloads: Payloads) -> array[int]:
        """Reads what the pieces of a table have; gives the first item of each, and behind them where the last one ends.

        Releases the GIL.
        """
        pieces: cython.Py_ssize_t = len(table)
        first = array("I", [0]) * (pieces + 1)
        self.first = first
        starts: cython.ulonglong[::1] = table.start
        ends: cython.ulonglong[::1] = table.end
        begin: cython.ulonglong[::1] = payloads.begin
        until: cython.ulonglong[::1] = payloads.end
        with cython.nogil:
            self.payloads(starts, ends, begin, until, pieces)
        return first
