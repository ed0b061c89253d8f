#include "rewrite_history.h"

#include <inttypes.h>

#include "conflict.h"
#include "draft_index.h"
#include "lance/table.pb-c.h"
#include "manifest_parts.h"
#include "util/macros.h"
#include "util/pbscan.h"

/* Field numbers. */
enum { VERSION_DATASET_VERSION = 1, VERSION_GROUP = 3 };
enum { GROUP_SURVIVORS = 1, GROUP_OLD = 2, GROUP_NEW = 3 };
enum { TRANSITION_SOURCE = 1, TRANSITION_DESTINATION = 2, TRANSITION_ORDERED = 3 };
enum { ORDERED_SURVIVORS = 1 };

static void
put_varint(struct buf *into, uint32_t number, uint64_t value)
{
	buf_put_varint(into, number << 3 | PB_VARINT);
	buf_put_varint(into, value);
}

static struct slice
content_of(struct slice message, const struct pb_field *field)
{
	return slice_of(message.data + field->offset, (size_t)field->value);
}

int
history_open(struct history *history, struct draft *draft, struct lancet_error *err)
{
	const struct draft_index *index;

	*history = (struct history){ .draft = draft };
	TRY(draft_indices(draft, err));
	history->place = draft_index_named(draft, REUSE_INDEX_NAME);
	history->tagged = draft_is_tagged(draft);
	if (history->place == SIZE_MAX)
		return LANCET_OK;
	index = &draft->indices[history->place];
	if (index->segment->index_version > 1 || index->segment->index_version < 0)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			REUSE_INDEX_NAME " has index version %" PRId32,
			index->segment->index_version);
	return reuse_details_load(
		draft->origin, index->segment, &history->arena, &history->current, err);
}

void
history_release(struct history *history)
{
	version_reuse_free(history->reuse);
	buf_release(&history->content);
	arena_release(&history->arena);
}

/* The record of a legacy version, as one of the version that this commit is built on. */
static int
append_record(struct history *history, struct slice record, struct lancet_error *err)
{
	struct pbmem scan = { .in = record };
	struct buf stamped = { 0 };
	struct pb_field field;
	bool more = true;
	int rc = LANCET_OK;

	put_varint(&stamped, VERSION_DATASET_VERSION, history->draft->number - 1);
	while (rc == LANCET_OK && more) {
		rc = pbmem_next(&scan, &field, &more, err);
		if (rc != LANCET_OK || !more || field.number == VERSION_DATASET_VERSION)
			continue;
		history->added += field.number == VERSION_GROUP;
		buf_put(&stamped, record.data + field.start, (size_t)(field.end - field.start));
	}
	if (rc == LANCET_OK)
		rc = buf_check(&stamped, "reuse history", err);
	if (rc == LANCET_OK)
		history_put_bytes(&history->content, CONTENT_LEGACY, buf_slice(&stamped));
	buf_release(&stamped);
	return rc;
}

/* A group of a record as an ordered transition. */
static int
append_group(struct history *history, struct slice group, struct lancet_error *err)
{
	struct buf transition = { 0 }, ordered = { 0 };
	struct pbmem scan = { .in = group };
	struct pb_field field;
	bool more = true;
	int rc = LANCET_OK;

	while (rc == LANCET_OK && more) {
		rc = pbmem_next(&scan, &field, &more, err);
		if (rc != LANCET_OK || !more || field.wire != PB_BYTES)
			continue;
		if (field.number == GROUP_OLD)
			history_put_bytes(
				&transition, TRANSITION_SOURCE, content_of(group, &field));
		else if (field.number == GROUP_NEW)
			history_put_bytes(
				&transition, TRANSITION_DESTINATION, content_of(group, &field));
		else if (field.number == GROUP_SURVIVORS)
			history_put_bytes(&ordered, ORDERED_SURVIVORS, content_of(group, &field));
	}
	history_put_bytes(&transition, TRANSITION_ORDERED, buf_slice(&ordered));
	if (rc == LANCET_OK)
		rc = buf_check(&transition, "reuse history", err);
	if (rc == LANCET_OK)
		history_put_bytes(&history->content, CONTENT_TRANSITION, buf_slice(&transition));
	history->added++;
	buf_release(&ordered);
	buf_release(&transition);
	return rc;
}

