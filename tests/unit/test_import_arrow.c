/* Arrow files and streams as rows, as pyarrow wrote them: each layout and packing, and what is left
 * of them when they are cut or damaged. The files are those that the fuzz target begins with; two
 * bytes before each are the target's.
 */
#include "importtext.h"

#include <fcntl.h>

#define FILES         UNIT_DATA_DIR "/../fuzz/corpus/ipc/"
#define FILE_SIZE_MAX 8192u

static uint8_t bytes[FILE_SIZE_MAX];

static struct slice
load(const char *name)
{
	char path[512];
	ssize_t size;
	int file;

	(void)snprintf(path, sizeof(path), FILES "%s", name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_msg(file >= 0, "%s", path);
	size = read(file, bytes, sizeof(bytes));
	ck_assert(size > 2 && (size_t)size < sizeof(bytes));
	(void)close(file);
	return slice_of(bytes + 2, (size_t)size - 2);
}

#define LINE(name, value) "{\"" name "\":" value "}\n"
#define TEXTS(name)                                                                                \
	LINE(name, "\"a\"")                                                                        \
	LINE(name, "null")                                                                         \
	LINE(name, "\"b\xc3\xa9\"")                                                                \
	LINE(name, "\"a long text that is in no view\"") LINE(name, "\"\"")
#define NULLS(name)                                                                                \
	LINE(name, "null")                                                                         \
	LINE(name, "null") LINE(name, "null") LINE(name, "null") LINE(name, "null")
#define BINARY                                                                                     \
	LINE("y", "\"YQ==\"")                                                                      \
	LINE("y", "null")                                                                          \
	LINE("y", "\"YsOp\"")                                                                      \
	LINE("y", "\"YSBsb25nIHRleHQgdGhhdCBpcyBpbiBubyB2aWV3\"") LINE("y", "\"\"")
#define DICTIONARY "dict:string:int8:false"

static const struct {
	const char *file;
	struct import_field field;
	const char *want;
} columns[] = {
	{ "file-i", { "i", "int32", -1, false, NULL },
		LINE("i", "1") LINE("i", "null") LINE("i", "3") LINE("i", "4") LINE("i", "5") },
	{ "file-lz4-b", { "b", "bool", -1, false, NULL },
		LINE("b", "true") LINE("b", "null") LINE("b", "false") LINE("b", "true")
			LINE("b", "true") },
	{ "file-lz4-b-other", { "b", "bool", -1, false, NULL }, NULLS("b") },
	{ "stream-f", { "f", "double", -1, false, NULL },
		LINE("f", "0.5") LINE("f", "null") LINE("f", "1.0") LINE("f", "2.0")
			LINE("f", "3.0") },
	{ "file-y", { "y", "binary", -1, false, NULL }, BINARY },
	{ "file-y-other", { "y", "binary", -1, false, NULL }, BINARY },
	{ "stream-V4-t", { "t", "string", -1, false, NULL }, TEXTS("t") },
	{ "stream-V4-t", { "t", "large_string", -1, false, NULL }, TEXTS("t") },
	{ "stream-V4-t", { "t", DICTIONARY, -1, false, NULL }, TEXTS("t") },
	{ "stream-V4-t-other", { "t", "string", -1, false, NULL }, TEXTS("t") },
	{ "stream-V4-t-other", { "t", DICTIONARY, -1, false, NULL }, TEXTS("t") },
	{ "stream-old-T", { "T", "large_string", -1, false, NULL }, TEXTS("T") },
	{ "stream-old-T-other", { "T", "string", -1, false, NULL }, TEXTS("T") },
	{ "file-lz4-w", { "w", DICTIONARY, -1, false, NULL }, TEXTS("w") },
	{ "file-w", { "w", "string", -1, false, NULL }, TEXTS("w") },
	{ "file-growing", { "t", "string", -1, false, NULL },
		LINE("t", "\"a\"") LINE("t", "null") LINE("t", "\"b\"") LINE("t", "\"a\"")
			LINE("t", "null") LINE("t", "\"c\"") },
	{ "stream-growing", { "t", "string", -1, false, NULL },
		LINE("t", "\"a\"") LINE("t", "null") LINE("t", "\"b\"") LINE("t", "\"a\"")
			LINE("t", "null") LINE("t", "\"c\"") LINE("t", "\"x\"") LINE("t", "null")
				LINE("t", "\"x\"") },
	{ "stream-zstd-q", { "q", "int32", -1, true, NULL },
		LINE("q", "0") LINE("q", "1") LINE("q", "2") LINE("q", "3") LINE("q", "4") },
	{ "stream-zstd-n", { "n", "null", -1, false, NULL }, NULLS("n") },
	{ "file-i", { "i", "int32", -1, true, NULL },
		"row 2, column \"i\": null, which the column must not be" },
	{ "file-i", { "i", "int64", -1, false, NULL },
		"column \"i\": the file has int32, the dataset int64" },
	{ "file-i", { "j", "int32", -1, false, NULL },
		"column \"i\": the dataset has no such column" },
	{ "stream-V4-t", { "t", "binary", -1, false, NULL },
		"column \"t\": the file has string, the dataset binary" },
	{ "file-w", { "w", "int8", -1, false, NULL },
		"column \"w\": the file has string, the dataset int8" },
	{ "stream-zstd-n", { "n", "int8", -1, true, NULL },
		"row 1, column \"n\": null, which the column must not be" },
};

static void
run_column(size_t row, struct import_test *test, struct slice file)
{
	*test = (struct import_test){
		.fields = &columns[row].field,
		.field_count = 1,
		.form = TEXT_ARROW,
		.budget = test->budget,
		.batch = test->batch,
	};
	import_run(test, file);
}

START_TEST(files_of_others_are_rows_or_refused)
{
	import_check(&columns[_i].field, 1, TEXT_ARROW, load(columns[_i].file), columns[_i].want);
}
END_TEST

static const struct import_field nested[] = {
	{ "q", "int32", -1, false, NULL }, { "t", "string", -1, false, NULL },
	{ "l", "list.struct", -1, false, NULL }, { "item", "struct", 2, false, NULL },
	{ "b", "string", 3, false, NULL }, /* the file has the two parts in another order */
	{ "a", "int8", 3, true, NULL },
	{ "z", "date32:day", -1, false, NULL }, /* the file lacks it */
};
static const char nested_rows[] =
	"{\"q\":0,\"t\":\"a\",\"l\":[{\"b\":\"x\",\"a\":1}],\"z\":null}\n"
	"{\"q\":1,\"t\":null,\"l\":null,\"z\":null}\n"
	"{\"q\":2,\"t\":\"b\xc3\xa9\",\"l\":[],\"z\":null}\n"
	"{\"q\":3,\"t\":\"a long text that is in no view\",\"l\":[{\"b\":null,\"a\":2},"
	"{\"b\":\"z\",\"a\":3}],\"z\":null}\n"
	"{\"q\":4,\"t\":\"\",\"l\":[],\"z\":null}\n";

START_TEST(columns_go_by_name)
{
	import_check(nested, ARRAY_SIZE(nested), TEXT_ARROW, load("stream-q_t_l"), nested_rows);
}
END_TEST

START_TEST(a_field_that_can_not_be_null_must_be_there)
{
	struct import_field needed[ARRAY_SIZE(nested)];

	memcpy(needed, nested, sizeof(nested));
	needed[6].needed = true;
	import_check(needed, ARRAY_SIZE(nested), TEXT_ARROW, load("stream-q_t_l"),
		"column \"z\": the file lacks it, and it can't be null");
}
END_TEST

START_TEST(rows_come_as_many_as_are_asked_for)
{
	for (uint64_t batch = 1; batch < 7; batch++) {
		struct import_test test = { .batch = batch };

		run_column((size_t)_i, &test, load(columns[_i].file));
		if (columns[_i].want[0] == '{') {
			ck_assert_str_eq((const char *)test.out.data, columns[_i].want);
			ck_assert_uint_ge(test.batches, 5 / batch);
		}
		buf_release(&test.out);
	}
}
END_TEST

/* Fewer rows at a time when they take more memory than they may; an error when one does. */
START_TEST(rows_fit_their_budget)
{
	uint64_t most = 0;

	for (size_t budget = 8; budget <= 512; budget += 8) {
		struct import_test test = { .budget = budget };

		run_column(6, &test, load("stream-V4-t"));
		if (test.code == LANCET_OK) {
			ck_assert_str_eq((const char *)test.out.data, TEXTS("t"));
			most = test.batches > most ? test.batches : most;
		} else {
			ck_assert_int_eq(test.code, LANCET_LIMIT);
		}
		buf_release(&test.out);
	}
	ck_assert_uint_gt(most, 1);
}
END_TEST

static const char *const cut_files[] = { "file-i", "file-lz4-w", "stream-V4-t", "stream-growing",
	"stream-old-T-other", "stream-zstd-q" };

static size_t
column_of(const char *file)
{
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		if (strcmp(columns[i].file, file) == 0 && columns[i].want[0] == '{')
			return i;
	}
	ck_abort_msg("%s", file);
}

