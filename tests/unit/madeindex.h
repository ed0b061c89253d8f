/* An index of a dataset made by hand. */
#ifndef TESTS_MADEINDEX_H
#define TESTS_MADEINDEX_H

#include <roaring/roaring.h>

#include "scandata.h"

#define INDEX_UUID  "0123456789abcdef"
#define INDEX_FILES "_indices/30313233-3435-3637-3839-616263646566"

/* A B-tree "a_idx" over all fragments: an entry in the section, and a file that nobody reads. */
static inline void
put_index(const struct tree *made, const struct dataset_spec *spec, struct buf *file)
{
	roaring_bitmap_t *set = roaring_bitmap_create();
	struct buf section = { 0 }, entry = { 0 }, uuid = { 0 }, any = { 0 };

	for (size_t i = 0; i < spec->count; i++)
		roaring_bitmap_add(set, (uint32_t)spec->fragments[i].id);
	put_head(&uuid, 1, 16);
	buf_put_text(&uuid, INDEX_UUID);
	put_message(&entry, 1, &uuid);
	put_head(&entry, 2, 1); /* fields: 0 */
	buf_put_byte(&entry, 0);
	put_head(&entry, 3, 5);
	buf_put_text(&entry, "a_idx");
	put_number(&entry, 4, 1); /* version */
	put_head(&entry, 5, roaring_bitmap_portable_size_in_bytes(set));
	ck_assert(buf_reserve(&entry, roaring_bitmap_portable_size_in_bytes(set)));
	entry.size += roaring_bitmap_portable_serialize(set, (char *)entry.data + entry.size);
	roaring_bitmap_free(set);
	put_head(&any, 1, 30);
	buf_put_text(&any, "/lance.table.BTreeIndexDetails");
	put_message(&entry, 6, &any);
	put_number(&entry, 7, 0);
	put_message(&section, 1, &entry);
	put_le(file, section.size, 4);
	buf_put(file, section.data, section.size);
	buf_release(&section);
	tree_text(made, "ds/" INDEX_FILES "/page_data.lance", "values");
	tree_text(made, "ds/" INDEX_FILES "/page_lookup.lance", "pages");
}

#endif
