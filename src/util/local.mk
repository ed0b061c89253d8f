noinst_LTLIBRARIES += libutil.la
libutil_la_SOURCES = \
	src/util/arena.c src/util/arena.h \
	src/util/bits.c src/util/bits.h \
	src/util/buf.c src/util/buf.h \
	src/util/cursor.c src/util/cursor.h \
	src/util/error.c \
	src/util/flatview.c src/util/flatview.h \
	src/util/json.c src/util/json.h \
	src/util/jsonw.c src/util/jsonw.h \
	src/util/log.c src/util/log.h \
	src/util/macros.c src/util/macros.h \
	src/util/pballoc.c src/util/pballoc.h \
	src/util/pbborrow.c src/util/pbborrow.h src/util/pbunpack.c src/util/pbunpack.h \
	src/util/pbscan.c src/util/pbscan.h \
	src/util/roaringx.c src/util/roaringx.h \
	src/util/slice.h \
	src/util/source.c src/util/source.h \
	src/util/text.c src/util/text.h
libutil_la_SOURCES += \
	src/util/flatbuild.c src/util/flatbuild.h src/util/jsoncheck.c src/util/jsoncheck.h \
	src/util/number.c src/util/number.h
libutil_la_SOURCES += src/util/rankset.c src/util/rankset.h src/util/rankset_index.h \
	src/util/rankset_ranks.c src/util/rankset_select.c
libutil_la_SOURCES += src/util/base64.c src/util/base64.h src/util/json_large.c src/util/json_large.h
libutil_la_SOURCES += src/util/jsonpull.c src/util/jsonpull.h
libutil_la_SOURCES += src/util/wide.c src/util/wide.h
libutil_la_LIBADD = $(ROARING_LIBS) $(PROTOBUF_C_LIBS) $(JSON_LIBS)
