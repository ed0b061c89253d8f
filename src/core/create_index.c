#include "create_index.h"

#include <inttypes.h>
#include <stdlib.h>

#include "conflict_rules.h"
#include "draft_index.h"
#include "draft_mem_wal.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "util/text.h"

#define UUID_SIZE     16u
#define NAME_MAX_SIZE 1024u

typedef Lance__Table__IndexMetadata Entry;

bool
entry_is_mem_wal(const Entry *entry)
{
	return entry_is_named(entry, MEM_WAL_INDEX_NAME);
}

static bool
has_name_of(const Entry *entry, const Entry *other)
{
	return slice_equal(slice_of(entry->name.data, entry->name.len),
		slice_of(other->name.data, other->name.len));
}

static bool
is_of_fields(const Entry *entry)
{
	return !entry_is_mem_wal(entry) && !entry_is_named(entry, REUSE_INDEX_NAME);
}

static int
check_name(const Entry *entry, struct lancet_error *err)
{
	struct slice name = slice_of(entry->name.data, entry->name.len);

	if (name.size == 0 || name.size > NAME_MAX_SIZE || !text_is_utf8(name) ||
		memchr(name.data, '\0', name.size) != NULL)
		return lancet_fail(err, LANCET_INVALID, "its name is none");
	if (is_of_fields(entry) && index_entry_is_system(entry))
		return lancet_fail(
			err, LANCET_INVALID, "names that begin with __lance_ are reserved");
	if (entry->uuid == NULL || entry->uuid->uuid.len != UUID_SIZE)
		return lancet_fail(err, LANCET_INVALID, "its UUID is none");
	return LANCET_OK;
}

static bool
has_field(const struct draft *draft, int32_t id)
{
	for (size_t i = 0; i < draft->head->n_fields; i++)
		if (draft->head->fields[i]->id == id)
			return true;
	return false;
}

static bool
is_field_of(const Entry *entry, int32_t id, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (entry->fields[i] == id)
			return true;
	return false;
}

/* Fields that are carried along are the last ones, and not all. */
static int
check_fields(const struct draft *draft, const Entry *entry, struct lancet_error *err)
{
	size_t count = entry->n_fields, covering = entry->n_covering_fields;

	if (!is_of_fields(entry))
		return LANCET_OK;
	if (count == 0 || count > draft->head->n_fields)
		return lancet_fail(err, LANCET_INVALID, "an index over %zu fields", count);
	if (draft->head->n_fields > CREATE_INDEX_MAX * (size_t)1024 / count)
		return lancet_fail(err, LANCET_LIMIT, "an index over %zu of %zu fields", count,
			draft->head->n_fields);
	for (size_t i = 0; i < count; i++) {
		if (!has_field(draft, entry->fields[i]))
			return lancet_fail(err, LANCET_INVALID, "there is no field %" PRId32,
				entry->fields[i]);
		if (is_field_of(entry, entry->fields[i], i))
			return lancet_fail(
				err, LANCET_INVALID, "field %" PRId32 " twice", entry->fields[i]);
	}
	if (covering > 0 && (covering >= count ||
				    memcmp(entry->covering_fields, entry->fields + count - covering,
					    covering * sizeof(*entry->fields)) != 0))
		return lancet_fail(err, LANCET_INVALID,
			"its covering fields are not the last ones of its fields");
	return LANCET_OK;
}

/* A fragment that is still to come would be taken for covered. */
static int
check_fragments(const struct draft *draft, const Entry *entry, struct lancet_error *err)
{
	roaring_bitmap_t *covered = NULL;
	uint32_t last;

	TRY(entry_fragments(entry, &covered, err));
	if (covered == NULL)
		return LANCET_OK;
	last = roaring_bitmap_is_empty(covered) ? 0 : roaring_bitmap_maximum(covered);
	roaring_bitmap_free(covered);
	if (last != 0 && (!draft->has_max_fragment_id || last > draft->max_fragment_id))
		return lancet_fail(err, LANCET_INVALID,
			"it covers fragment %" PRIu32 ", which there never was", last);
	return LANCET_OK;
}

static int
check_origin(const struct draft *draft, const Entry *entry, struct lancet_error *err)
{
	if (entry->dataset_version >= draft->number)
		return lancet_fail(err, LANCET_INVALID, "it is of version %" PRIu64 " to come",
			entry->dataset_version);
	if (entry->base_id_presence_case == 0)
		return LANCET_OK;
	for (size_t i = 0; i < draft->head->n_base_paths; i++)
		if (draft->head->base_paths[i]->id == entry->base_id)
			return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID, "base %" PRIu32 " is no base path of the dataset",
		entry->base_id);
}

