/* Opening full-zip pages, and finding the bytes of rows in them; see fullzip.h.
 *
 *     index: rows + 1 offsets into the entries, as wide as the size of its buffer tells
 *
 * Rows of a fixed size need none. Places in the index that lie close together are one read, as are
 * bytes of neighbouring rows; what is decoded together is about 1 MiB.
 */
#include "fullzip_page.h"

#include <inttypes.h>

#include <lance/encodings21.pb-c.h>

#include "util/macros.h"

#define INDEX_GAP_MAX    4096u /* bytes read over, rather than reading twice */
#define INDEX_WINDOW_MAX ((uint64_t)1 << 16)
#define GROUP_SIZE_MAX   ((uint64_t)1 << 20)

static int
check_control(
	const struct page_reader *reader, const struct fullzip_spec *spec, struct lancet_error *err)
{
	if (spec->bits_repetition > 32 || spec->bits_definition > 32 ||
		spec->bits_repetition + spec->bits_definition > 32)
		return lancet_fail(err, LANCET_CORRUPT,
			"levels of %" PRIu32 " and %" PRIu32 " bits", spec->bits_repetition,
			spec->bits_definition);
	if (reader->layers.list_count > 0 && spec->bits_repetition == 0 && spec->rows > 0)
		return lancet_fail(err, LANCET_CORRUPT, "lists without repetition levels");
	if (spec->variable ? spec->bits != 32 && spec->bits != 64
			   : spec->bits == 0 || spec->bits % 8 != 0)
		return lancet_fail(err, LANCET_CORRUPT, "%s of %" PRIu32 " bits",
			spec->variable ? "lengths" : "values", spec->bits);
	return LANCET_OK;
}

static unsigned
control_width(uint32_t bits)
{
	return bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

static int
open_index(struct page_reader *reader, struct fullzip *fullzip, struct lancet_error *err)
{
	uint64_t size = reader->page->buffers[fullzip->buffer + 1].size;
	uint64_t places = fullzip->rows + 1;
	uint64_t width = size / places;

	if (size % places != 0 || (width != 1 && width != 2 && width != 4 && width != 8))
		return lancet_fail(err, LANCET_CORRUPT,
			"repetition index of %" PRIu64 " bytes for %" PRIu64 " rows", size,
			fullzip->rows);
	fullzip->index_width = (unsigned)width;
	return LANCET_OK;
}

/* True when the bytes of values are those that Arrow has for them. */
static bool
is_plain(const struct codec *codec)
{
	const struct codec *leaf = codec;

	while (leaf != NULL &&
		leaf->encoding->pb_case ==
			LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FIXED_SIZE_LIST)
		leaf = leaf->inner;
	return leaf != NULL && codec->buffers == 1 && leaf->bits % 8 == 0 &&
	       leaf->encoding->pb_case ==
		       LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_FLAT;
}

static int
open_layout(struct page_reader *reader, struct fullzip *fullzip, struct lancet_error *err)
{
	bool lists = reader->layers.list_count > 0;
	size_t buffers = fullzip->buffer + (fullzip->variable || lists ? 2 : 1);
	uint64_t size;

	if (reader->page->buffer_count < buffers)
		return lancet_fail(err, LANCET_CORRUPT, "page of %zu buffers, %zu are needed",
			reader->page->buffer_count, buffers);
	fullzip->data_size = reader->page->buffers[fullzip->buffer].size;
	if (fullzip->variable || lists)
		return open_index(reader, fullzip, err);
	if (__builtin_mul_overflow(fullzip->rows, fullzip_row_size(fullzip), &size) ||
		size != fullzip->data_size)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " bytes for %" PRIu64 " rows of %" PRIu64, fullzip->data_size,
			fullzip->rows, fullzip_row_size(fullzip));
	/* a bit takes a byte, and may be called one */
	fullzip->plain = fullzip->control == 0 && is_plain(fullzip->codec) &&
			 fullzip->codec->bits == fullzip->size * 8 && reader->leaf->bits != 1;
	return LANCET_OK;
}

