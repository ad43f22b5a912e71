cimport cython

cdef class Table:
    cdef public Py_ssize_t count
    cdef public Py_ssize_t room

    cdef Py_ssize_t add(self) except -1 nogil

@cython.final
cdef class FunctionTable(Table):
    cdef public unsigned long long[::1] offset
    cdef public unsigned int[::1] unit
    cdef public unsigned int[::1] pc
    cdef public unsigned long long[::1] a
    cdef public unsigned long long[::1] b
    cdef public unsigned int[::1] decl_file
    cdef public unsigned int[::1] decl_line

    cdef Py_ssize_t put(self, unsigned long long offset, unsigned int unit, unsigned int pc, unsigned long long a, unsigned long long b, unsigned int decl_file, unsigned int decl_line) except -1 nogil

@cython.final
cdef class NodeTable(Table):
    cdef public unsigned int[::1] function
    cdef public unsigned int[::1] depth
    cdef public unsigned long long[::1] origin
    cdef public unsigned int[::1] call_file
    cdef public unsigned int[::1] call_line
    cdef public unsigned int[::1] pc
    cdef public unsigned long long[::1] a
    cdef public unsigned long long[::1] b

    cdef int put(self, unsigned int function, unsigned int depth, unsigned long long origin, unsigned int call_file, unsigned int call_line, unsigned int pc, unsigned long long a, unsigned long long b) except -1 nogil

@cython.final
cdef class ScopeTable(Table):
    cdef public unsigned long long[::1] child
    cdef public unsigned long long[::1] parent

@cython.final
cdef class RangeTable(Table):
    cdef public unsigned long long[::1] start
    cdef public unsigned long long[::1] end

    cdef int put(self, unsigned long long start, unsigned long long end) except -1 nogil

@cython.final
cdef class EntryTable(Table):
    cdef public unsigned int[::1] form
    cdef public unsigned long long[::1] value
    cdef public unsigned int[::1] directory

    cdef int put(self, unsigned int form, unsigned long long value, unsigned int directory) except -1 nogil

@cython.final
cdef class RowTable(Table):
    cdef public unsigned long long[::1] address
    cdef public unsigned int[::1] file
    cdef public unsigned int[::1] line

    cdef int put(self, unsigned long long address, unsigned int file, unsigned int line) except -1 nogil

@cython.final
cdef class SequenceTable(Table):
    cdef public unsigned long long[::1] start
    cdef public unsigned long long[::1] first
    cdef public unsigned long long[::1] last
