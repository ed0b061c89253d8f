#include "draft_index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <uuid/uuid.h>

#include "conflict_rules.h"
#include "index_set.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "util/roaringx.h"

#define SYSTEM_PREFIX       "__lance_"
#define UUID_SIZE           16u
#define FLAG_TAGGED_HISTORY (UINT64_C(1) << 10)
#define FOLLOW_WORK_MAX     (UINT64_C(1) << 31) /* fragments compared */

typedef Lance__Table__IndexMetadata Entry;

bool
index_entry_is_system(const Entry *entry)
{
	size_t size = sizeof(SYSTEM_PREFIX) - 1;

	return entry->name.len >= size && memcmp(entry->name.data, SYSTEM_PREFIX, size) == 0;
}

bool
index_entry_holds_addresses(const Entry *entry)
{
	if (entry_is_kind(entry, "BTree"))
		return entry->index_version_presence_case != 0 && entry->index_version >= 1;
	return entry_is_kind(entry, "ZoneMap") || entry_is_kind(entry, "BloomFilter") ||
	       entry_is_kind(entry, "Fm");
}

static uint64_t
now_ms(void)
{
	struct timespec now = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int
index_entry_renew(struct draft *draft, Entry *entry, struct lancet_error *err)
{
	Lance__Table__UUID *uuid = draft_alloc(draft, sizeof(*uuid));
	uint8_t *bytes = draft_alloc(draft, UUID_SIZE);

	if (uuid == NULL || bytes == NULL)
		return draft_no_memory(err);
	uuid_generate_random(bytes);
	lance__table__uuid__init(uuid);
	uuid->uuid = (ProtobufCBinaryData){ UUID_SIZE, bytes };
	entry->uuid = uuid;
	entry->created_at_presence_case =
		LANCE__TABLE__INDEX_METADATA__CREATED_AT_PRESENCE_CREATED_AT;
	entry->created_at = now_ms();
	return LANCET_OK;
}

static struct slice
uuid_of(const Lance__Table__UUID *uuid)
{
	return uuid == NULL ? (struct slice){ 0 } : slice_of(uuid->uuid.data, uuid->uuid.len);
}

size_t
draft_index_find(const struct draft *draft, const Lance__Table__UUID *uuid)
{
	struct slice wanted = uuid_of(uuid);

	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed &&
			slice_equal(uuid_of(draft->indices[i].message->uuid), wanted))
			return i;
	return SIZE_MAX;
}

size_t
draft_index_named(const struct draft *draft, const char *name)
{
	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed && entry_is_named(draft->indices[i].message, name))
			return i;
	return SIZE_MAX;
}

int
draft_index_fragments(const struct draft *draft, size_t place, roaring_bitmap_t **ret_fragments,
	struct lancet_error *err)
{
	return entry_fragments(draft->indices[place].message, ret_fragments, err);
}

int
draft_set_bytes(struct draft *draft, roaring_bitmap_t *set, ProtobufCBinaryData *ret_bytes,
	struct lancet_error *err)
{
	uint8_t *bytes;
	size_t size;

	roaring_bitmap_run_optimize(set);
	size = roaring_bitmap_portable_size_in_bytes(set);
	bytes = draft_alloc(draft, size);
	if (bytes == NULL)
		return draft_no_memory(err);
	ret_bytes->len = roaring_bitmap_portable_serialize(set, (char *)bytes);
	ret_bytes->data = bytes;
	return LANCET_OK;
}

int
draft_index_store(
	struct draft *draft, size_t place, roaring_bitmap_t *fragments, struct lancet_error *err)
{
	Entry *entry;

	TRY(draft_index_edit(draft, place, &entry, err));
	return draft_set_bytes(draft, fragments, &entry->fragment_bitmap, err);
}

