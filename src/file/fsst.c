/* FSST: text compressed value by value with a table of up to 255 symbols of 1 to 8 bytes.
 *
 * A byte of a compressed value is the code of a symbol; 255 says that the next byte stands for
 * itself. Symbols are stored as 8 bytes each and the place moves by their size, so the expansion
 * has no branch per symbol and needs 8 bytes of room behind its end. Room for the worst case is
 * there before a group of values is expanded: no byte makes more than 8. Format facts: FSST.
 */
#include "fsst.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "array_grow.h"
#include "codec.h"
#include "encodings.h"
#include "util/cursor.h"
#include "util/macros.h"

#define TABLE_BYTES  2312u
#define MAGIC        UINT64_C(0x46535354)
#define SYMBOL_BYTES 8u
#define ESCAPE       255u
/* Compressed bytes that are expanded at a time: their worst case fits caches. One longer value is a
 * group of its own, whose room is measured first. */
#define GROUP_BYTES 8192u

int
fsst_table_parse(struct slice bytes, struct fsst_table *ret_table, struct lancet_error *err)
{
	uint64_t header;
	unsigned count;

	if (bytes.size != TABLE_BYTES)
		return lancet_fail(err, LANCET_CORRUPT,
			"fsst: a symbol table of %zu bytes, %u expected", bytes.size, TABLE_BYTES);
	header = load_u64(bytes.data);
	if (header >> 32 != MAGIC)
		return lancet_fail(err, LANCET_CORRUPT, "fsst: magic is %08" PRIx64, header >> 32);
	count = header & 0xff;
	memset(ret_table, 0, sizeof(*ret_table));
	ret_table->stored = (header >> 24 & 0xff) == 0;
	for (unsigned code = 0; code < 256; code++)
		ret_table->symbols[code].missing = code >= count;
	for (unsigned code = 0; code < count; code++) {
		unsigned size = bytes.data[SYMBOL_BYTES * (1 + count) + code];

		if (size < 1 || size > SYMBOL_BYTES)
			return lancet_fail(err, LANCET_CORRUPT, "fsst: a symbol of %u bytes", size);
		ret_table->symbols[code].size = size;
		ret_table->symbols[code].bytes = load_u64(bytes.data + SYMBOL_BYTES * (1 + code));
	}
	return LANCET_OK;
}

static inline __attribute__((always_inline)) uint8_t *
put_symbol(const struct fsst_table *table, unsigned code, uint8_t *out, uint32_t *missing)
{
	memcpy(out, &table->symbols[code].bytes, SYMBOL_BYTES);
	*missing |= table->symbols[code].missing;
	return out + table->symbols[code].size;
}

/* Is one of the 4 bytes 255? Exact: a byte has all bits set when its low seven do, which adding 1
 * carries into the eighth, and the eighth does. */
