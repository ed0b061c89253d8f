/* Update: rows that fulfil a condition are written anew, in their order, to new fragments, and
 * deleted where they were.
 *
 * They keep their row ids and when they were made; when they were changed last is for the commit to
 * say. Which rows they are is found first, from the columns of the condition alone. Format facts:
 * updates, effect per operation.
 */
#include "change_update.h"

#include <inttypes.h>
#include <stdlib.h>

#include "change_rows.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "version.h"

#define BATCH_MEMORY ((size_t)128 << 20) /* bytes of the rows in hand, as they were */

typedef Lance__Table__Transaction__Update update_message;

static size_t
count_ids(const struct field *field)
{
	size_t count = field->id >= 0;

	for (size_t i = 0; i < field->child_count; i++)
		count += count_ids(&field->children[i]);
	return count;
}

static void
put_ids(const struct field *field, update_message *update)
{
	if (field->id >= 0)
		update->fields_for_preserving_frag_bitmap
			[update->n_fields_for_preserving_frag_bitmap++] = (uint32_t)field->id;
	for (size_t i = 0; i < field->child_count; i++)
		put_ids(&field->children[i], update);
}

/* The fields whose values change, and all below them: indices on others keep the rows. */
static int
set_fields(struct updating *updating, update_message *update, struct lancet_error *err)
{
	const struct field *roots = updating->scan->schema.tree.roots;
	size_t assigned = assignments_count(updating->assignments), count = 0;

	for (size_t i = 0; i < assigned; i++)
		count += count_ids(&roots[assignments_root(updating->assignments, i)]);
	update->fields_for_preserving_frag_bitmap =
		change_alloc(updating->change, count, sizeof(uint32_t), err);
	if (update->fields_for_preserving_frag_bitmap == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < assigned; i++)
		put_ids(&roots[assignments_root(updating->assignments, i)], update);
	return LANCET_OK;
}

static int
set_update(struct updating *updating, struct lancet_error *err)
{
	lancet_change *change = updating->change;
	update_message *update = change_alloc(change, 1, sizeof(*update), err);
	struct taken_rows taken;

	if (update == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__update__init(update);
	TRY(change_take_rows(change, &updating->picks, &taken, err));
	update->updated_fragments = taken.updated;
	update->n_updated_fragments = taken.updated_count;
	update->removed_fragment_ids = taken.removed;
	update->n_removed_fragment_ids = taken.removed_count;
	update->new_fragments = updating->fragments;
	update->n_new_fragments = updating->out_count;
	update->update_mode = LANCE__TABLE__TRANSACTION__UPDATE_MODE__REWRITE_ROWS;
	TRY(set_fields(updating, update, err));
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE;
	change->message->update = update;
	return LANCET_OK;
}

static int
write_all(struct updating *updating, struct lancet_error *err)
{
	size_t count = (size_t)((updating->picks.rows + FRAGMENT_ROWS_DEFAULT - 1) /
				FRAGMENT_ROWS_DEFAULT);

	updating->outs = calloc(count, sizeof(*updating->outs));
	updating->fragments =
		change_alloc(updating->change, count, sizeof(*updating->fragments), err);
	if (updating->outs == NULL || updating->fragments == NULL)
		return change_no_memory(err);
	updating->out_count = count;
	TRY(update_lineage(updating, err));
	TRY(update_rows(updating, err));
	return fragment_writers_name(updating->change, err);
}

/* What can't be written is told before anything is read. */
static int
build(struct updating *updating, const char *set, const char *where, struct lancet_error *err)
{
	const struct lancet_scan_options options = {
		.limit = UINT64_MAX, .batch_bytes = BATCH_MEMORY, .blobs = LANCET_BLOB_BYTES
	};
	lancet_version *read = updating->change->read;
	struct fragment_writer *writer = NULL;
	int rc;

	TRY(lancet_scan_open(read, &options, &updating->scan, err));
	rc = assignments_parse(set, &updating->scan->schema.tree, &updating->assignments, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "set");
	TRY(fragment_writer_open(updating->change, NULL, 0, &writer, err));
	fragment_writer_free(writer);
	TRY(row_picks_by_where(read, where, updating->run, &updating->picks, err));
	if (updating->picks.rows == 0)
		return LANCET_OK;
	TRY(write_all(updating, err));
	return set_update(updating, err);
}

static void
forget(struct updating *updating)
{
	for (size_t i = 0; i < updating->out_count; i++)
		lineage_out_release(&updating->outs[i]);
	free(updating->outs);
	row_picks_release(&updating->picks);
	assignments_free(updating->assignments);
	lancet_scan_free(updating->scan);
}

int
lancet_change_update(lancet_version *read, const char *set, const char *where,
	const struct lancet_change_run *run, lancet_change **ret_change, uint64_t *ret_rows,
	struct lancet_error *err)
{
	struct updating updating = { .run = run };
	enum file_version version;
	uint64_t rows;
	int rc;

	TRY(fragment_write_version(read, &version, err));
	TRY(change_new(read, &updating.change, err));
	rc = build(&updating, set, where, err);
	rows = updating.picks.rows;
	forget(&updating);
	TRY(change_built_rows(updating.change, rc, rows, ret_change));
	*ret_rows = rows;
	return LANCET_OK;
}
