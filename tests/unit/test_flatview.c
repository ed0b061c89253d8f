/* Flatbuffers: Arrow messages as written by another implementation, and hand-made lies. */
#include "unit.h"

#include "util/flatview.h"

/* Message { version V5, header Schema { fields [ row_id: uint32 not null ] } }, 120 bytes */
static const uint8_t schema_message[] = {
	0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x0c, 0x00, 0x0a, 0x00, 0x09, 0x00, 0x04,
	0x00, 0x0a, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x01, 0x04, 0x00, 0x08, 0x00,
	0x08, 0x00, 0x00, 0x00, 0x04, 0x00, 0x08, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x01,
	0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00, 0x10, 0x00, 0x16, 0x00, 0x10, 0x00, 0x00, 0x00,
	0x0f, 0x00, 0x04, 0x00, 0x00, 0x00, 0x08, 0x00, 0x10, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00,
	0x00, 0x1c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x06, 0x00, 0x08, 0x00, 0x04, 0x00, 0x06, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x72, 0x6f, 0x77, 0x5f, 0x69, 0x64, 0x00, 0x00,
};

/* Walks all that a schema message has; also what the mutation test runs. */
static bool
is_row_id_schema(struct flatview *view)
{
	struct flattable message = flatview_root(view);
	struct flattable schema = flatview_table(&message, 2);
	struct flatvector fields = flatview_vector(&schema, 1, 4);
	struct flattable field, type;
	bool right;

	if (view->bad || fields.count != 1)
		return false;
	field = flatvector_table(&fields, 0);
	type = flatview_table(&field, 3);
	right = flatview_i16(&message, 0, 0) == 4 && flatview_u8(&message, 1, 0) == 1 &&
		slice_equal(flatview_string(&field, 0), slice_text("row_id")) &&
		!flatview_bool(&field, 1, false) && flatview_u8(&field, 2, 0) == 2 &&
		flatview_i32(&type, 0, 0) == 32 && !flatview_bool(&type, 1, false) &&
		flatview_i64(&message, 3, 0) == 0 && flatview_vector(&field, 5, 4).count == 0;
	return right && !view->bad;
}

START_TEST(an_arrow_schema_is_read)
{
	struct flatview view = { .in = { schema_message, sizeof(schema_message) } };

	ck_assert(is_row_id_schema(&view));
}
END_TEST

/* RecordBatch message of `rows` u32 values, built from the layout in the Arrow format. */
static const uint8_t batch_message[128] = {
	[0] = 16, [4] = 12, [6] = 20, [8] = 16, [10] = 18, [12] = 4, [14] = 8,
	[16] = 12, [20] = 28, [24] = 0x40, [32] = 4, [34] = 3,
	[36] = 10, [38] = 20, [40] = 8, [42] = 4, [44] = 16,
	[48] = 12, [52] = 16, [56] = 10, [64] = 28,
	[68] = 1, [72] = 10,
	[92] = 2, [120] = 40,
};

START_TEST(structs_in_vectors_are_read)
{
	struct flatview view = { .in = { batch_message, sizeof(batch_message) } };
	struct flattable message = flatview_root(&view);
	struct flattable batch = flatview_table(&message, 2);
	struct flatvector nodes = flatview_vector(&batch, 1, 16);
	struct flatvector buffers = flatview_vector(&batch, 2, 16);
	struct flattable compression = flatview_table(&batch, 3);

	ck_assert_int_eq(flatview_u8(&message, 1, 0), 3);
	ck_assert_int_eq(flatview_i64(&message, 3, -1), 64);
	ck_assert_int_eq(flatview_i64(&batch, 0, -1), 10);
	ck_assert_uint_eq(nodes.count, 1);
	ck_assert_uint_eq(flatvector_element(&nodes, 0).data[0], 10);
	ck_assert_uint_eq(buffers.count, 2);
	ck_assert_uint_eq(flatvector_element(&buffers, 1).data[8], 40);
	ck_assert(!flattable_present(&compression));
	ck_assert_int_eq(flatview_i8(&compression, 0, -7), -7);
	ck_assert(!flatview_vector(&compression, 0, 4).present);
	ck_assert(!view.bad);
	ck_assert_uint_eq(flatvector_element(&buffers, 2).size, 0);
	ck_assert(view.bad);
}
END_TEST

