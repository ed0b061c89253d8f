/* Index entries of a rewrite whose files are written anew: what the message says of them. */
#include "remap.h"

#include <uuid/uuid.h>

#include "change_build.h"
#include "index_reach.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

#define ROWS       ((uint64_t)1 << 16) /* read at once */
#define ROWS_SWEPT ((uint64_t)1 << 20) /* with the labels of a partition */

typedef Lance__Table__Transaction__Rewrite__RewrittenIndex Rewritten;

static Lance__Table__IndexFile *
make_file(lancet_change *change, const char *name, struct lancet_error *err)
{
	Lance__Table__IndexFile *file = change_alloc(change, 1, sizeof(*file), err);

	if (file == NULL)
		return NULL;
	lance__table__index_file__init(file);
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

/* Their sizes are told once they are written. */
static int
set_files(lancet_change *change, Rewritten *rewritten, struct lancet_error *err)
{
	static const char *const names[] = { BTREE_LOOKUP_FILE, BTREE_DATA_FILE };

	rewritten->new_index_files = change_alloc(change, ARRAY_SIZE(names), sizeof(void *), err);
	if (rewritten->new_index_files == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		rewritten->new_index_files[i] = make_file(change, names[i], err);
		if (rewritten->new_index_files[i] == NULL)
			return LANCET_NO_MEMORY;
	}
	rewritten->n_new_index_files = ARRAY_SIZE(names);
	return LANCET_OK;
}

static int
set_rewritten(const struct remap_segment *from, lancet_change *change, Rewritten *rewritten,
	struct lancet_error *err)
{
	const struct lancet_index_segment *segment = from->segment;
	Google__Protobuf__Any *details = change_alloc(change, 1, sizeof(*details), err);

	if (details == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__rewrite__rewritten_index__init(rewritten);
	rewritten->old_id = make_uuid(change, segment->uuid, err);
	rewritten->new_id = make_uuid(change, from->new_uuid, err);
	if (rewritten->old_id == NULL || rewritten->new_id == NULL)
		return LANCET_NO_MEMORY;
	google__protobuf__any__init(details);
	TRY(copy_bytes(change, segment->type_url, &details->type_url, err));
	TRY(copy_bytes(change, segment->details, &details->value, err));
	rewritten->new_index_details = details;
	rewritten->new_index_version = (uint32_t)segment->index_version;
	return set_files(change, rewritten, err);
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
list_touched(struct remap_plan *plan, const lancet_rewrite *rewrite, size_t *ret_count,
	struct lancet_error *err)
{
	*ret_count = 0;
	for (size_t i = 0; i < plan->segment_count; i++) {
		struct remap_segment *segment = &plan->segments[i];

		if (segment->fate != REMAP_REWRITES)
			continue;
		TRY(is_touched(segment, rewrite, &segment->touched, err));
		uuid_generate_random(segment->new_uuid);
		*ret_count += segment->touched;
	}
	return LANCET_OK;
}

static struct btree_writing
writing_of(const struct remap_plan *plan, lancet_change *change,
	const struct lancet_rewrite_run *run)
{
	return (struct btree_writing){
		.change = change,
		.run = run,
		.moves = plan->moves,
		.chunk_rows = plan->partition ? ROWS_SWEPT : ROWS,
	};
}

int
remap_btrees_prepare(struct remap_plan *plan, const lancet_rewrite *rewrite, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	Lance__Table__Transaction__Rewrite *message = change->message->rewrite;
	struct btree_writing writing;
	Rewritten *rewritten;
	size_t count;

	TRY(list_touched(plan, rewrite, &count, err));
	if (count == 0)
		return LANCET_OK;
	row_moves_free(plan->moves);
	plan->moves = NULL;
	TRY(row_moves_make(rewrite, &plan->moves, err));
	writing = writing_of(plan, change, run);
	rewritten = change_alloc(change, count, sizeof(*rewritten), err);
	message->rewritten_indices = change_alloc(change, count, sizeof(void *), err);
	if (rewritten == NULL || message->rewritten_indices == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < plan->segment_count; i++) {
		size_t place = message->n_rewritten_indices;

		if (!plan->segments[i].touched)
			continue;
		writing.segment = &plan->segments[i];
		TRY(remap_btree_prove(&writing, plan->read, err));
		TRY(set_rewritten(writing.segment, change, &rewritten[place], err));
		message->rewritten_indices[place] = &rewritten[place];
		message->n_rewritten_indices++;
	}
	return LANCET_OK;
}

int
remap_btrees_write(const struct remap_plan *plan, lancet_change *change,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	Rewritten **rewritten = change->message->rewrite->rewritten_indices;
	struct btree_writing writing = writing_of(plan, change, run);

	for (size_t i = 0; i < plan->segment_count; i++) {
		if (!plan->segments[i].touched)
			continue;
		writing.segment = &plan->segments[i];
		TRY(remap_btree_write(&writing, plan->read, err));
		(*rewritten)->new_index_files[0]->size_bytes = writing.lookup_size;
		(*rewritten)->new_index_files[1]->size_bytes = writing.data_size;
		rewritten++;
	}
	return LANCET_OK;
}
