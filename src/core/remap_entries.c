/* Index entries of a rewrite whose files are written anew: what the message says of them. */
#include "remap.h"

#include <stdlib.h>

#include "change_build.h"
#include "index_reach.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

#define ROWS       ((uint64_t)1 << 16) /* read at once */
#define ROWS_SWEPT ((uint64_t)1 << 20) /* with the labels of a partition */

typedef Lance__Table__Transaction__Rewrite__RewrittenIndex Rewritten;

static Lance__Table__IndexFile *
make_file(lancet_change *change, const char *name, uint64_t size, struct lancet_error *err)
{
	Lance__Table__IndexFile *file = change_alloc(change, 1, sizeof(*file), err);

	if (file == NULL)
		return NULL;
	lance__table__index_file__init(file);
	file->size_bytes = size;
	return change_text(change, name, &file->path, err) == LANCET_OK ? file : NULL;
}

static Lance__Table__UUID *
make_uuid(lancet_change *change, const uint8_t bytes[16], struct lancet_error *err)
{
	Lance__Table__UUID *uuid = change_alloc(change, 1, sizeof(*uuid), err);
	uint8_t *copy = change_alloc(change, 16, 1, err);

	if (uuid == NULL || copy == NULL)
		return NULL;
	memcpy(copy, bytes, 16);
	lance__table__uuid__init(uuid);
	uuid->uuid = (ProtobufCBinaryData){ 16, copy };
	return uuid;
}

static int
copy_bytes(lancet_change *change, struct lancet_bytes bytes, ProtobufCBinaryData *ret_copy,
	struct lancet_error *err)
{
	uint8_t *copy = change_alloc(change, bytes.size + 1, 1, err);

	if (copy == NULL)
		return LANCET_NO_MEMORY;
	if (bytes.size > 0)
		memcpy(copy, bytes.data, bytes.size);
	*ret_copy = (ProtobufCBinaryData){ bytes.size, copy };
	return LANCET_OK;
}

static int
set_files(const struct btree_writing *writing, Rewritten *rewritten, struct lancet_error *err)
{
	lancet_change *change = writing->change;

	rewritten->new_index_files = change_alloc(change, 2, sizeof(void *), err);
	if (rewritten->new_index_files == NULL)
		return LANCET_NO_MEMORY;
	rewritten->new_index_files[0] =
		make_file(change, BTREE_LOOKUP_FILE, writing->lookup_size, err);
	rewritten->new_index_files[1] = make_file(change, BTREE_DATA_FILE, writing->data_size, err);
	rewritten->n_new_index_files = 2;
	return rewritten->new_index_files[0] == NULL || rewritten->new_index_files[1] == NULL
		       ? LANCET_NO_MEMORY
		       : LANCET_OK;
}

static int
set_rewritten(const struct btree_writing *writing, Rewritten *rewritten, struct lancet_error *err)
{
	const struct lancet_index_segment *segment = writing->segment->segment;
	lancet_change *change = writing->change;
	Google__Protobuf__Any *details = change_alloc(change, 1, sizeof(*details), err);

	if (details == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__rewrite__rewritten_index__init(rewritten);
	rewritten->old_id = make_uuid(change, segment->uuid, err);
	rewritten->new_id = make_uuid(change, writing->uuid_bytes, err);
	if (rewritten->old_id == NULL || rewritten->new_id == NULL)
		return LANCET_NO_MEMORY;
	google__protobuf__any__init(details);
	TRY(copy_bytes(change, segment->type_url, &details->type_url, err));
	TRY(copy_bytes(change, segment->details, &details->value, err));
	rewritten->new_index_details = details;
	rewritten->new_index_version = (uint32_t)segment->index_version;
	return set_files(writing, rewritten, err);
}

/* Whether a task has a source that the segment names. */
static int
is_touched(const struct remap_segment *segment, const lancet_rewrite *rewrite, bool *ret_touched,
	struct lancet_error *err)
{
	roaring_bitmap_t *named;

	TRY(segment_bitmap_load(segment->segment, FRAGMENT_IDS, &named, err));
	*ret_touched = false;
	for (size_t i = 0; i < rewrite->task_count && !*ret_touched; i++)
		for (size_t k = 0; k < rewrite->tasks[i].source_count && !*ret_touched; k++)
			*ret_touched = roaring_bitmap_contains(
				named, (uint32_t)lancet_fragment_info(
					       rewrite->tasks[i].sources[k].fragment)
					       ->id);
	roaring_bitmap_free(named);
	return LANCET_OK;
}

static int
list_touched(const struct remap_plan *plan, const lancet_rewrite *rewrite, bool *touched,
	size_t *ret_count, struct lancet_error *err)
{
	*ret_count = 0;
	for (size_t i = 0; i < plan->segment_count; i++) {
		if (plan->segments[i].fate != REMAP_REWRITES)
			continue;
		TRY(is_touched(&plan->segments[i], rewrite, &touched[i], err));
		*ret_count += touched[i];
	}
	return LANCET_OK;
}

static int
rewrite_touched(const struct remap_plan *plan, const bool *touched, size_t count,
	struct btree_writing *writing, struct lancet_error *err)
{
	lancet_change *change = writing->change;
	Lance__Table__Transaction__Rewrite *message = change->message->rewrite;
	Rewritten *rewritten = change_alloc(change, count, sizeof(*rewritten), err);

	message->rewritten_indices = change_alloc(change, count, sizeof(void *), err);
	if (rewritten == NULL || message->rewritten_indices == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < plan->segment_count; i++) {
		size_t place = message->n_rewritten_indices;

		if (!touched[i])
			continue;
		writing->segment = &plan->segments[i];
		TRY(remap_btree_write(writing, plan->read, err));
		TRY(set_rewritten(writing, &rewritten[place], err));
		message->rewritten_indices[place] = &rewritten[place];
		message->n_rewritten_indices++;
	}
	return LANCET_OK;
}

int
remap_btrees(const struct remap_plan *plan, const lancet_rewrite *rewrite, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	struct btree_writing writing = { .change = change, .run = run, .chunk_rows = ROWS };
	lancet_autofree bool *touched = calloc(plan->segment_count + 1, sizeof(*touched));
	struct row_moves *moves;
	size_t count;
	int rc;

	if (touched == NULL)
		return change_no_memory(err);
	TRY(list_touched(plan, rewrite, touched, &count, err));
	if (count == 0)
		return LANCET_OK;
	TRY(row_moves_make(rewrite, &moves, err));
	writing.moves = moves;
	if (plan->partition)
		writing.chunk_rows = ROWS_SWEPT;
	rc = rewrite_touched(plan, touched, count, &writing, err);
	row_moves_free(moves);
	return rc;
}
