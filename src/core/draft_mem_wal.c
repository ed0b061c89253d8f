#include "draft_mem_wal.h"

#include <inttypes.h>

#include "draft_index.h"
#include "lance/table.pb-c.h"
#include "names.h"
#include "util/macros.h"
#include "util/pbunpack.h"

#define MEM_WAL_SHARDS 32768u /* each one of ours is looked for among all */
#define NAMES_MAX      1024u

typedef Lance__Table__CompactedSsTable Compacted;
typedef Lance__Table__IndexCatchupProgress Catchup;
typedef Lance__Table__IndexMetadata Entry;
typedef Lance__Table__MemWalIndexDetails Details;

static int
unpack_details(
	struct draft *draft, const Entry *entry, Details **ret_details, struct lancet_error *err)
{
	int rc;

	if (entry->index_details == NULL)
		return lancet_fail(
			err, LANCET_CORRUPT, "index " MEM_WAL_INDEX_NAME " has no details");
	rc = pb_unpack(&lance__table__mem_wal_index_details__descriptor,
		slice_of(entry->index_details->value.data, entry->index_details->value.len),
		&draft->arena, ret_details, err);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "index " MEM_WAL_INDEX_NAME);
}

int
mem_wal_check(struct draft *draft, const Entry *entry, struct lancet_error *err)
{
	Details *details;

	return unpack_details(draft, entry, &details, err);
}

/* Puts the details into the entry, which becomes one of `dataset_version`. */
static int
pack_details(struct draft *draft, Entry *entry, const Details *details, uint64_t dataset_version,
	struct lancet_error *err)
{
	size_t size = protobuf_c_message_get_packed_size(&details->base);
	uint8_t *bytes = draft_alloc(draft, size);
	Google__Protobuf__Any *any =
		draft_copy(draft, entry->index_details, sizeof(*entry->index_details));

	if (bytes == NULL || any == NULL)
		return draft_no_memory(err);
	any->value.len = protobuf_c_message_pack(&details->base, bytes);
	any->value.data = bytes;
	entry->index_details = any;
	entry->dataset_version = dataset_version;
	return index_entry_renew(draft, entry, err);
}

/* The entry of the draft, to be modified, and its details. */
static int
edit_details(
	struct draft *draft, Entry **ret_entry, Details **ret_details, struct lancet_error *err)
{
	size_t place = draft_index_named(draft, MEM_WAL_INDEX_NAME);

	if (place == SIZE_MAX)
		return lancet_fail(err, LANCET_INVALID,
			"shards were merged, but the dataset has no MemWAL index");
	TRY(draft_index_edit(draft, place, ret_entry, err));
	return unpack_details(draft, *ret_entry, ret_details, err);
}

static Compacted *
find_shard(const Details *details, const struct shard *shard)
{
	for (size_t i = 0; i < details->n_compacted_sstables; i++) {
		Compacted *compacted = details->compacted_sstables[i];

		if (compacted->shard_id != NULL &&
			slice_equal(slice_of(compacted->shard_id->uuid.data,
					    compacted->shard_id->uuid.len),
				slice_of(shard->id, sizeof(shard->id))))
			return compacted;
	}
	return NULL;
}

static int
add_shard(
	struct draft *draft, Details *details, const struct shard *shard, struct lancet_error *err)
{
	Compacted *compacted = draft_alloc(draft, sizeof(*compacted));
	Lance__Table__UUID *id = draft_alloc(draft, sizeof(*id));
	uint8_t *bytes = draft_copy(draft, shard->id, sizeof(shard->id));

	if (compacted == NULL || id == NULL || bytes == NULL)
		return draft_no_memory(err);
	lance__table__uuid__init(id);
	id->uuid = (ProtobufCBinaryData){ sizeof(shard->id), bytes };
	lance__table__compacted_ss_table__init(compacted);
	compacted->shard_id = id;
	compacted->generation = shard->generation;
	details->compacted_sstables[details->n_compacted_sstables++] = compacted;
	return LANCET_OK;
}

/* Room for all of them. */
static int
reserve_shards(struct draft *draft, Details *details, const struct shards *shards,
	struct lancet_error *err)
{
	size_t count = details->n_compacted_sstables;
	Compacted **list;

	if (shards->count + count > MEM_WAL_SHARDS)
		return lancet_fail(err, LANCET_LIMIT, "progress of %zu shards, %zu are known",
			shards->count, count);
	list = draft_alloc(draft, (count + shards->count) * sizeof(*list));
	if (list == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < count; i++)
		list[i] = details->compacted_sstables[i];
	details->compacted_sstables = list;
	return LANCET_OK;
}

static int
advance_shard(
	struct draft *draft, Details *details, const struct shard *shard, struct lancet_error *err)
{
	Compacted *compacted = find_shard(details, shard);
	char text[37];

	if (compacted == NULL)
		return add_shard(draft, details, shard, err);
	uuid_format(shard->id, text);
	if (shard->generation <= compacted->generation)
		return lancet_fail(err, LANCET_INVALID,
			"shard %s: generation %" PRIu64
			" is not above the recorded generation %" PRIu64,
			text, shard->generation, compacted->generation);
	compacted->generation = shard->generation;
	return LANCET_OK;
}

