from uploader.core.numbers cimport NumberReader
from uploader.core.search cimport first_after
from uploader.symbols.table_columns cimport GrowingTable
