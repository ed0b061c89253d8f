/* Structs of a fixed size stored row by row: the children of each row one behind the other.
 *
 * The widths in the message have to be those of the struct's children, where a fixed-size list
 * counts as all its items and (2.3) a packed struct as all its children. Children have no validity;
 * that of the struct is told by levels. Decoding copies column by column, each a loop with a stride
 * of the row's size. Format facts: PackedStruct.
 */
#include "encodings.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/macros.h"

struct packed_struct {
	size_t count;
	const uint64_t *widths; /* bytes of each child */
};

/* Rows at equal distances; `at` is the first byte of a child in the first of them. */
struct rows {
	const uint8_t *at;
	size_t stride;
	uint64_t count;
};

static int
packed_struct_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__PackedStruct *stored = message->packed_struct;
	struct packed_struct *packed = arena_alloc(arena, sizeof(*packed));
	uint64_t *widths = arena_zalloc(arena, stored->n_bits_per_value, sizeof(*widths));
	uint64_t sum = 0;

	if (packed == NULL || widths == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "encodings of a page");
	if (codec->place == CODEC_FIXED && codec->version < FILE_2_3)
		return lancet_fail(err, LANCET_CORRUPT,
			"packed_struct as a per-value encoding of version %s",
			file_version_name(codec->version));
	for (size_t i = 0; i < stored->n_bits_per_value; i++) {
		uint64_t bits = stored->bits_per_value[i];

		if (bits == 1)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"packed_struct: children of single bits, whose layout nobody "
				"reads");
		if (bits == 0 || bits % 8 != 0 || __builtin_add_overflow(sum, bits, &sum))
			return lancet_fail(err, LANCET_CORRUPT,
				"packed_struct: a child of %" PRIu64 " bits", bits);
		widths[i] = bits / 8;
	}
	TRY(codec_open(slice_of(stored->values.data, stored->values.len), codec->place,
		codec->version, depth + 1, arena, &codec->inner, err));
	if (codec->inner->encoding->pb_case !=
			LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT ||
		codec->inner->bits != sum)
		return lancet_fail(err, LANCET_CORRUPT,
			"packed_struct: rows of %s %" PRIu64 " bits, children of %" PRIu64,
			codec->inner->encoding->name, codec->inner->bits, sum);
	*packed = (struct packed_struct){ stored->n_bits_per_value, widths };
	codec->state = packed;
	codec->bits = sum;
	codec->buffers = 1;
	return LANCET_OK;
}

/* Bytes of a value of the field in a row; 0 when it can't be in one. */
static uint64_t
field_width(const struct field *field)
{
	uint64_t width = 0, product;

	switch (field->kind) {
	case FIELD_FIXED:
		return field->bits / 8;
	case FIELD_FIXED_LIST:
		if (field->children[0].kind == FIELD_STRUCT ||
			__builtin_mul_overflow(
				field_width(&field->children[0]), field->dimension, &product))
			return 0;
		return product;
	case FIELD_STRUCT:
		for (size_t i = 0; i < field->child_count; i++) {
			uint64_t child = field_width(&field->children[i]);

			if (child == 0 || __builtin_add_overflow(width, child, &width))
				return 0;
		}
		return width;
	default:
		return 0;
	}
}

static inline __attribute__((always_inline)) void
copy_strided(const struct rows *rows, uint8_t *place, size_t width)
{
	const uint8_t *at = rows->at;

	for (uint64_t i = 0; i < rows->count; i++, at += rows->stride)
		memcpy(place + i * width, at, width);
}

/* The widths of numbers become single loads and stores. */
static void
copy_column(const struct rows *rows, uint8_t *place, size_t width)
{
	switch (width) {
	case 1:
		copy_strided(rows, place, 1);
		return;
	case 2:
		copy_strided(rows, place, 2);
		return;
	case 4:
		copy_strided(rows, place, 4);
		return;
	case 8:
		copy_strided(rows, place, 8);
		return;
	case 16:
		copy_strided(rows, place, 16);
		return;
	default:
		copy_strided(rows, place, width);
	}
}

static int append_rows(
	const struct rows *rows, size_t width, struct array *out, struct lancet_error *err);

