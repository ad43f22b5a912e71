cimport cython
from uploader.sources.dwarf cimport constants
from uploader.core.numbers cimport NumberReader
from uploader.sources.dwarf.code_ranges cimport CodeRanges
from uploader.sources.dwarf.die cimport DieReader
from uploader.sources.dwarf.tables cimport FunctionTable, NodeTable
from uploader.sources.dwarf.unit_columns cimport UnitColumns

@cython.final
cdef class CodeFound:
    cdef DieReader reader
    cdef public UnitColumns units
    cdef unsigned int unit
    cdef NumberReader addresses
    cdef CodeRanges code
    cdef unsigned long long end_of_first
    cdef readonly FunctionTable functions
    cdef readonly NodeTable nodes
    cdef public Py_ssize_t dropped
    cdef unsigned int pc
    cdef unsigned long long a
    cdef unsigned long long b

    cdef long long function(self, unsigned long long die) except? 0x7FFFFFFFFFFFFFFF nogil
    cdef unsigned int node(self, long long function, unsigned int depth) except? 0xFFFFFFFE nogil
    cdef int forget_empty_nodes(self, long long function, unsigned int depth) except -1 nogil
    cdef int _read_place(self) except -1 nogil
    cdef unsigned int _small(self, int slot) except? 0xFFFFFFFE nogil
    cdef unsigned long long _address(self, int form, unsigned long long raw) except? 0xFFFFFFFFFFFFFFFE nogil
    cdef unsigned long long _high(self, unsigned long long low) except? 0xFFFFFFFFFFFFFFFE nogil
    cdef bint _dead(self, unsigned long long start) except -1 nogil
