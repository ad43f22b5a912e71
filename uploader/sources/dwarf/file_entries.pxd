from uploader.sources.dwarf cimport constants
from uploader.core.numbers cimport NumberReader
from uploader.sources.dwarf.tables cimport EntryTable
