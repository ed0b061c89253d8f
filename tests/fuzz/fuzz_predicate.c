/* Any text as a condition and as assignments, over a few rows of several types.
 *
 * What is accepted is a function: it gives the same rows again, and its opposite gives others.
 */
#include "fuzz.h"

#include <string.h>

#include "../helpers/importfields.h"
#include "core/predicate.h"
#include "util/buf.h"
#include "util/macros.h"

#define ROWS      70u
#define COST_BASE ((size_t)48 << 20) /* registers are as many as an expression is deep */
#define COST_BYTE 4096u

static const struct import_field fields[] = {
	{ "a", "int32", -1, false, NULL },
	{ "b", "uint64", -1, false, NULL },
	{ "c", "double", -1, false, NULL },
	{ "d", "string", -1, false, NULL },
	{ "e", "bool", -1, false, NULL },
	{ "f", "decimal:128:10:2", -1, false, NULL },
	{ "g", "timestamp:us:-", -1, false, NULL },
	{ "h", "struct", -1, false, NULL },
	{ "i", "int8", 7, false, NULL },
};
#define FIELDS ARRAY_SIZE(fields)

struct rows {
	struct field_tree tree;
	struct array_budget budget;
	struct array columns[FIELDS], ids;
	const struct array *places[FIELDS + PREDICATE_LINEAGE];
};

/* A value of a few, or null. */
static int
put_value(struct array *array, unsigned row)
{
	uint8_t bytes[16] = { (uint8_t)(row % 5), row % 3 == 0 ? 0xff : 0 };
	const struct field *field = array->field;

	if (row % 7 == 0)
		return array_append_nulls(array, 1, NULL);
	if (field->kind == FIELD_STRUCT) {
		if (put_value(&array->children[0], row + 1) != LANCET_OK)
			return LANCET_NO_MEMORY;
		return array_extend(array, 1, NULL);
	}
	if (field->kind == FIELD_VARIABLE)
		return array_append_bytes(
			array, (struct slice){ (const uint8_t *)"ab%c", row % 5 }, NULL);
	if (field->bits == 1)
		return array_append_bits(array, bytes, 0, 1, NULL);
	return array_append_fixed(array, field->bits, bytes, 1, NULL);
}

static int
make_rows(struct rows *rows)
{
	int rc = import_fields_tree(fields, FIELDS, &rows->tree, NULL);

	rows->budget.limit = (size_t)16 << 20;
	for (size_t i = 0; rc == LANCET_OK && i < rows->tree.root_count; i++) {
		rc = array_init(&rows->columns[i], &rows->tree.roots[i], &rows->budget, NULL);
		rows->places[i] = &rows->columns[i];
		for (unsigned row = 0; rc == LANCET_OK && row < ROWS; row++)
			rc = put_value(&rows->columns[i], row);
	}
	if (rc == LANCET_OK)
		rc = array_init(&rows->ids, field_unsigned(64), &rows->budget, NULL);
	for (uint64_t row = 0; rc == LANCET_OK && row < ROWS; row++)
		rc = array_append_fixed(&rows->ids, 64, (uint8_t *)&row, 1, NULL);
	for (size_t i = 0; i < PREDICATE_LINEAGE; i++)
		rows->places[rows->tree.root_count + i] = &rows->ids;
	return rc;
}

static void
release_rows(struct rows *rows)
{
	for (size_t i = 0; i < FIELDS; i++)
		array_release(&rows->columns[i]);
	array_release(&rows->ids);
	field_tree_release(&rows->tree);
}

static int
match(const struct rows *rows, const char *text, uint8_t matches[ROWS / 8 + 1])
{
	struct predicate *predicate = NULL;
	struct lancet_error err = { 0 };
	int rc = predicate_parse(text, &rows->tree, &predicate, &err);

	if (rc == LANCET_OK)
		rc = predicate_match(predicate, rows->places, ROWS, matches, &err);
	fuzz_expect(rc == LANCET_OK || err.text[0] != '\0');
	fuzz_expect(rc == LANCET_OK || rc == LANCET_INVALID || rc == LANCET_LIMIT ||
		    rc == LANCET_NO_MEMORY);
	predicate_free(predicate);
	return rc;
}

static void
run_condition(const struct rows *rows, const char *text)
{
	uint8_t once[ROWS / 8 + 1] = { 0 }, opposite[ROWS / 8 + 1] = { 0 };
	struct buf negated = { 0 };

	if (match(rows, text, once) != LANCET_OK)
		return;
	buf_put_text(&negated, "not (");
	buf_put_text(&negated, text);
	buf_put(&negated, ")", 2);
	if (negated.failed == LANCET_OK &&
		match(rows, (const char *)negated.data, opposite) == LANCET_OK) {
		for (size_t i = 0; i < sizeof(once); i++)
			fuzz_expect((once[i] & opposite[i]) == 0);
	}
	buf_release(&negated);
}

static void
run_assignments(struct rows *rows, const char *text)
{
	struct assignments *made = NULL;
	struct lancet_error err = { 0 };

	if (assignments_parse(text, &rows->tree, &made, &err) != LANCET_OK) {
		fuzz_expect(err.text[0] != '\0');
		return;
	}
	for (size_t i = 0; i < assignments_count(made); i++) {
		const struct field *field = &rows->tree.roots[assignments_root(made, i)];
		struct array out = { 0 };
		int rc = array_init(&out, field, &rows->budget, &err);

		if (rc == LANCET_OK)
			rc = assignments_apply(made, i, rows->places, ROWS, &out, &err);
		fuzz_expect(rc != LANCET_OK || out.length == ROWS);
		array_release(&out);
	}
	assignments_free(made);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + COST_BYTE * size);
	struct rows rows = { 0 };
	char *text = malloc(size + 1);

	if (text == NULL)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (make_rows(&rows) == LANCET_OK) {
		run_condition(&rows, text);
		run_assignments(&rows, text);
	}
	release_rows(&rows);
	free(text);
	fuzz_end(&guard);
	return 0;
}
