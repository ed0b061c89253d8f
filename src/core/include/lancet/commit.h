/* Commits: a change of a dataset, and how it becomes a version.
 *
 * A change is a transaction, built on a version (the one it read), together with what its writer
 * knows: files that were made for it, rows that it deletes. lancet_commit puts it on the newest
 * version, over commits that were made meanwhile, as far as the conflict matrix allows, and never
 * over another's. A version appears whole or not at all; everything it names is durable before it
 * does. Format facts: commit protocol, conflict matrix, preconditions.
 */
#ifndef LANCET_COMMIT_H
#define LANCET_COMMIT_H

#include "transaction.h"

typedef struct lancet_change lancet_change;

/* Of an encoded Transaction, whoever made it. The files it names must exist and be sound: CORRUPT,
 * IO or NOT_FOUND names the one that is not. CORRUPT: the bytes are no transaction. */
LANCET_API int lancet_change_parse(lancet_dataset *dataset, const void *bytes, size_t size,
	lancet_change **ret_change, struct lancet_error *err);
/* Of a document in the form of transaction.json. INVALID names the place of what is wrong. */
LANCET_API int lancet_change_json(lancet_dataset *dataset, const char *text, size_t size,
	lancet_change **ret_change, struct lancet_error *err);
/* Files that were written for the change and did not get into a version are removed. */
LANCET_API void lancet_change_free(lancet_change *change);

/* "5,17-20" row ids; or addresses "FRAG:OFFSETS;…"; rows that are deleted already are skipped.
 * NOT_FOUND: a row that does not exist. *ret_rows is how many it deletes: with 0 there is no
 * change, *ret_change is NULL. */
LANCET_API int lancet_change_delete_ids(lancet_version *read, const char *row_ids,
	lancet_change **ret_change, uint64_t *ret_rows, struct lancet_error *err);
LANCET_API int lancet_change_delete_addrs(lancet_version *read, const char *row_addrs,
	lancet_change **ret_change, uint64_t *ret_rows, struct lancet_error *err);
/* The rows of a Lance data file (any descriptor that can be read at offsets): copied into the
 * dataset under a new name, durably. INVALID: its columns are not those of the schema, or it is of
 * another version than the dataset. *ret_rows is how many; with 0 there is no change, *ret_change
 * is NULL. */
LANCET_API int lancet_change_append_file(lancet_version *read, int fd, lancet_change **ret_change,
	uint64_t *ret_rows, struct lancet_error *err);

/* Whom a long change asks and tells; functions may be NULL. */
struct lancet_change_run {
	bool (*cancelled)(void *context); /* true: CANCELLED, and nothing stays */
	void (*progress)(void *context, uint64_t done, uint64_t total, const char *unit);
	void *context;
};
enum lancet_row_format { LANCET_ROWS_ARROW, LANCET_ROWS_CSV, LANCET_ROWS_JSON };
struct lancet_appended {
	uint64_t rows, fragments, bytes; /* bytes of the new data files */
};
/* The rows of an Arrow IPC file or stream, of CSV with a header line, or of JSON lines, read once
 * from the descriptor's position on, which may be a pipe. New fragments have at most 1,048,576
 * rows; what is in memory does not depend on how many come. INVALID names row and column of the
 * first value that does not fit; UNSUPPORTED a column, or a version of data files, that this build
 * does not write; CANCELLED too when a signal interrupts reading. Then nothing is left behind. With
 * 0 rows *ret_change is NULL. `run` may be NULL. */
LANCET_API int lancet_change_append_rows(lancet_version *read, int fd,
	enum lancet_row_format format, const struct lancet_change_run *run,
	lancet_change **ret_change, struct lancet_appended *ret_appended, struct lancet_error *err);
/* All rows for which the condition is true; the language is described in lancet(1). INVALID: what
 * is wrong with it and where. With 0 rows *ret_change is NULL. `run` may be NULL. */
LANCET_API int lancet_change_delete_where(lancet_version *read, const char *where,
	const struct lancet_change_run *run, lancet_change **ret_change, uint64_t *ret_rows,
	struct lancet_error *err);
/* Writes them anew, with new values: "column = expression, ...". Rows keep their ids and when they
 * were made. UNSUPPORTED: a column that this build can't write. */
LANCET_API int lancet_change_update(lancet_version *read, const char *set, const char *where,
	const struct lancet_change_run *run, lancet_change **ret_change, uint64_t *ret_rows,
	struct lancet_error *err);

