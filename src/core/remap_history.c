/* The reuse entry that a rewrite brings along: where the rows of each task went.
 *
 * Ordered tasks are one record of a legacy history, which goes on from the one that is there; the
 * commit makes transitions of it where the history is tagged. Partitions are transitions from the
 * beginning. What a commit is built on may have moved on: it takes from the entry what is ours.
 */
#include "remap.h"

#include <inttypes.h>
#include <stdlib.h>

#include <uuid/uuid.h>

#include "change_build.h"
#include "lance/table.pb-c.h"
#include "manifest_parts.h"
#include "reuse.h"
#include "rewrite_history.h"
#include "util/macros.h"
#include "util/pbscan.h"
#include "version.h"

#define DETAILS_TYPE_URL "/lance.table.FragmentReuseIndexDetails"
#define DELETED_AT_ONCE  4096u

/* Field numbers. */
enum { DETAILS_INLINE = 1 };
enum { VERSION_DATASET_VERSION = 1, VERSION_GROUP = 3 };
enum { GROUP_SURVIVORS = 1, GROUP_OLD = 2, GROUP_NEW = 3 };
enum { TRANSITION_SOURCE = 1, TRANSITION_DESTINATION = 2, TRANSITION_PARTITION = 4 };
enum { PARTITION_MAP_ID = 1, PARTITION_MAP_SIZE = 2 };

static void
put_number(struct buf *into, uint32_t number, uint64_t value)
{
	if (value == 0)
		return;
	buf_put_varint(into, number << 3 | PB_VARINT);
	buf_put_varint(into, value);
}

/* A message that is appended to another one, and released. */
static void
put_message(struct buf *into, uint32_t number, struct buf *message)
{
	if (message->failed != LANCET_OK && into->failed == LANCET_OK)
		into->failed = message->failed;
	history_put_bytes(into, number, buf_slice(message));
	buf_release(message);
}

static void
put_digest(struct buf *into, uint32_t number, uint64_t id, uint64_t rows, uint64_t deleted)
{
	struct buf digest = { 0 };

	put_number(&digest, 1, id);
	put_number(&digest, 2, rows);
	put_number(&digest, 3, deleted);
	put_message(into, number, &digest);
}

static void
put_digests(struct buf *into, const struct rewrite_task *task, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < task->source_count; i++) {
		const struct lancet_fragment_info *info =
			lancet_fragment_info(task->sources[i].fragment);

		put_digest(into, from, info->id, info->physical_rows,
			lancet_deletion_count(task->sources[i].deletion));
	}
	for (size_t i = 0; i < task->output_count; i++)
		put_digest(into, to, task->outputs[i].id, task->outputs[i].rows, 0);
}

/* Offsets of the rows that are not deleted. */
static int
make_survivors(const struct rewrite_source *source, roaring_bitmap_t **ret_bitmap,
	struct lancet_error *err)
{
	uint64_t rows = lancet_fragment_info(source->fragment)->physical_rows;
	uint64_t deleted = lancet_deletion_count(source->deletion);
	roaring_bitmap_t *bitmap = roaring_bitmap_from_range(0, rows, 1);
	uint32_t offsets[DELETED_AT_ONCE];

	if (bitmap == NULL)
		return change_no_memory(err);
	for (uint64_t at = 0; at < deleted; at += DELETED_AT_ONCE) {
		uint64_t left = deleted - at;
		size_t count = left < DELETED_AT_ONCE ? (size_t)left : DELETED_AT_ONCE;
		int rc = lancet_deletion_select(source->deletion, at, count, offsets, err);

		if (rc != LANCET_OK) {
			roaring_bitmap_free(bitmap);
			return rc;
		}
		roaring_bitmap_remove_many(bitmap, count, offsets);
	}
	(void)roaring_bitmap_run_optimize(bitmap);
	*ret_bitmap = bitmap;
	return LANCET_OK;
}

