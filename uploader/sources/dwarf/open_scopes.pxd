cimport cython
from uploader.sources.dwarf cimport constants
from uploader.sources.dwarf.tables cimport ScopeTable

@cython.final
cdef class OpenScopes:
    cdef readonly ScopeTable table
    cdef unsigned int depth
    cdef unsigned long long[::1] offset
    cdef unsigned int[::1] recorded
    cdef unsigned int[::1] is_function

    cdef unsigned int enter(self, unsigned long long die, int kind, unsigned int is_open, bint names_itself, int children) except? 0xFFFFFFFE nogil
    cdef int _keep(self, unsigned long long die, unsigned int is_open) except -1 nogil
