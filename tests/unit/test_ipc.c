/* Arrow IPC streams, taken apart frame by frame: schema, slices, dictionaries, the end mark.
 *
 * The tables and slots are those of Arrow's Schema.fbs and Message.fbs. tests/interop reads streams
 * of every type with pyarrow.
 */
#include "unit.h"

#include <lancet/bytes.h>
#include <lancet/ipc.h>

#include "arrows.h"
#include "util/flatview.h"

static struct arrows_sink sink;

/* One message of the stream: its table, by flatview, and its body. */
struct frame {
	struct flatview view;
	struct flattable message;
	uint8_t kind;
	struct flattable header;
	struct slice body;
};

/* The frame at *at, which moves behind it. False at the end mark. */
static bool
next_frame(struct frame *frame, size_t *at)
{
	uint32_t mark, size;
	int64_t body;

	ck_assert_uint_le(*at + 8, sink.size);
	memcpy(&mark, sink.bytes + *at, 4);
	memcpy(&size, sink.bytes + *at + 4, 4);
	ck_assert_uint_eq(mark, UINT32_MAX);
	*at += 8;
	if (size == 0)
		return false;
	*frame = (struct frame){ .view = { .in = slice_of(sink.bytes + *at, size) } };
	ck_assert_uint_le(*at + size, sink.size);
	*at += size;
	ck_assert_uint_eq(*at % 64, 0); /* bodies begin aligned when frames do */
	frame->message = flatview_root(&frame->view);
	ck_assert_int_eq(flatview_i16(&frame->message, 0, 0), 4);
	frame->kind = flatview_u8(&frame->message, 1, 0);
	frame->header = flatview_table(&frame->message, 2);
	body = flatview_i64(&frame->message, 3, 0);
	ck_assert_uint_le(*at + (size_t)body, sink.size);
	frame->body = slice_of(sink.bytes + *at, (size_t)body);
	*at += (size_t)body;
	ck_assert(!frame->view.bad);
	return true;
}

static int
write_stream(const struct ArrowSchema *schema, const struct ArrowArray *const *batches,
	size_t count, struct lancet_error *err)
{
	const struct lancet_output out = { arrows_write, &sink };
	lancet_ipc *writer = NULL;
	int rc;

	sink.size = 0;
	rc = lancet_ipc_open(schema, &out, &writer, err);
	for (size_t i = 0; i < count && rc == LANCET_OK; i++)
		rc = lancet_ipc_write(writer, batches[i], err);
	if (rc == LANCET_OK)
		rc = lancet_ipc_finish(writer, err);
	lancet_ipc_free(writer);
	return rc;
}

static void
write_one(const struct arrows *batch)
{
	const struct ArrowArray *const batches[] = { &batch->array };
	struct lancet_error err = { 0 };

	ck_assert_msg(write_stream(&batch->schema, batches, 1, &err) == LANCET_OK, "%s", err.text);
}

static int64_t
word(struct slice bytes, size_t index)
{
	int64_t value;

	ck_assert_uint_ge(bytes.size, 8 * index + 8);
	memcpy(&value, bytes.data + 8 * index, sizeof(value));
	return value;
}

/* The bytes of buffer `index` of a record batch. */
static struct slice
buffer(struct frame *frame, struct flattable *batch, size_t index)
{
	struct flatvector places = flatview_vector(batch, 2, 16);
	struct slice place = flatvector_element(&places, (uint32_t)index);
	int64_t at = word(place, 0), size = word(place, 1);

	ck_assert_int_eq(at % 64, 0);
	ck_assert_uint_le((size_t)(at + size), frame->body.size);
	return slice_of(frame->body.data + at, (size_t)size);
}

static void
check_node(struct flattable *batch, size_t index, int64_t length, int64_t nulls)
{
	struct flatvector nodes = flatview_vector(batch, 1, 16);
	struct slice node = flatvector_element(&nodes, (uint32_t)index);

	ck_assert_int_eq(word(node, 0), length);
	ck_assert_int_eq(word(node, 1), nulls);
}

