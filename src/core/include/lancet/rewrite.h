/* Rewriting fragments: compaction, and partition by a column.
 *
 * Both are planned on a version, without writing anything; a plan can be looked at, or carried out,
 * which writes new data files and gives a change to commit. Rows keep their ids and versions.
 * Format facts: compaction, rewrites and index bitmaps, fragment reuse index.
 */
#ifndef LANCET_REWRITE_H
#define LANCET_REWRITE_H

#include "commit.h"

enum lancet_index_remap { LANCET_REMAP_AUTO, LANCET_REMAP_DEFER, LANCET_REMAP_SKIP };
enum lancet_binary_copy { LANCET_COPY_AUTO, LANCET_COPY_NEVER, LANCET_COPY_FORCE };

struct lancet_compact_options {
	uint64_t target_rows; /* fragments with fewer are joined; about what new ones have */
	/* A fragment is rewritten by itself when it has more deleted rows than this part of all, or
	 * more overlays than these (UINT64_MAX: however many). */
	bool materialize_deletions;
	double materialize_deletions_threshold;
	uint64_t max_overlays;
	const uint64_t *fragments; /* ids, ascending: no others are touched; NULL: all */
	size_t fragment_count;
	/* Of all tasks, which are left out from the first on that does not fit; 0: no limit. Rows
	 * are live ones. */
	uint64_t max_source_fragments, max_source_rows, max_source_bytes;
	uint64_t max_file_bytes; /* about; 0: 90 GiB */
	enum lancet_index_remap index_remap;
	enum lancet_binary_copy binary_copy;
};

/* The reference's defaults, with what the version's config sets of them (lance.compaction.*).
 * INVALID: a value there, by its key; UNSUPPORTED: another file version is asked for. */
LANCET_API int lancet_compact_defaults(lancet_version *read,
	struct lancet_compact_options *ret_options, struct lancet_error *err);

/* What a rewrite may use, and whom it tells. */
struct lancet_rewrite_run {
	/* Bytes, about; 0: 512 MiB. A value of one row that takes more than a worker's part of them
	 * costs about four times its size; LIMIT: one of more than 2 GiB. */
	size_t memory;
	unsigned workers; /* 0: 2 */
	bool (*cancelled)(void *context); /* asked often, from any worker; may be NULL */
	/* Called by one at a time; values are rows x columns. */
	void (*progress)(void *context, uint64_t done, uint64_t total, const char *unit);
	void *context;
};

typedef struct lancet_rewrite lancet_rewrite;

/* options NULL: the defaults. UNSUPPORTED, by name: a column or version that this build can't
 * write; deferred remap with stable row ids. NOT_FOUND: a fragment. Nothing is written. */
LANCET_API int lancet_compact_plan(lancet_version *read,
	const struct lancet_compact_options *options, lancet_rewrite **ret_rewrite,
	struct lancet_error *err);

enum lancet_label_format { LANCET_LABELS_AUTO, LANCET_LABELS_U16, LANCET_LABELS_TEXT };

/* Rows of the fragments go to one new fragment for each value or label, in the order that they
 * have; these come by ascending value: numbers before NaN, null last. */
struct lancet_partition_options {
	const char *by; /* a top-level column of plain values, or NULL: labels */
	/* Descriptor of a regular file, read from its beginning, or -1 with `by`: a label for each
	 * physical row of the fragments in the order of their ids, two bytes little-endian or a
	 * line, up to 65534; those of deleted rows don't matter, 65535 and "-" are none. */
	int labels;
	enum lancet_label_format format; /* AUTO: lines, when there are but digits, - and ends */
	const uint64_t *fragments;       /* ids, ascending; NULL: all */
	size_t fragment_count;
	enum lancet_index_remap index_remap;
};
/* Reads the column, or the labels; of the run only cancelled and progress count. Where rows have no
 * stable ids, the reuse history gets to know where they went, which readers before its tagged form
 * refuse (flag 1024), unless the remap is skipped. INVALID: no such column, labels that don't fit,
 * fragments that different index segments answer for. UNSUPPORTED: columns of nested values,
 * fragments with overlays (unless rows have stable ids), what compaction refuses. LIMIT: more than
 * 65535 values. NOT_FOUND: a fragment. A plan without tasks: the rows lie like this already. */
LANCET_API int lancet_partition_plan(lancet_version *read,
	const struct lancet_partition_options *options, const struct lancet_rewrite_run *run,
	lancet_rewrite **ret_rewrite, struct lancet_error *err);

LANCET_API void lancet_rewrite_free(lancet_rewrite *rewrite);

struct lancet_rewrite_totals {
	uint64_t tasks, sources, destinations;
	uint64_t source_rows, source_bytes; /* physical rows; data files */
	uint64_t live_rows;                 /* of the sources, and of the destinations */
	uint64_t written_bytes;             /* once it was carried out */
};
LANCET_API const struct lancet_rewrite_totals *lancet_rewrite_totals(const lancet_rewrite *rewrite);
/* Members of a JSON object (no braces): the whole plan with rows and bytes, what happens to each
 * index, how ids and versions are kept. */
LANCET_API int lancet_rewrite_json(
	const lancet_rewrite *rewrite, const struct lancet_output *out, struct lancet_error *err);
/* Writes the files, reserves their fragment ids (a version of its own), and makes the change; NULL
 * when there is nothing to do. Whatever fails or cancels it leaves no file, and no version
 * before all is written, read and checked that needs no ids; a change that a commit would refuse as
 * BUSY or CONFLICT at that point gets none. A rewrite is carried out once. */
LANCET_API int lancet_rewrite_run(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run,
	lancet_change **ret_change, struct lancet_error *err);

#endif
