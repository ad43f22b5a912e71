from uploader.sources.elf_symbols.candidates cimport CandidateColumns
from uploader.sources.elf_symbols.code_map cimport CodeMap
from uploader.sources.elf_symbols.names cimport SymbolNames
