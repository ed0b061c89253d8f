/* The registry of 2.0 page encodings, and what is done with any of them: open, bind, read,
 * describe.
 *
 * Nested messages are opened one level at a time and counted, so that the depth of a tree is
 * bounded before any recursion gets there. Format facts: v2.0 page encodings.
 */
#include "v20.h"

#include <inttypes.h>

#include "util/macros.h"
#include "util/pbunpack.h"
#include "v20_node.h"

/* What one node may keep: the offsets of one read, or a dictionary; a decompressed buffer. Pages
 * are of 8 to 32 MiB, unless a single batch was larger. */
#define VALUES_MAX   ((size_t)256 << 20)
#define INFLATED_MAX ((size_t)1 << 30)

const struct v20_encoding *const v20_encodings[] = {
	&v20_flat,
	&v20_nullable,
	&v20_fixed_list,
	&v20_list,
	&v20_struct,
	&v20_binary,
	&v20_dictionary,
	&v20_fsst,
	&v20_packed_struct,
	&v20_bitpacked,
	&v20_fixed_binary,
	&v20_bitpacked_for_non_neg,
};
const size_t v20_encodings_count = ARRAY_SIZE(v20_encodings);

const struct v20_refused v20_refused[] = {
	{ LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_CONSTANT, "constant",
		"is never in a page of 2.0" },
};
const size_t v20_refused_count = ARRAY_SIZE(v20_refused);

static int
find_encoding(int pb_case, const struct v20_encoding **ret_encoding, struct lancet_error *err)
{
	for (size_t i = 0; i < v20_encodings_count; i++) {
		if (v20_encodings[i]->pb_case == pb_case) {
			*ret_encoding = v20_encodings[i];
			return LANCET_OK;
		}
	}
	for (size_t i = 0; i < v20_refused_count; i++) {
		if (v20_refused[i].pb_case == pb_case)
			return lancet_fail(err, LANCET_UNSUPPORTED, "encoding %s: %s",
				v20_refused[i].name, v20_refused[i].why);
	}
	return lancet_fail(err, LANCET_CORRUPT, "encoding: none is told, or one that 2.0 has not");
}

int
v20_open(struct slice message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err)
{
	v20_message *decoded = NULL;

	*node = (struct v20_node){ 0 };
	if (depth >= V20_DEPTH_MAX)
		return lancet_fail(
			err, LANCET_CORRUPT, "encodings: nested deeper than %u", V20_DEPTH_MAX);
	TRY(pb_unpack(
		&lance__encodings__array_encoding__descriptor, message, arena, &decoded, err));
	TRY(find_encoding(decoded->array_encoding_case, &node->encoding, err));
	return node->encoding->open(decoded, arena, depth, node, err);
}

int
v20_open_inner(const ProtobufCBinaryData *message, struct arena *arena, unsigned depth,
	struct v20_node **ret_node, struct lancet_error *err)
{
	struct v20_node *node = arena_zalloc(arena, 1, sizeof(*node));

	if (node == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encoding");
	TRY(v20_open(slice_of(message->data, message->len), arena, depth + 1, node, err));
	*ret_node = node;
	return LANCET_OK;
}

static int
bind_node(struct v20_page *page, struct v20_node *node, const struct field *field, uint64_t count,
	struct lancet_error *err)
{
	node->field = field;
	node->count = count;
	return node->encoding->bind(page, node, err);
}

int
v20_bind(struct v20_page *page, struct v20_node *node, const struct field *field, uint64_t count,
	struct lancet_error *err)
{
	if (node->encoding->whole)
		return lancet_fail(
			err, LANCET_CORRUPT, "encoding %s inside another", node->encoding->name);
	return bind_node(page, node, field, count, err);
}

int
v20_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask, struct array *out,
	struct lancet_error *err)
{
	return node->encoding->read(page, node, ask, out, err);
}

void
v20_describe_node(const struct v20_node *node, struct buf *out)
{
	if (node->encoding->describe != NULL) {
		node->encoding->describe(node, out);
		return;
	}
	buf_put_text(out, node->encoding->name);
	if (node->inner == NULL)
		return;
	buf_put_byte(out, '(');
	v20_describe_node(node->inner, out);
	if (node->second != NULL) {
		buf_put_text(out, ", ");
		v20_describe_node(node->second, out);
	}
	buf_put_byte(out, ')');
}

