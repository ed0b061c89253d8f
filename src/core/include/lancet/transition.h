/* The fragment reuse history of a version: which fragments were rewritten into which others, where
 * every row of them went, and the translation of row addresses through it.
 *
 * One transition is one rewrite of some fragments (sources) into others (destinations). Transitions
 * are numbered in lineage order: what makes a fragment comes before what consumes it, else as they
 * are stored, legacy groups first. Opening reads the history and no row map. What is wrong with one
 * transition is its fault alone; all handles are immutable and safe from many threads. Format
 * facts: fragment reuse index.
 */
#ifndef LANCET_TRANSITION_H
#define LANCET_TRANSITION_H

#include "index.h"

typedef struct lancet_reuse lancet_reuse; /* borrowed from its version */

/* Whether the version has an entry of that name, sound or not. False when its index section can't
 * be read. */
LANCET_API bool lancet_version_has_reuse(lancet_version *version);
/* Loaded on first use, and belongs to the version. NOT_FOUND: no such entry. CORRUPT: several
 * entries, details that can't be decoded, or external ones that are cut; IO: external ones that are
 * gone; UNSUPPORTED: an index version above 1. */
LANCET_API int lancet_version_reuse(
	lancet_version *version, lancet_reuse **ret_reuse, struct lancet_error *err);

struct lancet_reuse_info {
	const struct lancet_index_segment *entry;
	int32_t index_version; /* 0 legacy, 1 tagged */
	bool external;         /* details are in a file of their own */
	struct lancet_bytes details_path; /* as stored, in the entry's index directory */
	uint64_t details_bytes;           /* of the encoded history */
	size_t legacy_versions, tagged_transitions; /* records as stored */
	size_t transition_count;                    /* groups of legacy versions and transitions */
	bool interpretable; /* false: an unknown record or mapping; nothing may be built on it */
	size_t fault_count; /* transitions with a fault */
};
LANCET_API const struct lancet_reuse_info *lancet_reuse_info(const lancet_reuse *reuse);

enum lancet_mapping { LANCET_ORDERED_COMPACTION, LANCET_STABLE_PARTITION, LANCET_UNKNOWN_MAPPING };

struct lancet_fragment_digest {
	uint64_t id, physical_rows, deleted_rows; /* physical_rows counts deleted ones */
};

struct lancet_transition {
	enum lancet_mapping mapping;
	/* Group `group` of legacy version `record`, else transition `record`: as stored. */
	bool legacy;
	size_t record, group;
	uint64_t dataset_version; /* of the legacy version; 0 when tagged */
	const struct lancet_fragment_digest *sources, *destinations; /* stored order */
	size_t source_count, destination_count;
	uint64_t source_rows; /* physical rows of all sources */
	uint64_t live_rows;   /* of these, not deleted: the rows of all destinations */
	struct lancet_bytes map_id; /* STABLE_PARTITION: text of a UUID */
	uint64_t map_bytes;         /* exact size of its file */
	bool has_base;
	uint32_t base_id;
	/* LANCET_OK, or why it can't be followed (CORRUPT, or UNSUPPORTED for an unknown mapping)
	 * and one line that names the record, and the other one when two contradict each other. */
	enum lancet_code fault;
	const char *fault_text; /* NULL when sound */
};
/* index < transition_count. */
LANCET_API const struct lancet_transition *lancet_reuse_transition(
	const lancet_reuse *reuse, size_t index);
/* "ordered_compaction", "stable_partition", "unknown". */
LANCET_API const char *lancet_mapping_name(enum lancet_mapping mapping);
/* Where the row map of a stable partition is ("_fri/MAP_ID/stable_partition.lance"); allocated, the
 * caller frees. NOT_FOUND: no such mapping. CORRUPT: an id that is no UUID, an unknown base. */
LANCET_API int lancet_row_map_path(lancet_version *version,
	const struct lancet_transition *transition, const lancet_base **ret_base, char **ret_path,
	struct lancet_error *err);

/* info.json of fri/, and of one transition. CORRUPT when a transition contradicts another: the text
 * names both. */
LANCET_API int lancet_reuse_json(
	lancet_version *version, const struct lancet_output *out, struct lancet_error *err);
LANCET_API int lancet_transition_json(lancet_version *version, size_t transition,
	const struct lancet_output *out, struct lancet_error *err);

/* Where the rows of one transition went. Rows are numbered through its sources in their order,
 * deleted ones counted: 0 … source_rows - 1. */
typedef struct lancet_row_mapping lancet_row_mapping;

#define LANCET_NO_ROW UINT64_MAX /* no row address: the row was deleted */

/* The transition's fault, if it has one. CORRUPT: surviving rows or a row map that contradict the
 * transition; IO (EIO): a row map that is gone. Opens the row map and reads none of its labels. */
LANCET_API int lancet_row_mapping_open(lancet_version *version, size_t transition,
	lancet_row_mapping **ret_mapping, struct lancet_error *err);
LANCET_API void lancet_row_mapping_free(lancet_row_mapping *mapping);
/* row_addrs[i] = the address that row first + i went to, or LANCET_NO_ROW. INVALID beyond the rows;
 * CORRUPT: labels that contradict the counts. */
LANCET_API int lancet_row_mapping_read(lancet_row_mapping *mapping, uint64_t first, size_t count,
	uint64_t *row_addrs, struct lancet_error *err);
/* Ordered compaction: row_addrs[i] = the source address of surviving row first + i; first + count
 * <= live_rows or INVALID. */
LANCET_API int lancet_row_mapping_survivors(lancet_row_mapping *mapping, uint64_t first,
	size_t count, uint64_t *row_addrs, struct lancet_error *err);

#define LANCET_NO_LABEL UINT16_MAX /* the label of a deleted row */

/* Stable partition: the label of each row, which is the place of its destination in the list. */
LANCET_API int lancet_row_mapping_labels(lancet_row_mapping *mapping, uint64_t first, size_t count,
	uint16_t *labels, struct lancet_error *err);
/* Stable partition: the counts matrix as stored, block by block: rows of each destination up to the
 * end of the block. INVALID for an ordered compaction. */
LANCET_API int lancet_row_mapping_blocks(lancet_row_mapping *mapping, uint32_t *ret_block_rows,
	uint64_t *ret_block_count, struct lancet_error *err);
LANCET_API int lancet_row_mapping_counts(lancet_row_mapping *mapping, uint64_t first_block,
	size_t block_count, uint32_t *counts, struct lancet_error *err);

/* What became of a row address. */
enum lancet_row_fate {
	LANCET_ROW_CURRENT, /* the address it has in this version */
	LANCET_ROW_DELETED, /* a rewrite left it out */
	LANCET_ROW_UNKNOWN, /* no live fragment's, and no transition that we understand has it */
	LANCET_ROW_FAILED,  /* the way leads through a transition that is damaged */
};
/* Follows each address through all transitions to a fragment of the version; a version without a
 * history has no transitions. current[i] is set where fates[i] is CURRENT, else LANCET_NO_ROW.
 * Whether the row was deleted from that fragment later is not looked at. Any order; ascending
 * addresses are fastest, and many at once faster than one by one. Memory: 26 MiB at most, and as
 * much again when their fragments are as many as they are, whatever the count; besides surviving
 * rows, which the version keeps, and one row map. When some failed, the others are right all the
 * same, and the first failure is returned. */
LANCET_API int lancet_translate(lancet_version *version, const uint64_t *row_addrs, size_t count,
	uint64_t *current, uint8_t *fates, struct lancet_error *err);

#endif
