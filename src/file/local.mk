# The data file reader: its decoders come with the encodings.
noinst_LTLIBRARIES += libfile.la
libfile_la_SOURCES = src/file/rowcount.c src/file/rowcount.h
