/* What a transaction touches: fragments, fields, index names, keys, shards. Found once for each
 * transaction, as sorted lists, so that the conflict rules only compare lists. Format facts:
 * transactions.
 */
#ifndef CORE_TOUCHED_H
#define CORE_TOUCHED_H

#include <lancet/transaction.h>
#include "numbers.h"

struct Lance__Table__DataFragment;
struct Lance__Table__IndexMetadata;
struct Lance__Table__Transaction;

#define MEM_WAL_INDEX_NAME "__lance_mem_wal"

/* In the order of the columns of the conflict matrix. */
enum operation_kind {
	OPERATION_APPEND,
	OPERATION_DELETE,
	OPERATION_OVERWRITE,
	OPERATION_CREATE_INDEX,
	OPERATION_REWRITE,
	OPERATION_MERGE,
	OPERATION_RESTORE,
	OPERATION_RESERVE_FRAGMENTS,
	OPERATION_UPDATE,
	OPERATION_PROJECT,
	OPERATION_UPDATE_CONFIG,
	OPERATION_DATA_REPLACEMENT,
	OPERATION_DATA_OVERLAY,
	OPERATION_UPDATE_MEM_WAL_STATE,
	OPERATION_CLONE,
	OPERATION_UPDATE_BASES,
	OPERATION_UNKNOWN, /* none, or one of a later release */
	OPERATION_KINDS = OPERATION_UNKNOWN
};

/* How far a shard has been merged. */
struct shard {
	uint8_t id[16];
	uint64_t generation;
};

struct shards {
	struct shard *list; /* by id, each once with its highest generation */
	size_t count;
};

/* One map of an UpdateConfig. The old form of the message counts as the new one that it means. */
struct map_changes {
	bool present; /* there is such a map, even an empty one */
	bool replaces;
	struct texts set, all; /* keys that get a value; the same and those that are deleted */
};

struct rewrite_group {
	struct Lance__Table__DataFragment **old_fragments, **new_fragments;
	size_t old_count, new_count;
};

struct touched {
	struct arena arena;
	enum operation_kind kind;
	const struct Lance__Table__Transaction *message; /* borrowed */
	/* Fragments of the version that was read: those that stay with the same id, those that go
	 * away, and both. A replaced or overlaid fragment is an updated one, a rewritten one is
	 * removed. */
	struct numbers updated, removed, modified;
	struct Lance__Table__DataFragment **images; /* parallel to updated; Delete and Update */
	struct numbers fields;                      /* modified, replaced or overlaid */
	bool moves_rows;                            /* Update: changed rows go to new fragments */
	struct rewrite_group *groups;
	size_t group_count;
	struct texts new_names, removed_names; /* CreateIndex */
	struct texts removed_uuids;
	bool adds_reuse, removes_reuse, adds_mem_wal;
	struct shards shards;
	struct map_changes config, table; /* table metadata */
	bool schema_metadata;             /* there is such a map, even an empty one */
	bool changes_metadata;            /* schema or field metadata differ afterwards */
	struct numbers metadata_fields;   /* fields whose metadata is listed, even empty */
	struct numbers base_ids;          /* explicit ones */
	struct texts base_names, base_paths;
};

/* The transaction is borrowed. CORRUPT: what no writer makes (a fragment twice, both forms of
 * UpdateConfig, a shard id that is no UUID). */
int touched_init(
	struct touched *touched, const lancet_transaction *transaction, struct lancet_error *err);
void touched_release(struct touched *touched);

enum operation_kind operation_kind_of(const struct Lance__Table__Transaction *message);
/* As the format calls it; "Unknown". */
const char *operation_kind_name(enum operation_kind kind);

/* Parts of touched_init (touched_config.c, touched_shards.c). */
int touched_config(struct touched *touched, struct lancet_error *err);
int touched_overwrite(struct touched *touched, struct lancet_error *err);
int touched_shards(struct touched *touched, struct lancet_error *err);
void shards_sort(struct shards *shards);
int touched_no_memory(struct lancet_error *err);

#endif
