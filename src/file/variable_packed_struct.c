/* Structs with children of variable size, stored row by row (since 2.2).
 *
 * A row is its children in order: one of a fixed size as its bytes, another one as a length and so
 * many bytes, each packed by the encoding of its child as a single value. Rows that are null have
 * no bytes and do not come here. Decoding cuts all rows into the values of each child, then decodes
 * child by child. Format facts: VariablePackedStruct, blob v2.
 */
#include "encodings.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/cursor.h"
#include "util/macros.h"

struct packed_child {
	const struct codec *codec;
	size_t length_width; /* bytes of the length in front of a value; 0 = of fixed size */
	uint64_t size;       /* bytes of a value of fixed size */
};

struct variable_packed_struct {
	size_t count;
	struct packed_child *children;
};

static int
open_child(const Lance__Encodings21__VariablePackedStruct__FieldEncoding *stored, unsigned depth,
	struct arena *arena, const struct codec *codec, struct packed_child *child,
	struct lancet_error *err)
{
	struct slice message = slice_of(stored->value.data, stored->value.len);
	uint64_t bits;

	switch (stored->layout_case) {
	case LANCE__ENCODINGS21__VARIABLE_PACKED_STRUCT__FIELD_ENCODING__LAYOUT_BITS_PER_VALUE:
		bits = stored->bits_per_value;
		if (bits == 0 || bits % 8 != 0)
			return lancet_fail(err, LANCET_CORRUPT,
				"variable_packed_struct: a child of %" PRIu64 " bits", bits);
		child->size = bits / 8;
		return codec_open(
			message, CODEC_FIXED, codec->version, depth + 1, arena, &child->codec, err);
	case LANCE__ENCODINGS21__VARIABLE_PACKED_STRUCT__FIELD_ENCODING__LAYOUT_BITS_PER_LENGTH:
		bits = stored->bits_per_length;
		if (bits != 32 && bits != 64)
			return lancet_fail(err, LANCET_CORRUPT,
				"variable_packed_struct: lengths of %" PRIu64 " bits", bits);
		child->length_width = bits / 8;
		return codec_open(message, CODEC_VARIABLE, codec->version, depth + 1, arena,
			&child->codec, err);
	default:
		return lancet_fail(err, LANCET_CORRUPT,
			"variable_packed_struct: a child neither of fixed nor of variable size");
	}
}

/* "flat 32, variable(32)": what codec_describe does not see. */
static int
describe(struct codec *codec, const struct variable_packed_struct *packed, struct arena *arena,
	struct lancet_error *err)
{
	struct buf words = { .limit = 4096 };

	for (size_t i = 0; i < packed->count; i++) {
		if (i > 0)
			buf_put_text(&words, ", ");
		codec_describe(packed->children[i].codec, &words);
	}
	buf_put_byte(&words, '\0');
	codec->words = words.failed == LANCET_OK ? arena_copy(arena, words.data, words.size)
						 : "many children";
	buf_release(&words);
	if (codec->words == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	return LANCET_OK;
}

static int
variable_packed_struct_open(const struct Lance__Encodings21__CompressiveEncoding *message,
	unsigned depth, struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__VariablePackedStruct *stored =
		message->variable_packed_struct;
	struct variable_packed_struct *packed = arena_alloc(arena, sizeof(*packed));

	if (codec->version < FILE_2_2)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable_packed_struct in a file of version %s",
			file_version_name(codec->version));
	if (stored->n_fields == 0)
		return lancet_fail(err, LANCET_CORRUPT, "variable_packed_struct: no children");
	if (packed == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	packed->count = stored->n_fields;
	packed->children = arena_zalloc(arena, packed->count, sizeof(*packed->children));
	if (packed->children == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	for (size_t i = 0; i < packed->count; i++)
		TRY(open_child(stored->fields[i], depth, arena, codec, &packed->children[i], err));
	codec->state = packed;
	return describe(codec, packed, arena, err);
}

static int
check_children(const struct variable_packed_struct *packed, const struct array *out,
	struct lancet_error *err)
{
	if (out->field->kind != FIELD_STRUCT)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable_packed_struct: rows where the type is no struct");
	if (packed->count != out->child_count)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable_packed_struct: %zu children, %zu expected", packed->count,
			out->child_count);
	return LANCET_OK;
}

/* values[child * count + row]. */
static int
cut_row(const struct variable_packed_struct *packed, struct slice row, struct slice *values,
	size_t count, struct lancet_error *err)
{
	struct cursor c = { .in = row };

	for (size_t i = 0; i < packed->count; i++) {
		const struct packed_child *child = &packed->children[i];
		uint64_t size = child->length_width == 0   ? child->size
				: child->length_width == 4 ? cursor_u32(&c)
							   : cursor_u64(&c);

		values[i * count] = cursor_take(&c, size);
	}
	if (c.bad || cursor_left(&c) != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"variable_packed_struct: the children of a row are not its %zu bytes",
			row.size);
	return LANCET_OK;
}

static int
cut_rows(const struct variable_packed_struct *packed, const struct slice *rows, size_t count,
	struct buf *cut, struct lancet_error *err)
{
	struct slice *values;
	size_t size;

	if (__builtin_mul_overflow(count, packed->count * sizeof(*values), &size))
		return lancet_fail(err, LANCET_LIMIT, "variable_packed_struct: too many rows");
	if (!buf_reserve(cut, size))
		return buf_check(cut, "variable_packed_struct", err);
	values = (struct slice *)(void *)cut->data;
	for (size_t i = 0; i < count; i++)
		TRY(cut_row(packed, rows[i], values + i, count, err));
	return LANCET_OK;
}

static int
variable_packed_struct_decode_values(const struct codec *codec, const struct slice *values,
	size_t count, struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	const struct variable_packed_struct *packed = codec->state;
	struct buf *cut;
	int rc;

	TRY(check_children(packed, out, err));
	TRY(codec_take_buffer(scratch, &cut, err));
	rc = cut_rows(packed, values, count, cut, err);
	for (size_t i = 0; rc == LANCET_OK && i < packed->count; i++)
		rc = codec_decode_values(packed->children[i].codec,
			(const struct slice *)(void *)cut->data + i * count, count, scratch,
			&out->children[i], err);
	scratch_give(scratch);
	TRY(rc);
	return array_extend(out, count, err);
}

const struct encoding encoding_variable_packed_struct = {
	.name = "variable_packed_struct",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_VARIABLE_PACKED_STRUCT,
	.places = CODEC_VARIABLE,
	.open = variable_packed_struct_open,
	.decode_values = variable_packed_struct_decode_values,
};
