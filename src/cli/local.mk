bin_PROGRAMS += lancet
lancet_SOURCES = src/cli/command.h src/cli/main.c src/cli/output.c src/cli/output.h \
	src/cli/rows.c src/cli/show.c
lancet_LDADD = libcommand.la libtree.la liblancet-all.la libutil.la
lancet_SOURCES += src/cli/command.c src/cli/translate.c
lancet_SOURCES += src/cli/run.c src/cli/run.h
