from uploader.symbols.touching cimport join_touching
