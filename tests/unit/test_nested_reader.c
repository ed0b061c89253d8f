/* Fields of several columns: what the columns say of the structs and lists above them is joined,
 * has to agree, and is there even when some of the columns are not. */
#include "pages.h"

#include "file/reader.h"

/* struct<a: int32, b: int32>, list<struct<a, b>> and fixed lists of two of them */
static struct field pair[3], lists[4], fixed[4];

static void
set_leaves(struct field *fields, size_t at)
{
	fields[at] = (struct field){ .kind = FIELD_STRUCT,
		.name = slice_text("pair"),
		.children = &fields[at + 1],
		.child_count = 2 };
	for (size_t i = at + 1; i <= at + 2; i++)
		fields[i] = (struct field){ .kind = FIELD_FIXED,
			.bits = 32,
			.name = slice_text(i == at + 1 ? "a" : "b"),
			.parent = &fields[at] };
}

static void
set_fields(void)
{
	set_leaves(pair, 0);
	set_leaves(lists, 1);
	set_leaves(fixed, 1);
	lists[0] = (struct field){ .kind = FIELD_LIST, .name = slice_text("items") };
	fixed[0] = (struct field){
		.kind = FIELD_FIXED_LIST, .dimension = 2, .name = slice_text("twos")
	};
	lists[0].children = &lists[1];
	fixed[0].children = &fixed[1];
	lists[0].child_count = fixed[0].child_count = 1;
	lists[1].parent = &lists[0];
	fixed[1].parent = &fixed[0];
	for (uint32_t i = 0; i < 4; i++) {
		lists[i].ordinal = fixed[i].ordinal = i;
		if (i < 3)
			pair[i].ordinal = i;
	}
}

static void
render(const struct array *array, uint64_t at, struct buf *out)
{
	const struct field *field = array->field;
	uint64_t first = at, end = at + 1;

	if (!array_is_valid(array, at)) {
		buf_put_byte(out, '-');
		return;
	}
	if (field->kind == FIELD_FIXED) {
		buf_printf(out, "%" PRIx64, array_unsigned(array, at));
		return;
	}
	if (field->kind == FIELD_LIST) {
		first = array_offset(array, at);
		end = array_offset(array, at + 1);
	} else if (field->kind == FIELD_FIXED_LIST) {
		first = at * field->dimension;
		end = first + field->dimension;
	}
	buf_put_byte(out, field->kind == FIELD_STRUCT ? '{' : '[');
	for (uint64_t i = first; i < end; i++)
		for (size_t child = 0; child < array->child_count; child++)
			render(&array->children[child], i, out);
	buf_put_byte(out, field->kind == FIELD_STRUCT ? '}' : ']');
}

/* A column of one constant page: its value, layers, and levels in hex. No layers: no column. */
struct column {
	const char *layers, *rep, *def;
	uint8_t value;
	uint64_t length;
};

static void
put_column(struct buf *file, const struct column *column, struct buf *out)
{
	const uint8_t value[4] = { column->value };
	struct buf levels[2] = { page_hex(column->rep), page_hex(column->def) };
	struct buf layers = page_hex(column->layers);
	struct buf page = { 0 }, list = { 0 }, layout = { 0 }, message = { 0 }, any = { 0 },
		   direct = { 0 }, encoding = { 0 };
	struct page_buffer places[2];

	for (size_t i = 0; i < 2; i++) {
		places[i] = put_page_buffer(file, &levels[i]);
		buf_release(&levels[i]);
		put_varint(&list, places[i].offset);
	}
	put_message(&page, 1, &list);
	for (size_t i = 0; i < 2; i++)
		put_varint(&list, places[i].size);
	put_message(&page, 2, &list);
	put_number(&page, 3, column->length);
	put_message(&layout, 5, &layers);
	put_head(&layout, 6, 4);
	buf_put(&layout, value, 4);
	put_message(&message, 2, &layout);
	put_head(&any, 1, strlen("/lance.encodings21.PageLayout"));
	buf_put_text(&any, "/lance.encodings21.PageLayout");
	put_message(&any, 2, &message);
	put_message(&direct, 1, &any);
	put_message(&encoding, 2, &direct);
	put_message(&page, 4, &encoding);
	put_message(out, 2, &page);
}