int
mem_wal_advance(struct draft *draft, struct lancet_error *err)
{
	Details *details;
	Entry *entry;

	if (draft->rebase == NULL || draft->rebase->touched.shards.count == 0)
		return LANCET_OK;
	TRY(draft_indices(draft, err));
	TRY(edit_details(draft, &entry, &details, err));
	TRY(reserve_shards(draft, details, &draft->rebase->touched.shards, err));
	for (size_t i = 0; i < draft->rebase->touched.shards.count; i++)
		TRY(advance_shard(draft, details, &draft->rebase->touched.shards.list[i], err));
	return pack_details(draft, entry, details, draft->number, err);
}

int
mem_wal_merge(
	struct draft *draft, Entry *entry, const struct shards *progress, struct lancet_error *err)
{
	bool changed = false;
	Details *details;

	if (progress->count == 0)
		return LANCET_OK;
	TRY(unpack_details(draft, entry, &details, err));
	TRY(reserve_shards(draft, details, progress, err));
	for (size_t i = 0; i < progress->count; i++) {
		Compacted *compacted = find_shard(details, &progress->list[i]);

		if (compacted != NULL && compacted->generation >= progress->list[i].generation)
			continue;
		changed = true;
		if (compacted != NULL)
			compacted->generation = progress->list[i].generation;
		else
			TRY(add_shard(draft, details, &progress->list[i], err));
	}
	return changed ? pack_details(draft, entry, details, draft->number - 1, err) : LANCET_OK;
}

static bool
is_named(const Catchup *catchup, struct slice name)
{
	return slice_equal(slice_of(catchup->index_name.data, catchup->index_name.len), name);
}

/* Without the progress of the index; true if there was some. */
static bool
forget_index(Details *details, struct slice name)
{
	size_t kept = 0, count = details->n_index_catchup;

	for (size_t i = 0; i < count; i++)
		if (!is_named(details->index_catchup[i], name))
			details->index_catchup[kept++] = details->index_catchup[i];
	details->n_index_catchup = kept;
	return kept != count;
}

static bool
has_all(const Catchup *catchup, const Details *details)
{
	if (catchup->n_caught_up_generations != details->n_compacted_sstables)
		return false;
	for (size_t i = 0; i < details->n_compacted_sstables; i++) {
		const Compacted *merged = details->compacted_sstables[i];
		const Compacted *caught = catchup->caught_up_generations[i];

		if (merged->generation != caught->generation || merged->shard_id == NULL ||
			caught->shard_id == NULL ||
			!slice_equal(
				slice_of(merged->shard_id->uuid.data, merged->shard_id->uuid.len),
				slice_of(caught->shard_id->uuid.data, caught->shard_id->uuid.len)))
			return false;
	}
	return true;
}

/* The index has all that is merged. */
static int
note_index(struct draft *draft, Details *details, struct slice name, bool *changed,
	struct lancet_error *err)
{
	Catchup *catchup = draft_alloc(draft, sizeof(*catchup));

	if (catchup == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < details->n_index_catchup; i++)
		if (is_named(details->index_catchup[i], name) &&
			has_all(details->index_catchup[i], details))
			return LANCET_OK;
	(void)forget_index(details, name);
	lance__table__index_catchup_progress__init(catchup);
	catchup->index_name =
		(ProtobufCBinaryData){ name.size, draft_copy(draft, name.data, name.size) };
	if (catchup->index_name.data == NULL)
		return draft_no_memory(err);
	catchup->caught_up_generations = details->compacted_sstables;
	catchup->n_caught_up_generations = details->n_compacted_sstables;
	details->index_catchup[details->n_index_catchup++] = catchup;
	*changed = true;
	return LANCET_OK;
}

/* Room for the progress of as many more indices. */
static int
reserve_catchup(struct draft *draft, Details *details, size_t more, struct lancet_error *err)
{
	Catchup **list;

	if (more > NAMES_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "%zu indices at once beside a MemWAL index", more);
	list = draft_alloc(draft, (details->n_index_catchup + more) * sizeof(*list));
	if (list == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < details->n_index_catchup; i++)
		list[i] = details->index_catchup[i];
	details->index_catchup = list;
	return LANCET_OK;
}

int
mem_wal_note_indices(struct draft *draft, const struct texts *made, const struct texts *removed,
	struct lancet_error *err)
{
	size_t place = draft_index_named(draft, MEM_WAL_INDEX_NAME);
	bool changed = false;
	Details *details;
	Entry *entry;

	if (place == SIZE_MAX || made->count + removed->count == 0)
		return LANCET_OK;
	TRY(unpack_details(draft, draft->indices[place].message, &details, err));
	TRY(reserve_catchup(draft, details, made->count + removed->count, err));
	for (size_t i = 0; i < removed->count; i++)
		if (!texts_have(made, removed->values[i]))
			changed = forget_index(details, removed->values[i]) || changed;
	for (size_t i = 0; i < made->count && details->n_compacted_sstables > 0; i++)
		TRY(note_index(draft, details, made->values[i], &changed, err));
	if (!changed)
		return LANCET_OK;
	TRY(draft_index_edit(draft, place, &entry, err));
	return pack_details(draft, entry, details, draft->number, err);
}
