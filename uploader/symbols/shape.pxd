from uploader.symbols.table_columns cimport TableColumns

cdef unsigned int NONE
