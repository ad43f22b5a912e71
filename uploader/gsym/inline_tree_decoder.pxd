from uploader.core.search cimport first_after
from uploader.gsym.payload_reader cimport PayloadReader
from uploader.symbols.table_columns cimport GrowingTable
