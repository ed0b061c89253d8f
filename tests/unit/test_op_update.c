/* Update: rows that move, and columns that are written anew in place. */
#include "unit.h"

#include "opindex.h"

#define A0       "0 rows=4 files=a:0,1,2"
#define A1       "1 rows=4 files=b:0,1,2"
#define LIN0     " ids=0-3 made=1*4 changed=5*4"
#define LIN1     " ids=4-7 made=2*4 changed=6*4"
#define S0       A0 LIN0
#define S1       A1 LIN1
#define OVERLAYS 64

static const struct op_case moves[] = {
	{ "rows of two fragments", .stable = true, .before = { S0, S1 },
		.parts = { { PART_FRAGMENT, 2, A0 " gone=1#7" }, { PART_NUMBERS, 1, "1" },
			{ PART_FRAGMENT, 3, "0 rows=3 files=n:0,1,2 ids=6,1,7" },
			{ PART_NUMBERS, 6, "1" } },
		.after = { S0 " gone=1#7",
			"21 rows=3 files=n:0,1,2 ids=6,1,7 made=2*1,1*1,2*1 changed=9*3" } },
	{ "without stable row ids", .before = { A0 },
		.parts = { { PART_FRAGMENT, 2, A0 " gone=1#7" },
			{ PART_FRAGMENT, 3, "0 rows=1 files=n:0,1,2" } },
		.after = { A0 " gone=1#7", "21 rows=1 files=n:0,1,2" } },
	{ "new rows behind them", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 2, A0 " gone=1#7" },
			{ PART_FRAGMENT, 3, "0 rows=3 files=n:0,1,2 ids=1" } },
		.after = { S0 " gone=1#7",
			"21 rows=3 files=n:0,1,2 ids=1,100-101 made=1*1,9*2 changed=9*3" },
		.next_row_id = 102 },
	{ "new rows only", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=3 files=n:0,1,2" } },
		.after = { S0, "21 rows=3 files=n:0,1,2 ids=100-102 made=9*3 changed=9*3" },
		.next_row_id = 103 },
	{ "rows from another fragment than it says", .stable = true, .before = { S0, S1 },
		.parts = { { PART_FRAGMENT, 2, A0 " gone=1#7" },
			{ PART_FRAGMENT, 3, "0 rows=2 files=n:0,1,2 ids=2,5" } },
		.after = { S0 " gone=1#7", S1,
			"21 rows=2 files=n:0,1,2 ids=2,5 made=1*1,2*1 changed=9*2" } },
	{ "an id that no row has any more", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=2 files=n:0,1,2 ids=2,50" } },
		.after = { S0, "21 rows=2 files=n:0,1,2 ids=2,50 made=1*1,9*1 changed=9*2" } },
	{ "what it says of created-at is not believed", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3,
			"0 rows=1 files=n:0,1 ids=3 made=7*1 changed=7*1" } },
		.after = { S0, "21 rows=1 files=n:0,1 ids=3 made=1*1 changed=9*1" } },
	{ "rows that were never given versions are of version 1", .stable = true,
		.before = { A0 " ids=0-3" },
		.parts = { { PART_FRAGMENT, 3, "0 rows=1 files=n:0,1 ids=3" } },
		.after = { A0 " ids=0-3", "21 rows=1 files=n:0,1 ids=3 made=1*1 changed=9*1" } },
	{ "spilled ids and created-at stay", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3,
			"0 rows=2 files=n:0,-3,-4 ids=column made=column" } },
		.after = { S0, "21 rows=2 files=n:0,-3,-4 ids=column made=column changed=9*2" } },
	{ "spilled ids, created-at inline", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=2 files=n:0,-3 ids=column made=3*2" } },
		.after = { S0, "21 rows=2 files=n:0,-3 ids=column made=3*2 changed=9*2" } },
	{ "spilled ids without created-at", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=2 files=n:0,-3 ids=column" } },
		.code = LANCET_CORRUPT, .word = "created-at is missing" },
	{ "spilled ids, created-at of fewer rows", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=3 files=n:0,-3 ids=column made=3*2" } },
		.code = LANCET_CORRUPT, .word = "created-at" },
	{ "ids are a column that is nowhere", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=2 files=n:0 ids=column made=3*2" } },
		.code = LANCET_INVALID, .word = "lineage column -3" },
	{ "new rows, created-at a column", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=2 files=n:0,-4 ids=1 made=column" } },
		.code = LANCET_CORRUPT, .word = "1 rows are new" },
	{ "an id twice", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=2 files=n:0 ids=1,1" } },
		.code = LANCET_CORRUPT, .word = "row id 1 comes twice" },
	{ "more ids than rows", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=2 files=n:0 ids=0-2" } },
		.code = LANCET_CORRUPT, .word = "more than the 2 rows" },
	{ "an id that was never given", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 3, "0 rows=1 files=n:0 ids=100" } },
		.code = LANCET_INVALID, .word = "row id 100 was never given" },
	{ "the rows' fragment has other ids than rows", .stable = true,
		.before = { A0 " ids=0-2 made=1*4" },
		.parts = { { PART_FRAGMENT, 3, "0 rows=1 files=n:0 ids=1" } },
		.code = LANCET_CORRUPT, .word = "fragment 0" },
	{ "the rows' fragment has lost its ids", .stable = true, .before = { A0 " made=1*4" },
		.parts = { { PART_FRAGMENT, 3, "0 rows=1 files=n:0 ids=1" } },
		.code = LANCET_CORRUPT, .word = "fragment 0" },
	{ "other rows than it has", .before = { A0 },
		.parts = { { PART_FRAGMENT, 2, "0 rows=5 files=a:0,1,2 gone=1#7" } },
		.code = LANCET_INVALID, .word = "5 rows, not the 4" },
	{ "rows come back", .before = { A0 " gone=2#5" }, .parts = { { PART_FRAGMENT, 2, A0 } },
		.code = LANCET_INVALID, .word = "would come back" },
	{ "updated and removed", .before = { A0 },
		.parts = { { PART_FRAGMENT, 2, A0 " gone=1#7" }, { PART_NUMBERS, 1, "0" } },
		.code = LANCET_CORRUPT, .word = "listed twice" },
	{ "a fragment that is not there", .before = { A0 }, .parts = { { PART_NUMBERS, 1, "1" } },
		.code = LANCET_INVALID, .word = "fragment 1 is not there" },
};

