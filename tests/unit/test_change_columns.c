/* Columns by name and dotted path, and schemas without them or with another name. */
#include "unit.h"

#include <string.h>

#include "core/change.h"
#include "lance/transaction.pb-c.h"
#include "maker.h"

#define FIELDS 9

/* ids are the places; "a.b" is a top-level name that newer writers refuse */
static const struct {
	const char *name, *type;
	int parent;
} fields[FIELDS] = {
	{ "a.b", "int32", -1 },
	{ "a", "struct", -1 },
	{ "b", "int32", 1 },
	{ "b.c", "struct", 1 },
	{ "d", "int32", 3 },
	{ "c", "int32", -1 },
	{ "l", "list", -1 },
	{ "item", "int32", 6 },
	{ "", "int32", -1 },
};

static lancet_version *
open_made(struct buf *file)
{
	Lance__File__Field made[FIELDS], *list[FIELDS];
	Lance__Table__Manifest manifest = LANCE__TABLE__MANIFEST__INIT;
	Lance__Table__Manifest__WriterVersion writer = LANCE__TABLE__MANIFEST__WRITER_VERSION__INIT;
	lancet_version *version = NULL;
	struct lancet_error err = { 0 };

	for (int i = 0; i < FIELDS; i++) {
		lance__file__field__init(&made[i]);
		made[i].name = maker_text(fields[i].name);
		made[i].logical_type = maker_text(fields[i].type);
		made[i].id = i;
		made[i].parent_id = fields[i].parent;
		made[i].nullable = true;
		list[i] = &made[i];
	}
	writer.library = maker_text("lance");
	manifest.version = 1;
	manifest.writer_version = &writer;
	manifest.fields = list;
	manifest.n_fields = FIELDS;
	ck_assert_msg(
		maker_load_message(file, &manifest, &version, &err) == LANCET_OK, "%s", err.text);
	return version;
}

/* The ids of the fields, a digit each. */
static void
ids_of(const lancet_change *change, char into[FIELDS + 1])
{
	const Lance__Table__Transaction__Project *project = change->message->project;

	ck_assert_int_eq(
		change->message->operation_case, LANCE__TABLE__TRANSACTION__OPERATION_PROJECT);
	ck_assert(project->preserves_nullability);
	for (size_t i = 0; i < project->n_schema; i++)
		*into++ = (char)('0' + project->schema[i]->id);
	*into = '\0';
}

static const struct {
	const char *columns[4];
	int want;
	const char *left; /* or what is said */
} drops[] = {
	{ { "c" }, LANCET_OK, "01234678" },
	{ { "a.b" }, LANCET_OK, "12345678" }, /* the longest name comes first */
	{ { "a" }, LANCET_OK, "05678" },
	{ { "a.b.c" }, LANCET_OK, "0125678" },
	{ { "a.b.c.d" }, LANCET_OK, "0125678" }, /* a struct without members goes, too */
	{ { "a.b", "a.b.c" }, LANCET_OK, "125678" },
	{ { "l.item" }, LANCET_OK, "0123458" },
	{ { "" }, LANCET_OK, "01234567" },
	{ { "c", "c", "l", "l.item" }, LANCET_OK, "012348" },
	{ { "a.b.d" }, LANCET_NOT_FOUND, "column \"a.b.d\": there is none" },
	{ { "a.b.c.d.e" }, LANCET_NOT_FOUND, "there is none" },
	{ { "b" }, LANCET_NOT_FOUND, "there is none" },
	{ { "c", "x" }, LANCET_NOT_FOUND, "column \"x\"" },
};

START_TEST(columns_are_dropped_with_what_lies_below)
{
	const char *columns[5] = { drops[_i].columns[0], drops[_i].columns[1], drops[_i].columns[2],
		drops[_i].columns[3] };
	struct buf file = { 0 };
	lancet_version *version = open_made(&file);
	lancet_change *change = NULL;
	struct lancet_error err = { 0 };
	char left[FIELDS + 1];
	int rc = lancet_change_drop_columns(version, columns, &change, &err);

	ck_assert_msg(rc == drops[_i].want, "%d %s", rc, err.text);
	if (rc == LANCET_OK) {
		ids_of(change, left);
		ck_assert_str_eq(left, drops[_i].left);
	} else {
		ck_assert_msg(strstr(err.text, drops[_i].left) != NULL, "%s", err.text);
		ck_assert_ptr_null(change);
	}
	lancet_change_free(change);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

static const struct {
	const char *column, *to;
	int want;
	int id;          /* of the field with the new name */
	const char *why; /* a part of what is said */
} renames[] = {
	{ "c", "z", LANCET_OK, 5, "" },
	{ "a.b", "z", LANCET_OK, 0, "" },
	{ "a.b.c", "a", LANCET_OK, 3, "" },
	{ "a.b.c.d", "x.y", LANCET_OK, 4, "" },
	{ "c", "b", LANCET_OK, 5, "" }, /* "b" is there, but not beside it */
	{ "c", "a", LANCET_EXISTS, 0, "column \"a\": there is one already" },
	{ "a.b.c", "b", LANCET_EXISTS, 0, "there is one already" },
	{ "c", "c", LANCET_INVALID, 0, "that is its name" },
	{ "c", "x.y", LANCET_INVALID, 0, "can't have a dot" },
	{ "c", "x`y", LANCET_INVALID, 0, "backtick" },
	{ "c", "", LANCET_INVALID, 0, "empty" },
	{ "c", "_rowaddr", LANCET_INVALID, 0, "reserved" },
	{ "c", "\xff", LANCET_INVALID, 0, "not UTF-8" },
	{ "l.item", "x", LANCET_INVALID, 0, "members of structs" },
	{ "x", "y", LANCET_NOT_FOUND, 0, "column \"x\"" },
};

START_TEST(a_column_gets_a_name_that_is_free)
{
	struct buf file = { 0 };
	lancet_version *version = open_made(&file);
	lancet_change *change = NULL;
	struct lancet_error err = { 0 };
	char left[FIELDS + 1];
	int rc = lancet_change_rename_column(
		version, renames[_i].column, renames[_i].to, &change, &err);

	ck_assert_msg(rc == renames[_i].want && strstr(err.text, renames[_i].why) != NULL, "%d %s",
		rc, err.text);
	ck_assert_int_eq(change != NULL, rc == LANCET_OK);
	for (int i = 0; change != NULL && i < FIELDS; i++) {
		ProtobufCBinaryData name = change->message->project->schema[i]->name;
		const char *want = i == renames[_i].id ? renames[_i].to : fields[i].name;

		ids_of(change, left);
		ck_assert_str_eq(left, "012345678");
		ck_assert(slice_equal(slice_of(name.data, name.len), slice_text(want)));
	}
	lancet_change_free(change);
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

UNIT_MAIN("change_columns", UNIT_LOOP(columns_are_dropped_with_what_lies_below, drops),
	UNIT_LOOP(a_column_gets_a_name_that_is_free, renames))
