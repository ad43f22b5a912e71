from uploader.extract.dwarf.die cimport DieReader
