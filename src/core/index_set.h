/* Inside of a version's index entries, for the modules of core. */
#ifndef CORE_INDEX_SET_H
#define CORE_INDEX_SET_H

#include <lancet/index.h>
#include "util/arena.h"
#include "util/buf.h"
#include "util/slice.h"

struct index_segment {
	struct lancet_index_segment info; /* first: the public handle points here */
	const struct Lance__Table__IndexMetadata *message;
};

/* What version->indices points at; immutable. */
struct index_set {
	struct arena arena;
	struct lancet_index *indices;
	size_t count;
};

/* Decodes an IndexSection. version_indices_free frees what it returns. */
int index_section_parse(struct slice bytes, struct index_set **ret_set, struct lancet_error *err);

/* The directory of the segment's files in its base: "_indices/UUID". */
void index_directory_put(struct buf *into, const lancet_version *version,
                         const struct lancet_index_segment *segment);

/* What a segment answers for, the reuse history considered. */
struct index_extent {
	bool known;     /* false: the coverage or a count of rows is not, or there is damage */
	uint64_t rows;  /* live ones of the fragments covered */
	size_t retired; /* fragments, LANCET_RETIRED */
};
/* reach is NULL when it could not be found out for the index. */
struct index_reach;
int index_extent_of(const lancet_version *version, struct index_reach *reach,
                    const struct lancet_index_segment *segment, struct index_extent *ret_extent,
                    struct lancet_error *err);

#endif
