/* What a transaction touches, by its operation: one row of a table each. */
#include "touched.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/transaction.pb-c.h"
#include "operations.h"
#include "reuse.h"
#include "transaction.h"
#include "util/macros.h"

typedef Lance__Table__DataFragment Fragment;
typedef int filler(struct touched *touched, struct lancet_error *err);

int
touched_no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "transaction");
}

static int
compare_images(const void *left, const void *right)
{
	const Fragment *a = *(const Fragment *const *)left, *b = *(const Fragment *const *)right;

	return (a->id > b->id) - (a->id < b->id);
}

/* Fragments with their messages, by id. */
static int
set_updated(
	struct touched *touched, Fragment *const *fragments, size_t count, struct lancet_error *err)
{
	touched->images = arena_zalloc(&touched->arena, count + 1, sizeof(*touched->images));
	if (touched->images == NULL || !numbers_reserve(&touched->updated, count, &touched->arena))
		return touched_no_memory(err);
	if (count == 0)
		return LANCET_OK;
	memcpy(touched->images, fragments, count * sizeof(Fragment *));
	qsort(touched->images, count, sizeof(Fragment *), compare_images);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && touched->images[i]->id == touched->images[i - 1]->id)
			return lancet_fail(err, LANCET_CORRUPT,
				"fragment %" PRIu64 " is updated twice", touched->images[i]->id);
		numbers_put(&touched->updated, touched->images[i]->id);
	}
	return LANCET_OK;
}