int
fullzip_open(struct page_reader *reader, const struct fullzip_spec *spec,
	struct fullzip **ret_fullzip, struct lancet_error *err)
{
	struct fullzip *fullzip = arena_zalloc(&reader->arena, 1, sizeof(*fullzip));

	if (fullzip == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "page");
	TRY(check_control(reader, spec, err));
	fullzip->variable = spec->variable;
	fullzip->bits_rep = spec->bits_repetition;
	fullzip->bits_def = spec->bits_definition;
	fullzip->control = control_width(spec->bits_repetition + spec->bits_definition);
	fullzip->size = spec->bits / 8;
	fullzip->rows = spec->rows;
	fullzip->items = spec->items;
	fullzip->buffer = spec->first_buffer;
	TRY(codec_open(spec->compression, spec->variable ? CODEC_VARIABLE : CODEC_FIXED,
		reader->version, 0, &reader->arena, &fullzip->codec, err));
	TRY(open_layout(reader, fullzip, err));
	*ret_fullzip = fullzip;
	return LANCET_OK;
}

void
fullzip_describe(const struct fullzip *fullzip, struct buf *out)
{
	codec_describe(fullzip->codec, out);
}

struct zip_reading {
	struct page_reader *reader;
	const struct fullzip *fullzip;
	const struct row_range *ranges; /* the first is the one being read */
	size_t count;
	struct buf *index; /* places [index_first, index_end) */
	uint64_t index_first, index_end;
	struct buf *group; /* entries that are decoded together */
	struct array rep, def;
	struct array *out;
	struct lancet_error *err;
};

/* Reads the places of the index from `row` on as far as the ranges need them. */
static int
load_index(struct zip_reading *reading, uint64_t row)
{
	unsigned width = reading->fullzip->index_width;
	uint64_t most = INDEX_WINDOW_MAX / width;
	uint64_t end = row + 2;

	for (size_t i = 0; i < reading->count; i++) {
		uint64_t first = reading->ranges[i].first, last = first + reading->ranges[i].count;

		if (first > end && (first - end) * width > INDEX_GAP_MAX)
			break;
		end = last + 1 > end ? last + 1 : end;
		if (end - row >= most) {
			end = row + most;
			break;
		}
	}
	reading->index->size = 0;
	if (!buf_reserve(reading->index, (size_t)((end - row) * width)))
		return buf_check(reading->index, "repetition index", reading->err);
	TRY(page_read(reading->reader, reading->fullzip->buffer + 1, row * width,
		(size_t)((end - row) * width), reading->index->data, reading->err));
	reading->index_first = row;
	reading->index_end = end;
	return LANCET_OK;
}

static uint64_t
index_place(const struct zip_reading *reading, uint64_t row)
{
	unsigned width = reading->fullzip->index_width;
	uint64_t place = 0;

	memcpy(&place, reading->index->data + (row - reading->index_first) * width, width);
	return place;
}

static int
check_places(const struct zip_reading *reading, uint64_t row, uint64_t start, uint64_t end)
{
	const struct fullzip *fullzip = reading->fullzip;

	if (end < start || end > fullzip->data_size || (row == 0 && start != 0) ||
		(row + 1 == fullzip->rows && end != fullzip->data_size))
		return lancet_fail(reading->err, LANCET_CORRUPT,
			"repetition index: row %" PRIu64 " from %" PRIu64 " to %" PRIu64
			" of %" PRIu64,
			row, start, end, fullzip->data_size);
	return LANCET_OK;
}

/* Finds the bytes of rows from `row` on: one row at least, no more than `most` rows and, beyond the
 * first, than fit into the group. */
