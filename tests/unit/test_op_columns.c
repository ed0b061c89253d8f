/* Columns that get other files or newer values, and fields that go: fragments and coverage. */
#include "unit.h"

#include "opwords.h"

#define A0      "0 rows=12 files=a:0,1,2,4"
#define A1      "1 rows=12 files=b:0,1,2,4"
#define LINEAGE " ids=0-11 made=1*12 changed=5*12"
#define NOW     " ids=0-11 made=1*12 changed=9*12"

static const struct op_words replacements[] = {
	{ { "beside the old file", .before = { A0, A1 },
		  .after = { "0 rows=12 files=a:0,-2,2,4+replaced:1", A1 } },
		.words = "DataReplacement file=0:1" },
	{ { "a file of just these that has another version goes",
		  .before = { "0 rows=12 files=b:1+a:0,2,4" },
		  .after = { "0 rows=12 files=a:0,2,4+replaced:1" } },
		.words = "DataReplacement file=0:1" },
	{ { "of a column that had no file", .before = { "0 rows=12 files=a:0" },
		  .after = { "0 rows=12 files=a:0+replaced:1" } },
		.words = "DataReplacement file=0:1" },
	{ { "rows are changed by it", .stable = true, .before = { A0 LINEAGE },
		  .after = { "0 rows=12 files=a:0,-2,2,4+replaced:1" NOW } },
		.words = "DataReplacement file=0:1" },
	{ { "overlays that it has seen are older", .before = { A0 " over=o:1@1+p:1,2@1+q:1@8" },
		  .after = { "0 rows=12 files=a:0,-2,2,4+replaced:1 over=p:-2,2@1+q:1@8" } },
		.words = "DataReplacement file=0:1" },
	{ { "two fragments at once", .before = { A0, A1 },
		  .after = { "0 rows=12 files=a:0,-2,2,4+replaced:1",
			  "1 rows=12 files=b:0,-2,2,4+replaced:1" } },
		.words = "DataReplacement file=0:1 file=1:1" },
	{ { "a file that would be there twice over", .before = { "0 rows=12 files=a:0,1" },
		  .code = LANCET_INVALID, .word = "1 of the 2 fields" },
		.words = "DataReplacement file=0:1,2" },
	{ { "other fields than in the first one", .before = { A0, A1 }, .code = LANCET_INVALID,
		  .word = "other fields are replaced" },
		.words = "DataReplacement file=0:1 file=1:2" },
	{ { "a field twice", .before = { A0 }, .code = LANCET_INVALID, .word = "twice" },
		.words = "DataReplacement file=0:1,1" },
	{ { "a field that there is not", .before = { A0 }, .code = LANCET_INVALID,
		  .word = "field 7 is not in the schema" },
		.words = "DataReplacement file=0:7" },
	{ { "a fragment that is not there", .before = { A0 }, .code = LANCET_INVALID,
		  .word = "fragment 1 is not there" },
		.words = "DataReplacement file=1:1" },
	{ { "nothing", .before = { A0 }, .code = LANCET_INVALID, .word = "nothing is replaced" },
		.words = "DataReplacement" },
	{ { "an index of the column", .before = { A0, A1 }, .entries = { "i:1:0,1", "j:2:0,1" },
		  .covered = { "i:1", "j:0,1" } },
		.words = "DataReplacement file=0:1" },
	{ { "one above it", .before = { A0, A1 }, .entries = { "i:3:0,1" }, .covered = { "i:1" } },
		.words = "DataReplacement file=0:4" },
	{ { "one below it", .before = { A0, A1 }, .entries = { "i:4:0,1" }, .covered = { "i:1" } },
		.words = "DataReplacement file=0:3" },
	{ { "one of unknown coverage answers for nothing more", .before = { A0, A1 },
		  .entries = { "i:1" }, .covered = { "i:" } },
		.words = "DataReplacement file=0:1" },
	{ { "a segment that is left empty stays", .before = { A0, A1 },
		  .entries = { "i:1:0", "i:1:1" }, .covered = { "i:", "i:" } },
		.words = "DataReplacement file=0:1" },
};

START_TEST(columns_are_replaced)
{
	words_run(&replacements[_i]);
}
END_TEST

START_TEST(a_file_of_just_these_columns_is_replaced)
{
	const struct op_words row = { { "in its place", .before = { "0 rows=12 files=b:1+a:0,2,4" },
					      .after = { "0 rows=12 files=replaced:1+a:0,2,4" } },
		.words = "DataReplacement file=0:1" };
	struct words_rig w = { 0 };

	words_open(&w, &row);
	w.rig.draft.message->data_replacement->replacements[0]->new_file->file_minor_version = 2;
	OK(words_apply(&w, &err));
	rig_expect_fragments(&w.rig, &row.base, row.base.after);
	words_close(&w);
}
END_TEST