/* A file is whole or refused; a stream may end between messages, with the rows so far. */
START_TEST(what_is_cut_is_never_taken_for_more)
{
	const char *name = cut_files[_i];
	size_t row = column_of(name);
	struct slice whole = load(name);

	for (size_t size = 0; size < whole.size; size++) {
		struct import_test test = { 0 };

		run_column(row, &test, slice_of(whole.data, size));
		ck_assert(test.code == LANCET_OK || test.code == LANCET_CORRUPT ||
			  test.code == LANCET_INVALID);
		ck_assert(test.code != LANCET_OK || strncmp(name, "stream", 6) == 0);
		ck_assert(strncmp((const char *)test.out.data, columns[row].want,
				  strlen((const char *)test.out.data)) == 0);
		buf_release(&test.out);
	}
}
END_TEST

START_TEST(damage_is_survived)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	size_t row = column_of(cut_files[_i]);
	struct slice whole = load(cut_files[_i]);

	for (size_t at = 0; at < whole.size; at++) {
		uint8_t before = bytes[at + 2];

		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			struct import_test test = { .budget = 1 << 16 };

			bytes[at + 2] = values[i];
			run_column(row, &test, whole);
			ck_assert(test.code == LANCET_OK || test.err.text[0] != '\0');
			buf_release(&test.out);
		}
		bytes[at + 2] = before;
	}
}
END_TEST