int
draft_live(const struct draft *draft, roaring_bitmap_t **ret_live, struct lancet_error *err)
{
	roaring_bitmap_t *live = roaring_bitmap_create();

	if (live == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < draft->fragment_count; i++)
		if (!draft->fragments[i].removed && draft->fragments[i].id < UINT32_MAX)
			roaring_bitmap_add(live, (uint32_t)draft->fragments[i].id);
	*ret_live = live;
	return LANCET_OK;
}

bool
draft_has_tagged_entry(const struct draft *draft)
{
	size_t place = draft_index_named(draft, REUSE_INDEX_NAME);

	return place != SIZE_MAX &&
	       draft->indices[place].message->index_version_presence_case != 0 &&
	       draft->indices[place].message->index_version != 0;
}

bool
draft_is_tagged(const struct draft *draft)
{
	return (draft->sticky_writer & FLAG_TAGGED_HISTORY) != 0 || draft_has_tagged_entry(draft);
}

int
draft_reuse(struct draft *draft, lancet_reuse **ret_reuse, struct lancet_error *err)
{
	struct lancet_error cause = { 0 };
	int rc = lancet_version_reuse(draft->origin, ret_reuse, &cause);

	if (rc == LANCET_OK)
		return LANCET_OK;
	*ret_reuse = NULL;
	return rc == LANCET_NOT_FOUND ? LANCET_OK : lancet_fail(err, cause.code, "%s", cause.text);
}

/* One group: all of its old fragments become the new ones, some of them are no longer covered. */
static bool
follow_group(roaring_bitmap_t *covered, const struct lancet_transition *group)
{
	size_t inside = 0;

	for (size_t i = 0; i < group->source_count; i++)
		inside += roaring_bitmap_remove_checked(covered, (uint32_t)group->sources[i].id);
	if (inside == group->source_count && inside > 0)
		for (size_t i = 0; i < group->destination_count; i++)
			roaring_bitmap_add(covered, (uint32_t)group->destinations[i].id);
	return inside > 0;
}

static int
follow_entry(struct draft *draft, size_t place, const lancet_reuse *reuse, struct lancet_error *err)
{
	roaring_bitmap_t *covered = NULL;
	bool changed = false;
	int rc;

	if (index_entry_is_system(draft->indices[place].message))
		return LANCET_OK;
	TRY(draft_index_fragments(draft, place, &covered, err));
	if (covered == NULL)
		return LANCET_OK;
	for (size_t i = 0; i < reuse->info.transition_count; i++)
		if (reuse->transitions[i].info.legacy)
			changed = follow_group(covered, &reuse->transitions[i].info) || changed;
	rc = changed ? draft_index_store(draft, place, covered, err) : LANCET_OK;
	roaring_bitmap_free(covered);
	return rc;
}

static int
check_legacy(const struct draft *draft, const lancet_reuse *reuse, struct lancet_error *err)
{
	uint64_t sources = 0;

	for (size_t i = 0; i < reuse->info.transition_count; i++) {
		const struct lancet_transition *group = &reuse->transitions[i].info;

		if (group->legacy && group->fault != LANCET_OK)
			return lancet_fail(err, group->fault, "%s", group->fault_text);
		sources += group->source_count;
	}
	if (draft->index_count > 0 && sources > FOLLOW_WORK_MAX / draft->index_count)
		return lancet_fail(err, LANCET_LIMIT,
			"%zu index entries and a reuse history of %" PRIu64
			" fragments: trim the history first",
			draft->index_count, sources);
	return LANCET_OK;
}

int
draft_index_follow(struct draft *draft, struct lancet_error *err)
{
	lancet_reuse *reuse;

	TRY(draft_indices(draft, err));
	if (draft->index_count < 2 || draft_has_tagged_entry(draft))
		return LANCET_OK;
	TRY(draft_reuse(draft, &reuse, err));
	if (reuse == NULL || reuse->info.index_version != 0)
		return LANCET_OK;
	TRY(check_legacy(draft, reuse, err));
	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed)
			TRY(follow_entry(draft, i, reuse, err));
	return LANCET_OK;
}
