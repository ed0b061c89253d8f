/* Append, Delete, Overwrite and ReserveFragments. Row ids and versions that are due follow the
 * format facts; the corpus of conflicts holds the same against the reference. */
#include "unit.h"

#include "opindex.h"

#define A0 "0 rows=4 files=a:0,1,2"
#define A1 "1 rows=4 files=b:0,1,2"
#define S0 A0 " ids=0-3 made=1*4 changed=5*4"
#define S1 A1 " ids=4-7 made=2*4 changed=6*4"

static const struct op_case appends[] = {
	{ "two new ones", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1" },
			{ PART_FRAGMENT, 1, "0 rows=2 files=o:0" } },
		.after = { A0, "21 rows=3 files=n:0,1", "22 rows=2 files=o:0" } },
	{ "an id that was reserved", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "7 rows=3 files=n:0,1" } },
		.after = { A0, "7 rows=3 files=n:0,1" } },
	{ "an id that is in use", .before = { A0, A1 },
		.parts = { { PART_FRAGMENT, 1, "1 rows=3 files=n:0,1" } }, .code = LANCET_INVALID,
		.word = "Append: fragment id 1" },
	{ "row ids one after the other", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1" },
			{ PART_FRAGMENT, 1, "0 rows=2 files=o:0" } },
		.after = { S0, "21 rows=3 files=n:0,1 ids=100-102 made=9*3 changed=9*3",
			"22 rows=2 files=o:0 ids=103-104 made=9*2 changed=9*2" },
		.next_row_id = 105 },
	{ "versions are the commit's", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1 made=4*3 changed=4*3" } },
		.after = { S0, "21 rows=3 files=n:0,1 ids=100-102 made=9*3 changed=9*3" },
		.next_row_id = 103 },
	{ "with rows deleted", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1 gone=1#5" } },
		.after = { A0, "21 rows=3 files=n:0,1 gone=1#5" } },
	{ "row ids of their own", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1 ids=100-102" } },
		.code = LANCET_INVALID, .word = "the commit assigns them" },
	{ "row ids without stable ones", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1 ids=0-2" } },
		.code = LANCET_INVALID, .word = "no stable" },
	{ "versions without stable row ids", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1 changed=1*3" } },
		.code = LANCET_INVALID, .word = "no stable" },
	{ "no rows", .before = { A0 }, .parts = { { PART_FRAGMENT, 1, "0 files=n:0" } },
		.code = LANCET_INVALID, .word = "new fragment 0: 0 rows" },
	{ "all rows deleted", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0 gone=3#5" } },
		.code = LANCET_INVALID, .word = "no row" },
	{ "a field that nobody knows", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,17" } }, .code = LANCET_INVALID,
		.word = "n.lance: field 17 is not in the schema" },
	{ "a path that leads out", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=../n:0" } }, .code = LANCET_CORRUPT,
		.word = "data file path" },
	{ "a path that is no text", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=\xff:0" } }, .code = LANCET_INVALID,
		.word = "path of DataFile is not UTF-8" },
	{ "overlays", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1 over=o:1@4" } },
		.code = LANCET_INVALID, .word = "overlays" },
	{ "a column spilled to nowhere", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1 ids=column" } },
		.code = LANCET_INVALID, .word = "the commit assigns them" },
};

START_TEST(new_rows_are_appended)
{
	rig_run(100, &appends[_i]);
}
END_TEST

#define IDX "i:1:0,1"

static const struct op_case deletes[] = {
	{ "only the deletion file counts", .stable = true, .before = { S0, S1 }, .entries = { IDX },
		.parts = { { PART_FRAGMENT, 1, "0 rows=7 files=x:9 gone=2#55 over=o:1@3" } },
		.after = { S0 " gone=2#55", S1 }, .covered = { "i:0,1" } },
	{ "more of them", .before = { A0 " gone=1#5 over=o:1@4" },
		.parts = { { PART_FRAGMENT, 1, A0 " gone=2#6" } },
		.after = { A0 " gone=2#6 over=o:1@4" } },
	{ "the same again", .before = { A0 " gone=1#5" },
		.parts = { { PART_FRAGMENT, 1, A0 " gone=1#5" } }, .after = { A0 " gone=1#5" } },
	{ "no row is left", .before = { A0 " gone=1#5", A1 },
		.parts = { { PART_FRAGMENT, 1, A0 " gone=4#6" } }, .after = { A1 } },
	{ "whole fragments", .before = { A0, A1 }, .parts = { { PART_NUMBERS, 2, "1" } },
		.after = { A0 } },
	{ "a segment without fragments goes", .before = { A0, A1 }, .entries = { "i:1:0", "i:1:1" },
		.parts = { { PART_NUMBERS, 2, "1" } }, .after = { A0 }, .covered = { "i:0" } },
	{ "the last one stays", .before = { A0, A1 }, .entries = { "i:1:1" },
		.parts = { { PART_NUMBERS, 2, "1" } }, .after = { A0 }, .covered = { "i:1" } },
	{ "rows come back", .before = { A0 " gone=2#5" },
		.parts = { { PART_FRAGMENT, 1, A0 " gone=1#6" } }, .code = LANCET_INVALID,
		.word = "would come back" },
	{ "no deletion file", .before = { A0 " gone=2#5" }, .parts = { { PART_FRAGMENT, 1, A0 } },
		.code = LANCET_INVALID, .word = "no deletion file" },
	{ "more than there are", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, A0 " gone=5#6" } }, .code = LANCET_CORRUPT,
		.word = "5 of 4" },
	{ "not counted", .before = { A0 }, .parts = { { PART_FRAGMENT, 1, A0 " gone=0#6" } },
		.code = LANCET_INVALID, .word = "how many" },
	{ "one file of two counts", .before = { A0 " gone=1#5" },
		.parts = { { PART_FRAGMENT, 1, A0 " gone=2#5" } }, .code = LANCET_CORRUPT,
		.word = "one deletion file of 1 and of 2" },
	{ "a fragment that is not there", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, A1 " gone=1#6" } }, .code = LANCET_INVALID,
		.word = "fragment 1 is not there" },
	{ "a whole one that is not there", .before = { A0 }, .parts = { { PART_NUMBERS, 2, "3" } },
		.code = LANCET_INVALID, .word = "fragment 3 is not there" },
	{ "twice", .before = { A0, A1 }, .parts = { { PART_NUMBERS, 2, "1,1" } },
		.code = LANCET_INVALID, .word = "named twice" },
};