struct v20_node *
v20_plain(struct v20_node *node)
{
	while (node->encoding == &v20_nullable && node->inner != NULL && node->second == NULL)
		node = node->inner;
	return node;
}

/* Opens the tree of a page into an arena; nothing is known of a field. */
static int
open_root(const struct page *page, struct arena *arena, struct v20_node *root,
	struct lancet_error *err)
{
	if (!slice_equal(page->type, slice_text("lance.encodings.ArrayEncoding")))
		return lancet_fail(err, LANCET_CORRUPT, "encoding is a %.*s",
			(int)(page->type.size < 80 ? page->type.size : 80),
			(const char *)page->type.data);
	return v20_open(page->encoding, arena, 0, root, err);
}

int
v20_page_open(struct v20_page *opened, struct source *src, struct datafile *file,
	const struct page *page, const struct field *field, struct scratch *scratch,
	struct lancet_error *err)
{
	int rc;

	*opened = (struct v20_page){
		.src = src,
		.file = file,
		.page = page,
		.scratch = scratch,
		.values_max = VALUES_MAX,
		.inflated_max = INFLATED_MAX,
	};
	rc = open_root(page, &opened->arena, &opened->root, err);
	if (rc == LANCET_OK)
		rc = bind_node(opened, &opened->root, field, page->length, err);
	if (rc != LANCET_OK)
		v20_page_release(opened);
	return rc;
}

int
v20_page_read(struct v20_page *page, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err)
{
	struct v20_ask ask = { .ranges = ranges, .count = count, .scale = 1 };

	if (page->root.encoding->whole)
		return lancet_fail(err, LANCET_CORRUPT, "encoding %s where values are expected",
			page->root.encoding->name);
	for (size_t i = 0; i < count; i++)
		ask.total += ranges[i].count;
	page->scratch->decoded += ask.total;
	return v20_read(page, &page->root, &ask, out, err);
}

int
v20_list_items(const struct page *page, uint64_t *ret_items, struct lancet_error *err)
{
	struct arena arena = { 0 };
	struct v20_node root;
	int rc = open_root(page, &arena, &root, err);

	if (rc == LANCET_OK && root.encoding != &v20_list)
		rc = lancet_fail(err, LANCET_CORRUPT, "encoding %s where lists are expected",
			root.encoding->name);
	if (rc == LANCET_OK)
		*ret_items = root.items;
	arena_release(&arena);
	return rc;
}

int
v20_check_header(const struct page *page, struct lancet_error *err)
{
	struct arena arena = { 0 };
	struct v20_node root;
	int rc = open_root(page, &arena, &root, err);

	if (rc == LANCET_OK && root.encoding != &v20_struct)
		rc = lancet_fail(err, LANCET_CORRUPT,
			"encoding %s where the header of a struct is expected",
			root.encoding->name);
	arena_release(&arena);
	return rc;
}

int
v20_describe(const struct page *page, struct buf *out, struct lancet_error *err)
{
	struct arena arena = { 0 };
	struct v20_node root;
	int rc = open_root(page, &arena, &root, err);

	if (rc == LANCET_OK)
		v20_describe_node(&root, out);
	arena_release(&arena);
	return rc;
}

/* Strings and dictionaries may have nulls in their values, which only reading shows. */
static bool
never_null(struct v20_node *node)
{
	node = v20_plain(node);
	return node->encoding == &v20_flat || node->encoding == &v20_bitpacked ||
	       node->encoding == &v20_bitpacked_for_non_neg || node->encoding == &v20_fixed_list ||
	       node->encoding == &v20_struct || node->encoding == &v20_packed_struct ||
	       node->encoding == &v20_fixed_binary;
}

bool
v20_null_count(const struct page *page, uint64_t *ret_nulls)
{
	struct arena arena = { 0 };
	struct v20_node root;
	bool known = false;

	if (open_root(page, &arena, &root, NULL) == LANCET_OK) {
		struct v20_node *plain = v20_plain(&root);
		bool none = never_null(plain);

		known = none || (plain->encoding == &v20_nullable && plain->inner == NULL);
		if (known)
			*ret_nulls = none ? 0 : page->length;
	}
	arena_release(&arena);
	return known;
}
