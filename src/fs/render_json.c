/* JSON documents and map values: the library writes them, a buffer takes them. SPEC section 4. */
#include "render.h"

#include "util/macros.h"

static int
append_to_buf(void *context, const void *data, size_t size)
{
	struct buf *out = context;

	buf_put(out, data, size);
	return out->failed;
}

static struct lancet_output
output_to(struct buf *out)
{
	return (struct lancet_output){ append_to_buf, out };
}

int
render_manifest_json(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);

	return lancet_version_manifest_json(ref->version, &to, err);
}

int
render_schema_json(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);

	return lancet_version_schema_json(ref->version, &to, err);
}

int
render_transaction_json(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);
	lancet_transaction *transaction = NULL;

	TRY(lancet_transaction_open(ref->version, &transaction, err));
	int rc = lancet_transaction_json(transaction, &to, err);
	lancet_transaction_free(transaction);
	return rc;
}

int
render_fragment_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);
	lancet_fragment *fragment = NULL;

	TRY(lancet_fragment_open(ref->version, ref->ordinal, &fragment, err));
	int rc = lancet_fragment_json(fragment, &to, err);
	lancet_fragment_unref(fragment);
	return rc;
}

static int
find_index(const struct node_ref *ref, const struct lancet_index **ret_index,
	struct lancet_error *err)
{
	const struct lancet_index *indices;
	size_t count;

	TRY(lancet_version_indices(ref->version, &indices, &count, err));
	if (item_index(ref->item) >= count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such index");
	*ret_index = &indices[item_index(ref->item)];
	return LANCET_OK;
}

int
render_index_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);
	const struct lancet_index *index = NULL;

	TRY(find_index(ref, &index, err));
	return lancet_index_json(ref->version, index, NULL, &to, err);
}

int
render_segment_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);
	const struct lancet_index *index = NULL;

	TRY(find_index(ref, &index, err));
	if (item_segment(ref->item) >= index->segment_count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such index segment");
	return lancet_index_json(ref->version, index, index->segments[item_segment(ref->item)], &to,
		err);
}

int
render_map_value(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	size_t count;
	const struct lancet_entry *entries =
		lancet_version_map(ref->version, (enum lancet_map)ref->kind->map, &count);

	if (ref->item >= count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such key");
	buf_put(out, entries[ref->item].value.data, entries[ref->item].value.size);
	return LANCET_OK;
}
