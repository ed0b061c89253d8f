/* The manifest of the version that a commit is about to make.
 *
 * A draft starts as the manifest of the version it follows: fragments, index entries and fields as
 * they are stored. An operation changes what it has to; all else keeps its bytes, unknown fields
 * included, since only what was changed is encoded anew. Then draft_finish does what every commit
 * does (order, marks, flags, checks), and draft_write puts the file together.
 *
 *     draft_init(&draft, newest, newest, &rebase, err);
 *     operation_apply(&draft, err);             operation.h
 *     draft_finish(&draft, now, err);
 *     manifest_write_prepare(&draft, …);        manifest_write.h
 *
 * Format facts: Manifest message, common build steps, max_fragment_id, feature flags.
 */
#ifndef CORE_DRAFT_H
#define CORE_DRAFT_H

#include "conflict.h"
#include "util/arena.h"

struct Lance__Table__DataFragment;
struct Lance__Table__IndexMetadata;
struct Lance__Table__Manifest;
struct Lance__Table__Transaction;

/* What of the head has to be encoded anew from draft.head; all other fields keep their bytes. The
 * fields that every commit sets (version, timestamp, flags, marks, writer, tag, transaction,
 * sections) are not here. */
enum draft_change {
	DRAFT_SCHEMA = 1,
	DRAFT_SCHEMA_METADATA = 2,
	DRAFT_CONFIG = 4,
	DRAFT_TABLE_METADATA = 8,
	DRAFT_BASE_PATHS = 16,
	DRAFT_DATA_FORMAT = 32,
	DRAFT_BRANCH = 64,
	DRAFT_FIELD_MARK = 128, /* max_allocated_field_id */
};

struct draft_fragment {
	uint64_t id;
	uint32_t stored; /* ordinal in origin->spans; UINT32_MAX: a new one */
	bool removed;
	/* NULL: the stored bytes are kept. In draft.arena. */
	struct Lance__Table__DataFragment *message;
};

struct draft_index {
	const struct lancet_index_segment *segment; /* as stored in origin; NULL: a new entry */
	bool changed;                               /* message is to be encoded */
	bool removed;
	/* What the entry says; never modified unless changed (draft_index_edit). */
	struct Lance__Table__IndexMetadata *message;
};

/* A file of this draft alone: durable before the version is there, gone when that is not made. */
struct draft_file {
	const char *key;
	struct slice content;
};

struct draft {
	/* The version that is followed; NULL: the draft makes a dataset or a branch. */
	lancet_version *newest;
	/* Whose manifest it starts from: newest, but for a Restore and a Clone. */
	lancet_version *origin;
	/* Our transaction and what the conflict check left to do. NULL for what needs none. */
	const struct rebase *rebase;
	struct arena arena; /* of everything an operation makes */
	/* A copy of ours that may be changed: what gets published. Long values are borrowed. */
	struct Lance__Table__Transaction *message;
	uint64_t number;                  /* of the version being made */
	struct draft_fragment *fragments; /* malloc; by id once draft_finish is done */
	size_t fragment_count, fragment_capacity;
	size_t sorted_count;         /* fragments from the first that are in order */
	roaring_bitmap_t *unsorted;  /* ids of those behind; NULL: none was needed */
	struct draft_index *indices; /* malloc; stored order, then new ones */
	size_t index_count, index_capacity;
	bool indices_loaded; /* false: draft_indices was not called, entries keep their bytes */
	struct draft_file *files; /* in the arena */
	size_t file_count;
	/* Origin's message without fragments; members may be replaced by what lies in arena,
	 * together with the bit of enum draft_change. */
	struct Lance__Table__Manifest *head;
	unsigned changed;
	/* The marks; draft_finish raises max_fragment_id over the fragments that are there. */
	bool has_max_fragment_id;
	uint32_t max_fragment_id;
	uint64_t next_row_id;
	bool stable_row_ids;
	/* Flags that the version has whatever is in it: sticky ones, and those of the operation.
	 * draft_finish fills reader/writer_flags. */
	uint64_t sticky_reader, sticky_writer;
	uint64_t reader_flags, writer_flags;
	int64_t timestamp_seconds;
	int32_t timestamp_nanos;
	bool version_given; /* `number` is the operation's: a Clone keeps that of its source */
	bool published;     /* manifest_write_publish gave the file its name, whatever it says */
};

/* `rebase` may be NULL; the message is then set by the caller. References are taken. UNSUPPORTED:
 * newest has a writer flag, or the manifest something else, that this build must not write over;
 * the text names it. CORRUPT: fragments that can't be listed. */
int draft_init(struct draft *draft, lancet_version *newest, lancet_version *origin,
	const struct rebase *rebase, struct lancet_error *err);
void draft_release(struct draft *draft);

/* The place of the fragment with this id, not removed; SIZE_MAX when there is none. */
size_t draft_find(const struct draft *draft, uint64_t id);
/* The message of the fragment at a place, decoded on the first call, to be modified; in
 * draft.arena. CORRUPT: its stored bytes can't be decoded. */
int draft_edit(struct draft *draft, size_t place, struct Lance__Table__DataFragment **ret_message,
	struct lancet_error *err);
/* The same for reading only: decoded into `arena` when it was not edited. */
int draft_look(const struct draft *draft, size_t place, struct arena *arena,
	const struct Lance__Table__DataFragment **ret_message, struct lancet_error *err);
void draft_remove(struct draft *draft, size_t place);
/* A new fragment: a shallow copy of `message`, whose members may be replaced. Id 0 in the message
 * means the next free one (format facts: new-fragment id rule); any other is taken as reserved:
 * INVALID when it is live, or was never reserved (above the mark). */
int draft_add(struct draft *draft, const struct Lance__Table__DataFragment *message,
	struct Lance__Table__DataFragment **ret_message, struct lancet_error *err);

/* Loads the index entries: to be called before draft.indices is used. CORRUPT: damaged. */
int draft_indices(struct draft *draft, struct lancet_error *err);
/* The message of an entry to be modified: a shallow copy in draft.arena. */
int draft_index_edit(struct draft *draft, size_t place,
	struct Lance__Table__IndexMetadata **ret_message, struct lancet_error *err);
void draft_index_remove(struct draft *draft, size_t place);
int draft_index_add(
	struct draft *draft, struct Lance__Table__IndexMetadata *message, struct lancet_error *err);

/* Key and content are borrowed, from the arena. */
int draft_add_file(
	struct draft *draft, const char *key, struct slice content, struct lancet_error *err);

/* Common work of every commit, after the operation was applied: removed fragments go, all are put
 * in order, duplicates are refused. Of fragments that were changed, data files without live field
 * or lineage column are dropped, overlay order and lineage carriers are checked. Rows that old
 * writers did not count are counted, marks and flags set, the storage version held against the
 * files. UTC. */
int draft_finish(struct draft *draft, int64_t seconds, int32_t nanos, struct lancet_error *err);

/* Memory in the arena, zeroed; and copies of bytes. NULL: no memory left. */
void *draft_alloc(struct draft *draft, size_t size);
void *draft_copy(struct draft *draft, const void *data, size_t size);
int draft_no_memory(struct lancet_error *err);

#endif
