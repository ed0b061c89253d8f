/* Rewrite: fragments, coverage, and the reuse history that is assembled. */
#include "unit.h"

#include "core/rewrite_history.h"
#include "opwords.h"
#include "util/pbscan.h"

#define F(id)  #id " rows=12 files=f" #id ":0,1,2,4"
#define M6     "6 rows=24 files=f6:0,1,2,4"
#define ROWS   " made=1*12 changed=1*12"
#define S0     F(0) " ids=0-11" ROWS
#define TAGGED 1024

static const struct op_words bare[] = {
	{ { "all rows are in the new one", .before = { F(0), F(1), F(2) }, .after = { F(2), M6 } },
		.words = "Rewrite 0,1>6" },
	{ { "two groups", .before = { F(0), F(1), F(2) },
		  .after = { M6, "7 rows=12 files=f7:0,1,2,4" } },
		.words = "Rewrite 0,1>6 2>7" },
	{ { "an id that was not reserved", .before = { F(0) },
		  .after = { "21 rows=12 files=f0:0,1,2,4" } },
		.words = "Rewrite 0>0" },
	{ { "bitmaps keep the old ones", .before = { F(0), F(1), F(2) },
		  .entries = { "i:1:0,1,2:0BTree" }, .after = { F(2), M6 },
		  .covered = { "i:0,1,2" } },
		.words = "Rewrite 0,1>6" },
	{ { "but for files that were rewritten", .before = { F(0), F(1), F(2) },
		  .entries = { "i:1:0,1,2:0BTree", "k:1:2:0BTree" }, .after = { F(2), M6 },
		  .covered = { "i:2,6", "k:2" } },
		.words = "Rewrite 0,1>6 remap=i:j" },
	{ { "files of an index that is gone", .before = { F(0), F(1) }, .after = { M6 } },
		.words = "Rewrite 0,1>6 remap=i:j" },
	{ { "a group that is in part covered", .before = { F(0), F(1) },
		  .entries = { "i:1:0:0BTree" }, .code = LANCET_INVALID, .word = "only in part" },
		.words = "Rewrite 0,1>6 remap=i:j" },
	{ { "rewritten files that cover nobody knows what", .before = { F(0), F(1) },
		  .entries = { "i:1" }, .code = LANCET_INVALID, .word = "not known" },
		.words = "Rewrite 0,1>6 remap=i:j" },
	{ { "a new UUID that is in use", .before = { F(0), F(1) },
		  .entries = { "i:1:0,1", "j:1:2" }, .code = LANCET_INVALID, .word = "in use" },
		.words = "Rewrite 0,1>6 remap=i:j" },
	{ { "one index rewritten twice", .before = { F(0), F(1) }, .entries = { "i:1:0,1" },
		  .code = LANCET_INVALID, .word = "the same as index 0" },
		.words = "Rewrite 0,1>6 remap=i:j remap=i:k" },
	{ { "rows are lost", .before = { F(0) " gone=2#7" }, .code = LANCET_INVALID,
		  .word = "has 10 rows, and 12" },
		.words = "Rewrite 0>6" },
	{ { "a fragment that is not there", .before = { F(0) }, .code = LANCET_INVALID,
		  .word = "fragment 1 is not there" },
		.words = "Rewrite 0,1>6" },
	{ { "an id that was never given", .before = { F(0) }, .code = LANCET_INVALID,
		  .word = "never reserved" },
		.words = "Rewrite 0>30" },
	{ { "an id that is in use", .before = { F(0), F(1) }, .code = LANCET_INVALID,
		  .word = "in use" },
		.words = "Rewrite 0>1" },
	{ { "stable row ids: none come along", .stable = true, .before = { S0 },
		  .code = LANCET_INVALID, .word = "no row ids" },
		.words = "Rewrite 0>6" },
	{ { "values of overlays that the index does not know",
		  .before = { F(0) " over=o:1@5", F(1) },
		  .entries = { "i:1:0,1:0BTree:4", "j:1:0,1:0BTree:5", "k:2:0,1:0BTree:4" },
		  .after = { F(1), "6 rows=12 files=f6:0,1,2,4" },
		  .covered = { "i:1", "j:0,1", "k:0,1" } },
		.words = "Rewrite 0>6" },
};

