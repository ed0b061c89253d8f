/* Inside of deletion vectors: loading the two file formats into one bitmap. Format facts: deletion
 * files. */
#ifndef CORE_DELETION_H
#define CORE_DELETION_H

#include <lancet/column.h>
#include "util/roaringx.h"
#include "util/source.h"

/* Opens a file of the fragment by base and path; gone is LANCET_IO with EIO, as a manifest names
 * it. */
LANCET_MUST_CHECK int fragment_file_open(const lancet_base *base, const char *path,
	struct source **ret_file, struct lancet_error *err);

/* The set in the fragment's deletion file, checked against physical_rows and the recorded count.
 * The caller frees with roaring_bitmap_free. fragment->info is complete but for deleted_rows; it
 * has a deletion file. */
LANCET_MUST_CHECK int deletion_load(
	struct lancet_fragment *fragment, roaring_bitmap_t **ret_set, struct lancet_error *err);

/* The two formats: offsets below `rows`, LANCET_CORRUPT otherwise. `count_max` is the most values
 * that are due. */
LANCET_MUST_CHECK int deletion_bitmap_parse(struct source *file, uint64_t rows, uint64_t count_max,
	roaring_bitmap_t **ret_set, struct lancet_error *err);
/* An Arrow IPC file; order and repetition mean nothing, but there are no more values than rows. */
LANCET_MUST_CHECK int deletion_arrow_parse(
	struct source *file, uint64_t rows, roaring_bitmap_t **ret_set, struct lancet_error *err);

/* Members of the set below `offset`. */
uint64_t deletion_rank(const lancet_deletion *deletion, uint64_t offset);

/* How the body of a record batch is packed. */
enum deletion_codec { DELETION_PLAIN = -1, DELETION_LZ4_FRAME = 0, DELETION_ZSTD = 1 };

/* Adds the `count` u32 values of the buffer at file[offset, offset + size) to the set. Never holds
 * more than a window of it: what the buffer unpacks to is bounded by count. */
LANCET_MUST_CHECK int deletion_values_add(struct source *file, uint64_t offset, uint64_t size,
	enum deletion_codec codec, uint64_t count, uint64_t rows, roaring_bitmap_t *set,
	struct lancet_error *err);

#endif
