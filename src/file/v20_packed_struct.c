/* Structs whose children lie together, row by row, without validity at any level.
 *
 * How wide a child is follows from its type; the encodings inside only repeat it. Blobs are such
 * structs, too: of a position and a size. Format facts: v2.0 page encodings, PackedStruct.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "util/macros.h"

/* Bytes of one value of a child and, for fixed-size lists, its innermost items. */
struct part {
	uint64_t width, at; /* in bytes; place in the row */
	uint64_t items;     /* innermost ones, for each row */
};

struct packed {
	struct part *parts; /* by the field's children */
	uint64_t row;       /* bytes */
};

static int
packed_open(const v20_message *message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err)
{
	const Lance__Encodings__PackedStruct *packed = message->packed_struct;

	v20_name_buffer(node, packed->buffer);
	node->part_count = packed->n_inner;
	node->parts = arena_zalloc(arena, node->part_count, sizeof(*node->parts));
	if (node->parts == NULL && node->part_count > 0)
		return lancet_fail(err, LANCET_NO_MEMORY, "packed_struct");
	for (size_t i = 0; i < node->part_count; i++)
		TRY(v20_open(slice_of(packed->inner[i].data, packed->inner[i].len), arena,
			depth + 1, &node->parts[i], err));
	return LANCET_OK;
}

/* The type and the encoding of a child must agree on its bits, dimension by dimension. */
static int
measure(struct v20_node *node, const struct field *field, struct part *part,
	struct lancet_error *err)
{
	uint64_t bits;

	part->items = 1;
	for (node = v20_plain(node); field->kind == FIELD_FIXED_LIST && field->child_count == 1;
		field = &field->children[0], node = v20_plain(node->inner)) {
		if (node->encoding != &v20_fixed_list || node->parameter != field->dimension ||
			__builtin_mul_overflow(part->items, field->dimension, &part->items))
			return lancet_fail(err, LANCET_CORRUPT,
				"packed_struct: encoding %s for a list of %" PRIu64 " items",
				node->encoding->name, field->dimension);
	}
	if (node->encoding != &v20_flat || field->kind != FIELD_FIXED ||
		field->bits != node->bits || node->bits % 8 != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"packed_struct: encoding %s for a child of another type",
			node->encoding->name);
	if (__builtin_mul_overflow(part->items, node->bits, &bits))
		return lancet_fail(err, LANCET_CORRUPT, "packed_struct: a child of too many bits");
	part->width = bits / 8;
	return LANCET_OK;
}

static int
packed_bind(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	const struct field *field = node->field;
	struct packed *packed = arena_zalloc(&page->arena, 1, sizeof(*packed));

	if (field->kind != FIELD_STRUCT || field->child_count != node->part_count ||
		node->part_count == 0 || node->count == V20_COUNT_UNKNOWN)
		return lancet_fail(err, LANCET_CORRUPT,
			"packed_struct: %zu parts for a field of %zu children", node->part_count,
			field->child_count);
	if (packed != NULL)
		packed->parts =
			arena_zalloc(&page->arena, node->part_count, sizeof(*packed->parts));
	if (packed == NULL || packed->parts == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "packed_struct");
	for (size_t i = 0; i < node->part_count; i++) {
		struct part *part = &packed->parts[i];

		TRY(measure(&node->parts[i], &field->children[i], part, err));
		part->at = packed->row;
		if (part->width > UINT32_MAX - packed->row)
			return lancet_fail(err, LANCET_CORRUPT,
				"packed_struct: rows of too many "
				"bytes");
		packed->row += part->width;
	}
	node->state = packed;
	node->packed = packed->row * 8;
	return v20_bind_buffer(page, node, node->count, err);
}

/* Room for `count` rows of one child, and where it is. */
static int
extend(struct array *out, uint64_t count, uint8_t **ret_place, struct lancet_error *err)
{
	uint64_t items;

	if (out->field->kind == FIELD_FIXED)
		return array_extend_fixed(out, out->field->bits, count, ret_place, err);
	if (__builtin_mul_overflow(count, out->field->dimension, &items))
		return lancet_fail(err, LANCET_LIMIT, "%" PRIu64 " values at once", count);
	TRY(extend(&out->children[0], items, ret_place, err));
	return array_extend(out, count, err);
}

#define UNPACK(type)                                                                               \
	do {                                                                                       \
		for (uint64_t i = 0; i < count; i++) {                                             \
			type value;                                                                \
			memcpy(&value, from + i * row, sizeof(type));                              \
			memcpy(place + i * sizeof(type), &value, sizeof(type));                    \
		}                                                                                  \
	} while (0)

lancet_hot static void
unpack(uint8_t *place, const uint8_t *from, uint64_t row, uint64_t width, uint64_t count)
{
	switch (width) {
	case 1:
		UNPACK(uint8_t);
		break;
	case 2:
		UNPACK(uint16_t);
		break;
	case 4:
		UNPACK(uint32_t);
		break;
	case 8:
		UNPACK(uint64_t);
		break;
	default:
		for (uint64_t i = 0; i < count; i++)
			memcpy(place + i * width, from + i * row, (size_t)width);
		break;
	}
}

struct unpacking {
	const struct packed *packed;
	struct array *out;
};

static int
unpack_span(
	void *user, const uint8_t *bytes, uint64_t skip, uint64_t count, struct lancet_error *err)
{
	struct unpacking *to = user;
	const struct packed *packed = to->packed;
	uint8_t *place;

	for (size_t i = 0; i < to->out->child_count; i++) {
		const struct part *part = &packed->parts[i];

		TRY(extend(&to->out->children[i], count, &place, err));
		unpack(place, bytes + skip * packed->row + part->at, packed->row, part->width,
			count);
	}
	return LANCET_OK;
}

static int
packed_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err)
{
	struct unpacking to = { node->state, out };

	TRY(v20_each_span(page, node, ask, 1, node->count, unpack_span, &to, err));
	return array_extend(out, ask->total, err);
}

static void
packed_describe(const struct v20_node *node, struct buf *out)
{
	buf_put_text(out, "packed_struct(");
	for (size_t i = 0; i < node->part_count; i++) {
		if (i > 0)
			buf_put_text(out, ", ");
		v20_describe_node(&node->parts[i], out);
	}
	buf_put_byte(out, ')');
}

const struct v20_encoding v20_packed_struct = {
	.name = "packed_struct",
	.pb_case = LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_PACKED_STRUCT,
	.open = packed_open,
	.bind = packed_bind,
	.read = packed_read,
	.describe = packed_describe,
};