static int
find_rows(struct zip_reading *reading, uint64_t row, uint64_t most, uint64_t *ret_start,
	uint64_t *ret_end, uint64_t *ret_rows)
{
	uint64_t room = GROUP_SIZE_MAX - reading->group->size;
	uint64_t start, end, next, rows = 1;

	if (row < reading->index_first || row + 1 >= reading->index_end)
		TRY(load_index(reading, row));
	start = index_place(reading, row);
	end = index_place(reading, row + 1);
	TRY(check_places(reading, row, start, end));
	while (rows < most && row + rows + 1 < reading->index_end) {
		next = index_place(reading, row + rows + 1);
		TRY(check_places(reading, row + rows, end, next));
		if (next - start > room)
			break;
		end = next;
		rows++;
	}
	*ret_start = start;
	*ret_end = end;
	*ret_rows = rows;
	return LANCET_OK;
}

/* The same for rows of one size. */
static void
count_rows(const struct zip_reading *reading, uint64_t row, uint64_t most, uint64_t *ret_start,
	uint64_t *ret_end, uint64_t *ret_rows)
{
	uint64_t size = fullzip_row_size(reading->fullzip);
	uint64_t fit = (GROUP_SIZE_MAX - reading->group->size) / size;
	uint64_t rows = fit < 1 ? 1 : fit < most ? fit : most;

	*ret_start = row * size;
	*ret_end = (row + rows) * size;
	*ret_rows = rows;
}

static int
flush_group(struct zip_reading *reading)
{
	TRY(fullzip_decode(reading->fullzip, &reading->reader->layers, buf_slice(reading->group),
		reading->reader->scratch, &reading->rep, &reading->def, reading->out,
		reading->err));
	reading->group->size = 0;
	return LANCET_OK;
}

static int
add_to_group(struct zip_reading *reading, uint64_t start, uint64_t end)
{
	struct buf *group = reading->group;
	uint64_t size = end - start;

	if (size > reading->out->budget->limit)
		return lancet_fail(reading->err, LANCET_LIMIT,
			"a row of %" PRIu64 " bytes is more than the %zu that may be taken", size,
			reading->out->budget->limit);
	if (!buf_reserve(group, (size_t)size))
		return buf_check(group, "rows", reading->err);
	TRY(page_read(reading->reader, reading->fullzip->buffer, start, (size_t)size,
		group->data + group->size, reading->err));
	group->size += (size_t)size;
	return LANCET_OK;
}

static int
read_range(struct zip_reading *reading)
{
	uint64_t row = reading->ranges->first;
	uint64_t left = reading->ranges->count;

	while (left > 0) {
		uint64_t start, end, rows;

		if (reading->fullzip->index_width == 0)
			count_rows(reading, row, left, &start, &end, &rows);
		else
			TRY(find_rows(reading, row, left, &start, &end, &rows));
		TRY(add_to_group(reading, start, end));
		if (reading->group->size >= GROUP_SIZE_MAX || rows < left)
			TRY(flush_group(reading));
		row += rows;
		left -= rows;
	}
	return LANCET_OK;
}

static int
read_ranges(struct zip_reading *reading)
{
	while (reading->count > 0) {
		TRY(read_range(reading));
		reading->ranges++;
		reading->count--;
	}
	return flush_group(reading);
}

/* Values as Arrow has them go from the file to their place. */
static int
read_plain(struct zip_reading *reading)
{
	const struct fullzip *fullzip = reading->fullzip;
	const struct codec *codec = fullzip->codec;

	for (size_t i = 0; i < reading->count; i++) {
		const struct row_range *range = &reading->ranges[i];
		struct array *out = reading->out;
		const struct codec *layer = codec;
		uint64_t items = range->count;
		uint8_t *place;

		for (; layer->inner != NULL; layer = layer->inner) {
			if (out->field->kind != FIELD_FIXED_LIST ||
				out->field->dimension != layer->parameter)
				return lancet_fail(reading->err, LANCET_CORRUPT,
					"lists of %" PRIu64 " where the type has none",
					layer->parameter);
			TRY(array_extend(out, items, reading->err));
			items *= layer->parameter; /* no more than bytes of the file */
			out = &out->children[0];
		}
		TRY(array_extend_fixed(out, (uint32_t)layer->bits, items, &place, reading->err));
		TRY(page_read(reading->reader, fullzip->buffer, range->first * fullzip->size,
			(size_t)(range->count * fullzip->size), place, reading->err));
		reading->reader->scratch->decoded += range->count;
	}
	return LANCET_OK;
}