int
remap_survivors(const struct rewrite_source *source, struct buf *into, struct lancet_error *err)
{
	roaring_bitmap_t *bitmap;
	size_t size;

	TRY(make_survivors(source, &bitmap, err));
	size = roaring_bitmap_portable_size_in_bytes(bitmap);
	if (buf_reserve(into, size))
		into->size +=
			roaring_bitmap_portable_serialize(bitmap, (char *)into->data + into->size);
	roaring_bitmap_free(bitmap);
	return buf_check(into, "surviving rows", err);
}

static int
by_id(const void *a, const void *b)
{
	const struct rewrite_source *const *left = a, *const *right = b;
	uint64_t x = lancet_fragment_info((*left)->fragment)->id;
	uint64_t y = lancet_fragment_info((*right)->fragment)->id;

	return x < y ? -1 : x > y;
}

/* A treemap: the number of fragments that have rows, then each by its id. */
static int
put_survivors(struct buf *into, const struct rewrite_task *task, struct lancet_error *err)
{
	lancet_autofree const struct rewrite_source **sources =
		calloc(task->source_count + 1, sizeof(struct rewrite_source *));
	size_t count = 0;

	if (sources == NULL)
		return change_no_memory(err);
	for (size_t i = 0; i < task->source_count; i++)
		if (lancet_deletion_count(task->sources[i].deletion) <
			lancet_fragment_info(task->sources[i].fragment)->physical_rows)
			sources[count++] = &task->sources[i];
	qsort(sources, count, sizeof(struct rewrite_source *), by_id);
	for (unsigned i = 0; i < 8; i++)
		buf_put_byte(into, (uint8_t)((uint64_t)count >> 8 * i));
	for (size_t i = 0; i < count; i++) {
		uint64_t id = lancet_fragment_info(sources[i]->fragment)->id;

		for (unsigned byte = 0; byte < 4; byte++)
			buf_put_byte(into, (uint8_t)(id >> 8 * byte));
		TRY(remap_survivors(sources[i], into, err));
	}
	return LANCET_OK;
}

static int
put_group(struct buf *record, const struct rewrite_task *task, struct lancet_error *err)
{
	struct buf group = { 0 }, survivors = { 0 };
	int rc = put_survivors(&survivors, task, err);

	put_message(&group, GROUP_SURVIVORS, &survivors);
	put_digests(&group, task, GROUP_OLD, GROUP_NEW);
	put_message(record, VERSION_GROUP, &group);
	return rc;
}

static int
put_partition(struct buf *content, const struct rewrite_task *task, struct lancet_error *err)
{
	struct buf transition = { 0 }, partition = { 0 };

	if (task->map_size == 0)
		return lancet_fail(err, LANCET_INVALID, "a partition without a row map");
	history_put_bytes(&partition, PARTITION_MAP_ID, slice_text(task->map_id));
	put_number(&partition, PARTITION_MAP_SIZE, task->map_size);
	put_digests(&transition, task, TRANSITION_SOURCE, TRANSITION_DESTINATION);
	put_message(&transition, TRANSITION_PARTITION, &partition);
	put_message(content, CONTENT_TRANSITION, &transition);
	return LANCET_OK;
}

/* The history that a legacy record goes on from. */
static int
put_current(const struct remap_plan *plan, struct buf *content, struct lancet_error *err)
{
	struct arena arena = { 0 };
	struct reuse_details details;
	lancet_reuse *reuse;
	int rc;

	if (plan->tagged || !lancet_version_has_reuse(plan->read))
		return LANCET_OK;
	TRY(lancet_version_reuse(plan->read, &reuse, err));
	rc = reuse_details_load(plan->read, reuse->info.entry, &arena, &details, err);
	if (rc == LANCET_OK)
		buf_put_slice(content, details.content);
	arena_release(&arena);
	return rc;
}

