/* The index section of a new manifest: unchanged entries keep their bytes and their order. */
#include "manifest_parts.h"

#include <assert.h>

#include "lance/table.pb-c.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define INDEX_TAG 0x0a /* IndexSection.indices */

enum { SECTION_INDICES = 1 };

static bool
indices_are_as_stored(const struct draft *draft)
{
	for (size_t i = 0; i < draft->index_count; i++)
		if (draft->indices[i].changed || draft->indices[i].removed)
			return false;
	return true;
}

static bool
has_indices(const struct draft *draft)
{
	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed)
			return true;
	return false;
}

/* One field of the stored section; *place is the entry that comes next. */
static int
put_stored_entry(struct writing *w, const struct pb_field *field, size_t *place)
{
	const struct draft_index *index;

	if (field->number != SECTION_INDICES) {
		TRY(writing_flush(w));
		splice_copy(w->out, field->start, field->end - field->start);
		return LANCET_OK;
	}
	assert(*place < w->draft->index_count);
	index = &w->draft->indices[(*place)++];
	if (index->removed)
		return LANCET_OK;
	if (index->changed) {
		writing_put_field(&w->run, INDEX_TAG, &index->message->base);
		return LANCET_OK;
	}
	TRY(writing_flush(w));
	splice_copy(w->out, field->start, field->end - field->start);
	return LANCET_OK;
}

/* The entries of the origin's section in their order, then new ones. */
static int
put_entries(struct writing *w, uint64_t size)
{
	const lancet_version *origin = w->draft->origin;
	struct pb_field field;
	struct pbscan scan;
	size_t place = 0;
	int rc = LANCET_OK;

	if (size > 0) {
		TRY(pbscan_init(&scan, origin->file, origin->index_section + SECTION_PREFIX_SIZE,
			size, 0, w->err));
		while (pbscan_step(&scan, &field, &rc, w->err))
			rc = put_stored_entry(w, &field, &place);
		pbscan_release(&scan);
		TRY(rc);
	}
	for (; place < w->draft->index_count; place++)
		if (!w->draft->indices[place].removed)
			writing_put_field(
				&w->run, INDEX_TAG, &w->draft->indices[place].message->base);
	return writing_flush(w);
}

static int
stored_section_size(const lancet_version *origin, uint64_t *ret_size, struct lancet_error *err)
{
	uint8_t prefix[SECTION_PREFIX_SIZE];

	*ret_size = 0;
	if (origin == NULL || !origin->has_index_section)
		return LANCET_OK;
	/* draft_indices has read it: it is in the file */
	TRY(source_read_at(origin->file, origin->index_section, sizeof(prefix), prefix, err));
	*ret_size = load_u32(prefix);
	return LANCET_OK;
}

int
writing_put_index_section(struct writing *w, bool *ret_has)
{
	const lancet_version *origin = w->draft->origin;
	uint64_t size, at = w->out->size;
	size_t place;

	assert(w->draft->indices_loaded);
	*ret_has = has_indices(w->draft);
	if (!*ret_has)
		return LANCET_OK;
	TRY(stored_section_size(origin, &size, w->err));
	if (indices_are_as_stored(w->draft)) {
		splice_copy(w->out, origin->index_section, SECTION_PREFIX_SIZE + size);
		return LANCET_OK;
	}
	place = splice_reserve(w->out);
	TRY(put_entries(w, size));
	return writing_set_length(w, place, at, "index section");
}