START_TEST(rows_move_as_they_are)
{
	words_run(&bare[_i]);
}
END_TEST

#define STABLE6 "6 rows=12 files=f6:0,1,2,4 ids=0-11 made=1*12 changed=1*12"

/* The message's new fragment gets what the text says. */
static void
replace_new(struct words_rig *w, const char *text)
{
	struct draft *draft = &w->rig.draft;
	struct buf with = { 0 };
	Fragment *made = NULL;
	struct pb_field field;
	struct pbmem scan;
	bool more;

	frag_put(&with, 1, text);
	scan = (struct pbmem){ .in = buf_slice(&with) };
	OK(pbmem_next(&scan, &field, &more, &err));
	OK(pb_unpack(&lance__table__data_fragment__descriptor,
		slice_of(with.data + field.offset, field.value), &draft->arena, &made, &err));
	draft->message->rewrite->groups[0]->new_fragments[0] = made;
	buf_release(&with);
}

static void
run_stable(const struct op_words *row, const char *text)
{
	struct words_rig w = { 0 };
	struct lancet_error why = { 0 };
	int rc;

	words_open(&w, row);
	replace_new(&w, text);
	rc = words_apply(&w, &why);
	ck_assert_msg(rc == (int)row->base.code, "%s: %s", row->base.label, why.text);
	if (rc == LANCET_OK) {
		rig_expect_fragments(&w.rig, &row->base, row->base.after);
		rig_expect_indices(&w.rig, &row->base);
	} else {
		ck_assert_msg(strstr(why.text, row->base.word) != NULL, "%s", why.text);
	}
	words_close(&w);
}

START_TEST(files_of_row_ids_go_on)
{
	const struct op_words row = {
		{ "stable", .stable = true, .before = { S0 },
			.entries = { "i:1:0,3:0Bitmap", "j:1:0,3:1BTree", "k:1:0,3:0BTree",
				"m:1:3:0Bitmap", "n:1:0,3:0ZoneMap" },
			.after = { STABLE6 },
			.covered = { "i:3,6", "j:3", "k:3,6", "m:3", "n:3" } },
		.words = "Rewrite 0>6",
	};
	const struct op_words remapped = {
		{ "stable, remapped", .stable = true, .before = { S0 },
			.entries = { "j:1:0,3:1BTree" }, .after = { STABLE6 },
			.covered = { "j:3,6" } },
		.words = "Rewrite 0>6 remap=j:q",
	};
	const struct op_words few = {
		{ "few ids", .stable = true, .before = { S0 }, .code = LANCET_CORRUPT,
			.word = "row ids" },
		.words = "Rewrite 0>6",
	};

	run_stable(&row, STABLE6);
	run_stable(&remapped, STABLE6);
	run_stable(&few, "6 rows=12 files=f6:0,1,2,4 ids=0-10");
}
END_TEST

