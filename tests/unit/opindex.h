/* Cases of oprig.h, run: fragments and what the indices cover afterwards, and the row ids that were
 * given. */
#ifndef TESTS_OPINDEX_H
#define TESTS_OPINDEX_H

#include "oprig.h"

static inline void
rig_expect_fragments(struct op_rig *rig, const struct op_case *row, const char *const *due)
{
	size_t i = 0;

	for (; i < rig->draft.fragment_count; i++) {
		struct arena arena = { 0 };
		struct buf text = { 0 };
		const Fragment *fragment = NULL;

		OK(draft_look(&rig->draft, i, &arena, &fragment, &err));
		frag_show(&text, fragment);
		buf_put_byte(&text, 0);
		ck_assert_msg(due[i] != NULL && strcmp((char *)text.data, due[i]) == 0,
			"%s: got %s, not %s", row->label, (char *)text.data,
			due[i] == NULL ? "nothing" : due[i]);
		buf_release(&text);
		arena_release(&arena);
	}
	ck_assert_msg(due[i] == NULL, "%s: no %s", row->label, due[i]);
}

static inline void
rig_expect_entry(struct op_rig *rig, const struct op_case *row, const char *due)
{
	roaring_bitmap_t *got = NULL, *expected = roaring_bitmap_create();
	char name[PART_SIZE], one[PART_SIZE];
	size_t place;

	ck_assert(part_next(&due, ":", name));
	while (part_next(&due, ",", one))
		roaring_bitmap_add(expected, (uint32_t)strtoul(one, NULL, 10));
	place = draft_index_named(&rig->draft, name);
	ck_assert_msg(place != SIZE_MAX, "%s: no index %s", row->label, name);
	OK(draft_index_fragments(&rig->draft, place, &got, &err));
	ck_assert_msg(got != NULL && roaring_bitmap_equals(got, expected), "%s: coverage of %s",
		row->label, name);
	roaring_bitmap_free(got);
	roaring_bitmap_free(expected);
}

static inline void
rig_expect_indices(struct op_rig *rig, const struct op_case *row)
{
	size_t live = 0, due = 0;

	for (; due < RIG_PARTS && row->covered[due] != NULL; due++)
		rig_expect_entry(rig, row, row->covered[due]);
	for (size_t i = 0; i < rig->draft.index_count; i++)
		live += !rig->draft.indices[i].removed;
	ck_assert_msg(live == due, "%s: %zu index entries", row->label, live);
}

static inline void
rig_run(uint32_t operation, const struct op_case *row)
{
	struct op_rig rig = { 0 };
	struct lancet_error err = { 0 };
	uint64_t next = row->next_row_id != 0 ? row->next_row_id : row->stable ? 100 : 0;
	int rc;

	rig_open(&rig, row);
	rig_message(&rig, operation, row);
	rc = operation_apply(&rig.draft, &err);
	if (rc == LANCET_OK)
		rc = draft_finish(&rig.draft, MADE_SECONDS, 0, &err);
	ck_assert_msg(rc == (int)row->code, "%s: %d: %s", row->label, rc, err.text);
	if (rc != LANCET_OK) {
		ck_assert_msg(strstr(err.text, row->word) != NULL, "%s: %s", row->label, err.text);
	} else {
		rig_expect_fragments(&rig, row, row->after);
		rig_expect_indices(&rig, row);
		ck_assert_msg(rig.draft.next_row_id == next, "%s: row ids up to %llu", row->label,
			(unsigned long long)rig.draft.next_row_id);
	}
	draft_release(&rig.draft);
	made_release(&rig.made);
}

#endif