/* The one entry of that name. */
static int
check_single(const struct draft *draft, size_t at, struct lancet_error *err)
{
	const Lance__Table__Transaction__CreateIndex *message = draft->message->create_index;
	const Entry *entry = message->new_indices[at];

	for (size_t i = 0; i < at; i++) {
		const Entry *other = message->new_indices[i];

		if (other->uuid->uuid.len == UUID_SIZE &&
			memcmp(other->uuid->uuid.data, entry->uuid->uuid.data, UUID_SIZE) == 0)
			return lancet_fail(err, LANCET_INVALID, "entry %zu has its UUID", i);
		if (!is_of_fields(entry) && has_name_of(entry, other))
			return lancet_fail(err, LANCET_INVALID, "entry %zu has its name", i);
	}
	return LANCET_OK;
}

int
create_index_check(struct draft *draft, size_t at, struct lancet_error *err)
{
	const Entry *entry = draft->message->create_index->new_indices[at];

	TRY(check_name(entry, err));
	if (entry_is_mem_wal(entry))
		TRY(mem_wal_check(draft, entry, err));
	TRY(check_fields(draft, entry, err));
	TRY(check_fragments(draft, entry, err));
	TRY(check_origin(draft, entry, err));
	return check_single(draft, at, err);
}

/* Segments of an index, by name. */
struct segment {
	const Entry *entry;
	size_t place;
};

static int
compare_names(const void *left, const void *right)
{
	const struct segment *a = left, *b = right;
	int order = slice_compare(slice_of(a->entry->name.data, a->entry->name.len),
		slice_of(b->entry->name.data, b->entry->name.len));

	return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static bool
is_new(const struct draft *draft, const struct segment *segment)
{
	return draft->indices[segment->place].segment == NULL;
}

static int
add_covered(const struct draft *draft, const struct segment *segment, roaring_bitmap_t *all,
	struct lancet_error *err)
{
	roaring_bitmap_t *covered = NULL;
	bool overlap;

	TRY(draft_index_fragments(draft, segment->place, &covered, err));
	if (covered == NULL)
		return LANCET_OK;
	overlap = roaring_bitmap_intersect(covered, all);
	roaring_bitmap_or_inplace(all, covered);
	roaring_bitmap_free(covered);
	if (!overlap || !is_new(draft, segment))
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID,
		"index %.*s: two segments answer for the same fragments: replace the old one, or "
		"leave them out",
		(int)(segment->entry->name.len < 80 ? segment->entry->name.len : 80),
		(const char *)segment->entry->name.data);
}

static int
check_kind(
	const struct draft *draft, const Entry *entry, const Entry *other, struct lancet_error *err)
{
	int shown = entry->name.len < 80 ? (int)entry->name.len : 80;
	const char *name = (const char *)entry->name.data;

	if (entry->n_fields != other->n_fields ||
		memcmp(entry->fields, other->fields, entry->n_fields * sizeof(*entry->fields)) != 0)
		return lancet_fail(err, LANCET_INVALID,
			"index %.*s: its segments have other fields", shown, name);
	if (entry->index_details != NULL && other->index_details != NULL &&
		!slice_equal(slice_of(entry->index_details->type_url.data,
				     entry->index_details->type_url.len),
			slice_of(other->index_details->type_url.data,
				other->index_details->type_url.len)))
		return lancet_fail(err, LANCET_INVALID,
			"index %.*s: its segments have another type", shown, name);
	if (draft->stable_row_ids &&
		index_entry_holds_addresses(entry) != index_entry_holds_addresses(other))
		return lancet_fail(err, LANCET_INVALID,
			"index %.*s: some segments have row addresses, some row ids", shown, name);
	return LANCET_OK;
}

static int
check_index(const struct draft *draft, const struct segment *segments, size_t count,
	struct lancet_error *err)
{
	roaring_bitmap_t *all;
	int rc = LANCET_OK;

	/* Stored ones come first: what they are to each other is nothing of ours. */
	if (!is_new(draft, &segments[count - 1]) || count < 2)
		return LANCET_OK;
	for (size_t i = 1; i < count; i++)
		if (is_new(draft, &segments[i]))
			TRY(check_kind(draft, segments[i].entry, segments[0].entry, err));
	all = roaring_bitmap_create();
	if (all == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < count && rc == LANCET_OK; i++)
		rc = add_covered(draft, &segments[i], all, err);
	roaring_bitmap_free(all);
	return rc;
}

int
create_index_check_segments(struct draft *draft, struct lancet_error *err)
{
	lancet_autofree struct segment *segments =
		calloc(draft->index_count + 1, sizeof(*segments));
	size_t count = 0;

	if (segments == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed && is_of_fields(draft->indices[i].message))
			segments[count++] = (struct segment){ draft->indices[i].message, i };
	qsort(segments, count, sizeof(*segments), compare_names);
	for (size_t first = 0, end; first < count; first = end) {
		for (end = first + 1;
			end < count && has_name_of(segments[first].entry, segments[end].entry);
			end++)
			;
		TRY(check_index(draft, segments + first, end - first, err));
	}
	return LANCET_OK;
}
