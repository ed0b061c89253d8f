# The commands of a control file and of lancet are a library of their own: neither knows the other.
noinst_LTLIBRARIES += libcommand.la
libcommand_la_SOURCES = \
	src/command/addresses.c src/command/addresses.h src/command/execute.c \
	src/command/command.h src/command/command_append.c src/command/command_branch.c \
	src/command/command_cleanup.c src/command/command_compact.c \
	src/command/command_columns.c src/command/command_commit.c src/command/command_delete.c \
	src/command/command_reference.c src/command/command_repair.c \
	src/command/command_restore.c src/command/command_set.c src/command/command_translate.c \
	src/command/commands.c src/command/commands.h src/command/commit_common.c \
	src/command/commit_common.h src/command/keys.c src/command/keys.h src/command/payload.c \
	src/command/payload.h src/command/result.c src/command/result.h src/command/values.c \
	src/command/values.h src/command/verbs.c src/command/verbs.h src/command/words.c
libcommand_la_SOURCES += src/command/command_update.c
libcommand_la_SOURCES += src/command/command_partition.c src/command/rewrite_common.c \
	src/command/rewrite_common.h
