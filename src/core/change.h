/* Inside of a change, for the modules of core that make and commit one. */
#ifndef CORE_CHANGE_H
#define CORE_CHANGE_H

#include <lancet/commit.h>
#include <pthread.h>

#include "affected.h"
#include "publish.h"
#include "transaction.h"

struct Lance__Table__Transaction;

/* The deletion vector of a fragment whose file is written when the change is committed: the message
 * names the fragment in updated_fragments, and its deletion_file is a placeholder until then. */
struct change_deletion {
	uint64_t fragment;
	roaring_bitmap_t *deleted; /* of all rows deleted in it, those of the version read too */
};

struct lancet_change {
	lancet_dataset *dataset; /* counted */
	lancet_version *read;    /* counted; NULL: not opened yet, lancet_commit does */
	/* The message, to be changed by lancet_change_set_… until it is committed. */
	struct arena arena;
	struct Lance__Table__Transaction *message;
	struct change_deletion *deletions; /* malloc */
	size_t deletion_count;
	struct affected_rows *affected;  /* NULL: not known */
	struct lancet_bytes reuse_entry; /* Rewrite: as rebase_init takes it; in arena */
	/* Files that were written for it, named and durable: publish_undo takes them back. */
	struct publish files;
	pthread_mutex_t lock; /* of `files` and `arena`, where several threads write fragments */
	bool committed;
	uint8_t *stored; /* the transaction as published; malloc */
	size_t stored_size;
};

/* A change without message and without version read: whoever makes it sets the message. */
int change_empty(lancet_dataset *dataset, lancet_change **ret_change, struct lancet_error *err);
/* A change on `read` whose message is fresh: read_version, a random uuid, no operation. The
 * message's operation is set by the caller, from change->arena. */
int change_new(lancet_version *read, lancet_change **ret_change, struct lancet_error *err);
/* change->read, opened when it was not: the version that the message says. NOT_FOUND: it is gone;
 * INVALID: no transaction on an existing dataset has read it. */
int change_open_read(lancet_change *change, struct lancet_error *err);

/* Fails as a commit at this moment would, as far as that can be told without writing: its fragments
 * may have any ids that nobody has. BUSY, CONFLICT: a commit would say why. */
int change_rehearse(lancet_change *change, struct lancet_error *err);

/* INVALID when it was committed already. */
int change_check_open(const lancet_change *change, struct lancet_error *err);
int change_no_memory(struct lancet_error *err);

#define UUID_TEXT_SIZE 36
/* The uuid of all transactions with this token. */
void change_token_uuid(struct slice token, char into[UUID_TEXT_SIZE + 1]);
/* INVALID: empty, too long, no UTF-8. */
int change_token_check(const char *token, struct lancet_error *err);
/* The value of a property of a transaction; false when it has none of that name. */
bool change_property(
	const struct Lance__Table__Transaction *message, const char *key, struct slice *ret_value);

#endif
