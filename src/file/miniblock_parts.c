/* Decoded chunks of which parts are wanted. Format facts: mini-block layout. */
#include "miniblock_chunk.h"

#include "util/macros.h"

#define KEPT_MAX ((size_t)512 << 10) /* bytes: the largest chunks of numbers take half */

int
chunk_parts_init(struct chunk_parts *parts, const struct field *field, struct array_budget *budget,
	struct lancet_error *err)
{
	const struct field *level = field_unsigned(16);

	TRY(array_init(&parts->rep, level, budget, err));
	TRY(array_init(&parts->def, level, budget, err));
	return array_init(&parts->values, field, budget, err);
}

void
chunk_parts_release(struct chunk_parts *parts)
{
	array_release(&parts->values);
	array_release(&parts->rep);
	array_release(&parts->def);
}

int
chunk_parts_fill(struct chunk_parts *parts, const struct miniblock *miniblock,
	const struct layers *layers, const struct chunk *chunk, struct scratch *scratch,
	struct lancet_error *err)
{
	array_reset(&parts->values);
	array_reset(&parts->rep);
	array_reset(&parts->def);
	TRY(chunk_decode_levels(miniblock, layers, chunk, scratch, &parts->rep, &parts->def, err));
	return codec_has_parts(miniblock->values)
		       ? LANCET_OK
		       : chunk_decode_values(miniblock, chunk, scratch, &parts->values, err);
}

static int
fill_kept(struct miniblock *miniblock, const struct field *field, const struct layers *layers,
	const struct chunk *chunk, struct scratch *scratch, struct lancet_error *err)
{
	struct kept_chunk *kept = &miniblock->kept;

	if (kept->budget.limit == 0) {
		TRY(chunk_parts_init(&kept->parts, field, &kept->budget, err));
		kept->budget.limit = KEPT_MAX;
	}
	return chunk_parts_fill(&kept->parts, miniblock, layers, chunk, scratch, err);
}

int
chunk_keep(struct miniblock *miniblock, const struct field *field, const struct layers *layers,
	const struct chunk *chunk, struct scratch *scratch, bool *ret_kept,
	struct lancet_error *err)
{
	struct kept_chunk *kept = &miniblock->kept;
	int rc;

	*ret_kept = false;
	if (kept->too_large || codec_has_parts(miniblock->values))
		return LANCET_OK;
	kept->filled = false;
	rc = fill_kept(miniblock, field, layers, chunk, scratch, err);
	kept->too_large = rc == LANCET_LIMIT;
	if (kept->too_large) {
		chunk_parts_release(&kept->parts);
		return LANCET_OK;
	}
	kept->filled = *ret_kept = rc == LANCET_OK;
	kept->index = chunk->index;
	kept->slots = chunk->slots;
	kept->entries = chunk->entries;
	return rc;
}
