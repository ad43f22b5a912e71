"""Where a file's code lies, by its sections or, where it has none, by its segments."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import cython

from uploader.core.search import first_after
from uploader.objects.elf.headers import ET_REL

if TYPE_CHECKING:
    from uploader.objects.elf.elf_file import ElfFile


@cython.final
@cython.cclass
class CodeMap:
    """The sections of a file, and what of them is code, ascending."""

    def __init__(self, elf: ElfFile) -> None:
        self.relocatable = elf.kind == ET_REL
        top = (1 << elf.bits) - 1
        starts = [elf.address_of(section) for section in elf.sections]
        ends = [min(start + section.size_bytes, top) for start, section in zip(starts, elf.sections, strict=True)]
        self.section_count = len(elf.sections)
        self.section_start = array("Q", starts)
        self.section_end = array("Q", ends)
        self.section_is_code = array("B", [int(section.is_code) for section in elf.sections])
        code = sorted(
            (start, end)
            for section, start, end in zip(elf.sections, starts, ends, strict=True)
            if section.is_code and section.size_bytes
        )
        if not elf.sections:
            code = elf.executable_ranges()
        self.code_count = len(code)
        self.code_start = array("Q", [start for start, _ in code])
        self.code_end = array("Q", [end for _, end in code])

    def limit_of(self, section: cython.uint, value: cython.ulonglong, is_function: cython.bint) -> cython.ulonglong:
        """The end of the executable section that holds the address, 0 where none does."""
        if (
            section < self.section_count
            and self.section_is_code[section]
            and self.section_start[section] <= value < self.section_end[section]
        ):
            return self.section_end[section]
        if not is_function or self.relocatable:
            return 0
        behind: cython.Py_ssize_t = first_after(self.code_start, 0, self.code_count, value)
        if behind > 0 and value < self.code_end[behind - 1]:
            return self.code_end[behind - 1]
        return 0
