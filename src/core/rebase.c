/* A rebase: our transaction, what it touches, and the work that conflict checks leave. */
#include "conflict.h"
#include "conflict_rules.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "index_set.h"
#include "lance/transaction.pb-c.h"
#include "transaction.h"
#include "util/buf.h"
#include "util/macros.h"

#define SECTION_ENTRY_TAG 0x0a /* IndexSection.indices */
#define WORK_MAX          (UINT64_C(1) << 31)

static int
fill_indices(struct rebase *rebase, struct lancet_error *err)
{
	const Lance__Table__Transaction__CreateIndex *message =
		rebase->touched.message->create_index;
	size_t count = message->n_new_indices;

	rebase->indices = arena_zalloc(&rebase->arena, count + 1, sizeof(*rebase->indices));
	if (rebase->indices == NULL)
		return touched_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		struct rebase_index *index = &rebase->indices[rebase->index_count++];

		index->message = message->new_indices[i];
		TRY(entry_fragments(index->message, &index->covered, err));
		TRY(entry_fields(
			index->message, rebase->read, &rebase->arena, &index->fields, err));
	}
	return LANCET_OK;
}

/* The carried entry as a section of one, since that is what is decoded and checked. */
static int
decode_carried(struct rebase *rebase, struct lancet_error *err)
{
	struct lancet_bytes entry = rebase->reuse_entry;
	struct buf section = { 0 };
	int rc;

	if (entry.size == 0)
		return LANCET_OK;
	buf_put_byte(&section, SECTION_ENTRY_TAG);
	for (size_t size = entry.size; size > 0 || section.size == 1; size >>= 7)
		buf_put_byte(&section, (uint8_t)((size & 0x7f) | (size >= 0x80 ? 0x80 : 0)));
	buf_put(&section, entry.data, entry.size);
	rc = buf_check(&section, "reuse entry", err);
	if (rc == LANCET_OK)
		rc = index_section_parse(buf_slice(&section), &rebase->carried_set, err);
	buf_release(&section);
	if (rc != LANCET_OK)
		return rc;
	rebase->carried = *rebase->carried_set->indices[0].segments[0];
	if (!index_is_reuse(rebase->carried.name))
		return lancet_fail(
			err, LANCET_INVALID, "the entry carried is not " REUSE_INDEX_NAME);
	return LANCET_OK;
}

static int
fill(struct rebase *rebase, struct lancet_error *err)
{
	size_t count = rebase->touched.modified.count;

	rebase->marks = arena_zalloc(&rebase->arena, count + 1, sizeof(*rebase->marks));
	if (rebase->marks == NULL)
		return touched_no_memory(err);
	if (rebase->touched.kind == OPERATION_CREATE_INDEX)
		return fill_indices(rebase, err);
	if (rebase->touched.kind == OPERATION_REWRITE)
		return decode_carried(rebase, err);
	return LANCET_OK;
}

int
rebase_init(struct rebase *rebase, const lancet_transaction *ours, lancet_version *read,
	const struct affected_rows *affected, struct lancet_bytes reuse_entry,
	struct lancet_error *err)
{
	int rc;

	*rebase = (struct rebase){ .ours = ours,
		.read = read,
		.newest = read,
		.affected = affected,
		.reuse_entry = reuse_entry,
		.checked = lancet_version_info(read)->number,
		.last = OPERATION_UNKNOWN };
	TRY(touched_init(&rebase->touched, ours, err));
	if (rebase->touched.kind == OPERATION_UNKNOWN)
		rc = lancet_fail(err, LANCET_UNSUPPORTED,
			"operation %s is not known and can't be rebased", ours->operation);
	else
		rc = fill(rebase, err);
	if (rc != LANCET_OK)
		rebase_release(rebase);
	return rc;
}

static void
free_bitmap(roaring_bitmap_t *bitmap)
{
	if (bitmap != NULL)
		roaring_bitmap_free(bitmap);
}

