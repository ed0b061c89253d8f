/* Merge and Restore: all fragments as they are to be, and an old version again. */
#include "unit.h"

#include "core/flags.h"
#include "opindex.h"
#include "temptree.h"

#define A0   "0 rows=4 files=a:0,1,2"
#define A1   "1 rows=4 files=b:0,1,2"
#define LIN0 " ids=0-3 made=1*4 changed=5*4"
#define LIN1 " ids=4-7 made=2*4 changed=6*4"
#define S0   A0 LIN0
#define S1   A1 LIN1
#define NEW0 "0 rows=4 files=a:0,-2,2+n:1"
#define SCHEMA                                                                                     \
	{                                                                                          \
		PART_SCHEMA, 2, "0,1,2,3,4"                                                        \
	}

static const struct op_case merges[] = {
	{ "a column is added", .stable = true, .before = { S0, S1 }, .entries = { "i:1:0,1" },
		.parts = { { PART_FRAGMENT, 1, A0 "+n:5" LIN0 },
			{ PART_FRAGMENT, 1, A1 "+o:5" LIN1 }, { PART_SCHEMA, 2, "0,1,2,3,4,5" } },
		.after = { A0 "+n:5 ids=0-3 made=1*4 changed=9*4",
			A1 "+o:5 ids=4-7 made=2*4 changed=9*4" },
		.covered = { "i:0,1" } },
	{ "one without values changes no row", .stable = true, .before = { S0, S1 },
		.parts = { { PART_FRAGMENT, 1, S0 }, { PART_FRAGMENT, 1, S1 },
			{ PART_SCHEMA, 2, "0,1,2,3,4,5" } },
		.after = { S0, S1 } },
	{ "a column is written anew", .stable = true, .before = { S0, S1 },
		.entries = { "i:1:0,1", "j:2:0,1" },
		.parts = { { PART_FRAGMENT, 1, NEW0 LIN0 }, { PART_FRAGMENT, 1, S1 }, SCHEMA },
		.after = { NEW0 " ids=0-3 made=1*4 changed=9*4", S1 },
		.covered = { "i:1", "j:0,1" } },
	{ "a file under another name", .before = { A0 }, .entries = { "i:1:0", "j:4:0" },
		.parts = { { PART_FRAGMENT, 1, "0 rows=4 files=c:0,1,2" }, SCHEMA },
		.after = { "0 rows=4 files=c:0,1,2" }, .covered = { "i:", "j:0" } },
	{ "an index on a field that is gone", .before = { A0 }, .entries = { "i:1:0", "j:2:0" },
		.parts = { { PART_FRAGMENT, 1, "0 rows=4 files=a:0,-2,2+n:5" },
			{ PART_SCHEMA, 2, "0,2,5" } },
		.after = { "0 rows=4 files=a:0,-2,2+n:5" }, .covered = { "j:0" } },
	{ "row ids are not the message's", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 1, A0 " ids=50-53 made=7*4 changed=7*4" }, SCHEMA },
		.after = { S0 } },
	{ "new rows", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 1, S0 }, { PART_FRAGMENT, 1, "0 rows=2 files=n:0,1" },
			SCHEMA },
		.after = { S0, "21 rows=2 files=n:0,1 ids=100-101 made=9*2 changed=9*2" },
		.next_row_id = 102 },
	{ "new rows with ids", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 1, S0 },
			{ PART_FRAGMENT, 1, "0 rows=1 files=n:0 ids=9" }, SCHEMA },
		.code = LANCET_INVALID, .word = "the commit assigns them" },
	{ "one is missing", .before = { A0, A1 }, .parts = { { PART_FRAGMENT, 1, A0 }, SCHEMA },
		.code = LANCET_INVALID, .word = "fragment 1 is missing" },
	{ "one behind a new one", .before = { A0, A1 },
		.parts = { { PART_FRAGMENT, 1, A0 }, { PART_FRAGMENT, 1, "7 rows=1 files=n:0" },
			{ PART_FRAGMENT, 1, A1 }, SCHEMA },
		.code = LANCET_INVALID, .word = "fragment 1 comes behind a new one" },
	{ "one twice", .before = { A1 },
		.parts = { { PART_FRAGMENT, 1, A1 }, { PART_FRAGMENT, 1, A1 }, SCHEMA },
		.code = LANCET_INVALID, .word = "fragment id 1 of a new fragment is in use" },
	{ "other rows than it has", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=5 files=a:0,1,2" }, SCHEMA },
		.code = LANCET_INVALID, .word = "5 rows, not the 4" },
	{ "rows come back", .before = { A0 " gone=1#3" },
		.parts = { { PART_FRAGMENT, 1, A0 }, SCHEMA }, .code = LANCET_INVALID,
		.word = "would come back" },
	{ "a field that is not in its schema", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, A0 "+n:17" }, SCHEMA }, .code = LANCET_INVALID,
		.word = "field 17" },
	{ "no schema", .before = { A0 }, .parts = { { PART_FRAGMENT, 1, A0 } },
		.code = LANCET_INVALID, .word = "Merge: no schema" },
	{ "columns of a file change places", .before = { A0 },
		.parts = { { PART_FRAGMENT, 1, "0 rows=4 files=a:1,0,17" }, SCHEMA },
		.code = LANCET_INVALID, .word = "field 17 is not in the schema" },
	{ "a field that was there before others were dropped",
		.before = { "0 rows=4 files=a:0,1,17" },
		.parts = { { PART_FRAGMENT, 1, "0 rows=4 files=a:0,-2,17+n:1" }, SCHEMA },
		.after = { "0 rows=4 files=a:0,-2,17+n:1" } },
	{ "a field id that was given before", .flags = FLAG_NON_REUSABLE_FIELD_IDS, .field_mark = 9,
		.before = { A0 },
		.parts = { { PART_FRAGMENT, 1, A0 "+n:7" }, { PART_SCHEMA, 2, "0,1,2,3,4,7" } },
		.code = LANCET_CONFLICT, .word = "field id 7" },
	{ "one that was not", .flags = FLAG_NON_REUSABLE_FIELD_IDS, .field_mark = 9,
		.before = { A0 },
		.parts = { { PART_FRAGMENT, 1, A0 "+n:10" }, { PART_SCHEMA, 2, "0,1,2,3,4,10" } },
		.after = { A0 "+n:10" } },
	{ "overlays are gone, or are not", .flags = FLAG_DATA_OVERLAYS,
		.before = { A0 " over=o:1@4+q:2@6" }, .entries = { "i:1:0:1Bitmap:5", "j:0:0" },
		.parts = { { PART_FRAGMENT, 1, A0 " over=q:2@6" }, SCHEMA },
		.after = { A0 " over=q:2@6" }, .covered = { "i:", "j:0" } },
	{ "overlays are folded", .flags = FLAG_DATA_OVERLAYS, .before = { A0 " over=o:1@4" },
		.entries = { "i:1:0:1Bitmap:5", "j:2:0" },
		.parts = { { PART_FRAGMENT, 1, NEW0 }, SCHEMA }, .after = { NEW0 },
		.covered = { "i:", "j:0" } },
};

