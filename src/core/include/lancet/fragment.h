/* Fragments of a version, decoded one at a time.
 *
 * Format facts: DataFragment, DataFile, deletion files, overlays, row ids and versions.
 */
#ifndef LANCET_FRAGMENT_H
#define LANCET_FRAGMENT_H

#include "version.h"

typedef struct lancet_fragment
	lancet_fragment; /* decoded, immutable, counted; keeps its version alive */

/* What the span scan knows of each fragment; sorted by id. ordinal < fragment_count. */
struct lancet_fragment_span {
	uint64_t id; /* one that doesn't fit a row address (>= 0xffffffff) fails when opened */
	uint64_t physical_rows; /* 0 = not recorded (old writers) */
	uint64_t deleted_rows;  /* recorded count; 0 also when it was not recorded */
};
LANCET_API void lancet_version_span(
	const lancet_version *version, uint64_t ordinal, struct lancet_fragment_span *ret_span);
/* NOT_FOUND when no fragment has the id; the first one in stored order when several have. */
LANCET_API int lancet_version_find_fragment(const lancet_version *version, uint64_t id,
	uint64_t *ret_ordinal, struct lancet_error *err);

struct lancet_data_file {
	struct lancet_bytes path; /* as stored, relative to data/ (or to the base) */
	const int32_t
		*fields; /* field ids; -2 tombstone, -3 -4 -5 lineage, other negatives unknown */
	size_t field_count;
	const int32_t *column_indices;
	size_t column_index_count;
	uint32_t major, minor;
	uint64_t size; /* bytes; 0 = not recorded */
	bool has_base;
	uint32_t base_id;
};

struct lancet_deletion_file {
	bool is_bitmap;                          /* else Arrow IPC */
	uint64_t read_version, id, deleted_rows; /* deleted_rows 0 = not recorded */
	bool has_base;
	uint32_t base_id;
};

struct lancet_overlay {
	struct lancet_data_file file;
	uint64_t committed_version;
	bool shared; /* one bitmap for all fields, else one per field of file */
	const struct lancet_bytes *coverage; /* portable 32-bit roaring; not validated here */
	size_t coverage_count;
};

enum lancet_lineage { LANCET_ROW_ID, LANCET_CREATED_AT, LANCET_LAST_UPDATED_AT };
enum lancet_placement { LANCET_INLINE, LANCET_COLUMN, LANCET_DEFAULT, LANCET_ADDRESS, LANCET_NONE };

struct lancet_sequence {
	enum lancet_placement placement;
	uint64_t bytes; /* encoded size when inline; else 0 */
};

struct lancet_fragment_info {
	uint64_t id, physical_rows,
		deleted_rows; /* exact: completed from the files when not recorded */
	const struct lancet_data_file *files;
	size_t file_count;
	const struct lancet_overlay *overlays; /* by committed_version ascending */
	size_t overlay_count;
	bool has_deletion_file;
	struct lancet_deletion_file deletion;
	struct lancet_sequence lineage[3]; /* by enum lancet_lineage; without stable row ids:
					      ADDRESS, NONE, NONE */
	bool retired_external;             /* fields 6, 8 or 10 are there (an old external_* arm) */
};

/* Decodes one fragment. CORRUPT when its message is damaged: its neighbours stay readable. */
LANCET_API int lancet_fragment_open(lancet_version *version, uint64_t ordinal,
	lancet_fragment **ret_fragment, struct lancet_error *err);
LANCET_API lancet_fragment *lancet_fragment_ref(lancet_fragment *fragment);
LANCET_API void lancet_fragment_unref(lancet_fragment *fragment);
LANCET_API const struct lancet_fragment_info *lancet_fragment_info(const lancet_fragment *fragment);
LANCET_API const char *lancet_placement_name(enum lancet_placement placement); /* NONE is "-" */
/* info.json of SPEC section 4. */
LANCET_API int lancet_fragment_json(
	lancet_fragment *fragment, const struct lancet_output *out, struct lancet_error *err);

/* A file of the fragment: its directory and its path in it ("data/x.lance"), allocated; the caller
 * frees. */
LANCET_API int lancet_data_file_path(lancet_version *version, const struct lancet_data_file *file,
	const lancet_base **ret_base, char **ret_path, struct lancet_error *err);
LANCET_API int lancet_deletion_file_path(lancet_fragment *fragment, const lancet_base **ret_base,
	char **ret_path, struct lancet_error *err);

#endif
