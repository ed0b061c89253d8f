/* Drafts: fragments found and numbered, what no commit may touch, and what every commit does. */
#include "unit.h"

#include "draftmake.h"

#include <inttypes.h>

#include "core/flags.h"

/* A version with the fragments 0, 2 and 9, and what `message` has already. */
static lancet_version *
open_three(struct made *made)
{
	put_basics(&made->message, 3);
	put_fragment(&made->message, 0, 3, NULL);
	put_fragment(&made->message, 2, 3, NULL);
	put_fragment(&made->message, 9, 3, NULL);
	return made_open(made, 3);
}

static uint64_t
add(struct draft *draft, uint64_t id)
{
	Lance__Table__DataFragment fragment = LANCE__TABLE__DATA_FRAGMENT__INIT, *added;

	fragment.id = id;
	fragment.physical_rows = 1;
	OK(draft_add(draft, &fragment, &added, &err));
	return added->id;
}

START_TEST(fragments_are_found_by_id)
{
	struct made made = { 0 };
	struct draft draft;

	open_three(&made);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	ck_assert_uint_eq(draft_find(&draft, 0), 0);
	ck_assert_uint_eq(draft_find(&draft, 2), 1);
	ck_assert_uint_eq(draft_find(&draft, 9), 2);
	ck_assert_uint_eq(draft_find(&draft, 1), SIZE_MAX);
	ck_assert_uint_eq(draft_find(&draft, 10), SIZE_MAX);
	ck_assert_uint_eq(draft_find(&draft, UINT64_MAX), SIZE_MAX);
	draft_remove(&draft, 1);
	ck_assert_uint_eq(draft_find(&draft, 2), SIZE_MAX);
	ck_assert_uint_eq(add(&draft, 0), 10);
	ck_assert_uint_eq(draft_find(&draft, 10), 3);
	/* reserved ones in any order */
	ck_assert_uint_eq(add(&draft, 7), 7);
	ck_assert_uint_eq(add(&draft, 5), 5);
	ck_assert_uint_eq(add(&draft, 0), 11);
	ck_assert_uint_eq(draft_find(&draft, 5), 5);
	ck_assert_uint_eq(draft_find(&draft, 11), 6);
	ck_assert_uint_eq(draft_find(&draft, 6), SIZE_MAX);
	draft_remove(&draft, 5);
	ck_assert_uint_eq(draft_find(&draft, 5), SIZE_MAX);
	draft_release(&draft);
	made_release(&made);
}
END_TEST

START_TEST(ids_are_given_once)
{
	Lance__Table__DataFragment fragment = LANCE__TABLE__DATA_FRAGMENT__INIT, *added;
	struct made made = { 0 };
	struct draft draft;

	put_number(&made.message, 11, 12);
	open_three(&made);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	fragment.id = 9;
	FAILS(draft_add(&draft, &fragment, &added, &err), LANCET_INVALID, "9 of a new fragment is");
	fragment.id = 13;
	FAILS(draft_add(&draft, &fragment, &added, &err), LANCET_INVALID, "13");
	ck_assert_uint_eq(add(&draft, 12), 12);
	ck_assert_uint_eq(add(&draft, 11), 11);
	fragment.id = 11;
	FAILS(draft_add(&draft, &fragment, &added, &err), LANCET_INVALID, "is in use");
	ck_assert_uint_eq(add(&draft, 0), 13);
	draft.max_fragment_id = UINT32_MAX - 1;
	fragment.id = 0;
	FAILS(draft_add(&draft, &fragment, &added, &err), LANCET_LIMIT, "no fragment id is left");
	draft_release(&draft);
	made_release(&made);
}
END_TEST

START_TEST(an_unused_dataset_begins_with_fragment_0)
{
	struct made made = { 0 };
	struct draft draft;

	put_basics(&made.message, 3);
	made_open(&made, 3);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	ck_assert_uint_eq(draft.number, 4);
	ck_assert_uint_eq(add(&draft, 0), 0);
	ck_assert_uint_eq(add(&draft, 0), 1);
	draft_release(&draft);
	made_release(&made);
}
END_TEST

/* The mark of a restored version's successor is the larger one, and so is the next row id. */
START_TEST(marks_never_go_down)
{
	struct made newest = { 0 }, old = { 0 }, next = { 0 };
	struct draft draft;

	put_basics(&newest.message, 7);
	put_number(&newest.message, 14, 70);
	put_number(&newest.message, 11, 20);
	made_open(&newest, 7);
	put_number(&old.message, 14, 30);
	open_three(&old);
	OK(draft_init(&draft, newest.version, old.version, NULL, &err));
	made_next(&draft, &next);
	ck_assert_uint_eq(next.version->info.number, 8);
	ck_assert_uint_eq(next.version->info.fragment_count, 3);
	ck_assert_uint_eq(next.version->info.max_fragment_id, 20);
	ck_assert_uint_eq(next.version->info.next_row_id, 70);
	draft_release(&draft);
	made_release(&newest);
	made_release(&old);
	made_release(&next);
}
END_TEST

