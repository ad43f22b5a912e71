from uploader.extract.dwarf.unit_columns cimport UnitColumns
