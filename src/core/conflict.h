/* Whether our transaction may be committed after those that were committed since it was built.
 *
 * Ours was built on a version R. Each transaction of a later version is held against it, in
 * ascending order, by one rule of a matrix (conflict_matrix.c): compatible, retryable (what ours
 * was computed from has changed: compute it again) or incompatible (it makes no sense any more).
 * Compatible ones may leave work: what has to be merged into our message before it is built on the
 * newest manifest. That work adds up in the rebase, and conflict_finish does it against the newest
 * version; a retry goes on with the versions that have come since.
 *
 *     rebase_init(&rebase, ours, read, …);
 *     again:
 *     conflict_check_since(&rebase, newest, &conflict, err);
 *     if (conflict.verdict == CONFLICT_NONE)
 *             conflict_finish(&rebase, &conflict, err);
 *     … build on newest and publish; the race was lost: again, with the new newest …
 *     rebase_release(&rebase);
 *
 * The verdicts are those of the reference, but for the cases where it accepts a loss: those are
 * refused here. Format facts: conflict matrix, rebase work.
 */
#ifndef CORE_CONFLICT_H
#define CORE_CONFLICT_H

#include "affected.h"
#include "touched.h"
#include "version.h"

enum conflict_verdict { CONFLICT_NONE, CONFLICT_RETRYABLE, CONFLICT_INCOMPATIBLE };

struct index_set;

/* The rule of a trim that finds its work done: as good as a success. */
#define CONFLICT_NOTHING_TO_TRIM "nothing_to_trim"

/* Who won, and why. */
struct conflict {
	enum conflict_verdict verdict;
	uint64_t version;
	const char *operation; /* of that version; static */
	const char *rule;      /* one word for the rule, with '_'; static */
	char text[240];        /* one line */
};

/* A fragment whose deletion vector was changed by others, too. */
struct rebase_deletion {
	uint64_t fragment;
	roaring_bitmap_t *deleted; /* theirs and ours: what the new deletion file is to hold */
	bool whole;                /* nothing is left: the fragment is to be removed instead */
};

/* An index of ours, and what has become of its coverage. */
struct rebase_index {
	const struct Lance__Table__IndexMetadata *message;
	struct numbers fields;     /* those of the message, and all fields below them */
	roaring_bitmap_t *covered; /* fragments it was built over; NULL: not known */
	/* Those that it must not name any more, whether it names them or not; NULL: none. Sources
	 * of rewritten fragments are there after conflict_finish. */
	roaring_bitmap_t *withdrawn;
};

/* The commit that changed a fragment of ours, by the place in touched.modified. */
struct rebase_mark {
	uint64_t version; /* 0: nobody */
	enum operation_kind kind;
};

struct rebase {
	const lancet_transaction *ours; /* borrowed, and so are the next ones */
	lancet_version *read, *newest;
	const struct affected_rows *affected; /* NULL: not known */
	struct lancet_bytes reuse_entry; /* Rewrite: encoded entry it is to publish; may be empty */
	struct touched touched;
	struct arena arena;
	struct lancet_index_segment carried; /* the reuse entry, decoded */
	struct index_set *carried_set;
	struct lancet_reuse *records; /* what it records, made on first use */
	uint64_t checked;             /* versions up to this one were held against ours */
	enum operation_kind last;     /* the operation of that one */
	struct rebase_mark decisive;  /* last one that conflict_finish may refuse ours for */
	uint64_t work;                /* comparisons so far, of what can be many times many */
	struct rebase_mark *marks;    /* for conflict_finish */
	struct rebase_index *indices; /* CreateIndex: one for each new entry */
	size_t index_count;
	/* What has to be done: valid after conflict_finish, until the next call. */
	struct rebase_deletion *deletions;
	size_t deletion_count;
	const struct lancet_index_segment **superseded; /* entries of newest that ours replaces */
	size_t superseded_count;                        /* (the one reuse or MemWAL entry) */
	struct shards progress; /* ours makes the MemWAL entry: progress it has to start with */
	size_t progress_capacity;
	bool trims; /* ours trims a tagged history: to be made anew from that of newest */
};

/* UNSUPPORTED: an operation that is not known, which is never rebased. CORRUPT: a transaction that
 * contradicts itself. Everything given is borrowed until rebase_release. */
int rebase_init(struct rebase *rebase, const lancet_transaction *ours, lancet_version *read,
	const struct affected_rows *affected, struct lancet_bytes reuse_entry,
	struct lancet_error *err);
void rebase_release(struct rebase *rebase);

/* One transaction, which made version `number`; rebase->newest is set. *ret_conflict is filled in
 * any case. */
int conflict_check(struct rebase *rebase, const lancet_transaction *theirs, uint64_t number,
	struct conflict *ret_conflict, struct lancet_error *err);
/* All versions after the last one that was checked, up to `newest`; stops at the first conflict.
 * NOT_FOUND: one of them, or its transaction, is gone: nothing can be said then. */
int conflict_check_since(struct rebase *rebase, lancet_version *newest,
	struct conflict *ret_conflict, struct lancet_error *err);
/* What can only be said of the newest version, and the work that is left. To be called when
 * conflict_check_since found nothing, also when there was no version to check. */
int conflict_finish(struct rebase *rebase, struct conflict *ret_conflict, struct lancet_error *err);

#endif