enum lancet_setting {
	LANCET_SET_CONFIG,
	LANCET_SET_TABLE_METADATA,
	LANCET_SET_SCHEMA_METADATA,
	LANCET_SET_FIELD_METADATA,
};
struct lancet_set {
	enum lancet_setting where;
	const char *field; /* FIELD_METADATA: name, or dotted path */
	const char *key;
	const char *value; /* NULL: delete the key */
};
LANCET_API int lancet_change_settings(lancet_version *read, const struct lancet_set *settings,
	size_t count, lancet_change **ret_change, struct lancet_error *err);
/* Names or dotted paths, NULL-ended. INVALID: all columns; NOT_FOUND. */
LANCET_API int lancet_change_drop_columns(lancet_version *read, const char *const *columns,
	lancet_change **ret_change, struct lancet_error *err);
LANCET_API int lancet_change_rename_column(lancet_version *read, const char *column,
	const char *to, lancet_change **ret_change, struct lancet_error *err);
LANCET_API int lancet_change_drop_index(lancet_version *read, const char *name,
	lancet_change **ret_change, struct lancet_error *err);
LANCET_API int lancet_change_restore(lancet_version *read, uint64_t version,
	lancet_change **ret_change, struct lancet_error *err);
/* Removes whole fragments; NOT_FOUND. */
LANCET_API int lancet_change_drop_fragments(lancet_version *read, const uint64_t *ids,
	size_t count, lancet_change **ret_change, uint64_t *ret_rows, struct lancet_error *err);

/* Properties of the transaction; a key that is there gets the new value. */
LANCET_API int lancet_change_set_property(
	lancet_change *change, const char *key, const char *value, struct lancet_error *err);
#define LANCET_MESSAGE_PROPERTY "__lance_commit_message"
#define LANCET_TOKEN_PROPERTY   "lancefs.token"
/* Makes the transaction's uuid one of the token, so that of two commits with it, anywhere, one is
 * made and the other one finds it; and keeps the token as a property. */
LANCET_API int lancet_change_set_token(
	lancet_change *change, const char *token, struct lancet_error *err);
/* Cell preconditions: "COLUMNS@FRAG:OFFSETS;FRAG:*". Stored provisionally. */
LANCET_API int lancet_change_require(
	lancet_change *change, const char *text, struct lancet_error *err);

struct lancet_commit_options {
	unsigned retries;  /* attempts after the first one that lost the race */
	bool not_durable;  /* leaves out every sync: for measuring */
	/* Asked before each attempt; true: CANCELLED, nothing is committed. May be NULL. */
	bool (*cancelled)(void *context);
	void *context;
};
#define LANCET_COMMIT_RETRIES 20u
/* A rule of CONFLICT: fragments of a partition were rewritten. It can only be made anew. */
#define LANCET_RULE_TRANSITIONS "transitions"

struct lancet_commit_result {
	uint64_t version;      /* the new one; 0: none was made */
	uint64_t read_version; /* as the transaction says now */
	uint64_t rebased_over; /* newest version it was held against; 0: none was newer */
	unsigned attempts;
	bool found;   /* the version had been made before, by this very transaction */
	bool durable; /* false: it is there, but syncing the directory failed */
	char uuid[37];
	const char *operation;          /* static */
	uint64_t conflict_version;      /* 0: no conflict */
	const char *conflict_operation; /* static; of that version */
	const char *conflict_rule;      /* static; one word */
	/* PRECONDITION: what no longer holds. */
	int32_t failed_field;
	uint64_t failed_fragment;
	struct lancet_bytes stored; /* the transaction as published; the change's */
};

/* BUSY: the race was lost more than `retries` times, or (with conflict_version set) what the change
 * was computed from has changed: compute it again. CONFLICT: it can't be put on what was committed
 * since. PRECONDITION; CANCELLED; UNSUPPORTED: the dataset or the storage has, or lacks, what is
 * named. NOT_FOUND: the version that it read is gone. In all of these nothing was committed.
 * *ret_result is filled in any case. A change can be committed once. */
LANCET_API int lancet_commit(lancet_change *change, const struct lancet_commit_options *options,
	struct lancet_commit_result *ret_result, struct lancet_error *err);
/* The version that was committed with the token at most 24 hours ago; NOT_FOUND. */
LANCET_API int lancet_commit_find_token(lancet_dataset *dataset, const char *token,
	uint64_t *ret_version, struct lancet_error *err);

#endif
