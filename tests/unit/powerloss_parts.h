/* The simulator's model, between choosing a state and making it. */
#ifndef TESTS_POWERLOSS_PARTS_H
#define TESTS_POWERLOSS_PARTS_H

#include "powerloss.h"

#include <stdint.h>

#define SECTOR       512
#define VARIANTS_MAX 16

/* What a name stands for. */
struct value {
	enum { NOTHING, START, WRITTEN, DIRECTORY } kind;
	const char *start_key; /* START: what it was called in the starting tree */
	size_t file;           /* WRITTEN */
};

struct name {
	const char *key;
	struct value live;  /* for the process that writes */
	struct value kept;  /* on disk for certain */
	struct value shown; /* in the state at hand */
};

/* How the un-synced end of a file looks. */
struct variant {
	enum { WHOLE, CUT, ZEROS, EVEN_ZEROS, ODD_ZEROS } kind;
	size_t size;
};

struct file {
	uint8_t *bytes;
	size_t size, synced;
	struct variant variants[VARIANTS_MAX];
	size_t variant_count, chosen;
};

struct effect {
	size_t name;
	struct value value;
};

/* A change of names in one directory that is not durable yet. */
struct pending {
	struct effect effects[2];
	int count;
};

struct powerloss {
	const char *start, *into;
	struct name *names; /* that the log has touched */
	size_t name_count;
	char **start_keys; /* the starting tree */
	size_t start_count;
	struct file *files;
	size_t file_count;
	struct pending *pending;
	size_t pending_count;
	size_t *digits; /* of pending: 0 is kept; then of files: the variant */
	size_t state, states_max;
	bool counts_through; /* all states, else chosen ones */
	uint64_t *seen;      /* signatures of states that were made */
	size_t seen_count;
	uint64_t random;
};

/* Makes the state that names and files show, in place of the one before. */
void powerloss_make(const struct powerloss *loss);

#endif