START_TEST(rows_are_deleted)
{
	rig_run(101, &deletes[_i]);
}
END_TEST

static const struct op_case overwrites[] = {
	{ "everything", .before = { A0, A1 }, .entries = { IDX, "j:2:1" },
		.parts = { { PART_FRAGMENT, 1, "1 rows=3 files=n:0,1" },
			{ PART_SCHEMA, 2, "0,1" } },
		.after = { "21 rows=3 files=n:0,1" } },
	{ "row ids go on", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,1" },
			{ PART_SCHEMA, 2, "0,1" } },
		.after = { "21 rows=3 files=n:0,1 ids=100-102 made=9*3 changed=9*3" },
		.next_row_id = 103 },
	{ "no rows", .before = { A0 }, .parts = { { PART_SCHEMA, 2, "0,1" } } },
	{ "a field of the old schema", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,2" },
			{ PART_SCHEMA, 2, "0,1" } },
		.code = LANCET_INVALID, .word = "field 2 is not in the schema" },
	{ "field ids that are not given again", .flags = FLAG_NON_REUSABLE_FIELD_IDS,
		.field_mark = 9, .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:10,11" },
			{ PART_SCHEMA, 2, "10,11" } },
		.after = { "21 rows=3 files=n:10,11" } },
	{ "one that is given again", .flags = FLAG_NON_REUSABLE_FIELD_IDS, .field_mark = 9,
		.before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:9,10" },
			{ PART_SCHEMA, 2, "9,10" } },
		.code = LANCET_CONFLICT, .word = "field id 9 was given before" },
	{ "new bases", .before = { A0 },
		.parts = { { PART_SCHEMA, 2, "0" }, { PART_FRAGMENT, 5, "3" } },
		.code = LANCET_INVALID, .word = "UpdateBases" },
};

START_TEST(all_is_overwritten)
{
	rig_run(102, &overwrites[_i]);
}
END_TEST

static const Lance__File__StringEntry *
find_entry(Lance__File__StringEntry *const *list, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (slice_equal(slice_of(list[i]->key.data, list[i]->key.len), slice_text(key)))
			return list[i];
	return NULL;
}

/* The reference makes no table with them, or can't read the one it made. */
static const char *const no_names[] = { "", "a.b", "a`b", "_rowid", "_rowaddr", "_rowoffset",
	"_row_created_at_version", "_row_last_updated_at_version" };

START_TEST(names_that_mean_something_else_are_refused)
{
	static const struct op_case row = { "names", .before = { A0 },
		.parts = { { PART_SCHEMA, 2, "0,1" } } };
	struct op_rig rig = { 0 };
	ProtobufCBinaryData *name;

	rig_open(&rig, &row);
	rig_message(&rig, 102, &row);
	name = &rig.draft.message->overwrite->schema[1]->name;
	name->len = strlen(no_names[_i]);
	name->data = draft_copy(&rig.draft, no_names[_i], name->len + 1);
	FAILS(operation_apply(&rig.draft, &err), LANCET_INVALID, "no top-level field");
	/* one that is there already is carried along */
	rig.draft.head->fields[1]->name = *name;
	OK(operation_apply(&rig.draft, &err));
	draft_release(&rig.draft);
	made_release(&rig.made);
}
END_TEST

