/* A few rows of every type that conditions know, made from JSON lines. */
#ifndef TESTS_CONDITIONROWS_H
#define TESTS_CONDITIONROWS_H

#include <sys/mman.h>
#include <unistd.h>

#include "core/import.h"
#include "core/predicate.h"
#include "importtree.h"

#define CONDITION_ROWS 6

static const struct import_field condition_fields[] = {
	{ "b", "bool", -1, false, NULL },
	{ "i8", "int8", -1, false, NULL },
	{ "u8", "uint8", -1, false, NULL },
	{ "i32", "int32", -1, false, NULL },
	{ "i64", "int64", -1, false, NULL },
	{ "u64", "uint64", -1, false, NULL },
	{ "f32", "float", -1, false, NULL },
	{ "f64", "double", -1, false, NULL },
	{ "s", "string", -1, false, NULL },
	{ "word", "dict:string:int16:false", -1, false, NULL },
	{ "y", "binary", -1, false, NULL },
	{ "day", "date32:day", -1, false, NULL },
	{ "t", "time32:s", -1, false, NULL },
	{ "ts", "timestamp:us:-", -1, false, NULL },
	{ "tz", "timestamp:s:+02:00", -1, false, NULL },
	{ "span", "duration:ms", -1, false, NULL },
	{ "dec", "decimal:128:10:2", -1, false, NULL },
	{ "big", "decimal:256:76:0", -1, false, NULL },
	{ "A name", "int32", -1, true, NULL },
	{ "st", "struct", -1, false, NULL },
	{ "x", "int32", 19, false, NULL },
	{ "l", "list", -1, false, NULL },
	{ "item", "int32", 21, false, NULL },
};

static const char condition_text[] =
	"{\"b\":true,\"i8\":1,\"u8\":1,\"i32\":1,\"i64\":1,\"u64\":1,\"f32\":0.1,\"f64\":0.1,"
	"\"s\":\"a\",\"word\":\"a\",\"y\":\"YQ==\",\"day\":\"2020-01-01\","
	"\"t\":\"01:02:03\",\"ts\":\"2020-01-01T01:02:03\",\"tz\":\"2020-01-01T01:02:03Z\","
	"\"span\":\"PT0.001S\",\"dec\":\"1.50\",\"big\":\"1\",\"A "
	"name\":1,\"st\":{\"x\":1},\"l\":[1]}\n"
	"{\"b\":false,\"i8\":-1,\"u8\":255,\"i32\":-1,\"i64\":-1,\"u64\":18446744073709551615,"
	"\"f32\":\"NaN\",\"f64\":\"NaN\",\"s\":\"B\",\"word\":\"b\",\"y\":\"AA==\","
	"\"day\":\"1970-01-01\",\"t\":\"00:00:00\",\"ts\":\"1970-01-01T00:00:00\","
	"\"tz\":\"1970-01-01T00:00:00Z\",\"span\":\"PT0.002S\",\"dec\":\"-2.25\",\"big\":\"-1\","
	"\"A name\":2,\"st\":{\"x\":null},\"l\":[]}\n"
	"{\"A name\":3}\n"
	"{\"b\":true,\"i8\":127,\"u8\":127,\"i32\":2147483647,\"i64\":9223372036854775807,"
	"\"u64\":9223372036854775808,\"f32\":-0.0,\"f64\":-0.0,\"s\":\"ab\",\"word\":\"a\","
	"\"y\":\"YWI=\",\"day\":\"1969-12-31\",\"t\":\"23:59:59\","
	"\"ts\":\"1969-12-31T23:59:59.999999\",\"tz\":\"1969-12-31T00:00:00Z\",\"span\":\"-PT0."
	"005S\","
	"\"dec\":\"0\",\"big\":\"9999999999999999999999999999999999999999999999999999999999999999"
	"999999999999\",\"A name\":4,\"st\":{\"x\":3},\"l\":[2]}\n"
	"{\"b\":false,\"i8\":-128,\"u8\":0,\"i32\":-2147483648,\"i64\":-9223372036854775808,"
	"\"u64\":0,\"f32\":0.0,\"f64\":0.0,\"s\":\"\",\"word\":\"c\",\"y\":\"\","
	"\"day\":\"2020-01-02\",\"t\":\"12:00:00\",\"ts\":\"2020-01-02T00:00:00\","
	"\"tz\":\"2020-01-02T00:00:00Z\",\"span\":\"PT0.000S\",\"dec\":\"123.45\",\"big\":\"0\","
	"\"A name\":5,\"st\":{\"x\":0},\"l\":[3]}\n"
	"{\"b\":null,\"i8\":0,\"u8\":5,\"i32\":0,\"i64\":0,\"u64\":5,\"f32\":\"Infinity\","
	"\"f64\":\"-Infinity\",\"s\":\"a%b\",\"word\":\"b\",\"y\":\"/w==\","
	"\"day\":\"9999-01-01\",\"t\":\"01:02:04\",\"ts\":\"2022-01-01T00:00:00\","
	"\"tz\":\"2022-01-01T00:00:00Z\",\"span\":\"PT0.007S\",\"dec\":\"0.01\",\"big\":\"10\","
	"\"A name\":6,\"st\":{\"x\":5},\"l\":[null]}\n";

struct condition_rows {
	struct field_tree tree;
	struct array_budget budget;
	struct array columns[IMPORT_COLUMNS], ids;
	const struct array *places[IMPORT_COLUMNS + PREDICATE_LINEAGE];
};

/* Row ids are 100, 101, … */
static inline void
condition_rows_make(struct condition_rows *rows)
{
	int fd = memfd_create("rows", MFD_CLOEXEC);
	size_t size = sizeof(condition_text) - 1;
	struct row_source *source = NULL;
	struct lancet_error err = { 0 };
	uint64_t count = 0;

	*rows = (struct condition_rows){ .budget = { .limit = (size_t)64 << 20 } };
	import_tree(condition_fields, ARRAY_SIZE(condition_fields), &rows->tree);
	ck_assert_int_eq(write(fd, condition_text, size), (ssize_t)size);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	for (size_t i = 0; i < rows->tree.root_count; i++) {
		ck_assert_int_eq(
			array_init(&rows->columns[i], &rows->tree.roots[i], &rows->budget, &err),
			LANCET_OK);
		rows->places[i] = &rows->columns[i];
	}
	ck_assert_int_eq(import_json_open(&rows->tree, fd, &source, &err), LANCET_OK);
	ck_assert_msg(source->ops->next(source, rows->columns, 100, &count, &err) == LANCET_OK,
		"%s", err.text);
	ck_assert_uint_eq(count, CONDITION_ROWS);
	source->ops->free(source);
	close(fd);
	ck_assert_int_eq(
		array_init(&rows->ids, field_unsigned(64), &rows->budget, &err), LANCET_OK);
	for (uint64_t id = 100; id < 100 + CONDITION_ROWS; id++)
		ck_assert_int_eq(
			array_append_fixed(&rows->ids, 64, (uint8_t *)&id, 1, &err), LANCET_OK);
	for (size_t i = 0; i < PREDICATE_LINEAGE; i++)
		rows->places[rows->tree.root_count + i] = &rows->ids;
}

static inline void
condition_rows_release(struct condition_rows *rows)
{
	for (size_t i = 0; i < rows->tree.root_count; i++)
		array_release(&rows->columns[i]);
	array_release(&rows->ids);
	field_tree_release(&rows->tree);
}

#endif
