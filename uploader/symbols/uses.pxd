cdef unsigned int NONE