START_TEST(rows_move)
{
	rig_run(108, &moves[_i]);
}
END_TEST

#define MOVED                                                                                      \
	{ PART_FRAGMENT, 2, A0 " gone=1#7" },                                                      \
	{                                                                                          \
		PART_FRAGMENT, 3, "0 rows=1 files=n:0,1,2 ids=3"                                   \
	}
#define MOVED_AFTER S0 " gone=1#7", S1, "21 rows=1 files=n:0,1,2 ids=3 made=1*1 changed=9*1"

static const struct op_case coverages[] = {
	{ "an index that knows the rows", .stable = true, .before = { S0, S1 },
		.entries = { "i:2:0,1:1Bitmap" }, .parts = { MOVED, { PART_NUMBERS, 6, "1" } },
		.after = { MOVED_AFTER }, .covered = { "i:0,1,21" } },
	{ "one on what has changed", .stable = true, .before = { S0, S1 },
		.entries = { "i:1:0,1:1Bitmap" }, .parts = { MOVED, { PART_NUMBERS, 6, "1" } },
		.after = { MOVED_AFTER }, .covered = { "i:0,1" } },
	{ "one below what has changed", .stable = true, .before = { S0, S1 },
		.entries = { "i:4:0,1:1Bitmap" }, .parts = { MOVED, { PART_NUMBERS, 6, "3" } },
		.after = { MOVED_AFTER }, .covered = { "i:0,1" } },
	{ "one above what has changed", .stable = true, .before = { S0, S1 },
		.entries = { "i:3:0,1:1Bitmap" }, .parts = { MOVED, { PART_NUMBERS, 6, "4" } },
		.after = { MOVED_AFTER }, .covered = { "i:0,1" } },
	{ "one that does not know all sources", .stable = true, .before = { S0, S1 },
		.entries = { "i:2:1:1Bitmap" }, .parts = { MOVED, { PART_NUMBERS, 6, "1" } },
		.after = { MOVED_AFTER }, .covered = { "i:1" } },
	{ "one of addresses", .stable = true, .before = { S0, S1 },
		.entries = { "i:2:0,1:1BTree", "j:2:0,1:0ZoneMap", "k:2:0,1:0BTree" },
		.parts = { MOVED, { PART_NUMBERS, 6, "1" } }, .after = { MOVED_AFTER },
		.covered = { "i:0,1", "j:0,1", "k:0,1,21" } },
	{ "nothing is said of what has changed", .stable = true, .before = { S0, S1 },
		.entries = { "i:2:0,1:1Bitmap" }, .parts = { MOVED }, .after = { MOVED_AFTER },
		.covered = { "i:0,1" } },
	{ "a new row among them", .stable = true, .before = { S0, S1 },
		.entries = { "i:2:0,1:1Bitmap" },
		.parts = { { PART_FRAGMENT, 2, A0 " gone=1#7" },
			{ PART_FRAGMENT, 3, "0 rows=2 files=n:0,1,2 ids=3" },
			{ PART_NUMBERS, 6, "1" } },
		.after = { S0 " gone=1#7", S1,
			"21 rows=2 files=n:0,1,2 ids=3,100 made=1*1,9*1 changed=9*2" },
		.covered = { "i:0,1" }, .next_row_id = 101 },
	{ "an overlay that is newer than the index", .stable = true, .flags = OVERLAYS,
		.before = { S0 " over=o:2@5", S1 },
		.entries = { "i:2:0,1:1Bitmap:4", "j:2:0,1:1Bitmap:5", "k:0:0,1:1Bitmap:4" },
		.parts = { MOVED, { PART_NUMBERS, 6, "1" } },
		.after = { S0 " gone=1#7 over=o:2@5", S1,
			"21 rows=1 files=n:0,1,2 ids=3 made=1*1 changed=9*1" },
		.covered = { "i:0,1", "j:0,1,21", "k:0,1,21" } },
	{ "a segment whose fragments are gone", .before = { A0, A1 },
		.entries = { "i:2:0", "i:2:1" },
		.parts = { { PART_NUMBERS, 1, "1" },
			{ PART_FRAGMENT, 3, "0 rows=1 files=n:0,1,2" } },
		.after = { A0, "21 rows=1 files=n:0,1,2" }, .covered = { "i:0" } },
	{ "without stable row ids", .before = { A0, A1 }, .entries = { "i:2:0,1:1Bitmap" },
		.parts = { { PART_FRAGMENT, 2, A0 " gone=1#7" },
			{ PART_FRAGMENT, 3, "0 rows=1 files=n:0,1,2" }, { PART_NUMBERS, 6, "1" } },
		.after = { A0 " gone=1#7", A1, "21 rows=1 files=n:0,1,2" },
		.covered = { "i:0,1" } },
};