#define M6 "6 rows=24 files=m:0,1,2,4"

/* What indices say of fragments that were made of others. */
static const struct op_words followed[] = {
	{ { "legacy: old fragments stand for what they became", .before = { A0, M6 },
		  .entries = { "i:1:1,2,0" }, .covered = { "_:", "i:0" } },
		.history = "0 1,2>6", .words = "DataReplacement file=6:1" },
	{ { "legacy: and for nothing when one is missing", .before = { A0, M6 },
		  .entries = { "i:1:1,0" }, .covered = { "_:", "i:" } },
		.history = "0 1,2>6", .words = "DataReplacement file=0:1" },
	{ { "tagged: what it was made of goes, too", .flags = 1024, .before = { A0, M6 },
		  .entries = { "i:1:1,2,0,6" }, .covered = { "_:", "i:" } },
		.history = "1 1,2>6", .words = "DataReplacement file=6:1" },
	{ { "tagged: others of the history keep it told", .flags = 1024,
		  .before = { M6, "7 rows=12 files=n:0,1" }, .entries = { "i:1:1,2,3" },
		  .covered = { "_:", "i:3" } },
		.history = "1 1,2>6 3>7", .words = "DataReplacement file=6:1" },
	{ { "tagged: one that never named an old one is told enough", .flags = 1024,
		  .before = { A0, M6 }, .entries = { "i:1:0,6" }, .covered = { "_:", "i:0" } },
		.history = "1 1,2>6", .words = "DataReplacement file=6:1" },
	{ { "tagged: an emptied segment goes when there is another", .flags = 1024,
		  .before = { A0, M6 }, .entries = { "i:1:1,2", "i:1:0" },
		  .covered = { "_:", "i:0" } },
		.history = "1 1,2>6", .words = "DataReplacement file=6:1" },
	{ { "tagged: chains are followed to their beginning", .flags = 1024,
		  .before = { "7 rows=12 files=n:0,1" }, .entries = { "i:1:1" },
		  .covered = { "_:", "i:" } },
		.history = "1 1>6 6>7", .words = "DataReplacement file=7:1" },
	{ { "tagged: a history that is not understood", .flags = 1024, .before = { A0, M6 },
		  .entries = { "i:1:0" }, .code = LANCET_UNSUPPORTED, .word = "not understood" },
		.history = "1 ?1,2>6", .words = "DataReplacement file=0:1" },
	{ { "tagged: which does not matter to other columns", .flags = 1024, .before = { A0, M6 },
		  .entries = { "i:1:0" }, .covered = { "_:", "i:0" } },
		.history = "1 ?1,2>6", .words = "DataReplacement file=0:2" },
};

/* The history has the name of its index; what it covers is that of the version. */
START_TEST(coverage_follows_the_history)
{
	struct op_words row = followed[_i];
	struct words_rig w = { 0 };
	struct lancet_error err = { 0 };
	size_t due = 0;
	int rc;

	words_open(&w, &row);
	rc = words_apply(&w, &err);
	ck_assert_msg(rc == (int)row.base.code, "%s: %s", row.base.label, err.text);
	ck_assert(rc == LANCET_OK || strstr(err.text, row.base.word) != NULL);
	for (size_t i = 0; rc == LANCET_OK && row.base.covered[i] != NULL; i++, due++)
		if (row.base.covered[i][0] != '_')
			rig_expect_entry(&w.rig, &row.base, row.base.covered[i]);
	for (size_t i = 0; rc == LANCET_OK && i < w.rig.draft.index_count; i++)
		due -= !w.rig.draft.indices[i].removed;
	ck_assert_msg(due == 0, "%s: entries", row.base.label);
	words_close(&w);
}
END_TEST

static const struct op_words overlays[] = {
	{ { "behind those there are", .before = { A0 " over=o:1@5" },
		  .after = { A0 " over=o:1@5+overlay:1@9" } },
		.words = "DataOverlay cells=0:1:4,5" },
	{ { "rows that it is about are changed", .stable = true, .before = { A0 LINEAGE },
		  .after = { A0 " ids=0-11 made=1*12 changed=5*4,9*2,5*6 over=overlay:1@9" } },
		.words = "DataOverlay cells=0:1:4,5" },
	{ { "also where no version was noted", .stable = true, .before = { A0 " ids=0-11" },
		  .after = { A0 " ids=0-11 changed=1*4,9*2,1*6 over=overlay:1@9" } },
		.words = "DataOverlay cells=0:1:4,5" },
	{ { "indices are left alone", .before = { A0 }, .entries = { "i:1:0" },
		  .after = { A0 " over=overlay:1@9" }, .covered = { "i:0" } },
		.words = "DataOverlay cells=0:1:4,5" },
	{ { "rows beyond the end", .before = { A0 }, .code = LANCET_CORRUPT, .word = "12 rows" },
		.words = "DataOverlay cells=0:1:12" },
	{ { "no rows", .before = { A0 }, .code = LANCET_INVALID, .word = "no offsets" },
		.words = "DataOverlay cells=0:1" },
	{ { "a field that there is not", .before = { A0 }, .code = LANCET_INVALID,
		  .word = "field 7" },
		.words = "DataOverlay cells=0:7:1" },
	{ { "a field twice", .before = { A0 }, .code = LANCET_INVALID, .word = "overlaid twice" },
		.words = "DataOverlay cells=0:1,1:1" },
	{ { "a fragment that is not there", .before = { A0 }, .code = LANCET_INVALID,
		  .word = "fragment 1 is not there" },
		.words = "DataOverlay cells=1:1:1" },
	{ { "a tagged history", .flags = 1024, .before = { A0 }, .code = LANCET_UNSUPPORTED,
		  .word = "tagged" },
		.history = "1 1,2>6", .words = "DataOverlay cells=0:1:1" },
};