void
rebase_release_deletions(struct rebase *rebase)
{
	for (size_t i = 0; i < rebase->deletion_count; i++)
		free_bitmap(rebase->deletions[i].deleted);
	free(rebase->deletions);
	rebase->deletions = NULL;
	rebase->deletion_count = 0;
}

void
rebase_release(struct rebase *rebase)
{
	rebase_release_deletions(rebase);
	for (size_t i = 0; i < rebase->index_count; i++) {
		free_bitmap(rebase->indices[i].covered);
		free_bitmap(rebase->indices[i].withdrawn);
	}
	free(rebase->superseded);
	free(rebase->progress.list);
	version_reuse_free(rebase->records);
	version_indices_free(rebase->carried_set);
	touched_release(&rebase->touched);
	arena_release(&rebase->arena);
	*rebase = (struct rebase){ 0 };
}

int
rebase_work(struct rebase *rebase, size_t steps, struct lancet_error *err)
{
	rebase->work += steps;
	if (rebase->work <= WORK_MAX)
		return LANCET_OK;
	return lancet_fail(err, LANCET_LIMIT, "too many index entries to compare");
}

void
rebase_mark_fragment(struct clash *clash, size_t place)
{
	assert(place < clash->ours->modified.count);
	clash->rebase->marks[place] = (struct rebase_mark){ clash->version, clash->theirs->kind };
}

int
rebase_withdraw(
	struct rebase_index *index, const struct numbers *fragments, struct lancet_error *err)
{
	for (size_t i = 0; i < fragments->count; i++) {
		uint64_t id = fragments->values[i];

		if (id > UINT32_MAX)
			continue;
		if (index->withdrawn == NULL)
			index->withdrawn = roaring_bitmap_create();
		if (index->withdrawn == NULL)
			return touched_no_memory(err);
		roaring_bitmap_add(index->withdrawn, (uint32_t)id);
	}
	return LANCET_OK;
}

/* Many commits of one shard leave one row of the list. */
static int
reserve_progress(struct rebase *rebase, size_t more, struct lancet_error *err)
{
	struct shards *progress = &rebase->progress;
	size_t capacity;
	struct shard *grown;

	if (more <= rebase->progress_capacity - progress->count)
		return LANCET_OK;
	shards_sort(progress);
	capacity = 2 * (progress->count + more);
	grown = realloc(progress->list, capacity * sizeof(*grown));
	if (grown == NULL)
		return touched_no_memory(err);
	progress->list = grown;
	rebase->progress_capacity = capacity;
	return LANCET_OK;
}

int
rebase_add_progress(struct clash *clash)
{
	const struct shards *theirs = &clash->theirs->shards;
	struct shards *progress = &clash->rebase->progress;

	if (theirs->count == 0)
		return LANCET_OK;
	TRY(reserve_progress(clash->rebase, theirs->count, clash->err));
	memcpy(progress->list + progress->count, theirs->list,
		theirs->count * sizeof(*theirs->list));
	progress->count += theirs->count;
	return LANCET_OK;
}

typedef int opener(lancet_version *version, uint64_t ordinal, lancet_fragment **ret_fragment,
	struct lancet_error *err);

static int
find_fragment(lancet_version *version, uint64_t id, opener *open, lancet_fragment **ret_fragment,
	struct lancet_error *err)
{
	uint64_t ordinal;
	int rc = lancet_version_find_fragment(version, id, &ordinal, err);

	if (rc == LANCET_OK)
		return open(version, ordinal, ret_fragment, err);
	if (rc != LANCET_NOT_FOUND)
		return rc;
	*ret_fragment = NULL;
	return LANCET_OK;
}

int
rebase_fragment(lancet_version *version, uint64_t id, lancet_fragment **ret_fragment,
	struct lancet_error *err)
{
	return find_fragment(version, id, lancet_fragment_open, ret_fragment, err);
}

int
rebase_fragment_stored(lancet_version *version, uint64_t id, lancet_fragment **ret_fragment,
	struct lancet_error *err)
{
	return find_fragment(version, id, fragment_open_stored, ret_fragment, err);
}