static const struct {
	const char *label;
	const struct field *field;
	uint64_t rows;
	struct column columns[2]; /* of a and b */
	struct row_range ranges[2];
	size_t count;
	enum lancet_code want;
	const char *text;
} fields[] = {
	{ "both", pair, 4,
		{ { "0303", "", "0000 0200 0100 0000", 5, 4 },
			{ "0303", "", "0100 0200 0000 0000", 6, 4 } },
		{ { 0, 4 } }, 1, 0, "{5-} - {-6} {56}" },
	{ "some rows", pair, 4,
		{ { "0303", "", "0000 0200 0100 0000", 5, 4 },
			{ "0303", "", "0100 0200 0000 0000", 6, 4 } },
		{ { 1, 1 }, { 3, 1 } }, 2, 0, "- {56}" },
	{ "no b", pair, 3, { { "0303", "", "0000 0200 0100", 5, 3 } }, { { 0, 3 } }, 1, 0,
		"{5-} - {--}" },
	{ "no a", pair, 3, { { 0 }, { "0303", "", "0000 0200 0100", 5, 3 } }, { { 0, 3 } }, 1, 0,
		"{-5} - {--}" },
	{ "neither", pair, 3, { { 0 } }, { { 0, 2 } }, 1, 0, "- -" },
	{ "one without nulls of its own", pair, 2,
		{ { "0103", "", "0000 0100", 5, 2 }, { "0303", "", "0100 0200", 6, 2 } },
		{ { 0, 2 } }, 1, 0, "{5-} -" },
	{ "lists", lists, 3,
		{ { "030306", "0100 0000 0100 0100", "0000 0200 0300 0000", 5, 3 },
			{ "030306", "0100 0000 0100 0100", "0100 0200 0300 0000", 6, 3 } },
		{ { 0, 3 } }, 1, 0, "[{5-}-] - [{56}]" },
	{ "lists, no b", lists, 3,
		{ { "030306", "0100 0000 0100 0100", "0000 0200 0400 0000", 5, 3 } },
		{ { 0, 1 }, { 2, 1 } }, 2, 0, "[{5-}-] [{5-}]" },
	{ "fixed-size lists", fixed, 2,
		{ { "030303", "", "0000 0200 0300 0300", 5, 4 },
			{ "030303", "", "0100 0200 0300 0300", 6, 4 } },
		{ { 0, 2 } }, 1, 0, "[{5-}-] -" },
	{ "the last fixed-size list", fixed, 2, { { "030303", "", "0300 0300 0000 0200", 5, 4 } },
		{ { 1, 1 } }, 1, 0, "[{5-}-]" },

	{ "structs that don't agree", pair, 2,
		{ { "0303", "", "0000 0200", 5, 2 }, { "0303", "", "0000 0100", 6, 2 } },
		{ { 0, 2 } }, 1, LANCET_CORRUPT, "column 1: its pair is not the one" },
	{ "lists that don't agree", lists, 2,
		{ { "030306", "0100 0000 0100", "0000 0000 0000", 5, 2 },
			{ "030306", "0100 0100 0000", "0000 0000 0000", 6, 2 } },
		{ { 0, 2 } }, 1, LANCET_CORRUPT, "column 1: its items is not the one" },
	{ "null lists that don't agree", lists, 2,
		{ { "030306", "0100 0100", "0000 0300", 5, 2 },
			{ "030306", "0100 0100", "0000 0400", 6, 2 } },
		{ { 0, 2 } }, 1, LANCET_CORRUPT, "is not the one" },
	{ "columns of other rows", pair, 3,
		{ { "0303", "", "0000 0200 0100", 5, 3 }, { "0303", "", "0000 0200", 6, 2 } },
		{ { 0, 2 } }, 1, LANCET_CORRUPT, "column 1: 2 rows, 3 expected" },
	{ "half a fixed-size list", fixed, 2, { { "030303", "", "0000 0200 0300", 5, 3 } },
		{ { 0, 2 } }, 1, LANCET_CORRUPT, "fixed-size lists of 2" },
	{ "layers of another field", pair, 2, { { "0306", "0100 0100", "0000 0000", 5, 2 } },
		{ { 0, 2 } }, 1, LANCET_CORRUPT, "layer 1 is a list" },
};

