from uploader.gsym.writer cimport PayloadWriter
from uploader.symbols.table_columns cimport TableColumns