static int
append_struct(const struct rows *rows, struct array *out, struct lancet_error *err)
{
	struct rows child = *rows;

	for (size_t i = 0; i < out->child_count; i++) {
		size_t width = (size_t)field_width(out->children[i].field);

		TRY(append_rows(&child, width, &out->children[i], err));
		child.at += width;
	}
	return array_extend(out, rows->count, err);
}

/* `width` bytes of each row, which the caller has compared with the field. Nests no deeper than the
 * tree of fields, which is limited. */
static int
append_rows(const struct rows *rows, size_t width, struct array *out, struct lancet_error *err)
{
	uint64_t count = rows->count;
	uint8_t *place;

	if (out->field->kind == FIELD_STRUCT)
		return append_struct(rows, out, err);
	for (; out->field->kind == FIELD_FIXED_LIST; out = &out->children[0]) {
		TRY(array_extend(out, count, err));
		count *= out->field->dimension;
	}
	TRY(array_extend_fixed(out, out->field->bits, count, &place, err));
	copy_column(rows, place, width);
	return LANCET_OK;
}

static int
check_children(
	const struct packed_struct *packed, const struct array *out, struct lancet_error *err)
{
	if (out->field->kind != FIELD_STRUCT)
		return lancet_fail(
			err, LANCET_CORRUPT, "packed_struct: rows where the type is no struct");
	if (packed->count != out->child_count)
		return lancet_fail(err, LANCET_CORRUPT, "packed_struct: %zu children, %zu expected",
			packed->count, out->child_count);
	for (size_t i = 0; i < packed->count; i++)
		if (packed->widths[i] != field_width(out->children[i].field))
			return lancet_fail(err, LANCET_CORRUPT,
				"packed_struct: child %zu of %" PRIu64 " bytes, %" PRIu64
				" expected",
				i, packed->widths[i], field_width(out->children[i].field));
	return LANCET_OK;
}

static int
packed_struct_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct slice buffer = in->buffers[in->taken++];
	size_t stride = (size_t)(codec->bits / 8);
	struct rows rows = { buffer.data, stride, count };

	(void)scratch;
	TRY(check_children(codec->state, out, err));
	if (count > buffer.size / stride)
		return lancet_fail(err, LANCET_CORRUPT,
			"packed_struct: %zu bytes for %" PRIu64 " rows of %zu", buffer.size, count,
			stride);
	return append_struct(&rows, out, err);
}

/* Do the values lie at equal distances, as those of a page without levels do? */
static bool
are_strided(const struct slice *values, size_t count, size_t *ret_stride)
{
	uintptr_t first, stride;

	if (count < 2)
		return false;
	first = (uintptr_t)values[0].data;
	stride = (uintptr_t)values[1].data - first;
	for (size_t i = 2; i < count; i++)
		if ((uintptr_t)values[i].data != first + i * stride)
			return false;
	*ret_stride = (size_t)stride;
	return (uintptr_t)values[1].data > first;
}

static int
append_gathered(const struct slice *values, size_t count, size_t width, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	struct rows rows = { NULL, width, count };
	struct buf *gathered;
	int rc;

	TRY(codec_take_buffer(scratch, &gathered, err));
	for (size_t i = 0; i < count; i++)
		buf_put_slice(gathered, values[i]);
	rc = buf_check(gathered, "packed_struct", err);
	rows.at = gathered->data;
	if (rc == LANCET_OK)
		rc = append_struct(&rows, out, err);
	scratch_give(scratch);
	return rc;
}

static int
packed_struct_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	size_t width = (size_t)(codec->bits / 8);
	struct rows rows = { NULL, 0, count };

	TRY(check_children(codec->state, out, err));
	if (count == 0)
		return LANCET_OK;
	for (size_t i = 0; i < count; i++)
		if (values[i].size != width)
			return lancet_fail(err, LANCET_CORRUPT,
				"packed_struct: a value of %zu bytes, %zu expected", values[i].size,
				width);
	if (!are_strided(values, count, &rows.stride))
		return append_gathered(values, count, width, scratch, out, err);
	rows.at = values[0].data;
	return append_struct(&rows, out, err);
}

const struct encoding encoding_packed_struct = {
	.name = "packed_struct",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_PACKED_STRUCT,
	.places = CODEC_MINI | CODEC_FIXED,
	.open = packed_struct_open,
	.decode_mini = packed_struct_decode_mini,
	.decode_values = packed_struct_decode_values,
};