struct rig {
	struct buf bytes;
	struct datafile *file;
	struct column_place places[4];
	struct scratch scratch;
	void *state;
};

static void
rig_init(struct rig *rig, int row)
{
	size_t first = fields[row].field == pair ? 1 : 2;
	struct buf columns[2] = { { 0 } };
	struct source *source;

	*rig = (struct rig){ 0 };
	for (size_t i = 0; i < 2; i++) {
		if (fields[row].columns[i].layers != NULL)
			put_column(&rig->bytes, &fields[row].columns[i], &columns[i]);
	}
	end_page_file(&rig->bytes, 2, columns, 2);
	source = source_memory_new(buf_slice(&rig->bytes), NULL);
	ck_assert_int_eq(datafile_open(source, &rig->file, NULL), LANCET_OK);
	source_unref(source);
	for (uint32_t i = 0; i < 2; i++) {
		buf_release(&columns[i]);
		if (fields[row].columns[i].layers != NULL)
			rig->places[first + i] = (struct column_place){ rig->file, i };
	}
}

static void
rig_release(struct rig *rig)
{
	nested_reader_ops.free(rig->state);
	scratch_release(&rig->scratch);
	datafile_unref(rig->file);
	buf_release(&rig->bytes);
}

/* Twice: what is read goes behind what is there. */
static int
read_twice(struct rig *rig, int row, struct array *out, struct lancet_error *err)
{
	TRY(nested_reader_ops.open(
		fields[row].field, rig->places, fields[row].rows, &rig->scratch, &rig->state, err));
	TRY(nested_reader_ops.read(rig->state, fields[row].ranges, fields[row].count, out, err));
	return nested_reader_ops.read(rig->state, fields[row].ranges, fields[row].count, out, err);
}

START_TEST(columns_are_joined)
{
	struct array_budget budget = { .limit = 1 << 20 };
	struct lancet_error err = { 0 };
	struct buf text = { 0 }, want = { 0 };
	struct array out;
	struct rig rig;
	int rc;

	set_fields();
	rig_init(&rig, _i);
	ck_assert_int_eq(array_init(&out, fields[_i].field, &budget, &err), LANCET_OK);
	rc = read_twice(&rig, _i, &out, &err);
	ck_assert_msg(rc == (int)fields[_i].want, "%s: %d %s", fields[_i].label, rc, err.text);
	if (rc == LANCET_OK) {
		for (uint64_t i = 0; i < out.length; i++) {
			buf_put_text(&text, i == 0 ? "" : " ");
			render(&out, i, &text);
		}
		buf_put_byte(&text, '\0');
		buf_printf(&want, "%s %s", fields[_i].text, fields[_i].text);
		buf_put_byte(&want, '\0');
		ck_assert_msg(strcmp((const char *)text.data, (const char *)want.data) == 0,
			"%s: %s", fields[_i].label, (const char *)text.data);
	} else {
		ck_assert_msg(strstr(err.text, fields[_i].text) != NULL, "%s: %s", fields[_i].label,
			err.text);
	}
	buf_release(&text);
	buf_release(&want);
	array_release(&out);
	ck_assert_uint_eq(budget.used, 0);
	rig_release(&rig);
}
END_TEST

UNIT_MAIN("nested_reader", UNIT_LOOP(columns_are_joined, fields))
