/* Sparse pages of 2.3: structure and values apart.
 *
 * Layers tell by positions which slots are null and which lists have items; values have no levels.
 * The positions of a page are read as a whole when rows are first asked for. Then rows lead through
 * the layers to slots of the leaf (sparse_walk.c), and those to values (sparse_values.c,
 * sparse_zipped.c). Format facts: 2.3 PlanarLayout.
 */
#include "layout_sparse.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>
#include <lance/encodings23.pb-c.h>

#include "fullzip.h"
#include "layout_cases.h"
#include "miniblock.h"
#include "sparse.h"
#include "util/macros.h"

#define VALUES_BYTES_MAX ((size_t)256 * 1024 * 1024) /* indices of one page */

struct sparse {
	struct sparse_layers layers;
	struct sparse_values values;
	bool loaded;
};

static int
load(struct page_reader *reader, struct sparse *sparse, struct lancet_error *err)
{
	const struct sparse_values_kind *kind = sparse->values.kind;

	if (sparse->loaded)
		return LANCET_OK;
	TRY(sparse_layers_load(reader, &sparse->layers, err));
	if (kind->load != NULL)
		TRY(lancet_wrap(err, kind->load(reader, &sparse->layers, &sparse->values, err),
			"%s", kind->name));
	sparse->loaded = true;
	return LANCET_OK;
}

static int
read_rows(struct page_reader *reader, const struct row_range *ranges, size_t count,
	struct leaf_out *out, struct lancet_error *err)
{
	struct sparse *sparse = reader->state;
	struct sparse_walk walk;
	int rc;

	TRY(load(reader, sparse, err));
	TRY(sparse_walk_begin(&walk, reader, ranges, count, err));
	rc = sparse_walk_layers(&walk, &sparse->layers, out, err);
	if (rc == LANCET_OK)
		rc = lancet_wrap(err,
			sparse_values_read(
				reader, &sparse->values, &sparse->layers, &walk, &out->leaf, err),
			"%s", sparse->values.kind->name);
	sparse_walk_end(&walk);
	return rc;
}

static void
describe(const struct page_reader *reader, struct buf *out)
{
	const struct sparse_values *values = &((const struct sparse *)reader->state)->values;

	buf_printf(out, "sparse(%s", values->kind->name);
	if (values->miniblock != NULL || values->fullzip != NULL)
		buf_put_text(out, ", ");
	if (values->miniblock != NULL)
		miniblock_describe(values->miniblock, out);
	if (values->fullzip != NULL)
		fullzip_describe(values->fullzip, out);
	buf_put_byte(out, ')');
}

/* With a single layer its positions are the nulls, or all others are. */
static bool
null_count(const struct page_reader *reader, uint64_t *ret_nulls)
{
	const struct sparse_layers *layers = &((const struct sparse *)reader->state)->layers;
	const struct sparse_layer *leaf = &layers->layers[layers->count - 1];

	if (layers->count != 1)
		return false;
	*ret_nulls = leaf->lists_valid ? leaf->slots - leaf->marked.count : leaf->marked.count;
	return true;
}

static void
release(struct page_reader *reader)
{
	struct sparse *sparse = reader->state;

	sparse_values_release(&sparse->values);
	sparse_layers_release(&sparse->layers);
}

const struct layout layout_sparse = {
	.name = "sparse",
	.read = read_rows,
	.describe = describe,
	.null_count = null_count,
	.release = release,
};

int
sparse_open(struct page_reader *reader, const struct Lance__Encodings23__PlanarLayout *message,
	struct lancet_error *err)
{
	struct sparse *sparse = arena_zalloc(&reader->arena, 1, sizeof(*sparse));
	size_t buffers = 0;

	if (sparse == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "page");
	sparse->values.budget.limit = VALUES_BYTES_MAX;
	TRY(sparse_layers_open(reader, message->structure->sparse, &sparse->layers, err));
	reader->state = sparse; /* from here on the reader releases it */
	reader->layout = &layout_sparse;
	TRY(sparse_values_open(
		reader, &sparse->layers, message->values, &sparse->values, &buffers, err));
	return layout_check_buffers(reader, sparse_layers_number(&sparse->layers, buffers), err);
}