START_TEST(fragments_are_merged)
{
	rig_run(105, &merges[_i]);
}
END_TEST

#define NEW_SCHEMA                                                                                 \
	{                                                                                          \
		PART_SCHEMA, 2, "0,1,2,3,4,5"                                                      \
	}

static const struct {
	const char *label;
	struct op_case row;
	const char *key; /* that the schema's metadata has afterwards */
} metadata[] = {
	{ "none is in the message",
		{ .flags = FLAG_NON_REUSABLE_FIELD_IDS,
			.field_mark = 4,
			.before = { A0 },
			.parts = { { PART_FRAGMENT, 1, A0 }, NEW_SCHEMA } },
		"s0" },
	{ "other one is",
		{ .flags = FLAG_NON_REUSABLE_FIELD_IDS,
			.field_mark = 4,
			.before = { A0 },
			.parts = { { PART_FRAGMENT, 1, A0 }, NEW_SCHEMA, { PART_MAP, 3, "s1" } } },
		"s1" },
};

START_TEST(metadata_of_the_schema_is_not_lost)
{
	struct op_rig rig = { 0 };
	const Lance__Table__Manifest *head;

	txn_strings(&rig.made.message, 5, "s0", true);
	rig_open(&rig, &metadata[_i].row);
	rig_message(&rig, 105, &metadata[_i].row);
	OK(operation_apply(&rig.draft, &err));
	head = rig.draft.head;
	ck_assert_int_eq(head->max_allocated_field_id, metadata[_i].row.field_mark + 1);
	ck_assert((rig.draft.changed & DRAFT_FIELD_MARK) != 0);
	ck_assert_uint_eq(head->n_schema_metadata, 1);
	ck_assert_mem_eq(head->schema_metadata[0]->key.data, metadata[_i].key, 2);
	draft_release(&rig.draft);
	made_release(&rig.made);
}
END_TEST

/* A version of the tree: what the case says, under its number and marks. */
static void
put_version(const struct tree *tree, const struct op_case *row, uint64_t number, uint64_t mark,
	uint64_t next_row_id, uint64_t field_mark)
{
	struct buf message = { 0 }, file = { 0 };
	uint64_t flags = row->flags | (row->stable ? FLAG_STABLE_ROW_IDS : 0);
	char name[64];

	text_schema(&message, 1, "0,1,2,3,4");
	for (size_t i = 0; i < RIG_PARTS && row->before[i] != NULL; i++)
		frag_put(&message, 2, row->before[i]);
	put_number(&message, 3, number);
	put_number(&message, 9, flags & ~FLAG_NON_REUSABLE_FIELD_IDS);
	put_number(&message, 10, flags);
	put_number(&message, 11, mark);
	put_writer(&message, "lance", "14.0.2");
	put_number(&message, 14, next_row_id);
	if (field_mark != 0)
		put_number(&message, 24, field_mark);
	maker_frame(&file, buf_slice(&message));
	snprintf(name, sizeof(name), "_versions/%d.manifest", (int)number);
	tree_put(tree, name, file.data, file.size);
	buf_release(&message);
	buf_release(&file);
}

