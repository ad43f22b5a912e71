from uploader.core.numbers cimport NumberReader
from uploader.sources.dwarf.code_ranges cimport CodeRanges
