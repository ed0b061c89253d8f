/* FSST: text compressed value by value with a table of up to 255 symbols of 1 to 8 bytes.
 *
 * A byte of a compressed value is the code of a symbol; 255 says that the next byte stands for
 * itself. Symbols are stored as 8 bytes each and the place moves by their size, so the expansion
 * has no branch per symbol and needs 8 bytes of room behind its end. Neither has it one per value:
 * values lie one behind the other, so a group of them is expanded as one, and where each code went
 * tells where values end. Format facts: FSST.
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
/* Codes that are expanded at a time: where they went fits caches. One longer value is a group of
 * its own, whose room is measured first. */
#define GROUP_CODES 2048u
#define INSIDE      UINT32_MAX /* where the byte behind an escape "went": no value ends there */

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
	for (unsigned code = 0; code < count; code++) {
		unsigned size = bytes.data[SYMBOL_BYTES * (1 + count) + code];

		if (size < 1 || size > SYMBOL_BYTES)
			return lancet_fail(err, LANCET_CORRUPT, "fsst: a symbol of %u bytes", size);
		ret_table->symbols[code].size = size;
		ret_table->symbols[code].bytes = load_u64(bytes.data + SYMBOL_BYTES * (1 + code));
	}
	return LANCET_OK;
}

/* Where expansion stands. `bad` gets its highest bit from a code without a symbol: its size is 0.
 */
struct progress {
	uint8_t *out;
	uint32_t made, bad;
};

static inline __attribute__((always_inline)) void
put_symbol(const struct fsst_table *table, unsigned code, struct progress *progress)
{
	uint32_t size = table->symbols[code].size;

	memcpy(progress->out + progress->made, &table->symbols[code].bytes, SYMBOL_BYTES);
	progress->made += size;
	progress->bad |= size - 1;
}

/* Is one of the 8 bytes 255? Exact: a byte has all bits set when its low seven do, which adding 1
 * carries into the eighth, and the eighth does. */
static inline bool
has_escape(uint64_t codes)
{
	return (codes & ((codes & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x0101010101010101)) &
		       UINT64_C(0x8080808080808080)) != 0;
}

/* Expands all codes; places[i] becomes where code i went, and places[size] the end. Room for 8
 * times the size and 8 bytes is there. False when the codes are damaged. */
lancet_hot static bool
expand_codes(const struct fsst_table *table, const uint8_t *in, size_t size, uint8_t *out,
	uint32_t *restrict places)
{
	struct progress progress = { .out = out };
	uint64_t codes;

	for (size_t i = 0; i < size;) {
		size_t end = size - i < 8 ? size : i + 8;

		if (size - i >= 8) {
			memcpy(&codes, in + i, sizeof(codes));
			if (!has_escape(codes)) {
				for (unsigned k = 0; k < 8; k++) {
					places[i + k] = progress.made;
					put_symbol(table, codes >> 8 * k & 0xff, &progress);
				}
				i += 8;
				continue;
			}
		}
		while (i < end) {
			places[i] = progress.made;
			if (in[i] != ESCAPE) {
				put_symbol(table, in[i++], &progress);
				continue;
			}
			if (i + 1 == size)
				return false;
			places[i + 1] = INSIDE;
			out[progress.made++] = in[i + 1];
			i += 2;
		}
	}
	places[size] = progress.made;
	return (int32_t)progress.bad >= 0;
}

/* One value of any size, code by code. Returns its end, NULL when it is damaged. */
static uint8_t *
expand_long(const struct fsst_table *table, struct slice value, uint8_t *out)
{
	uint32_t bad = 0;

	for (size_t i = 0; i < value.size; i++) {
		unsigned code = value.data[i];

		if (code == ESCAPE) {
			if (++i == value.size)
				return NULL;
			*out++ = value.data[i];
			continue;
		}
		memcpy(out, &table->symbols[code].bytes, SYMBOL_BYTES);
		out += table->symbols[code].size;
		bad |= table->symbols[code].size - 1;
	}
	return (int32_t)bad < 0 ? NULL : out;
}

