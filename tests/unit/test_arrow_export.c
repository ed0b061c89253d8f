/* Arrays and fields as the Arrow C Data Interface has them. */
#include "core/arrow_export.h"
#include "core/json_text.h"
#include "unit.h"

#define TEXT(text)                                                                                 \
	{                                                                                          \
		(const uint8_t *)(text), sizeof(text) - 1                                          \
	}

static const struct field_entry json_entries[] = {
	{ TEXT(EXTENSION_KEY), TEXT(JSON_STORED_AS) },
	{ TEXT("k"), TEXT("") },
};

static struct field number = {
	.kind = FIELD_FIXED, .name = TEXT("n"), .format = "i", .bits = 32, .nullable = true
};
static struct field flag = { .kind = FIELD_FIXED, .name = TEXT("b"), .format = "b", .bits = 1 };
static struct field text = { .kind = FIELD_VARIABLE, .name = TEXT("t"), .format = "u" };
static struct field json = { .kind = FIELD_VARIABLE,
	.name = TEXT("j"),
	.format = "Z",
	.large = true,
	.metadata = json_entries,
	.metadata_count = 2 };
static struct field pair[] = {
	{ .kind = FIELD_FIXED, .name = TEXT("x"), .format = "C", .bits = 8 },
	{ .kind = FIELD_NULL, .name = TEXT("y"), .format = "n" },
};
static struct field record = {
	.kind = FIELD_STRUCT, .name = TEXT("s"), .format = "+s", .children = pair, .child_count = 2
};
static struct field list = { .kind = FIELD_LIST,
	.name = TEXT("l"),
	.format = "+L",
	.large = true,
	.children = &number,
	.child_count = 1 };
static struct field vector = { .kind = FIELD_FIXED_LIST,
	.name = TEXT("v"),
	.format = "+w:2",
	.dimension = 2,
	.children = &number,
	.child_count = 1 };
static struct field words = { .kind = FIELD_DICTIONARY,
	.name = TEXT("d"),
	.format = "c",
	.bits = 8,
	.children = &text,
	.child_count = 1 };

static struct array_budget budget = { .limit = 1 << 20 };

static struct array
made(const struct field *field)
{
	struct array array;

	ck_assert_int_eq(array_init(&array, field, &budget, NULL), LANCET_OK);
	return array;
}

static struct ArrowArray
exported(struct array *columns, size_t count, uint64_t rows)
{
	struct ArrowArray batch;
	struct lancet_error err = { 0 };

	ck_assert_msg(arrow_export_batch(columns, count, rows, &batch, &err) == LANCET_OK, "%s",
		err.text);
	for (size_t i = 0; i < count; i++)
		array_release(&columns[i]);
	ck_assert_uint_eq(budget.used, 0);
	ck_assert_int_eq(batch.length, rows);
	ck_assert_int_eq(batch.n_children, count);
	ck_assert(batch.n_buffers == 1 && batch.buffers[0] == NULL && batch.offset == 0);
	return batch;
}

static void
append_text(struct array *array, const char *value)
{
	ck_assert_int_eq(array_append_bytes(array, slice_text(value), NULL), LANCET_OK);
}

START_TEST(buffers_are_moved_not_copied)
{
	struct array columns[] = { made(&number), made(&flag), made(&text) };
	const int32_t values[] = { 5, 6, 7 };
	const uint8_t bits = 5;
	const void *data;
	struct ArrowArray batch;

	ck_assert_int_eq(
		array_append_fixed(&columns[0], 32, (const uint8_t *)values, 3, NULL), LANCET_OK);
	ck_assert_int_eq(array_set_null(&columns[0], 1, NULL), LANCET_OK);
	ck_assert_int_eq(array_append_bits(&columns[1], &bits, 0, 3, NULL), LANCET_OK);
	append_text(&columns[2], "ab");
	append_text(&columns[2], "");
	append_text(&columns[2], "c");
	data = columns[0].data.data;
	batch = exported(columns, 3, 3);
	ck_assert_ptr_eq(batch.children[0]->buffers[1], data);
	ck_assert_int_eq(batch.children[0]->n_buffers, 2);
	ck_assert_int_eq(batch.children[0]->null_count, 1);
	ck_assert_uint_eq(((const uint8_t *)batch.children[0]->buffers[0])[0] & 7, 5);
	ck_assert_ptr_null(batch.children[1]->buffers[0]);
	ck_assert_uint_eq(((const uint8_t *)batch.children[1]->buffers[1])[0] & 7, 5);
	ck_assert_int_eq(batch.children[2]->n_buffers, 3);
	ck_assert_mem_eq(batch.children[2]->buffers[1], ((int32_t[]){ 0, 2, 2, 3 }), 16);
	ck_assert_mem_eq(batch.children[2]->buffers[2], "abc", 3);
	batch.release(&batch);
	ck_assert_ptr_null(batch.release);
}
END_TEST