static inline bool
has_escape(uint32_t four)
{
	return (four & ((four & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u) != 0;
}

/* One value. Room for 8 times its size and 8 bytes is there. Returns where it ended, NULL when it
 * is damaged. */
static inline __attribute__((always_inline)) uint8_t *
expand(const struct fsst_table *table, const uint8_t *in, const uint8_t *end, uint8_t *out)
{
	uint32_t missing = 0;

	for (;;) {
		while (end - in >= 4 && !has_escape(load_u32(in))) {
			out = put_symbol(table, in[0], out, &missing);
			out = put_symbol(table, in[1], out, &missing);
			out = put_symbol(table, in[2], out, &missing);
			out = put_symbol(table, in[3], out, &missing);
			in += 4;
		}
		for (unsigned i = 0; i < 4; i++) {
			if (in == end)
				return missing ? NULL : out;
			if (*in != ESCAPE) {
				out = put_symbol(table, *in++, out, &missing);
				continue;
			}
			if (end - in < 2)
				return NULL;
			*out++ = in[1];
			in += 2;
		}
	}
}

/* Exactly what expand makes of a value, as long as it is not damaged. */
static uint64_t
expanded_size(const struct fsst_table *table, struct slice value)
{
	uint64_t size = 0;

	for (size_t i = 0; i < value.size; i++) {
		if (value.data[i] == ESCAPE) {
			i++;
			size++;
		} else {
			size += table->symbols[value.data[i]].size;
		}
	}
	return size;
}

static inline __attribute__((always_inline)) uint64_t
offset_at(const struct buf *offsets, unsigned width, uint64_t index)
{
	uint64_t offset = 0;

	memcpy(&offset, offsets->data + index * width, width);
	return offset;
}

struct group {
	uint64_t first, end; /* values */
	uint64_t room;       /* bytes that its expansion may touch */
};

/* As many values as fit GROUP_BYTES, and at least one. */
static struct group
next_group(const struct fsst_table *table, const struct array *from, uint64_t first, unsigned width)
{
	uint64_t start = offset_at(&from->offsets, width, first);
	uint64_t end = first + 1, size;

	while (end < from->length &&
		offset_at(&from->offsets, width, end + 1) - start <= GROUP_BYTES)
		end++;
	size = offset_at(&from->offsets, width, end) - start;
	if (size > GROUP_BYTES)
		size = expanded_size(table, array_bytes(from, first));
	else
		size *= SYMBOL_BYTES;
	return (struct group){ first, end, size + SYMBOL_BYTES };
}

/* Fills in what next_group has made room for. Returns false when a value is damaged. */
static inline __attribute__((always_inline)) bool
expand_group(const struct fsst_table *table, const struct array *from, const struct group *group,
	unsigned width, struct array *out, unsigned out_width)
{
	uint8_t *place = out->data.data + out->data.size;
	uint64_t start = offset_at(&from->offsets, width, group->first);

	for (uint64_t i = group->first; i < group->end; i++) {
		uint64_t end = offset_at(&from->offsets, width, i + 1);
		uint64_t out_end;

		place = expand(table, from->data.data + start, from->data.data + end, place);
		if (place == NULL)
			return false;
		out_end = (uint64_t)(place - out->data.data);
		memcpy(out->offsets.data + out->offsets.size, &out_end, out_width);
		out->offsets.size += out_width;
		start = end;
	}
	out->data.size = (size_t)(place - out->data.data);
	return true;
}

static int
append_group(const struct fsst_table *table, const struct array *from, const struct group *group,
	struct array *out, struct lancet_error *err)
{
	uint64_t count = group->end - group->first;
	bool narrow = array_offset_width(from) == 4 && array_offset_width(out) == 4;
	bool sound;

	TRY(array_grow(out, &out->data, group->room, err));
	TRY(array_grow(out, &out->offsets, count * array_offset_width(out), err));
	sound = narrow ? expand_group(table, from, group, 4, out, 4)
		       : expand_group(table, from, group, array_offset_width(from), out,
				 array_offset_width(out));
	if (!sound)
		return lancet_fail(err, LANCET_CORRUPT, "fsst: a code without a symbol or byte");
	if (!out->field->large && out->data.size > INT32_MAX)
		return lancet_fail(err, LANCET_LIMIT,
			"more than 2 GiB of values with 32-bit offsets: ask for fewer rows");
	return array_lengthen(out, count, true, err);
}

int
fsst_append(const struct fsst_table *table, const struct array *from, struct array *out,
	struct lancet_error *err)
{
	unsigned width = array_offset_width(from);

	if (out->field->kind != FIELD_VARIABLE || from->field->kind != FIELD_VARIABLE)
		return lancet_fail(err, LANCET_CORRUPT, "fsst: values are no text");
	if (table->stored)
		return array_append_range(out, from, 0, from->length, err);
	for (uint64_t first = 0; first < from->length;) {
		struct group group = next_group(table, from, first, width);

		TRY(append_group(table, from, &group, out, err));
		first = group.end;
	}
	if (from->null_count > 0)
		return array_set_validity(out, from->length, from->validity.data, 0, err);
	return LANCET_OK;
}

static int
fsst_open(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
	struct arena *arena, struct codec *codec, struct lancet_error *err)
{
	const struct Lance__Encodings21__Fsst *fsst = message->fsst;
	struct fsst_table *table = arena_alloc(arena, sizeof(*table));

	if (table == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "fsst: symbol table");
	TRY(fsst_table_parse(
		slice_of(fsst->symbol_table.data, fsst->symbol_table.len), table, err));
	TRY(codec_open(slice_of(fsst->values.data, fsst->values.len), codec->place, codec->version,
		depth + 1, arena, &codec->inner, err));
	if (codec->inner->bits != 0)
		return lancet_fail(err, LANCET_CORRUPT, "fsst: values packed as %s",
			codec->inner->encoding->name);
	codec->state = table;
	codec->buffers = codec->inner->buffers;
	return LANCET_OK;
}

/* The compressed values; they are text like the ones that they make. */
static int
start_compressed(struct array *compressed, const struct array *out, struct lancet_error *err)
{
	if (out->field->kind != FIELD_VARIABLE)
		return lancet_fail(err, LANCET_CORRUPT, "fsst: values where the type has no text");
	return array_init(compressed, field_bytes(out->field->large), out->budget, err);
}

static int
fsst_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct array compressed;
	int rc;

	TRY(start_compressed(&compressed, out, err));
	rc = codec_decode_mini(codec->inner, in, count, scratch, &compressed, err);
	if (rc == LANCET_OK)
		rc = fsst_append(codec->state, &compressed, out, err);
	array_release(&compressed);
	return rc;
}

static int
fsst_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	struct array compressed;
	int rc;

	TRY(start_compressed(&compressed, out, err));
	rc = codec_decode_values(codec->inner, values, count, scratch, &compressed, err);
	if (rc == LANCET_OK)
		rc = fsst_append(codec->state, &compressed, out, err);
	array_release(&compressed);
	return rc;
}

const struct encoding encoding_fsst = {
	.name = "fsst",
	.pb_case = LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FSST,
	.places = CODEC_MINI | CODEC_VARIABLE,
	.open = fsst_open,
	.decode_mini = fsst_decode_mini,
	.decode_values = fsst_decode_values,
};