static int
set_removed(struct touched *touched, const uint64_t *ids, size_t count, struct lancet_error *err)
{
	if (!numbers_reserve(&touched->removed, count, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < count; i++)
		numbers_put(&touched->removed, ids[i]);
	numbers_sort(&touched->removed);
	return LANCET_OK;
}

/* Negative ids are no fields of the schema. */
static void
put_fields(struct numbers *fields, const Lance__Table__DataFile *file)
{
	for (size_t i = 0; file != NULL && i < file->n_fields; i++)
		if (file->fields[i] >= 0)
			numbers_put(fields, (uint64_t)file->fields[i]);
}

static int
fill_delete(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__Delete *message = touched->message->delete_;

	TRY(set_updated(touched, message->updated_fragments, message->n_updated_fragments, err));
	return set_removed(
		touched, message->deleted_fragment_ids, message->n_deleted_fragment_ids, err);
}

/* An update mode that is not known counts as moving rows, as the reference has it. */
static int
fill_update(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__Update *message = touched->message->update;

	touched->moves_rows =
		message->update_mode != LANCE__TABLE__TRANSACTION__UPDATE_MODE__REWRITE_COLUMNS;
	TRY(set_updated(touched, message->updated_fragments, message->n_updated_fragments, err));
	TRY(set_removed(
		touched, message->removed_fragment_ids, message->n_removed_fragment_ids, err));
	if (!numbers_reserve(&touched->fields, message->n_fields_modified, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < message->n_fields_modified; i++)
		numbers_put(&touched->fields, message->fields_modified[i]);
	numbers_sort(&touched->fields);
	return touched_shards(touched, err);
}

static int
set_groups(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__Rewrite *message = touched->message->rewrite;

	touched->groups =
		arena_zalloc(&touched->arena, message->n_groups + 1, sizeof(*touched->groups));
	if (touched->groups == NULL)
		return touched_no_memory(err);
	for (size_t i = 0; i < message->n_groups; i++)
		touched->groups[i] = (struct rewrite_group){ message->groups[i]->old_fragments,
			message->groups[i]->new_fragments, message->groups[i]->n_old_fragments,
			message->groups[i]->n_new_fragments };
	touched->group_count = message->n_groups;
	if (touched->group_count > 0)
		return LANCET_OK;
	/* as it was written before there were groups */
	touched->groups[touched->group_count++] = (struct rewrite_group){ message->old_fragments,
		message->new_fragments, message->n_old_fragments, message->n_new_fragments };
	return LANCET_OK;
}

static int
fill_rewrite(struct touched *touched, struct lancet_error *err)
{
	size_t count = 0;

	TRY(set_groups(touched, err));
	for (size_t i = 0; i < touched->group_count; i++)
		count += touched->groups[i].old_count;
	if (!numbers_reserve(&touched->removed, count, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < touched->group_count; i++)
		for (size_t k = 0; k < touched->groups[i].old_count; k++)
			numbers_put(&touched->removed, touched->groups[i].old_fragments[k]->id);
	numbers_sort(&touched->removed);
	if (touched->removed.count != count)
		return lancet_fail(err, LANCET_CORRUPT, "a fragment is rewritten twice");
	return LANCET_OK;
}

static int
fill_replacement(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__DataReplacement *message =
		touched->message->data_replacement;
	size_t fields = 0;

	for (size_t i = 0; i < message->n_replacements; i++)
		if (message->replacements[i]->new_file != NULL)
			fields += message->replacements[i]->new_file->n_fields;
	if (!numbers_reserve(&touched->updated, message->n_replacements, &touched->arena) ||
		!numbers_reserve(&touched->fields, fields, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < message->n_replacements; i++) {
		numbers_put(&touched->updated, message->replacements[i]->fragment_id);
		put_fields(&touched->fields, message->replacements[i]->new_file);
	}
	numbers_sort(&touched->updated);
	numbers_sort(&touched->fields);
	return LANCET_OK;
}

static int
fill_overlay(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__DataOverlay *message = touched->message->data_overlay;

	if (!numbers_reserve(&touched->updated, message->n_groups, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < message->n_groups; i++)
		numbers_put(&touched->updated, message->groups[i]->fragment_id);
	numbers_sort(&touched->updated);
	return LANCET_OK;
}

static int
fill_index(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__CreateIndex *message = touched->message->create_index;

	if (!texts_reserve(&touched->new_names, message->n_new_indices, &touched->arena) ||
		!texts_reserve(
			&touched->removed_names, message->n_removed_indices, &touched->arena) ||
		!texts_reserve(
			&touched->removed_uuids, message->n_removed_indices, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < message->n_new_indices; i++)
		texts_put(&touched->new_names, message->new_indices[i]->name.data,
			message->new_indices[i]->name.len);
	for (size_t i = 0; i < message->n_removed_indices; i++) {
		const Lance__Table__IndexMetadata *entry = message->removed_indices[i];

		texts_put(&touched->removed_names, entry->name.data, entry->name.len);
		if (entry->uuid != NULL)
			texts_put(&touched->removed_uuids, entry->uuid->uuid.data,
				entry->uuid->uuid.len);
	}
	texts_sort(&touched->new_names);
	texts_sort(&touched->removed_names);
	texts_sort(&touched->removed_uuids);
	touched->adds_reuse = texts_have(&touched->new_names, slice_text(REUSE_INDEX_NAME));
	touched->removes_reuse = texts_have(&touched->removed_names, slice_text(REUSE_INDEX_NAME));
	touched->adds_mem_wal = texts_have(&touched->new_names, slice_text(MEM_WAL_INDEX_NAME));
	return touched_shards(touched, err);
}

/* Id 0 of a base is not assigned yet, and an empty name is none. */
static int
fill_bases(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__UpdateBases *message = touched->message->update_bases;
	size_t count = message->n_new_bases;

	if (!numbers_reserve(&touched->base_ids, count, &touched->arena) ||
		!texts_reserve(&touched->base_names, count, &touched->arena) ||
		!texts_reserve(&touched->base_paths, count, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		const Lance__Table__BasePath *base = message->new_bases[i];

		if (base->id != 0)
			numbers_put(&touched->base_ids, base->id);
		if (base->name_presence_case != 0 && base->name.len > 0)
			texts_put(&touched->base_names, base->name.data, base->name.len);
		texts_put(&touched->base_paths, base->path.data, base->path.len);
	}
	numbers_sort(&touched->base_ids);
	texts_sort(&touched->base_names);
	texts_sort(&touched->base_paths);
	return LANCET_OK;
}

#define KIND(name) LANCE__TABLE__TRANSACTION__OPERATION_##name

/* By enum operation_kind. */
static const struct {
	uint32_t number;
	filler *fill; /* NULL: the operation alone says it all */
} kinds[OPERATION_KINDS] = {
	[OPERATION_APPEND] = { KIND(APPEND), NULL },
	[OPERATION_DELETE] = { KIND(DELETE), fill_delete },
	[OPERATION_OVERWRITE] = { KIND(OVERWRITE), touched_overwrite },
	[OPERATION_CREATE_INDEX] = { KIND(CREATE_INDEX), fill_index },
	[OPERATION_REWRITE] = { KIND(REWRITE), fill_rewrite },
	[OPERATION_MERGE] = { KIND(MERGE), NULL },
	[OPERATION_RESTORE] = { KIND(RESTORE), NULL },
	[OPERATION_RESERVE_FRAGMENTS] = { KIND(RESERVE_FRAGMENTS), NULL },
	[OPERATION_UPDATE] = { KIND(UPDATE), fill_update },
	[OPERATION_PROJECT] = { KIND(PROJECT), NULL },
	[OPERATION_UPDATE_CONFIG] = { KIND(UPDATE_CONFIG), touched_config },
	[OPERATION_DATA_REPLACEMENT] = { KIND(DATA_REPLACEMENT), fill_replacement },
	[OPERATION_DATA_OVERLAY] = { KIND(DATA_OVERLAY), fill_overlay },
	[OPERATION_UPDATE_MEM_WAL_STATE] = { KIND(UPDATE_MEM_WAL_STATE), touched_shards },
	[OPERATION_CLONE] = { KIND(CLONE), NULL },
	[OPERATION_UPDATE_BASES] = { KIND(UPDATE_BASES), fill_bases },
};

const char *
operation_kind_name(enum operation_kind kind)
{
	return kind == OPERATION_UNKNOWN ? "Unknown" : operation_find(kinds[kind].number)->name;
}

/* An operation of a later release beside one that we know is not understood either. */
enum operation_kind
operation_kind_of(const Lance__Table__Transaction *message)
{
	for (unsigned i = 0; i < message->base.n_unknown_fields; i++)
		if (message->base.unknown_fields[i].tag >= OPERATION_NUMBER_MIN)
			return OPERATION_UNKNOWN;
	for (unsigned i = 0; i < OPERATION_KINDS; i++)
		if (kinds[i].number == (uint32_t)message->operation_case)
			return (enum operation_kind)i;
	return OPERATION_UNKNOWN;
}

static int
fill_modified(struct touched *touched, struct lancet_error *err)
{
	size_t count = touched->updated.count + touched->removed.count;

	if (!numbers_reserve(&touched->modified, count, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < touched->updated.count; i++)
		numbers_put(&touched->modified, touched->updated.values[i]);
	for (size_t i = 0; i < touched->removed.count; i++)
		numbers_put(&touched->modified, touched->removed.values[i]);
	numbers_sort(&touched->modified);
	return LANCET_OK;
}

void
touched_release(struct touched *touched)
{
	arena_release(&touched->arena);
}

int
touched_init(
	struct touched *touched, const lancet_transaction *transaction, struct lancet_error *err)
{
	int rc = LANCET_OK;

	*touched = (struct touched){ .message = transaction->message,
		.kind = operation_kind_of(transaction->message) };
	if (touched->kind != OPERATION_UNKNOWN && kinds[touched->kind].fill != NULL)
		rc = kinds[touched->kind].fill(touched, err);
	if (rc == LANCET_OK)
		rc = fill_modified(touched, err);
	if (rc != LANCET_OK) {
		touched_release(touched);
		return lancet_wrap(err, rc, "%s", operation_kind_name(touched->kind));
	}
	return LANCET_OK;
}
