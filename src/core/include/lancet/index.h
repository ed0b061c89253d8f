/* Index metadata of a version: entries of the index section, grouped by name.
 *
 * Format facts: IndexMetadata. A damaged section fails here alone; the rest of the version stays
 * readable.
 */
#ifndef LANCET_INDEX_H
#define LANCET_INDEX_H

#include "version.h"

struct lancet_index_file {
	struct lancet_bytes path;
	uint64_t size;
};

struct lancet_index_segment {
	uint8_t uuid[16];
	bool uuid_valid;    /* 16 bytes were stored */
	char uuid_text[37]; /* lower-case hyphenated; hex of what was stored when not valid */
	struct lancet_bytes name, type_url, details, bitmap; /* empty bitmap = unknown coverage */
	const int32_t *fields;
	size_t field_count;
	uint64_t dataset_version;
	bool has_index_version, has_created_at, has_base, has_files;
	int32_t index_version;
	uint64_t created_at; /* ms since 1970 */
	uint32_t base_id;
	const struct lancet_index_file *files;
	size_t file_count;
};

struct lancet_index {
	struct lancet_bytes name;
	bool is_system;                                     /* "__lance_…" */
	const struct lancet_index_segment *const *segments; /* stored order */
	size_t segment_count;
};

/* Indices by name in byte order. Loaded on first use. */
LANCET_API int lancet_version_indices(lancet_version *version,
                                      const struct lancet_index **ret_indices, size_t *ret_count,
                                      struct lancet_error *err);
/* Fragment ids in the stored bitmap, ascending, allocated; NOT_FOUND when coverage is unknown. */
LANCET_API int lancet_index_segment_fragments(const struct lancet_index_segment *segment,
                                              uint32_t **ret_ids, size_t *ret_count,
                                              struct lancet_error *err);

/* Which fragments an index answers for, the reuse history considered (format facts: coverage seen
 * by readers). All lists ascend. */
enum lancet_coverage {
	LANCET_COVERED,   /* live fragments that it answers for, directly or through the history */
	LANCET_UNINDEXED, /* live fragments that it does not answer for */
	LANCET_RETIRED,   /* stored ids, no longer live, through which it answers for live ones */
};
/* Of the whole index, or of one segment of it (not NULL). Allocated; NOT_FOUND when the coverage of
 * a segment is unknown. CORRUPT: a damaged bitmap, or a history that contradicts itself. */
LANCET_API int lancet_index_coverage(lancet_version *version, const struct lancet_index *index,
	const struct lancet_index_segment *segment, enum lancet_coverage which, uint32_t **ret_ids,
	size_t *ret_count, struct lancet_error *err);

/* One index that a transition must be kept for. */
struct lancet_reuse_need {
	size_t transition; /* lancet_reuse_transition */
	size_t index;      /* in lancet_version_indices */
	bool downstream;   /* only because a transition before it is needed */
};
/* By transition, then by index; allocated. A transition that is not in the list is needed by none.
 * NOT_FOUND: no history. UNSUPPORTED: one that is not fully understood, of which nothing may go.
 * Format facts: trim. */
LANCET_API int lancet_reuse_needs(lancet_version *version, struct lancet_reuse_need **ret_needs,
	size_t *ret_count, struct lancet_error *err);

/* info.json of the index (segment NULL) or of one segment. */
LANCET_API int lancet_index_json(lancet_version *version, const struct lancet_index *index,
                                 const struct lancet_index_segment *segment,
                                 const struct lancet_output *out, struct lancet_error *err);
/* Files of a segment: those listed, else what its directory holds, and external details. Paths in
 * *ret_base ("_indices/UUID/NAME"; "UUID/NAME" when the base is no dataset), sorted; allocated as
 * one block of pointers and texts that the caller frees. CORRUPT: no UUID, a hostile path, an
 * unknown base. */
LANCET_API int lancet_index_segment_files(lancet_version *version,
                                          const struct lancet_index_segment *segment,
                                          const lancet_base **ret_base, char ***ret_paths,
                                          size_t *ret_count, struct lancet_error *err);

#endif