START_TEST(cells_are_overlaid)
{
	words_run(&overlays[_i]);
}
END_TEST

static const struct op_words projections[] = {
	{ { "a column of a file", .before = { A0 }, .entries = { "i:1:0", "j:0:0" },
		  .after = { A0 }, .covered = { "j:0" } },
		.words = "Project schema=0,2,3,4" },
	{ { "the last one of its file", .before = { "0 rows=12 files=a:0+b:1" },
		  .after = { "0 rows=12 files=a:0" } },
		.words = "Project schema=0,2,3,4" },
	{ { "files that are of no field at all", .before = { "0 rows=12 files=a:0+b:-2,1" },
		  .after = { "0 rows=12 files=a:0" } },
		.words = "Project schema=0,2,3,4" },
	{ { "the file has the row ids", .stable = true,
		  .before = { "0 rows=12 files=a:0+b:1,-3 ids=column made=1*12" },
		  .after = { "0 rows=12 files=a:0+b:1,-3 ids=column made=1*12" } },
		.words = "Project schema=0,2,3,4" },
	{ { "overlays", .before = { A0 " over=o:1@5+p:1,2@6" }, .after = { A0 " over=p:1,2@6" } },
		.words = "Project schema=0,2,3,4" },
	{ { "a part of a struct", .before = { A0 }, .entries = { "i:4:0", "j:3:0" },
		  .after = { A0 }, .covered = { "j:0" } },
		.words = "Project schema=0,1,2,3" },
	{ { "segments left without fragments", .before = { A1 },
		  .entries = { "i:1:0", "i:1:1", "j:1:0" }, .covered = { "i:1", "j:0" } },
		.words = "Project schema=0,1,3,4" },
	{ { "the first made stays when all are", .before = { A1 },
		  .entries = { "i:1:0::7", "i:1:2::3" }, .covered = { "i:2" } },
		.words = "Project schema=0,1,3,4" },
	{ { "a field that there was not", .before = { A0 }, .code = LANCET_INVALID,
		  .word = "field 7" },
		.words = "Project schema=0,7" },
	{ { "a field of another type", .before = { A0 }, .code = LANCET_INVALID,
		  .word = "another type" },
		.words = "Project schema=0,1x" },
	{ { "a field twice", .before = { A0 }, .code = LANCET_INVALID, .word = "two fields" },
		.words = "Project schema=0,1,1" },
	{ { "a part without its struct", .before = { A0 }, .code = LANCET_CORRUPT,
		  .word = "not an earlier field" },
		.words = "Project schema=0,4" },
	{ { "all fields", .before = { A0 }, .code = LANCET_INVALID, .word = "no field is left" },
		.words = "Project" },
};

START_TEST(fields_are_dropped)
{
	words_run(&projections[_i]);
}
END_TEST

/* Two segments of one name, which are told apart by what they cover. */
START_TEST(a_tagged_history_keeps_emptied_segments)
{
	const struct op_words row = { { "tagged", .flags = 1024, .before = { A1 },
					      .entries = { "i:1:0", "i:1:1" } },
		.history = "1 5>6", .words = "Project schema=0,1,3,4" };
	struct words_rig w = { 0 };
	size_t live = 0;

	words_open(&w, &row);
	OK(words_apply(&w, &err));
	for (size_t i = 0; i < w.rig.draft.index_count; i++)
		live += !w.rig.draft.indices[i].removed;
	ck_assert_uint_eq(live, 3);
	words_close(&w);
}
END_TEST

UNIT_MAIN("op_columns", UNIT_LOOP(columns_are_replaced, replacements),
	UNIT_TEST(a_file_of_just_these_columns_is_replaced),
	UNIT_LOOP(coverage_follows_the_history, followed), UNIT_LOOP(cells_are_overlaid, overlays),
	UNIT_LOOP(fields_are_dropped, projections),
	UNIT_TEST(a_tagged_history_keeps_emptied_segments))