/* Each format string and the union member, with the numbers in the slots of its table. */
static const struct {
	const char *format;
	uint8_t type;
	int32_t slots[3];
	uint8_t sizes[3];
} types[] = {
	{ "n", 1, { 0 }, { 0 } },
	{ "c", 2, { 8, 1 }, { 4, 1 } },
	{ "L", 2, { 64, 0 }, { 4, 1 } },
	{ "e", 3, { 0 }, { 2 } },
	{ "f", 3, { 1 }, { 2 } },
	{ "g", 3, { 2 }, { 2 } },
	{ "z", 4, { 0 }, { 0 } },
	{ "u", 5, { 0 }, { 0 } },
	{ "b", 6, { 0 }, { 0 } },
	{ "d:10,-2", 7, { 10, -2, 128 }, { 4, 4, 4 } },
	{ "d:70,3,256", 7, { 70, 3, 256 }, { 4, 4, 4 } },
	{ "tdD", 8, { 0 }, { 2 } },
	{ "tdm", 8, { 1 }, { 2 } },
	{ "tts", 9, { 0, 32 }, { 2, 4 } },
	{ "ttn", 9, { 3, 64 }, { 2, 4 } },
	{ "tsu:", 10, { 2 }, { 2 } },
	{ "w:7", 15, { 7 }, { 4 } },
	{ "tDm", 18, { 1 }, { 2 } },
	{ "Z", 19, { 0 }, { 0 } },
	{ "U", 20, { 0 }, { 0 } },
};

START_TEST(types_are_those_of_the_format)
{
	struct arrows batch, column;
	struct frame frame;
	size_t at = 0;

	arrows_batch(&batch, 0);
	arrows_init(&column, types[_i].format, "column", 0, 0);
	arrows_add(&batch, &column);
	ck_assert_int_eq(write_stream(&batch.schema, NULL, 0, NULL), LANCET_OK);
	ck_assert(next_frame(&frame, &at));
	ck_assert_uint_eq(frame.kind, 1);
	ck_assert_int_eq(flatview_i16(&frame.header, 0, 9), 0); /* little-endian */

	struct flatvector fields = flatview_vector(&frame.header, 1, 4);
	struct flattable field = flatvector_table(&fields, 0), type = flatview_table(&field, 3);

	ck_assert_uint_eq(fields.count, 1);
	ck_assert(slice_equal(flatview_string(&field, 0), slice_text("column")));
	ck_assert(flatview_bool(&field, 1, false));
	ck_assert_uint_eq(flatview_u8(&field, 2, 0), types[_i].type);
	for (unsigned slot = 0; slot < 3; slot++) {
		int32_t got = types[_i].sizes[slot] == 1   ? flatview_u8(&type, slot, 99)
			      : types[_i].sizes[slot] == 2 ? flatview_i16(&type, slot, 99)
			      : types[_i].sizes[slot] == 4 ? flatview_i32(&type, slot, 99)
							   : 0;

		ck_assert_int_eq(got, types[_i].slots[slot]);
	}
	ck_assert(!frame.view.bad);
	ck_assert(!next_frame(&frame, &at));
	ck_assert_uint_eq(at, sink.size);
}
END_TEST

static const char metadata[] = "\2\0\0\0\1\0\0\0a\2\0\0\0bc\0\0\0\0\0\0\0\0";

static void
check_metadata(struct flattable *table, unsigned slot)
{
	struct flatvector entries = flatview_vector(table, slot, 4);
	struct flattable first = flatvector_table(&entries, 0);
	struct flattable second = flatvector_table(&entries, 1);

	ck_assert_uint_eq(entries.count, 2);
	ck_assert(slice_equal(flatview_string(&first, 0), slice_text("a")));
	ck_assert(slice_equal(flatview_string(&first, 1), slice_text("bc")));
	ck_assert_uint_eq(flatview_string(&second, 0).size, 0);
}