static int
append_groups(struct history *history, struct slice record, struct lancet_error *err)
{
	struct pbmem scan = { .in = record };
	struct pb_field field;
	bool more;

	for (;;) {
		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more)
			return LANCET_OK;
		if (field.number == VERSION_GROUP && field.wire == PB_BYTES)
			TRY(append_group(history, content_of(record, &field), err));
	}
}

/* The last record of a legacy entry is the rewrite's own. */
static int
append_legacy(struct history *history, struct slice carried, struct lancet_error *err)
{
	struct pbmem scan = { .in = carried };
	struct slice record = { 0 };
	struct pb_field field;
	bool more;

	for (;;) {
		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more)
			break;
		if (field.number == CONTENT_LEGACY && field.wire == PB_BYTES)
			record = content_of(carried, &field);
	}
	if (record.data == NULL)
		return lancet_fail(err, LANCET_INVALID, "the reuse entry carried has no record");
	return history->tagged ? append_groups(history, record, err)
			       : append_record(history, record, err);
}

/* The first source of a transition. */
static int
first_source(struct slice transition, uint64_t *ret_id, struct lancet_error *err)
{
	struct pbmem scan = { .in = transition };
	struct pb_field field;
	bool more = true;

	*ret_id = UINT64_MAX;
	while (more) {
		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more || field.number != TRANSITION_SOURCE || field.wire != PB_BYTES)
			continue;
		scan = (struct pbmem){ .in = content_of(transition, &field) };
		*ret_id = 0;
		for (;;) {
			TRY(pbmem_next(&scan, &field, &more, err));
			if (!more)
				return LANCET_OK;
			if (field.number == 1 && field.wire == PB_VARINT)
				*ret_id = field.value;
		}
	}
	return LANCET_OK;
}

/* Transitions that lead from `old` fragments are the rewrite's own, all others are history. */
static int
append_tagged(struct history *history, struct slice carried, const struct numbers *old,
	struct lancet_error *err)
{
	struct pbmem scan = { .in = carried };
	struct pb_field field;
	uint64_t source;
	bool more;

	for (;;) {
		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more)
			return LANCET_OK;
		if (field.number != CONTENT_TRANSITION || field.wire != PB_BYTES)
			continue;
		TRY(first_source(content_of(carried, &field), &source, err));
		if (numbers_find(old, source) == SIZE_MAX)
			continue;
		history_put_bytes(
			&history->content, CONTENT_TRANSITION, content_of(carried, &field));
		history->added++;
	}
}

static int
list_old(const struct rewrite_group *groups, size_t count, struct arena *arena,
	struct numbers *ret_old, struct lancet_error *err)
{
	size_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += groups[i].old_count;
	if (!numbers_reserve(ret_old, total, arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < groups[i].old_count; k++)
			numbers_put(ret_old, groups[i].old_fragments[k]->id);
	numbers_sort(ret_old);
	return LANCET_OK;
}

int
history_append(struct history *history, const struct rewrite_group *groups, size_t count,
	struct lancet_error *err)
{
	const struct rebase *rebase = history->draft->rebase;
	struct reuse_details carried;
	struct numbers old = { 0 };

	TRY(list_old(groups, count, &history->arena, &old, err));
	TRY(reuse_details_load(
		history->draft->origin, &rebase->carried, &history->arena, &carried, err));
	buf_put_slice(&history->content, history->current.content);
	if (rebase->carried.index_version == 0) {
		TRY(append_legacy(history, carried.content, err));
	} else {
		history->tagged = true;
		TRY(append_tagged(history, carried.content, &old, err));
	}
	if (history->added == 0)
		return lancet_fail(err, LANCET_INVALID,
			"the reuse entry carried has nothing about the fragments rewritten");
	return buf_check(&history->content, "reuse history", err);
}
