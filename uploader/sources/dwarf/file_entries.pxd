from uploader.core.numbers cimport NumberReader