START_TEST(metadata_and_zones_are_kept)
{
	struct arrows batch, list, item;
	struct frame frame;
	size_t at = 0;

	arrows_batch(&batch, 0);
	batch.schema.metadata = metadata;
	arrows_init(&list, "+L", "list", 0, 2);
	list.schema.flags = 0;
	arrows_init(&item, "tss:+08:00", "item", 0, 2);
	item.schema.metadata = metadata;
	arrows_add(&list, &item);
	arrows_add(&batch, &list);
	ck_assert_int_eq(write_stream(&batch.schema, NULL, 0, NULL), LANCET_OK);
	ck_assert(next_frame(&frame, &at));
	check_metadata(&frame.header, 2);

	struct flatvector fields = flatview_vector(&frame.header, 1, 4), children;
	struct flattable field = flatvector_table(&fields, 0), type;

	ck_assert_uint_eq(flatview_u8(&field, 2, 0), 21);
	ck_assert(!flatview_bool(&field, 1, true));
	children = flatview_vector(&field, 5, 4);
	ck_assert_uint_eq(children.count, 1);
	field = flatvector_table(&children, 0);
	check_metadata(&field, 6);
	type = flatview_table(&field, 3);
	ck_assert(slice_equal(flatview_string(&type, 1), slice_text("+08:00")));
	ck_assert(!frame.view.bad);
}
END_TEST

/* Rows 3 to 11 of fourteen texts: bitmap and offsets have to be moved to their beginning. */
START_TEST(a_slice_begins_at_zero)
{
	static const uint8_t valid[] = { 0xb7, 0x2d };
	static const int32_t offsets[] = { 0, 1, 2, 3, 5, 5, 6, 6, 8, 9, 10, 11, 12, 13, 14 };
	struct arrows batch, column;
	struct flattable *rows;
	struct frame frame;
	size_t at = 0;

	arrows_batch(&batch, 8);
	batch.array.offset = 3;
	arrows_init(&column, "u", "t", 14, 3);
	column.buffers[0] = valid;
	column.buffers[1] = offsets;
	column.buffers[2] = "abcdefghijklmn";
	arrows_add(&batch, &column);
	write_one(&batch);
	ck_assert(next_frame(&frame, &at));
	ck_assert(next_frame(&frame, &at));
	ck_assert_uint_eq(frame.kind, 3);
	rows = &frame.header;
	ck_assert_int_eq(flatview_i64(rows, 0, 0), 8);
	check_node(rows, 0, 8, 3);
	ck_assert(slice_equal(buffer(&frame, rows, 0), slice_of("\xb6", 1)));
	static const int32_t moved[] = { 0, 2, 2, 3, 3, 5, 6, 7, 8 };
	ck_assert(slice_equal(buffer(&frame, rows, 1), slice_of(moved, sizeof(moved))));
	ck_assert(slice_equal(buffer(&frame, rows, 2), slice_text("defghijk")));
	ck_assert(!next_frame(&frame, &at));
	ck_assert_uint_eq(at, sink.size);
}
END_TEST

/* Bits across every position of a byte, against a plain copy. */
START_TEST(bits_move_from_any_position)
{
	static const uint8_t bits[] = { 0x93, 0x5c, 0xe1, 0x3f, 0x08, 0xa7 };

	for (int64_t first = 0; first < 24; first++) {
		for (int64_t count = 1; count <= 24; count++) {
			uint8_t want[4] = { 0 };
			struct arrows batch, column;
			struct frame frame;
			size_t at = 0;

			arrows_batch(&batch, count);
			arrows_init(&column, "b", "b", count, 2);
			column.array.offset = first;
			column.buffers[1] = bits;
			arrows_add(&batch, &column);
			write_one(&batch);
			ck_assert(next_frame(&frame, &at) && next_frame(&frame, &at));
			for (int64_t i = 0; i < count; i++)
				want[i / 8] |=
					(uint8_t)((bits[(first + i) / 8] >> (first + i) % 8 & 1)
						  << i % 8);
			struct slice got = buffer(&frame, &frame.header, 1);

			ck_assert_uint_eq(got.size, (size_t)(count + 7) / 8);
			for (int64_t i = 0; i < count; i++)
				ck_assert_int_eq(
					got.data[i / 8] >> i % 8 & 1, want[i / 8] >> i % 8 & 1);
		}
	}
}
END_TEST

