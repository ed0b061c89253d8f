/* Commands: one line of words that does one thing to a dataset. SPEC section 5.
 *
 * The same commands run from a control file of a mount and as `lancet COMMAND`; each is one row of
 * a table and one function. A command gets its words and what its host offers, and leaves one JSON
 * object. Nothing here knows of FUSE, of terminals or of threads.
 */
#ifndef COMMAND_COMMAND_H
#define COMMAND_COMMAND_H

#include <lancet/dataset.h>
#include "util/jsonw.h"

#define COMMAND_LINE_MAX  4096 /* bytes, the newline included */
#define COMMAND_WORDS_MAX 256

/* A word of the line: "key=value", split at the first '='; or a bare one, whose key is NULL: a verb
 * or a name. */
struct command_word {
	char *key;
	char *value;
};
struct command_words {
	struct command_word *words;
	size_t count;
	char *text; /* what the above point into */
};

/* Words are separated by blanks and quoted as in a shell: '…', "…" with \" and \\, and \X. INVALID:
 * an open quote, a NUL, no word at all, an empty key, not UTF-8; LIMIT: too many words. `line` is
 * without its newline. */
int command_words_parse(
	struct slice line, struct command_words *ret_words, struct lancet_error *err);
/* From an argument vector, where nothing is quoted any more. */
int command_words_of(char *const *arguments, size_t count, struct command_words *ret_words,
	struct lancet_error *err);
void command_words_release(struct command_words *words);

/* What runs commands: lancefs or lancet. All functions may be NULL. */
struct command_host {
	lancet_dataset *dataset; /* the branch or main that the command is for */
	uint64_t job;            /* 0: none */
	uint64_t read_version; /* newest version when the line arrived; 0: when the command runs */
	void *context;
	bool (*cancelled)(void *context);
	void (*progress)(void *context, uint64_t done, uint64_t total, const char *unit);
	/* Opens the payload of file=NAME for reading. */
	int (*open_payload)(void *context, const char *name, int *ret_fd, struct lancet_error *err);
	/* A command has used the payload successfully. */
	void (*payload_used)(void *context, const char *name);
};

/* What is the same in all results; 0, "" and NULL: not known, and left out. */
struct command_facts {
	char operation[40];
	uint64_t read_version, version;
	unsigned attempts;
	bool committed; /* a commit was tried: BUSY is one that can be tried again */
	uint64_t conflict_version;
	const char *conflict_operation, *conflict_rule; /* static */
	bool has_cell; /* of a precondition that does not hold; fragment UINT64_MAX: the field
			  itself */
	int32_t failed_field;
	uint64_t failed_fragment;
};

struct command_run {
	const struct command *command;
	const struct command_words *words;
	const struct command_host *host;
	struct command_facts facts;
	struct buf members; /* of the result: what the command adds, JSON members without braces */
	struct jsonw json;  /* writes them */
};

enum command_flags {
	COMMAND_QUICK = 1,   /* never queues behind long jobs */
	COMMAND_COMMITS = 2, /* knows read_version, message, retries, require, token */
	COMMAND_VERB = 4,    /* its first word is a verb */
	COMMAND_LONG = 8,    /* may take more than a minute: knows async, as those that commit */
	COMMAND_BARE = 16,   /* words without '=' are names of its own */
	COMMAND_DRY = 32,    /* dry_run is true unless the line says false */
};

struct command {
	const char *name;
	unsigned flags;
	const char *keys; /* that it knows, besides the common ones, separated by blanks; "*" ends a
			   * prefix: "config.*" */
	const char *usage; /* lines; what reading the control file shows first */
	int (*run)(struct command_run *run, struct lancet_error *err);
};

/* All commands that need nothing but a dataset, by name; ends with a row without a name. */
extern const struct command commands[];
const struct command *command_find(const char *name);
/* `run` alone means all defaults; dry_run=true makes a command quick. Unknown or repeated keys:
 * INVALID. Called by command_execute, and before a command is queued. */
int command_check(const struct command *command, const struct command_words *words, bool *ret_quick,
	bool *ret_async, struct lancet_error *err);

/* Runs it. *result becomes one JSON object with a newline, in any case: ok, command, job, …, and on
 * failure errno, code, error. The code is that of the command. */
int command_execute(const struct command *command, const struct command_words *words,
	const struct command_host *host, struct buf *result, struct lancet_error *err);
/* The same object for a line that was not run, because of `err`. `name` may be NULL. */
void command_refused(
	const char *name, uint64_t job, const struct lancet_error *err, struct buf *result);

#endif
