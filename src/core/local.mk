noinst_LTLIBRARIES += liblancet-all.la
lib_LTLIBRARIES += liblancet.la

pkginclude_HEADERS = \
	src/core/include/lancet/bytes.h src/core/include/lancet/column.h \
	src/core/include/lancet/dataset.h src/core/include/lancet/error.h \
	src/core/include/lancet/fragment.h src/core/include/lancet/index.h \
	src/core/include/lancet/live.h src/core/include/lancet/refs.h \
	src/core/include/lancet/transaction.h src/core/include/lancet/version.h
pkgincludedir = $(includedir)/lancet
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = src/core/lancet.pc

core_sources = \
	src/core/store.h src/core/names.h src/core/version.h src/core/pbtext.h \
	src/core/entries.c src/core/entries.h src/core/flags.c src/core/flags.h \
	src/core/fragment.c src/core/fragment.h src/core/fragment_files.c \
	src/core/fragment_files.h src/core/manifest.c src/core/manifest.h \
	src/core/manifest_info.c src/core/manifest_scan.c src/core/pbrest.c src/core/pbrest.h \
	src/core/schema.c src/core/schema.h src/core/version.c

liblancet_all_la_SOURCES = $(core_sources)
liblancet_all_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
liblancet_all_la_LIBADD = libgen.la libutil.la $(ROARING_LIBS) $(PROTOBUF_C_LIBS) \
	$(ZSTD_LIBS) $(LZ4_LIBS) $(JSON_LIBS) $(UUID_LIBS)

liblancet_la_SOURCES =
liblancet_la_LIBADD = liblancet-all.la
liblancet_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(srcdir)/src/core/lancet.map
liblancet_la_DEPENDENCIES = liblancet-all.la src/core/lancet.map
EXTRA_DIST += src/core/lancet.map