/* What a version must not have when something is to be committed on it. */
static const struct {
	uint64_t writer, number;
	uint32_t field; /* of the manifest, with the value 1 */
	uint64_t fragment;
	int want;
	const char *word;
} refused[] = {
	{ UINT64_C(1) << 9, 3, 0, 0, LANCET_UNSUPPORTED, "reuse_with_stable_row_ids" },
	{ UINT64_C(1) << 12, 3, 0, 0, LANCET_UNSUPPORTED, "fragment_tree" },
	{ UINT64_C(1) << 13, 3, 0, 0, LANCET_UNSUPPORTED, "independent_covering" },
	{ UINT64_C(1) << 17, 3, 0, 0, LANCET_UNSUPPORTED, "object_metadata" },
	{ UINT64_C(1) << 18 | 1, 3, 0, 0, LANCET_UNSUPPORTED, "bit_18" },
	{ UINT64_C(1) << 63, 3, 0, 0, LANCET_UNSUPPORTED, "bit_63" },
	{ 0, 3, 25, 0, LANCET_UNSUPPORTED, "clustering" },
	{ 0, 3, 26, 0, LANCET_UNSUPPORTED, "clustering" },
	{ 0, 3, 0, UINT32_MAX, LANCET_CORRUPT, "4294967295" },
	{ 0, UINT64_C(1) << 63 | 3, 0, 0, LANCET_UNSUPPORTED, "detached" },
	{ 0xff & ~UINT64_C(0), 3, 0, 0, LANCET_OK, "" },
};

START_TEST(what_is_not_understood_is_not_written_over)
{
	struct made made = { 0 };
	struct draft draft;

	put_basics(&made.message, refused[_i].number);
	put_number(&made.message, 10, refused[_i].writer);
	if (refused[_i].field != 0)
		put_number(&made.message, refused[_i].field, 1);
	put_fragment(&made.message, refused[_i].fragment, 3, NULL);
	made_open(&made, refused[_i].number);
	if (refused[_i].want == LANCET_OK) {
		OK(draft_init(&draft, made.version, made.version, NULL, &err));
		draft_release(&draft);
	} else {
		FAILS(draft_init(&draft, made.version, made.version, NULL, &err), refused[_i].want,
			refused[_i].word);
	}
	made_release(&made);
}
END_TEST

START_TEST(a_damaged_fragment_fails_when_it_is_changed)
{
	struct made made = { 0 }, next = { 0 };
	Lance__Table__DataFragment *fragment;
	const Lance__Table__DataFragment *seen;
	struct arena arena = { 0 };
	struct draft draft;

	put_basics(&made.message, 3);
	put_fragment(&made.message, 4, 3, NULL);
	buf_put(&made.message, "\x12\x04\x08\x05\x12\x7f", 6);
	made_open(&made, 3);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	FAILS(draft_edit(&draft, 1, &fragment, &err), LANCET_CORRUPT, "fragment 5");
	OK(draft_look(&draft, 0, &arena, &seen, &err));
	ck_assert_uint_eq(seen->physical_rows, 3);
	ck_assert(draft.fragments[0].message == NULL);
	/* its neighbours are well, and it stays what it is */
	made_next(&draft, &next);
	ck_assert_uint_eq(next.version->spans[1].size, 4);
	arena_release(&arena);
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(fragments_end_in_order)
{
	struct made made = { 0 }, next = { 0 };
	Lance__Table__DataFragment *first, *added;
	static const uint64_t want[] = { 0, 4, 9, 10 };
	struct draft draft;

	open_three(&made);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	OK(draft_edit(&draft, 0, &first, &err));
	first->id = 4;
	OK(draft_add(&draft, first, &added, &err));
	first->id = 0;
	OK(draft_add(&draft, first, &added, &err));
	draft_remove(&draft, 1);
	made_next(&draft, &next);
	ck_assert_uint_eq(next.version->info.fragment_count, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		ck_assert_uint_eq(next.version->spans[i].id, want[i]);
	ck_assert_uint_lt(next.version->spans[0].offset, next.version->spans[1].offset);
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(an_id_that_is_listed_twice_is_refused)
{
	struct made made = { 0 };
	struct draft draft;

	put_fragment(&made.message, 2, 3, NULL);
	open_three(&made);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	FAILS(draft_finish(&draft, 0, 0, &err), LANCET_CORRUPT, "fragment 2 is listed twice");
	draft_release(&draft);
	/* unless one of them goes */
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	draft_remove(&draft, draft_find(&draft, 2));
	ck_assert_uint_ne(draft_find(&draft, 2), SIZE_MAX);
	OK(draft_finish(&draft, 0, 0, &err));
	draft_release(&draft);
	made_release(&made);
}
END_TEST

UNIT_MAIN("draft", UNIT_TEST(fragments_are_found_by_id), UNIT_TEST(ids_are_given_once),
	UNIT_TEST(an_unused_dataset_begins_with_fragment_0), UNIT_TEST(marks_never_go_down),
	UNIT_LOOP(what_is_not_understood_is_not_written_over, refused),
	UNIT_TEST(a_damaged_fragment_fails_when_it_is_changed), UNIT_TEST(fragments_end_in_order),
	UNIT_TEST(an_id_that_is_listed_twice_is_refused))