static int
put_record(const struct remap_plan *plan, const lancet_rewrite *rewrite, struct buf *content,
	struct lancet_error *err)
{
	struct buf record = { 0 };
	int rc = put_current(plan, content, err);

	put_number(&record, VERSION_DATASET_VERSION, plan->read->info.number);
	for (size_t i = 0; i < rewrite->task_count && rc == LANCET_OK; i++)
		if (remap_records(plan, rewrite, &rewrite->tasks[i]))
			rc = put_group(&record, &rewrite->tasks[i], err);
	put_message(content, CONTENT_LEGACY, &record);
	return rc;
}

static int
put_content(const struct remap_plan *plan, const lancet_rewrite *rewrite, struct buf *content,
	struct lancet_error *err)
{
	if (!plan->partition)
		return put_record(plan, rewrite, content, err);
	for (size_t i = 0; i < rewrite->task_count; i++)
		TRY(put_partition(content, &rewrite->tasks[i], err));
	return LANCET_OK;
}

static void
pack_entry(const struct remap_plan *plan, struct slice details, struct buf *into)
{
	static uint8_t name[] = REUSE_INDEX_NAME, type_url[] = DETAILS_TYPE_URL;
	Lance__Table__IndexMetadata entry;
	Google__Protobuf__Any any;
	Lance__Table__UUID id;
	uint8_t uuid[16];

	uuid_generate_random(uuid);
	lance__table__index_metadata__init(&entry);
	google__protobuf__any__init(&any);
	lance__table__uuid__init(&id);
	id.uuid = (ProtobufCBinaryData){ sizeof(uuid), uuid };
	any.type_url = (ProtobufCBinaryData){ sizeof(type_url) - 1, type_url };
	any.value = (ProtobufCBinaryData){ details.size, (uint8_t *)details.data };
	entry.uuid = &id;
	entry.name = (ProtobufCBinaryData){ sizeof(name) - 1, name };
	entry.dataset_version = plan->read->info.number;
	entry.index_details = &any;
	entry.index_version_presence_case =
		LANCE__TABLE__INDEX_METADATA__INDEX_VERSION_PRESENCE_INDEX_VERSION;
	entry.index_version = plan->partition;
	writing_put_message(into, &entry.base);
}

static int
set_entry(const struct remap_plan *plan, struct buf *content, lancet_change *change,
	struct lancet_error *err)
{
	struct buf details = { 0 }, entry = { 0 };
	uint8_t *bytes = NULL;
	int rc;

	put_message(&details, DETAILS_INLINE, content);
	pack_entry(plan, buf_slice(&details), &entry);
	rc = buf_check(&details, "reuse history", err);
	if (rc == LANCET_OK)
		rc = buf_check(&entry, "reuse history", err);
	if (rc == LANCET_OK) {
		bytes = change_alloc(change, entry.size, 1, err);
		rc = bytes == NULL ? LANCET_NO_MEMORY : LANCET_OK;
	}
	if (rc == LANCET_OK) {
		memcpy(bytes, entry.data, entry.size);
		change->reuse_entry = (struct lancet_bytes){ bytes, entry.size };
	}
	buf_release(&details);
	buf_release(&entry);
	return rc;
}

int
remap_history(const struct remap_plan *plan, const lancet_rewrite *rewrite, lancet_change *change,
	struct lancet_error *err)
{
	struct buf content = { 0 };
	size_t recorded = 0;
	int rc;

	for (size_t i = 0; i < rewrite->task_count; i++) {
		if (!remap_records(plan, rewrite, &rewrite->tasks[i]))
			continue;
		TRY(rewrite_deletions(&rewrite->tasks[i], err));
		recorded++;
	}
	if (recorded == 0)
		return LANCET_OK;
	rc = put_content(plan, rewrite, &content, err);
	if (rc == LANCET_OK)
		rc = set_entry(plan, &content, change, err);
	buf_release(&content);
	return rc;
}