static int
read_groups(struct zip_reading *reading)
{
	struct scratch *scratch = reading->reader->scratch;
	int rc;

	reading->index = scratch_take(scratch, 0);
	reading->group = scratch_take(scratch, 0);
	if (reading->group == NULL)
		rc = lancet_fail(reading->err, LANCET_LIMIT, "too many buffers in use");
	else
		rc = read_ranges(reading);
	if (reading->group != NULL)
		scratch_give(scratch);
	if (reading->index != NULL)
		scratch_give(scratch);
	return rc;
}

static int
read_all(struct zip_reading *reading, const struct row_range *ranges, size_t count)
{
	const struct row_range *last = &ranges[count - 1];

	if (last->first + last->count > reading->fullzip->rows)
		return lancet_fail(reading->err, LANCET_CORRUPT, "rows beyond those of the page");
	reading->ranges = ranges;
	reading->count = count;
	return reading->fullzip->plain ? read_plain(reading) : read_groups(reading);
}

static int
finish_rows(struct zip_reading *reading, struct leaf_out *out, uint64_t length)
{
	const struct fullzip *fullzip = reading->fullzip;
	const struct layers *layers = &reading->reader->layers;
	struct level_run run = { .count = out->leaf.length - length };
	uint64_t visible;

	if (fullzip->bits_def > 0) {
		run.def = (const uint16_t *)(const void *)reading->def.data.data;
		run.count = reading->def.length;
	}
	if (fullzip->bits_rep > 0) {
		run.rep = (const uint16_t *)(const void *)reading->rep.data.data;
		run.count = reading->rep.length;
	}
	if (run.count > fullzip->items)
		return lancet_fail(reading->err, LANCET_CORRUPT, "%" PRIu64 " entries of %" PRIu64,
			run.count, fullzip->items);
	TRY(levels_count_visible(layers, &run, &visible, reading->err));
	if (visible != out->leaf.length - length)
		return lancet_fail(reading->err, LANCET_CORRUPT,
			"levels of %" PRIu64 " values, there are %" PRIu64, visible,
			out->leaf.length - length);
	return levels_unravel(layers, &run, out, reading->err);
}

int
fullzip_read(struct page_reader *reader, struct fullzip *fullzip, const struct row_range *ranges,
	size_t count, struct leaf_out *out, struct lancet_error *err)
{
	struct zip_reading reading = {
		.reader = reader, .fullzip = fullzip, .out = &out->leaf, .err = err
	};
	uint64_t length = out->leaf.length;
	int rc;

	if (count == 0)
		return LANCET_OK;
	rc = array_init(&reading.rep, field_unsigned(16), out->leaf.budget, err);
	if (rc == LANCET_OK)
		rc = array_init(&reading.def, field_unsigned(16), out->leaf.budget, err);
	if (rc == LANCET_OK)
		rc = read_all(&reading, ranges, count);
	if (rc == LANCET_OK)
		rc = finish_rows(&reading, out, length);
	array_release(&reading.rep);
	array_release(&reading.def);
	return rc;
}

int
fullzip_read_values(struct page_reader *reader, struct fullzip *fullzip,
	const struct row_range *ranges, size_t count, struct array *out, struct lancet_error *err)
{
	struct zip_reading reading = {
		.reader = reader, .fullzip = fullzip, .out = out, .err = err
	};
	uint64_t wanted = 0, length = out->length;

	for (size_t i = 0; i < count; i++)
		wanted += ranges[i].count;
	if (count == 0)
		return LANCET_OK;
	TRY(read_all(&reading, ranges, count));
	if (out->length - length != wanted)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu64 " values where %" PRIu64 " are expected", out->length - length,
			wanted);
	return LANCET_OK;
}
