# protobuf-c output: no logic of ours, its own library with relaxed warnings.
noinst_LTLIBRARIES += libgen.la

proto_files = \
	proto/google/protobuf/any.proto proto/google/protobuf/timestamp.proto \
	proto/lance/encodings.proto proto/lance/encodings21.proto proto/lance/encodings23.proto \
	proto/lance/file.proto proto/lance/datafile.proto proto/lance/index.proto proto/lance/table.proto \
	proto/lance/precondition.proto proto/lance/transaction.proto
EXTRA_DIST += $(proto_files) proto/textfields.awk

gen_pb_sources = \
	src/gen/google/protobuf/any.pb-c.c src/gen/google/protobuf/timestamp.pb-c.c \
	src/gen/lance/encodings.pb-c.c src/gen/lance/encodings21.pb-c.c \
	src/gen/lance/encodings23.pb-c.c src/gen/lance/file.pb-c.c src/gen/lance/datafile.pb-c.c \
	src/gen/lance/index.pb-c.c src/gen/lance/precondition.pb-c.c src/gen/lance/table.pb-c.c \
	src/gen/lance/transaction.pb-c.c
nodist_libgen_la_SOURCES = $(gen_pb_sources) src/gen/pbtext.c
libgen_la_CFLAGS = $(SANITIZER_FLAGS) -std=gnu11 -w
libgen_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/src/core
libgen_la_LIBADD = $(PROTOBUF_C_LIBS)

BUILT_SOURCES += src/gen/.stamp
CLEANFILES += src/gen/.stamp $(gen_pb_sources) $(gen_pb_sources:.c=.h) src/gen/pbtext.c

src/gen/.stamp: $(proto_files) proto/textfields.awk
	$(AM_V_GEN)$(MKDIR_P) src/gen && \
	(cd $(srcdir) && $(PROTOC_C) --proto_path=proto \
		--c_out="$(abs_top_builddir)/src/gen" $(proto_files:proto/%=%)) && \
	(cd $(srcdir) && LC_ALL=C $(AWK) -f proto/textfields.awk $(proto_files)) \
		> src/gen/pbtext.c.tmp && \
	mv src/gen/pbtext.c.tmp src/gen/pbtext.c && touch $@
$(gen_pb_sources) src/gen/pbtext.c: src/gen/.stamp
