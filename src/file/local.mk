# The data file reader: an encoding is one file.
noinst_LTLIBRARIES += libfile.la
libfile_la_SOURCES = src/file/rowcount.c src/file/rowcount.h src/file/array.h src/file/codec.h \
	src/file/datafile.h src/file/field.h src/file/layout.h src/file/levels.h \
	src/file/reader.h src/file/scratch.h
