from uploader.gsym.reader cimport GsymReader
