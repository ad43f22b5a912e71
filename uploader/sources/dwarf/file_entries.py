"""The directories and files that headers of line tables list, as columns: most are never asked for (DWARF 5 §6.2.4.1)."""

from __future__ import annotations

from array import array

import cython

from uploader.core.numbers import NumberReader
from uploader.errors import MalformedDwarf
from uploader.sources.dwarf import constants
from uploader.sources.dwarf.forms import form_step
from uploader.sources.dwarf.tables import EntryTable

NO_DIRECTORY = cython.declare(cython.uint, 0xFFFFFFFF)


@cython.final
@cython.cclass
class FileEntries(NumberReader):
    """All entries of the headers read so far: the form and value of a path, and for a file the index of its directory.

    The value of a string in place is its offset.
    """

    entries: EntryTable
    plan_content: cython.ulonglong[::1]
    plan_form: cython.int[::1]
    plan_step: cython.int[::1]
    plan_length: cython.int

    def __init__(self, data: bytes | memoryview, *, little_endian: bool) -> None:
        super().__init__(data, little_endian=little_endian)
        self.entries = EntryTable()
        self.plan_content = array("Q", [0]) * 256
        self.plan_form = array("i", [0]) * 256
        self.plan_step = array("i", [0]) * 256
        self.plan_length = 0

    def __len__(self) -> int:
        return self.entries.count

    def behind(self) -> int:
        """The offset behind what was read last."""
        return self.position

    def cut(self, count: int) -> None:
        """Takes back all entries but the first ``count``."""
        self.entries.count = count

    def entry(self, index: int) -> tuple[int, int, int]:
        """(form, value, directory index) of an entry."""
        return self.entries.form[index], self.entries.value[index], self.entries.directory[index]

    def add_unnamed(self) -> None:
        """Appends an entry without a path."""
        self.entries.put(0, 0, 0)

    def read_directories(self, at: int, end: int) -> None:
        """The include directories of versions 2 to 4, up to the empty one. Raises `IndexError` where they are cut off."""
        first: cython.longlong = at
        last: cython.longlong = end
        with cython.nogil:
            self._directories(first, last)

    def read_files(self, at: int, end: int) -> None:
        """The file names of versions 2 to 4, up to the empty one. Raises `IndexError` where they are cut off."""
        first: cython.longlong = at
        last: cython.longlong = end
        with cython.nogil:
            self._files(first, last)

    def read_file(self, at: int, end: int) -> None:
        """One file as versions 2 to 4 write it; where it is cut off, one without a name."""
        try:
            self._file(at, end)
        except IndexError:
            self.entries.put(constants.FORM_STRING, self.data_size, 0)

    def read_described(self, at: int, end: int, address_size: int, offset_size: int, what: str) -> None:
        """One list of version 5, in whatever forms it describes. Raises `IndexError` where it is cut off, and `MalformedDwarf`."""
        entries = self._read_plan(at, address_size, offset_size)
        begin: cython.longlong = self.position
        last: cython.longlong = end
        n: cython.longlong
        if entries > (end - begin if self.plan_length else 0):
            raise MalformedDwarf(f"claims {entries} {what}")
        # A form that takes no byte says nothing here, and entries of none would be free to claim by the billion.
        kept: cython.int = 0
        i: cython.int
        for i in range(self.plan_length):
            if self.plan_step[i] != 0:
                self.plan_content[kept] = self.plan_content[i]
                self.plan_form[kept] = self.plan_form[i]
                self.plan_step[kept] = self.plan_step[i]
                kept += 1
        self.plan_length = kept
        if entries and kept == 0:
            raise MalformedDwarf(f"describes {what} that take no byte")
        n = entries
        overrun: cython.bint
        with cython.nogil:
            overrun = self._described(begin, last, n)
        if overrun:
            raise MalformedDwarf("the header runs past its end")

    def _read_plan(self, at: int, address_size: int, offset_size: int) -> int:
        """Reads the description of a list's entries; gives how many entries follow."""
        count = self.data[at]
        self.position = at + 1
        for i in range(count):
            self.plan_content[i] = self.uleb(self.position)
            form = self.uleb(self.position)
            step = form_step(form, address_size, offset_size, 5)
            if step is None or step < constants.STEP_BLOCK:
                raise MalformedDwarf(f"an unknown form 0x{form:x} in a line table")
            self.plan_form[i] = form
            self.plan_step[i] = step
        self.plan_length = count
        return self.uleb(self.position)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _described(self, p: cython.longlong, end: cython.longlong, entries: cython.longlong) -> cython.bint:
        """Reads the entries by the plan; true where they run past ``end``."""
        i: cython.int
        step: cython.int
        value: cython.ulonglong
        path_form: cython.uint
        path_value: cython.ulonglong
        directory: cython.uint
        while entries > 0:
            entries -= 1
            path_form = 0
            path_value = 0
            directory = 0
            for i in range(self.plan_length):
                step = self.plan_step[i]
                value = 0
                if step >= 0:
                    value = self.fixed(p, step)
                    p += step
                elif step == constants.STEP_LEB:
                    value = self.uleb(p)
                    p = self.position
                elif step == constants.STEP_CSTRING:
                    value = p
                    p = self._behind_string(p, end)
                else:
                    if step == constants.STEP_BLOCK1:
                        value = self.data[p]
                        p += 1
                    elif step == constants.STEP_BLOCK:
                        value = self.uleb(p)
                        p = self.position
                    elif step == constants.STEP_BLOCK2:
                        value = self.fixed(p, 2)
                        p += 2
                    else:
                        value = self.fixed(p, 4)
                        p += 4
                    if value > cython.cast(cython.ulonglong, self.data_size):
                        return True
                    p += cython.cast(cython.longlong, value)
                    value = 0
                if self.plan_content[i] == constants.LNCT_PATH:
                    path_form = self.plan_form[i]
                    path_value = value
                elif self.plan_content[i] == constants.LNCT_DIRECTORY_INDEX:
                    directory = cython.cast(cython.uint, value) if value < NO_DIRECTORY else NO_DIRECTORY
            if p > end:
                return True
            self.entries.put(path_form, path_value, directory)
        self.position = p
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _directories(self, p: cython.longlong, end: cython.longlong) -> cython.int:
        while p < end and self.data[p] != 0:
            self.entries.put(constants.FORM_STRING, cython.cast(cython.ulonglong, p), 0)
            p = self._behind_string(p, end)
        self.position = p + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _files(self, p: cython.longlong, end: cython.longlong) -> cython.int:
        while p < end and self.data[p] != 0:
            self._file(p, end)
            p = self.position
        self.position = p + 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _file(self, p: cython.longlong, end: cython.longlong) -> cython.int:
        """A name, its directory, and a time and a length that nobody needs."""
        name: cython.ulonglong = cython.cast(cython.ulonglong, p)
        directory: cython.ulonglong
        directory = self.uleb(self._behind_string(p, end))
        self.uleb(self.position)
        self.uleb(self.position)
        self.entries.put(
            constants.FORM_STRING,
            name,
            cython.cast(cython.uint, directory) if directory < NO_DIRECTORY else NO_DIRECTORY,
        )
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1)
    def _behind_string(self, p: cython.longlong, end: cython.longlong) -> cython.longlong:
        """The offset behind a string; `IndexError` where it does not end before ``end``."""
        while p < end:
            if self.data[p] == 0:
                return p + 1
            p += 1
        self.position = p
        with cython.gil:
            raise IndexError
