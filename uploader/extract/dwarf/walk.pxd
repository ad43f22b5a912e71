from uploader.extract.dwarf.die cimport DieReader
from uploader.extract.dwarf.unit_columns cimport UnitColumns
