/* Where the decoded parts of one leaf are gathered: the leaf and the arrays above it. The latter
 * have no children, so that the leaves of a wide struct don't cost the square of its width.
 */
#include "levels.h"

#include <stdlib.h>

#include "array_grow.h"
#include "util/macros.h"

static int
nest_init(struct array *nest, const struct field *field, struct array_budget *budget,
	struct lancet_error *err)
{
	unsigned width;

	*nest = (struct array){ .field = field, .budget = budget };
	if (field->kind != FIELD_LIST && field->kind != FIELD_MAP)
		return LANCET_OK;
	width = array_offset_width(nest);
	TRY(array_grow(nest, &nest->offsets, width, err));
	buf_fill(&nest->offsets, 0, width);
	return LANCET_OK;
}

static size_t
ancestors(const struct field *leaf)
{
	size_t count = 0;

	for (const struct field *above = leaf->parent; above != NULL; above = above->parent)
		count++;
	return count;
}

int
leaf_out_init(struct leaf_out *out, const struct field *leaf, struct array_budget *budget,
	struct lancet_error *err)
{
	const struct field *above = leaf->parent;
	size_t count = ancestors(leaf);
	int rc;

	*out = (struct leaf_out){ 0 };
	TRY(array_init(&out->leaf, leaf, budget, err));
	out->nests = calloc(count == 0 ? 1 : count, sizeof(*out->nests));
	rc = out->nests == NULL ? lancet_fail(err, LANCET_NO_MEMORY, "nesting of a leaf")
				: LANCET_OK;
	for (; rc == LANCET_OK && out->nest_count < count; above = above->parent)
		rc = nest_init(&out->nests[out->nest_count++], above, budget, err);
	if (rc != LANCET_OK)
		leaf_out_release(out);
	return rc;
}

void
leaf_out_release(struct leaf_out *out)
{
	if (out == NULL)
		return;
	array_release(&out->leaf);
	for (size_t i = 0; i < out->nest_count; i++)
		array_release(&out->nests[i]);
	free(out->nests);
	for (size_t i = 0; i < ARRAY_SIZE(out->work); i++)
		buf_release(&out->work[i]);
	*out = (struct leaf_out){ 0 };
}

void
leaf_out_reset(struct leaf_out *out)
{
	array_reset(&out->leaf);
	for (size_t i = 0; i < out->nest_count; i++)
		array_reset(&out->nests[i]);
}
