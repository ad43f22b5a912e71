from uploader.core.search cimport first_after
from uploader.gsym.reader cimport GsymReader