START_TEST(config_stays_when_all_is_overwritten)
{
	static const struct op_case row = { "config", .flags = FLAG_NON_REUSABLE_FIELD_IDS,
		.field_mark = 9, .before = { A0 },
		.parts = { { PART_SCHEMA, 2, "12" }, { PART_MAP, 3, "s1" },
			{ PART_MAP, 4, "k1,k2" } } };
	struct op_rig rig = { 0 };
	const Lance__Table__Manifest *head;

	txn_strings(&rig.made.message, 5, "s0", true);
	txn_strings(&rig.made.message, 16, "k0,k1", true);
	txn_strings(&rig.made.message, 19, "t0", true);
	rig_open(&rig, &row);
	rig_message(&rig, 102, &row);
	OK(operation_apply(&rig.draft, &err));
	head = rig.draft.head;
	ck_assert_uint_eq(head->n_config, 3);
	ck_assert(find_entry(head->config, 3, "k0") != NULL);
	ck_assert(find_entry(head->config, 3, "k2") != NULL);
	ck_assert_uint_eq(head->n_table_metadata, 1);
	ck_assert_uint_eq(head->n_schema_metadata, 1);
	ck_assert(find_entry(head->schema_metadata, 1, "s1") != NULL);
	ck_assert_int_eq(head->max_allocated_field_id, 12);
	ck_assert_uint_eq(rig.draft.changed,
		DRAFT_SCHEMA | DRAFT_SCHEMA_METADATA | DRAFT_CONFIG | DRAFT_FIELD_MARK);
	draft_release(&rig.draft);
	made_release(&rig.made);
}
END_TEST

static const struct {
	const char *label, *schema; /* of the newest version */
	int code;
} readers[] = {
	{ "the same", "0,1,2", LANCET_OK },
	{ "field 2 was dropped", "0,1", LANCET_OK },
	{ "its id was given to another one", "0,1,2x", LANCET_CONFLICT },
};

/* Rows of another version's schema. */
START_TEST(a_field_id_may_mean_another_field)
{
	static const struct op_case row = { "read", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=3 files=n:0,2" } } };
	struct op_rig then = { 0 };
	struct made now = { 0 };
	struct rebase rebase = { 0 };
	struct lancet_error why = { 0 };

	rig_open(&then, &row);
	draft_release(&then.draft);
	text_schema(&now.message, 1, readers[_i].schema);
	put_number(&now.message, 3, 9);
	made_open(&now, 9);
	OK(draft_init(&then.draft, now.version, now.version, NULL, &err));
	rig_message(&then, 100, &row);
	rebase.read = then.made.version;
	then.draft.rebase = &rebase;
	ck_assert_msg(operation_apply(&then.draft, &why) == readers[_i].code, "%s: %s",
		readers[_i].label, why.text);
	if (readers[_i].code != LANCET_OK)
		ck_assert_ptr_nonnull(strstr(why.text, "field 2 is of another type"));
	draft_release(&then.draft);
	made_release(&now);
	made_release(&then.made);
}
END_TEST

START_TEST(ids_are_reserved)
{
	static const struct op_case some = { "some", .before = { A0 },
		.parts = { { PART_NUMBERS, 1, "5" } }, .after = { A0 } };
	static const struct op_case many = { "many", .before = { A0 },
		.parts = { { PART_NUMBERS, 1, "4294967290" } } };
	struct op_rig rig = { 0 };

	rig_open(&rig, &some);
	rig_message(&rig, 107, &some);
	OK(operation_apply(&rig.draft, &err));
	OK(draft_finish(&rig.draft, MADE_SECONDS, 0, &err));
	ck_assert_uint_eq(rig.draft.max_fragment_id, 25);
	rig_expect_fragments(&rig, &some, some.after);
	rig_message(&rig, 107, &many);
	FAILS(operation_apply(&rig.draft, &err), LANCET_LIMIT, "above 25");
	/* on a table without fragments id 0 is left out */
	rig.draft.has_max_fragment_id = false;
	rig_message(&rig, 107, &some);
	OK(operation_apply(&rig.draft, &err));
	ck_assert(rig.draft.has_max_fragment_id && rig.draft.max_fragment_id == 5);
	draft_release(&rig.draft);
	made_release(&rig.made);
}
END_TEST

START_TEST(others_are_refused)
{
	static const struct op_case none = { "none", .before = { A0 } };
	struct op_rig rig = { 0 };

	rig_open(&rig, &none);
	rig_message(&rig, 199, &none);
	FAILS(operation_apply(&rig.draft, &err), LANCET_UNSUPPORTED, "Unknown");
	draft_release(&rig.draft);
	made_release(&rig.made);
}
END_TEST

UNIT_MAIN("op_rows", UNIT_LOOP(new_rows_are_appended, appends),
	UNIT_LOOP(rows_are_deleted, deletes), UNIT_LOOP(all_is_overwritten, overwrites),
	UNIT_LOOP(names_that_mean_something_else_are_refused, no_names),
	UNIT_TEST(config_stays_when_all_is_overwritten),
	UNIT_LOOP(a_field_id_may_mean_another_field, readers), UNIT_TEST(ids_are_reserved),
	UNIT_TEST(others_are_refused))
