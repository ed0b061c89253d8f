/* Pages of legacy files: one for each batch of rows of a field, found by a table of their places.
 *
 * The table has entries for the ids of all fields from the lowest to the highest, a batch after the
 * other. What a page holds is not told: the type says it. Format facts: legacy data files.
 */
#ifndef FILE_LEGACY_PAGE_H
#define FILE_LEGACY_PAGE_H

#include "array.h"
#include "datafile.h"
#include "scratch.h"

struct legacy_page {
	uint64_t position; /* bytes from the start of the file; not checked */
	uint64_t length;   /* values; of lists one more: their bounds */
};

/* The pages of the field with this id in the file, one for each batch; the caller frees them. */
int legacy_pages_load(struct datafile *file, int32_t id, struct legacy_page **ret_pages,
	struct lancet_error *err);

/* All three append values [first, first + count) of a page to out. CORRUPT beyond its length, or
 * beyond the file. FIXED and fixed-size lists of it: as they are, nulls are not stored. */
int legacy_read_plain(struct source *src, const struct legacy_page *page, uint64_t first,
	uint64_t count, struct array *out, struct lancet_error *err);
/* VARIABLE: what is empty is null where the field may be. */
int legacy_read_binary(struct source *src, const struct legacy_page *page, uint64_t first,
	uint64_t count, struct scratch *scratch, struct array *out, struct lancet_error *err);
/* LIST, without the items: these are [*ret_item, *ret_item + *ret_items) of the same batch. */
int legacy_read_lists(struct source *src, const struct legacy_page *page, uint64_t first,
	uint64_t count, struct scratch *scratch, struct array *out, uint64_t *ret_item,
	uint64_t *ret_items, struct lancet_error *err);

#endif
