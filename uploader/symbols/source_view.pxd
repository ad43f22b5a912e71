cimport cython


@cython.final
cdef class SourceView:
    cdef const unsigned int[::1] function_name, function_table, function_decl_file, function_decl_line
    cdef const unsigned int[::1] function_node, function_node_end, function_range
    cdef const unsigned long long[::1] range_start, range_end
    cdef const unsigned int[::1] node_depth, node_name, node_call_file, node_call_line, node_range
    cdef const unsigned long long[::1] node_range_start, node_range_end
    cdef const unsigned int[::1] table_first, row_file, row_line
    cdef const unsigned long long[::1] row_address