static const struct op_words recorded[] = {
	{ { "the first record", .before = { F(0), F(1) }, .entries = { "i:1:0,1" }, .after = { M6 },
		  .covered = { "i:0,1", "__lance_frag_reuse:6" } },
		.words = "Rewrite 0,1>6", .carried = "0 0,1>6", .history_after = "0,1>6" },
	{ { "behind the others", .before = { F(6), F(2) }, .entries = { "i:1:1,2" },
		  .after = { "7 rows=24 files=f7:0,1,2,4" },
		  .covered = { "i:2,6", "__lance_frag_reuse:6,7" } },
		.history = "0 1>6", .words = "Rewrite 2,6>7", .carried = "0 1>6 2,6>7",
		.history_after = "1>6 2,6>7" },
	{ { "records that were trimmed meanwhile stay away", .before = { F(2), F(5) },
		  .after = { F(5), F(7) }, .covered = { "__lance_frag_reuse:5,7" } },
		.history = "0 3>5", .words = "Rewrite 2>7", .carried = "0 1>6 3>5 2>7",
		.history_after = "3>5 2>7" },
	{ { "one group of two", .before = { F(0), F(1) }, .code = LANCET_INVALID,
		  .word = "1 of 2 rewrites" },
		.words = "Rewrite 0>6 1>7", .carried = "0 0>6" },
	{ { "a record of something else", .before = { F(0), F(1) }, .code = LANCET_INVALID,
		  .word = "1 rewrites, 0 of them" },
		.words = "Rewrite 0>6", .carried = "0 1>6" },
	{ { "a part of the group", .before = { F(0), F(1) }, .code = LANCET_INVALID,
		  .word = "only a part" },
		.words = "Rewrite 0,1>6", .carried = "0 0>6" },
	{ { "another destination", .before = { F(0) }, .code = LANCET_INVALID,
		  .word = "another destination" },
		.words = "Rewrite 0>6", .carried = "0 0>7" },
	{ { "sources in another order", .before = { F(0), F(1) }, .code = LANCET_INVALID,
		  .word = "another source" },
		.words = "Rewrite 1,0>6", .carried = "0 0,1>6" },
	{ { "both ways", .before = { F(0) }, .entries = { "i:1:0" }, .code = LANCET_INVALID,
		  .word = "translate" },
		.words = "Rewrite 0>6 remap=i:j", .carried = "0 0>6" },
	{ { "stable row ids", .stable = true, .before = { S0 }, .code = LANCET_UNSUPPORTED,
		  .word = "stable row ids" },
		.words = "Rewrite 0>6", .carried = "0 0>6" },
	{ { "tagged: one more transition", .flags = TAGGED, .before = { F(6), F(2) },
		  .entries = { "i:1:1,2" }, .after = { "7 rows=24 files=f7:0,1,2,4" },
		  .covered = { "i:1,2", "__lance_frag_reuse:1,2,6,7" } },
		.history = "1 1>6", .words = "Rewrite 2,6>7", .carried = "1 1>6 2,6>7",
		.history_after = "1>6 2,6>7" },
	{ { "tagged: others came meanwhile", .flags = TAGGED, .before = { F(0), F(7) },
		  .after = { F(6), F(7) }, .covered = { "__lance_frag_reuse:0,1,2,5,6,7" } },
		.history = "1 1>5 5>2 2>7", .words = "Rewrite 0>6", .carried = "1 1>5 0>6",
		.history_after = "1>5 0>6 5>2 2>7" },
	{ { "tagged: the first one", .before = { F(0) }, .after = { F(6) },
		  .covered = { "__lance_frag_reuse:0,6" } },
		.words = "Rewrite 0>6", .carried = "1 0>6", .history_after = "0>6" },
	{ { "tagged: behind legacy records", .before = { F(6), F(2) }, .after = { F(6), F(7) },
		  .covered = { "__lance_frag_reuse:2,6,7" } },
		.history = "0 1>6", .words = "Rewrite 2>7", .carried = "1 ~1>6 2>7",
		.history_after = "1>6 2>7" },
	{ { "tagged meanwhile: a record becomes transitions", .flags = TAGGED,
		  .before = { F(6), F(2) }, .after = { F(6), F(7) },
		  .covered = { "__lance_frag_reuse:1,2,6,7" } },
		.history = "1 1>6", .words = "Rewrite 2>7", .carried = "0 1>6 2>7",
		.history_after = "1>6 2>7" },
	{ { "tagged: a group without a transition", .flags = TAGGED, .before = { F(0), F(2) },
		  .entries = { "i:1:3" }, .after = { F(6), F(7) },
		  .covered = { "i:3", "__lance_frag_reuse:0,1,5,6" } },
		.history = "1 1>5", .words = "Rewrite 0>6 2>7", .carried = "1 0>6",
		.history_after = "1>5 0>6" },
	{ { "tagged: which an index answers for", .flags = TAGGED, .before = { F(0), F(2) },
		  .entries = { "i:1:2" }, .code = LANCET_INVALID, .word = "index i may answer" },
		.history = "1 1>5", .words = "Rewrite 0>6 2>7", .carried = "1 0>6" },
	{ { "tagged: or one of unknown coverage", .flags = TAGGED, .before = { F(2) },
		  .entries = { "i:1" }, .code = LANCET_INVALID, .word = "index i may answer" },
		.words = "Rewrite 2>7" },
	{ { "tagged: or the history leads to it", .flags = TAGGED, .before = { F(5) },
		  .code = LANCET_INVALID, .word = "fragment 5 is rewritten without" },
		.history = "1 1>5", .words = "Rewrite 5>7" },
	{ { "tagged: index files are not rewritten", .flags = TAGGED, .before = { F(0) },
		  .entries = { "i:1:0" }, .code = LANCET_UNSUPPORTED, .word = "tagged" },
		.words = "Rewrite 0>6 remap=i:j" },
	{ { "tagged: overlays", .flags = TAGGED, .before = { F(0) " over=o:1@5" },
		  .code = LANCET_UNSUPPORTED, .word = "overlays" },
		.words = "Rewrite 0>6", .carried = "1 0>6" },
	{ { "tagged: one that is not understood", .flags = TAGGED, .before = { F(0) },
		  .code = LANCET_UNSUPPORTED, .word = "transitions[0]" },
		.history = "1 ?1>5", .words = "Rewrite 0>6", .carried = "1 0>6" },
	{ { "tagged: a destination that was there before", .flags = TAGGED,
		  .before = { F(0), F(5) }, .code = LANCET_CORRUPT, .word = "transitions[" },
		.history = "1 1>6 6>5", .words = "Rewrite 0>6", .carried = "1 0>6" },
};