/* A list of fixed-size lists of a struct, cut at every level by an offset. */
START_TEST(nested_slices_take_only_their_items)
{
	static const int64_t offsets[] = { 0, 1, 3, 4 };
	static const int16_t numbers[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	struct arrows batch, list, pairs, parts, number;
	struct flatvector nodes;
	struct frame frame;
	size_t at = 0;

	arrows_batch(&batch, 2);
	arrows_init(&list, "+L", "l", 2, 2);
	list.array.offset = 1;
	list.buffers[1] = offsets;
	arrows_init(&pairs, "+w:2", "item", 4, 1);
	pairs.array.offset = 1;
	arrows_init(&parts, "+s", "item", 10, 1);
	parts.array.offset = 1;
	arrows_init(&number, "s", "n", 12, 2);
	number.array.offset = 1;
	number.buffers[1] = numbers;
	number.array.length = 11;
	arrows_add(&parts, &number);
	arrows_add(&pairs, &parts);
	arrows_add(&list, &pairs);
	arrows_add(&batch, &list);
	write_one(&batch);
	ck_assert(next_frame(&frame, &at) && next_frame(&frame, &at));
	nodes = flatview_vector(&frame.header, 1, 16);
	ck_assert_uint_eq(nodes.count, 4);
	check_node(&frame.header, 0, 2, 0);
	check_node(&frame.header, 1, 3, 0);
	check_node(&frame.header, 2, 6, 0);
	check_node(&frame.header, 3, 6, 0);
	static const int64_t moved[] = { 0, 2, 3 };
	ck_assert(slice_equal(buffer(&frame, &frame.header, 1), slice_of(moved, sizeof(moved))));
	/* pairs 2 to 4 of the array are parts 4 to 9, behind the offsets of parts and of numbers */
	ck_assert(slice_equal(buffer(&frame, &frame.header, 5), slice_of(numbers + 6, 12)));
}
END_TEST

START_TEST(an_empty_array_needs_no_buffers)
{
	struct arrows batch, text, flag;
	struct frame frame;
	size_t at = 0;

	arrows_batch(&batch, 0);
	arrows_init(&text, "u", "t", 0, 3);
	arrows_init(&flag, "b", "b", 0, 2);
	arrows_add(&batch, &text);
	arrows_add(&batch, &flag);
	write_one(&batch);
	ck_assert(next_frame(&frame, &at) && next_frame(&frame, &at));
	check_node(&frame.header, 0, 0, 0);
	ck_assert(slice_equal(buffer(&frame, &frame.header, 1), slice_of("\0\0\0", 4)));
	ck_assert_uint_eq(buffer(&frame, &frame.header, 4).size, 0);
}
END_TEST

struct keyed {
	struct arrows batch, column, values;
};

static void
make_keyed(struct keyed *k, const int32_t *offsets, const char *text, int64_t values)
{
	static const int8_t keys[] = { 0, 1, 0 };

	arrows_batch(&k->batch, 3);
	arrows_init(&k->column, "c", "d", 3, 2);
	k->column.buffers[1] = keys;
	arrows_init(&k->values, "u", "", values, 3);
	k->values.buffers[1] = offsets;
	k->values.buffers[2] = text;
	k->column.schema.dictionary = &k->values.schema;
	k->column.array.dictionary = &k->values.array;
	arrows_add(&k->batch, &k->column);
}

/* Kinds of the messages of the stream, one letter each. */
static void
check_kinds(const char *want)
{
	char got[32] = "";
	struct frame frame;
	size_t at = 0, count = 0;

	while (next_frame(&frame, &at))
		got[count++] = "?SDB"[frame.kind];
	ck_assert_str_eq(got, want);
	ck_assert_uint_eq(at, sink.size);
}

START_TEST(dictionaries_are_written_when_they_change)
{
	static const int32_t offsets[] = { 0, 1, 2, 3 };
	struct keyed one, same, other, longer;
	const struct ArrowArray *const batches[] = { &one.batch.array, &same.batch.array,
		&other.batch.array, &longer.batch.array, &longer.batch.array, &one.batch.array };
	struct frame frame;
	size_t at = 0;

	make_keyed(&one, offsets, "xyz", 2);
	make_keyed(&same, offsets, "xyw", 2);
	make_keyed(&other, offsets, "xwz", 2);
	make_keyed(&longer, offsets, "xwz", 3);
	ck_assert_int_eq(
		write_stream(&one.batch.schema, batches, ARRAY_SIZE(batches), NULL), LANCET_OK);
	check_kinds("SDBBDBDBBDB");
	ck_assert(next_frame(&frame, &at));

	struct flatvector fields = flatview_vector(&frame.header, 1, 4);
	struct flattable field = flatvector_table(&fields, 0);
	struct flattable encoding = flatview_table(&field, 4), keys, batch;

	ck_assert_uint_eq(flatview_u8(&field, 2, 0), 5); /* of the values */
	keys = flatview_table(&encoding, 1);
	ck_assert_int_eq(flatview_i64(&encoding, 0, 9), 0);
	ck_assert_int_eq(flatview_i32(&keys, 0, 0), 8);
	ck_assert(next_frame(&frame, &at));
	ck_assert_int_eq(flatview_i64(&frame.header, 0, 9), 0);
	ck_assert(!flatview_bool(&frame.header, 2, true)); /* no delta: it replaces */
	batch = flatview_table(&frame.header, 1);
	check_node(&batch, 0, 2, 0);
	ck_assert(slice_equal(buffer(&frame, &batch, 2), slice_text("xy")));
}
END_TEST

START_TEST(a_failing_sink_ends_it)
{
	static const int32_t offsets[] = { 0, 1, 2 };
	struct keyed k;
	const struct ArrowArray *const batches[] = { &k.batch.array };
	size_t whole;

	make_keyed(&k, offsets, "xy", 2);
	ck_assert_int_eq(write_stream(&k.batch.schema, batches, 1, NULL), LANCET_OK);
	whole = sink.size;
	sink.fails = LANCET_CANCELLED;
	for (sink.room = 1; sink.room < whole; sink.room++)
		ck_assert_int_eq(write_stream(&k.batch.schema, batches, 1, NULL), LANCET_CANCELLED);
	sink.room = 0;
}
END_TEST

START_TEST(arrays_of_another_shape_are_refused)
{
	static const int32_t offsets[] = { 0, 1, 2 };
	const struct ArrowArray *batches[1];
	struct arrows batch;
	struct keyed k;

	make_keyed(&k, offsets, "xy", 2);
	batches[0] = &k.batch.array;
	k.column.array.dictionary = NULL;
	ck_assert_int_eq(write_stream(&k.batch.schema, batches, 1, NULL), LANCET_INVALID);
	make_keyed(&k, offsets, "xy", 2);
	k.column.array.length = 2; /* fewer than the batch has rows */
	ck_assert_int_eq(write_stream(&k.batch.schema, batches, 1, NULL), LANCET_INVALID);
	make_keyed(&k, offsets, "xy", 2);
	k.batch.array.null_count = 1;
	ck_assert_int_eq(write_stream(&k.batch.schema, batches, 1, NULL), LANCET_INVALID);
	arrows_batch(&batch, 3);
	batches[0] = &batch.array;
	ck_assert_int_eq(write_stream(&k.batch.schema, batches, 1, NULL), LANCET_INVALID);
	ck_assert_int_eq(write_stream(&k.column.schema, batches, 1, NULL), LANCET_INVALID);
	k.values.schema.dictionary = &k.values.schema;
	k.values.schema.format = "c";
	ck_assert_int_eq(write_stream(&k.batch.schema, batches, 1, NULL), LANCET_UNSUPPORTED);
}
END_TEST

UNIT_MAIN("ipc", UNIT_LOOP(types_are_those_of_the_format, types),
	UNIT_TEST(metadata_and_zones_are_kept), UNIT_TEST(a_slice_begins_at_zero),
	UNIT_TEST(bits_move_from_any_position), UNIT_TEST(nested_slices_take_only_their_items),
	UNIT_TEST(an_empty_array_needs_no_buffers),
	UNIT_TEST(dictionaries_are_written_when_they_change), UNIT_TEST(a_failing_sink_ends_it),
	UNIT_TEST(arrays_of_another_shape_are_refused))
