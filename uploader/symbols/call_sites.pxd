from uploader.symbols.table_columns cimport GrowingTable, TableColumns
from uploader.symbols.touching cimport join_touching