/* The same bytes from a pipe, files by the stream that is in them. */
START_TEST(pipes_are_read_front_to_back)
{
	size_t row = (size_t)_i;
	struct slice file = load(columns[row].file);
	struct import_test test = { 0 };
	struct row_source *source = NULL;
	struct field_tree tree;
	int ends[2], rc;

	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(write(ends[1], file.data, file.size), (ssize_t)file.size);
	(void)close(ends[1]);
	import_tree(&columns[row].field, 1, &tree);
	rc = import_arrow_open(&tree, ends[0], &source, &test.err);
	if (rc == LANCET_OK) {
		rc = import_batches(&test, &tree, source);
		source->ops->free(source);
	}
	buf_put_byte(&test.out, '\0');
	if (columns[row].want[0] == '{')
		ck_assert_str_eq((const char *)test.out.data, columns[row].want);
	else
		ck_assert_str_eq(test.err.text, columns[row].want);
	buf_release(&test.out);
	field_tree_release(&tree);
	(void)close(ends[0]);
}
END_TEST

UNIT_MAIN("import_arrow", UNIT_LOOP(files_of_others_are_rows_or_refused, columns),
	UNIT_TEST(columns_go_by_name), UNIT_TEST(a_field_that_can_not_be_null_must_be_there),
	UNIT_LOOP(rows_come_as_many_as_are_asked_for, columns), UNIT_TEST(rows_fit_their_budget),
	UNIT_LOOP(what_is_cut_is_never_taken_for_more, cut_files),
	UNIT_LOOP(damage_is_survived, cut_files), UNIT_LOOP(pipes_are_read_front_to_back, columns))