/* Exactly what expand_long makes of a value, as long as it is not damaged. */
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
	uint64_t codes;      /* bytes */
	uint64_t room;       /* bytes that its expansion may touch */
};

/* As many values as fit GROUP_CODES, and at least one. */
static struct group
next_group(const struct fsst_table *table, const struct array *from, uint64_t first, unsigned width)
{
	uint64_t start = offset_at(&from->offsets, width, first);
	struct group group = { .first = first, .end = first + 1 };

	while (group.end < from->length &&
		offset_at(&from->offsets, width, group.end + 1) - start <= GROUP_CODES)
		group.end++;
	group.codes = offset_at(&from->offsets, width, group.end) - start;
	group.room = SYMBOL_BYTES + (group.codes > GROUP_CODES
						    ? expanded_size(table, array_bytes(from, first))
						    : group.codes * SYMBOL_BYTES);
	return group;
}

/* Offsets of the group's values, from where their codes went. */
static inline __attribute__((always_inline)) bool
put_offsets(const struct array *from, const struct group *group, unsigned width,
	const uint32_t *places, struct array *out, unsigned out_width)
{
	uint64_t start = offset_at(&from->offsets, width, group->first);
	uint8_t *offsets = out->offsets.data + out->offsets.size;
	uint32_t inside = 0;

	for (uint64_t i = 0; i < group->end - group->first; i++) {
		uint32_t place =
			places[offset_at(&from->offsets, width, group->first + i + 1) - start];
		uint64_t offset = out->data.size + place;

		inside |= place == INSIDE;
		memcpy(offsets + i * out_width, &offset, out_width);
	}
	return !inside;
}

static bool
expand_group(const struct fsst_table *table, const struct array *from, const struct group *group,
	struct array *out)
{
	unsigned width = array_offset_width(from), out_width = array_offset_width(out);
	const uint8_t *in = from->data.data + offset_at(&from->offsets, width, group->first);
	uint32_t places[GROUP_CODES + 1];
	bool sound;

	if (!expand_codes(table, in, (size_t)group->codes, out->data.data + out->data.size, places))
		return false;
	sound = width == 4 && out_width == 4
			? put_offsets(from, group, 4, places, out, 4)
			: put_offsets(from, group, width, places, out, out_width);
	out->offsets.size += (size_t)(group->end - group->first) * out_width;
	out->data.size += places[group->codes];
	return sound;
}

static bool
expand_single(const struct fsst_table *table, const struct array *from, const struct group *group,
	struct array *out)
{
	uint8_t *end = expand_long(
		table, array_bytes(from, group->first), out->data.data + out->data.size);
	uint64_t offset;

	if (end == NULL)
		return false;
	offset = (uint64_t)(end - out->data.data);
	buf_put(&out->offsets, &offset, array_offset_width(out));
	out->data.size = (size_t)offset;
	return true;
}

static int
append_group(const struct fsst_table *table, const struct array *from, const struct group *group,
	struct array *out, struct lancet_error *err)
{
	uint64_t count = group->end - group->first;
	bool sound;

	TRY(array_grow(out, &out->data, group->room, err));
	TRY(array_grow(out, &out->offsets, count * array_offset_width(out), err));
	sound = group->codes > GROUP_CODES ? expand_single(table, from, group, out)
					   : expand_group(table, from, group, out);
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
fsst_decode_part(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	uint64_t first, uint64_t part, struct scratch *scratch, struct array *out,
	struct lancet_error *err)
{
	struct array compressed;
	int rc;

	TRY(start_compressed(&compressed, out, err));
	rc = codec_decode_part(codec->inner, in, count, first, part, scratch, &compressed, err);
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
	.decode_part = fsst_decode_part,
	.decode_values = fsst_decode_values,
};