START_TEST(children_can_be_moved_out)
{
	struct array columns[] = { made(&record), made(&list) };
	const uint8_t bytes[] = { 1, 2 };
	const int32_t numbers[] = { 8, 9 };
	struct ArrowArray batch, child;

	ck_assert_int_eq(array_append_fixed(&columns[0].children[0], 8, bytes, 2, NULL), LANCET_OK);
	ck_assert_int_eq(array_append_nulls(&columns[0].children[1], 2, NULL), LANCET_OK);
	ck_assert_int_eq(array_extend(&columns[0], 2, NULL), LANCET_OK);
	ck_assert_int_eq(
		array_append_fixed(&columns[1].children[0], 32, (const uint8_t *)numbers, 2, NULL),
		LANCET_OK);
	ck_assert_int_eq(array_append_list(&columns[1], 2, NULL), LANCET_OK);
	ck_assert_int_eq(array_append_list(&columns[1], 0, NULL), LANCET_OK);
	batch = exported(columns, 2, 2);
	child = *batch.children[1]; /* as the specification has it */
	batch.children[1]->release = NULL;
	ck_assert_int_eq(batch.children[0]->n_children, 2);
	ck_assert_int_eq(batch.children[0]->children[1]->n_buffers, 0);
	ck_assert_int_eq(batch.children[0]->children[1]->null_count, 2);
	batch.release(&batch);
	ck_assert_mem_eq(child.buffers[1], ((int64_t[]){ 0, 2, 2 }), 24);
	ck_assert_mem_eq(child.children[0]->buffers[1], numbers, 8);
	child.release(&child);
}
END_TEST

START_TEST(dictionaries_go_along)
{
	struct array columns[] = { made(&words), made(&vector) };
	const int32_t numbers[] = { 1, 2 };
	const uint8_t key = 0;
	struct ArrowArray batch;

	append_text(&columns[0].children[0], "one");
	ck_assert_int_eq(array_append_fixed(&columns[0], 8, &key, 1, NULL), LANCET_OK);
	ck_assert_int_eq(
		array_append_fixed(&columns[1].children[0], 32, (const uint8_t *)numbers, 2, NULL),
		LANCET_OK);
	ck_assert_int_eq(array_extend(&columns[1], 1, NULL), LANCET_OK);
	batch = exported(columns, 2, 1);
	ck_assert_int_eq(batch.children[0]->n_children, 0);
	ck_assert_int_eq(batch.children[0]->dictionary->length, 1);
	ck_assert_mem_eq(batch.children[0]->dictionary->buffers[2], "one", 3);
	ck_assert(batch.children[1]->n_buffers == 1 && batch.children[1]->n_children == 1);
	batch.release(&batch);
}
END_TEST

START_TEST(nothing_has_offsets_all_the_same)
{
	struct array columns[] = { made(&text), made(&list) };
	struct ArrowArray batch;

	array_release(&columns[1]); /* buffers that were never made */
	columns[1] = (struct array){ .field = &number, .budget = &budget };
	batch = exported(columns, 2, 0);
	ck_assert_ptr_nonnull(batch.children[0]->buffers[1]);
	ck_assert_int_eq(*(const int32_t *)batch.children[0]->buffers[1], 0);
	ck_assert_ptr_null(batch.children[0]->buffers[2]);
	ck_assert_ptr_null(batch.children[1]->buffers[1]);
	batch.release(&batch);
}
END_TEST

START_TEST(schemas_have_names_flags_and_metadata)
{
	static const char metadata[] = "\2\0\0\0"
				       "\x14\0\0\0ARROW:extension:name\xa\0\0\0arrow.json"
				       "\1\0\0\0k\0\0\0\0";
	static const char table[] = "\1\0\0\0\1\0\0\0a\2\0\0\0bc";
	const struct field *const fields[] = { &number, &json, &words, &record, &list };
	const struct lancet_entry entry = { TEXT("a"), TEXT("bc") };
	struct ArrowSchema schema, child;
	struct lancet_error err = { 0 };

	ck_assert_int_eq(arrow_export_schema(fields, 5, &entry, 1, &schema, &err), LANCET_OK);
	ck_assert_str_eq(schema.format, "+s");
	ck_assert_str_eq(schema.name, "");
	ck_assert_int_eq(schema.n_children, 5);
	ck_assert_mem_eq(schema.metadata, table, sizeof(table) - 1);
	ck_assert_str_eq(schema.children[0]->format, "i");
	ck_assert_str_eq(schema.children[0]->name, "n");
	ck_assert_int_eq(schema.children[0]->flags, ARROW_FLAG_NULLABLE);
	ck_assert_ptr_null(schema.children[0]->metadata);
	ck_assert_str_eq(schema.children[1]->format, "u");
	ck_assert_int_eq(schema.children[1]->flags, 0);
	ck_assert_mem_eq(schema.children[1]->metadata, metadata, sizeof(metadata) - 1);
	ck_assert_str_eq(schema.children[2]->format, "c");
	ck_assert_str_eq(schema.children[2]->dictionary->format, "u");
	ck_assert_int_eq(schema.children[2]->n_children, 0);
	ck_assert_str_eq(schema.children[3]->children[1]->format, "n");
	child = *schema.children[4];
	schema.children[4]->release = NULL;
	schema.release(&schema);
	ck_assert_ptr_null(schema.release);
	ck_assert_str_eq(child.children[0]->name, "n");
	child.release(&child);
}
END_TEST

UNIT_MAIN("arrow_export", UNIT_TEST(buffers_are_moved_not_copied),
	UNIT_TEST(children_can_be_moved_out), UNIT_TEST(dictionaries_go_along),
	UNIT_TEST(nothing_has_offsets_all_the_same),
	UNIT_TEST(schemas_have_names_flags_and_metadata))
