/* JSON documents and map values: the library writes them, a buffer takes them. SPEC section 4. */
#include "render.h"

#include <lancet/transition.h>

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

int
render_index_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);
	const struct lancet_index *index = NULL;

	TRY(index_of(ref, &index, err));
	return lancet_index_json(ref->version, index, NULL, &to, err);
}

int
render_segment_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);
	const struct lancet_index *index = NULL;
	const struct lancet_index_segment *segment = NULL;

	TRY(index_of(ref, &index, err));
	TRY(segment_of(ref, &segment, err));
	return lancet_index_json(ref->version, index, segment, &to, err);
}

int
render_reuse_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);

	return lancet_reuse_json(ref->version, &to, err);
}

int
render_transition_info(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_output to = output_to(out);

	return lancet_transition_json(ref->version, (size_t)ref->item, &to, err);
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