START_TEST(indices_follow_rows)
{
	rig_run(108, &coverages[_i]);
}
END_TEST

#define NEW0 "0 rows=4 files=a:0,-2,2+n:1"
#define IN_PLACE                                                                                   \
	{ PART_NUMBERS, 7, "1" },                                                                  \
	{                                                                                          \
		PART_NUMBERS, 4, "1"                                                               \
	}

static const struct op_case rewrites[] = {
	{ "a column anew", .before = { A0, A1 }, .entries = { "i:1:0,1", "j:2:0,1" },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE }, .after = { NEW0, A1 },
		.covered = { "i:1", "j:0,1" } },
	{ "rows that have changed", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE, { PART_OFFSETS, 10, "0:1,2" } },
		.after = { NEW0 " ids=0-3 made=1*4 changed=5*1,9*2,5*1" } },
	{ "no row has", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE }, .after = { NEW0 LIN0 } },
	{ "rows without versions", .stable = true, .before = { A0 " ids=0-3" },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE, { PART_OFFSETS, 10, "0:1,2" } },
		.after = { NEW0 " ids=0-3" } },
	{ "the image's row versions are old", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 2, NEW0 " ids=50-53 made=4*4 changed=3*4" }, IN_PLACE },
		.after = { NEW0 LIN0 } },
	{ "overlays of it are gone", .flags = OVERLAYS,
		.before = { A0 " over=o:1@4+p:1,2@5+q:2@6" },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE },
		.after = { NEW0 " over=p:-2,2@5+q:2@6" } },
	{ "nothing is said of what was written anew", .flags = OVERLAYS,
		.before = { A0 " over=o:1@4+q:2@6", A1 }, .entries = { "i:1:0,1", "j:2:0,1" },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, { PART_NUMBERS, 7, "1" } },
		.after = { NEW0 " over=q:2@6", A1 }, .covered = { "i:1", "j:0,1" } },
	{ "rows that have changed, in the older form", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE, { PART_LISTED, 9, "0:1,2" } },
		.after = { NEW0 " ids=0-3 made=1*4 changed=5*1,9*2,5*1" } },
	{ "more is said than was", .flags = OVERLAYS, .before = { A0 " over=o:2@4", A1 },
		.entries = { "i:1:0,1", "j:2:0,1" },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, { PART_NUMBERS, 7, "1" },
			{ PART_NUMBERS, 4, "1,2" } },
		.after = { NEW0, A1 }, .covered = { "i:1", "j:1" } },
	{ "rows beside it, which no index follows", .stable = true, .before = { S0 },
		.entries = { "i:2:0:1Bitmap" },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE, { PART_NUMBERS, 6, "1" },
			{ PART_FRAGMENT, 3, "0 rows=1 files=o:0 ids=3" } },
		.after = { NEW0 LIN0, "21 rows=1 files=o:0 ids=3 made=1*1 changed=9*1" },
		.covered = { "i:0" } },
	{ "a file without columns goes", .before = { "0 rows=4 files=a:1+b:0" },
		.parts = { { PART_FRAGMENT, 2, "0 rows=4 files=a:-2+b:0+n:1" }, IN_PLACE },
		.after = { "0 rows=4 files=b:0+n:1" } },
	{ "one that carries row ids stays", .stable = true,
		.before = { "0 rows=4 files=a:1,-3+b:0 ids=column made=1*4" },
		.parts = { { PART_FRAGMENT, 2, "0 rows=4 files=a:-2,-3+b:0+n:1 ids=column" },
			IN_PLACE },
		.after = { "0 rows=4 files=a:-2,-3+b:0+n:1 ids=column made=1*4" } },
	{ "and must not be left out", .stable = true,
		.before = { "0 rows=4 files=a:1,-3+b:0 ids=column made=1*4" },
		.parts = { { PART_FRAGMENT, 2, "0 rows=4 files=b:0+n:1 ids=0-3" }, IN_PLACE },
		.code = LANCET_INVALID, .word = "lineage column -3" },
	{ "rows beyond the end", .stable = true, .before = { S0 },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE, { PART_OFFSETS, 10, "0:1,4" } },
		.code = LANCET_CORRUPT, .word = "row 4 of 4" },
	{ "rows of another fragment", .stable = true, .before = { S0, S1 },
		.parts = { { PART_FRAGMENT, 2, NEW0 }, IN_PLACE, { PART_OFFSETS, 10, "1:1" } },
		.code = LANCET_INVALID, .word = "fragment 1 has changed rows" },
	{ "a column in two files", .before = { A0 },
		.parts = { { PART_FRAGMENT, 2, "0 rows=4 files=a:0,1,2+n:1" }, IN_PLACE },
		.code = LANCET_INVALID, .word = "field 1 is in two" },
};

START_TEST(columns_are_rewritten)
{
	rig_run(108, &rewrites[_i]);
}
END_TEST

UNIT_MAIN("op_update", UNIT_LOOP(rows_move, moves), UNIT_LOOP(indices_follow_rows, coverages),
	UNIT_LOOP(columns_are_rewritten, rewrites))
