# The data file reader: an encoding is one file.
noinst_LTLIBRARIES += libfile.la
libfile_la_SOURCES = src/file/array.h src/file/codec.h \
	src/file/datafile.h src/file/field.h src/file/layout.h src/file/levels.h \
	src/file/reader.h src/file/scratch.h
libfile_la_SOURCES += src/file/array.c src/file/array_dictionary.c src/file/array_dictionary.h \
	src/file/array_grow.h src/file/array_range.c src/file/array_variable.c src/file/scratch.c
libfile_la_SOURCES += src/file/field.c src/file/field_links.c src/file/field_links.h \
	src/file/field_logical.c src/file/field_logical.h src/file/field_metadata.c \
	src/file/field_metadata.h
libfile_la_SOURCES += src/file/datafile.c src/file/datafile_schema.c src/file/file_column.c \
	src/file/file_column.h src/file/legacy_meta.c src/file/legacy_meta.h \
	src/file/stored_schema.c src/file/stored_schema.h
