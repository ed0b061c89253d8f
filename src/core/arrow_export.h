/* Decoded arrays handed over in the Arrow C Data Interface.
 *
 * Every node of an exported tree owns what it points to and has a release callback of its own, so
 * that whoever receives it may move any child out and release the parts in any order. */
#ifndef CORE_ARROW_EXPORT_H
#define CORE_ARROW_EXPORT_H

#include <lancet/arrow.h>
#include <lancet/bytes.h>
#include "file/array.h"

/* The schema of a batch: a struct with the given fields, and the metadata of the table. */
int arrow_export_schema(const struct field *const *fields, size_t count,
	const struct lancet_entry *metadata, size_t metadata_count, struct ArrowSchema *ret_schema,
	struct lancet_error *err);
/* A batch of `rows` rows. On success the buffers of the arrays have moved out of them: they are
 * empty, and may only be released. */
int arrow_export_batch(struct array *columns, size_t count, uint64_t rows,
	struct ArrowArray *ret_batch, struct lancet_error *err);

#endif
