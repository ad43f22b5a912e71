from uploader.sources.dwarf cimport constants
from uploader.sources.dwarf.code_found cimport CodeFound
from uploader.sources.dwarf.die cimport DieReader
from uploader.sources.dwarf.open_scopes cimport OpenScopes
from uploader.sources.dwarf.unit_columns cimport UnitColumns