struct restore {
	struct tree tree;
	lancet_dataset *dataset;
	lancet_version *newest;
	struct op_rig rig;
};

/* Restores version 2 over version 3. */
static void
restore_open(struct restore *restore, const struct op_case *row)
{
	*restore = (struct restore){ .tree = restore->tree };
	OK(lancet_dataset_open(restore->tree.root, NULL, &restore->dataset, &err));
	OK(lancet_version_open(restore->dataset, 3, &restore->newest, &err));
	OK(draft_init(&restore->rig.draft, restore->newest, restore->newest, NULL, &err));
	rig_message(&restore->rig, 106, row);
}

static void
restore_close(struct restore *restore)
{
	draft_release(&restore->rig.draft);
	lancet_version_unref(restore->newest);
	lancet_dataset_unref(restore->dataset);
	tree_remove(&restore->tree);
}

static const struct op_case old = { "old", .stable = true, .before = { S0, S1 },
	.parts = { { PART_NUMBERS, 1, "2" } } };

START_TEST(marks_never_go_back)
{
	static const struct op_case recent = { "recent", .stable = true,
		.flags = FLAG_MIXED_FILE_VERSIONS,
		.before = { "9 rows=1 files=z:0 ids=70 made=3*1" } };
	struct restore restore = { .tree = tree_new() };
	struct draft *draft = &restore.rig.draft;

	put_version(&restore.tree, &old, 2, 5, 40, 0);
	put_version(&restore.tree, &recent, 3, 12, 71, 0);
	restore_open(&restore, &old);
	OK(operation_apply(draft, &err));
	ck_assert_uint_eq(draft->message->restore->version, 2);
	OK(draft_finish(draft, MADE_SECONDS, 0, &err));
	ck_assert_uint_eq(draft->number, 4);
	ck_assert_uint_eq(draft->max_fragment_id, 12);
	ck_assert_uint_eq(draft->next_row_id, 71);
	ck_assert((draft->reader_flags & FLAG_MIXED_FILE_VERSIONS) != 0);
	ck_assert((draft->writer_flags & FLAG_MIXED_FILE_VERSIONS) != 0);
	rig_expect_fragments(&restore.rig, &old, old.before);
	restore_close(&restore);
}
END_TEST

START_TEST(field_ids_are_not_given_again)
{
	static const struct op_case marked = { "marked", .stable = true,
		.flags = FLAG_NON_REUSABLE_FIELD_IDS, .before = { S0 },
		.parts = { { PART_NUMBERS, 1, "2" } } };
	struct restore restore = { .tree = tree_new() };
	struct draft *draft = &restore.rig.draft;

	put_version(&restore.tree, &marked, 2, 5, 40, 6);
	put_version(&restore.tree, &marked, 3, 5, 40, 9);
	restore_open(&restore, &marked);
	OK(operation_apply(draft, &err));
	ck_assert_int_eq(draft->head->max_allocated_field_id, 9);
	ck_assert((draft->changed & DRAFT_FIELD_MARK) != 0);
	restore_close(&restore);
}
END_TEST

static const struct {
	const char *label;
	struct op_case old, recent;
	uint64_t mark;
	int code;
	const char *word;
} refused[] = {
	{ "stable row ids given up", { .before = { A0 }, .parts = { { PART_NUMBERS, 1, "2" } } },
		{ .stable = true, .before = { S0 } }, 0, LANCET_INVALID, "stable row ids" },
	{ "field ids given again", { .before = { A0 }, .parts = { { PART_NUMBERS, 1, "2" } } },
		{ .flags = FLAG_NON_REUSABLE_FIELD_IDS, .before = { A0 } }, 9, LANCET_INVALID,
		"field ids" },
	{ "a version that is not there",
		{ .before = { A0 }, .parts = { { PART_NUMBERS, 1, "1" } } }, { .before = { A0 } },
		0, LANCET_NOT_FOUND, "version to restore" },
};

START_TEST(what_can_not_be_restored)
{
	struct restore restore = { .tree = tree_new() };

	put_version(&restore.tree, &refused[_i].old, 2, 5, 40, 0);
	put_version(&restore.tree, &refused[_i].recent, 3, 5, 40, refused[_i].mark);
	restore_open(&restore, &refused[_i].old);
	FAILS(operation_apply(&restore.rig.draft, &err), refused[_i].code, refused[_i].word);
	restore_close(&restore);
}
END_TEST

UNIT_MAIN("op_merge", UNIT_LOOP(fragments_are_merged, merges),
	UNIT_LOOP(metadata_of_the_schema_is_not_lost, metadata), UNIT_TEST(marks_never_go_back),
	UNIT_TEST(field_ids_are_not_given_again), UNIT_LOOP(what_can_not_be_restored, refused))
