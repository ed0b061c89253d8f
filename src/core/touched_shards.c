/* How far shards of the MemWAL were merged, as far as a transaction tells. */
#include "touched.h"

#include <stdlib.h>

#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "util/pbunpack.h"

typedef Lance__Table__CompactedSsTable Compacted;

static int
compare_shards(const void *left, const void *right)
{
	const struct shard *a = left, *b = right;
	int order = memcmp(a->id, b->id, sizeof(a->id));

	return order != 0 ? order
			  : (a->generation > b->generation) - (a->generation < b->generation);
}

void
shards_sort(struct shards *shards)
{
	size_t kept = 0;

	if (shards->count == 0)
		return;
	qsort(shards->list, shards->count, sizeof(*shards->list), compare_shards);
	for (size_t i = 0; i < shards->count; i++) {
		if (kept > 0 && memcmp(shards->list[kept - 1].id, shards->list[i].id,
					sizeof(shards->list[i].id)) == 0)
			kept--;
		shards->list[kept++] = shards->list[i];
	}
	shards->count = kept;
}

static int
add_shards(struct touched *touched, Compacted *const *compacted, size_t count,
	struct lancet_error *err)
{
	struct shards *shards = &touched->shards;
	struct shard *list =
		arena_zalloc(&touched->arena, shards->count + count + 1, sizeof(*list));

	if (list == NULL)
		return touched_no_memory(err);
	if (shards->count > 0)
		memcpy(list, shards->list, shards->count * sizeof(*list));
	shards->list = list;
	for (size_t i = 0; i < count; i++) {
		const Lance__Table__UUID *id = compacted[i]->shard_id;
		struct shard *shard = &list[shards->count];

		if (id == NULL || id->uuid.len != sizeof(shard->id))
			return lancet_fail(err, LANCET_CORRUPT, "the id of a shard is no UUID");
		memcpy(shard->id, id->uuid.data, sizeof(shard->id));
		shard->generation = compacted[i]->generation;
		shards->count++;
	}
	return LANCET_OK;
}

/* The progress that new MemWAL entries start with. */
static int
add_entries(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__CreateIndex *message = touched->message->create_index;

	for (size_t i = 0; i < message->n_new_indices; i++) {
		const Lance__Table__IndexMetadata *entry = message->new_indices[i];
		Lance__Table__MemWalIndexDetails *details = NULL;

		if (entry->index_details == NULL ||
			!slice_equal(slice_of(entry->name.data, entry->name.len),
				slice_text(MEM_WAL_INDEX_NAME)))
			continue;
		TRY(pb_unpack(&lance__table__mem_wal_index_details__descriptor,
			slice_of(entry->index_details->value.data, entry->index_details->value.len),
			&touched->arena, &details, err));
		TRY(add_shards(
			touched, details->compacted_sstables, details->n_compacted_sstables, err));
	}
	return LANCET_OK;
}

int
touched_shards(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction *message = touched->message;

	if (touched->kind == OPERATION_CREATE_INDEX)
		TRY(add_entries(touched, err));
	else if (touched->kind == OPERATION_UPDATE)
		TRY(add_shards(touched, message->update->compacted_sstables,
			message->update->n_compacted_sstables, err));
	else
		TRY(add_shards(touched, message->update_mem_wal_state->compacted_sstables,
			message->update_mem_wal_state->n_compacted_sstables, err));
	shards_sort(&touched->shards);
	return LANCET_OK;
}