START_TEST(rewrites_are_recorded)
{
	struct op_words row = recorded[_i];
	struct words_rig w = { 0 };
	struct lancet_error err = { 0 };
	int rc;

	words_open(&w, &row);
	rc = words_apply(&w, &err);
	ck_assert_msg(rc == (int)row.base.code, "%s: %d: %s", row.base.label, rc, err.text);
	if (rc != LANCET_OK) {
		ck_assert_msg(strstr(err.text, row.base.word) != NULL, "%s: %s", row.base.label,
			err.text);
	} else {
		bool tagged = row.history_after != NULL &&
			      (row.base.flags == TAGGED || row.carried[0] == '1');

		rig_expect_fragments(&w.rig, &row.base, row.base.after);
		rig_expect_indices(&w.rig, &row.base);
		words_expect_history(&w, &row);
		ck_assert_uint_eq((w.rig.draft.reader_flags & TAGGED) != 0, tagged);
		ck_assert_uint_eq((w.rig.draft.writer_flags & TAGGED) != 0, tagged);
		for (size_t i = 0; i < w.rig.draft.index_count; i++)
			if (w.rig.draft.indices[i].segment == NULL)
				ck_assert_uint_eq(
					w.rig.draft.indices[i].message->dataset_version, 8);
	}
	words_close(&w);
}
END_TEST

/* 70,000 rows every second of which is left: their bitmaps take more than is kept inline. */
START_TEST(a_long_history_is_a_file)
{
	const struct op_words row = { { "long", .before = { F(0) } }, .words = "Rewrite 0>6",
		.carried = "1 0>6" };
	struct words_rig w = { 0 };
	struct history history = { 0 };
	struct made next = { 0 };
	lancet_reuse *reuse;
	const struct draft_file *file;

	words_open(&w, &row);
	OK(history_open(&history, &w.rig.draft, &err));
	history.tagged = true;
	for (unsigned i = 100; history.content.size <= HISTORY_INLINE_MAX; i += 2) {
		char from[16], to[16];

		snprintf(from, sizeof(from), "%u", i);
		snprintf(to, sizeof(to), "%u", i + 1);
		history_tagged(&history.content, from, to, 3);
	}
	OK(history_check(&history, &err));
	OK(history_put(&history, &err));
	ck_assert_uint_eq(w.rig.draft.file_count, 1);
	file = &w.rig.draft.files[0];
	ck_assert(slice_equal(file->content, buf_slice(&history.content)));
	ck_assert_uint_eq(strlen(file->key), strlen("_indices//details.binpb") + 36);
	OK(draft_finish(&w.rig.draft, MADE_SECONDS, 0, &err));
	made_write(&w.rig.draft, &next.file);
	OK(maker_load(buf_slice(&next.file), 9, &next.version, &err));
	/* the file is not there, and is looked for under that name */
	ck_assert_int_ne(lancet_version_reuse(next.version, &reuse, NULL), LANCET_OK);
	history_release(&history);
	made_release(&next);
	words_close(&w);
}
END_TEST

UNIT_MAIN("op_rewrite", UNIT_LOOP(rows_move_as_they_are, bare), UNIT_TEST(files_of_row_ids_go_on),
	UNIT_LOOP(rewrites_are_recorded, recorded), UNIT_TEST(a_long_history_is_a_file))