START_TEST(once_bad_all_is_absent)
{
	struct flatview view = { .in = { batch_message, sizeof(batch_message) } };
	struct flattable message = flatview_root(&view);

	view.bad = true;
	ck_assert_int_eq(flatview_i64(&message, 3, -1), -1);
	message = flatview_root(&view);
	ck_assert(!flattable_present(&message));
}
END_TEST

/* Each patches one place of batch_message and reads it. */
static const struct {
	const char *label;
	size_t at;
	uint32_t value;
} lies[] = {
	{ "root past the end", 0, 128 },
	{ "root wraps", 0, UINT32_MAX },
	{ "vtable before the buffer", 16, 17 },
	{ "vtable past the end", 16, (uint32_t)-112 },
	{ "vtable far away", 16, 0x80000000u },
	{ "vtable size 2", 4, 2 | 20 << 16 },
	{ "vtable size odd", 4, 13 | 20 << 16 },
	{ "vtable larger than the buffer", 4, 0xfff0 | 20 << 16 },
	{ "table of 2 bytes", 4, 12 | 2 << 16 },
	{ "table larger than the buffer", 4, 12 | 113u << 16 },
	{ "field inside the reference to the vtable", 12, 2 | 8 << 16 },
	{ "field past the table", 12, 17 | 8 << 16 },
	{ "table reference past the end", 20, 109 },
	{ "table reference wraps", 20, UINT32_MAX },
	{ "vector reference past the end", 52, 73 },
	{ "vector longer than the buffer", 68, 4 },
	{ "vector count wraps", 68, 0x10000001u },
};

START_TEST(a_lie_makes_the_view_bad)
{
	uint8_t *bytes = malloc(sizeof(batch_message)); /* so that a sanitizer sees overruns */
	struct flatview view = { .in = { bytes, sizeof(batch_message) } };
	struct flattable message, batch;
	struct flatvector nodes;

	memcpy(bytes, batch_message, sizeof(batch_message));
	for (int i = 0; i < 4; i++)
		bytes[lies[_i].at + (size_t)i] = (uint8_t)(lies[_i].value >> (8 * i));
	message = flatview_root(&view);
	batch = flatview_table(&message, 2);
	nodes = flatview_vector(&batch, 1, 16);
	ck_assert_msg(view.bad, "%s", lies[_i].label);
	ck_assert_uint_eq(nodes.count, 0);
	free(bytes);
}
END_TEST

START_TEST(cuts_and_flipped_bits_never_read_outside)
{
	for (size_t size = 0; size < sizeof(schema_message); size++) {
		uint8_t *bytes = malloc(size == 0 ? 1 : size);
		struct flatview view = { .in = { bytes, size } };

		memcpy(bytes, schema_message, size);
		ck_assert(size >= 118 || !is_row_id_schema(&view)); /* the rest is padding */
		free(bytes);
	}
	for (size_t bit = 0; bit < 8 * sizeof(schema_message); bit++) {
		uint8_t *bytes = malloc(sizeof(schema_message));
		struct flatview view = { .in = { bytes, sizeof(schema_message) } };

		memcpy(bytes, schema_message, sizeof(schema_message));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		(void)is_row_id_schema(&view);
		free(bytes);
	}
}
END_TEST

START_TEST(a_table_that_contains_itself_costs_only_the_callers_steps)
{
	uint8_t bytes[sizeof(batch_message)];
	struct flatview view = { .in = { bytes, sizeof(bytes) } };
	struct flattable table;

	memcpy(bytes, batch_message, sizeof(bytes));
	memcpy(bytes + 20, (uint8_t[]){ 0xfc, 0xff, 0xff, 0xff }, 4); /* -4: forbidden, unsigned */
	table = flatview_root(&view);
	table = flatview_table(&table, 2);
	ck_assert(view.bad);
	ck_assert(!flattable_present(&table));
	view.bad = false;
	memset(bytes + 20, 0, 4); /* 0: the reference itself read as a table */
	table = flatview_root(&view);
	for (int i = 0; i < 1000; i++)
		table = flatview_table(&table, 2);
	ck_assert(view.bad);
}
END_TEST

UNIT_MAIN("flatview", UNIT_TEST(an_arrow_schema_is_read), UNIT_TEST(structs_in_vectors_are_read),
          UNIT_TEST(once_bad_all_is_absent), UNIT_LOOP(a_lie_makes_the_view_bad, lies),
          UNIT_TEST(cuts_and_flipped_bits_never_read_outside),
          UNIT_TEST(a_table_that_contains_itself_costs_only_the_callers_steps))
