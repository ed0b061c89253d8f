/* Clone: a dataset or a branch begins as a version of another one, whose files it goes on using.
 *
 * Whatever has no base is in the source's directory, which becomes one. A tagged reuse history
 * moves into the clone, since only there its row maps can be told to be in that base; a legacy one
 * stays where it is. Format facts: shallow clone.
 */
#include "operation.h"

#include <inttypes.h>

#include "draft_base.h"
#include "draft_index.h"
#include "lance/transaction.pb-c.h"
#include "manifest_parts.h"
#include "names.h"
#include "rewrite_history.h"
#include "util/macros.h"
#include "util/pbscan.h"
#include "util/text.h"

/* Fields of a transition and of its stable partition. */
enum { TRANSITION_PARTITION = 4, PARTITION_BASE = 3 };

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__Transaction__Clone Clone;

int
op_clone_check(struct draft *draft, struct lancet_error *err)
{
	const Clone *clone = draft->message->clone;
	struct slice branch = slice_of(clone->branch_name.data, clone->branch_name.len);

	if (draft->newest != NULL || draft->origin == NULL)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"a clone begins a dataset, it can't be committed to one");
	if (!clone->is_shallow)
		return lancet_fail(err, LANCET_UNSUPPORTED, "a deep clone");
	if (clone->ref_version != draft->origin->info.number ||
		draft->origin->info.number >= VERSION_DETACHED_BIT)
		return lancet_fail(err, LANCET_INVALID,
			"version %" PRIu64 " is cloned, and version %" PRIu64 " is named",
			draft->origin->info.number, clone->ref_version);
	if (clone->branch_name_presence_case != 0 && !branch_name_is_valid(branch))
		return lancet_fail(err, LANCET_INVALID, "the name of the branch is none");
	return LANCET_OK;
}

static void
set_file_base(Lance__Table__DataFile *file, uint32_t base)
{
	if (file == NULL || file->base_id_presence_case != 0)
		return;
	file->base_id_presence_case = LANCE__TABLE__DATA_FILE__BASE_ID_PRESENCE_BASE_ID;
	file->base_id = base;
}

static int
clone_fragment(struct draft *draft, size_t place, uint32_t base, struct lancet_error *err)
{
	Lance__Table__DeletionFile *deletion;
	Fragment *fragment;

	TRY(draft_edit(draft, place, &fragment, err));
	for (size_t i = 0; i < fragment->n_files; i++)
		set_file_base(fragment->files[i], base);
	for (size_t i = 0; i < fragment->n_overlays; i++)
		set_file_base(fragment->overlays[i]->data_file, base);
	deletion = fragment->deletion_file;
	if (deletion == NULL || deletion->base_id_presence_case != 0)
		return LANCET_OK;
	deletion->base_id_presence_case = LANCE__TABLE__DELETION_FILE__BASE_ID_PRESENCE_BASE_ID;
	deletion->base_id = base;
	return LANCET_OK;
}

static int
clone_fragments(struct draft *draft, uint32_t base, struct lancet_error *err)
{
	for (size_t i = 0; i < draft->fragment_count; i++)
		TRY(clone_fragment(draft, i, base, err));
	return LANCET_OK;
}

static int
clone_index(struct draft *draft, size_t place, uint32_t base, struct lancet_error *err)
{
	Lance__Table__IndexMetadata *entry;

	if (draft->indices[place].message->base_id_presence_case != 0)
		return LANCET_OK;
	TRY(draft_index_edit(draft, place, &entry, err));
	entry->base_id_presence_case = LANCE__TABLE__INDEX_METADATA__BASE_ID_PRESENCE_BASE_ID;
	entry->base_id = base;
	return LANCET_OK;
}

/* All of a message but the content of fields of that number, which `put` is called for. */
typedef int field_put(
	struct buf *into, struct slice content, uint32_t base, struct lancet_error *err);

static int
copy_fields(struct buf *into, struct slice message, uint32_t number, field_put *put, uint32_t base,
	struct lancet_error *err)
{
	struct pbmem scan = { .in = message };
	struct pb_field field;
	bool more;

	for (;;) {
		struct buf part = { 0 };
		int rc;

		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more)
			return LANCET_OK;
		if (field.number != number || field.wire != PB_BYTES) {
			buf_put(into, message.data + field.start,
				(size_t)(field.end - field.start));
			continue;
		}
		rc = put(&part, slice_of(message.data + field.offset, (size_t)field.value), base,
			err);
		if (rc == LANCET_OK)
			rc = buf_check(&part, "reuse history", err);
		if (rc == LANCET_OK)
			history_put_bytes(into, number, buf_slice(&part));
		buf_release(&part);
		TRY(rc);
	}
}

/* A row map in the source's own directory is in the base now. */
static int
put_partition(struct buf *into, struct slice partition, uint32_t base, struct lancet_error *err)
{
	struct pbmem scan = { .in = partition };
	bool more = true, has_base = false;
	struct pb_field field;

	while (more) {
		TRY(pbmem_next(&scan, &field, &more, err));
		has_base |= more && field.number == PARTITION_BASE;
	}
	buf_put_slice(into, partition);
	if (!has_base) {
		buf_put_varint(into, PARTITION_BASE << 3 | PB_VARINT);
		buf_put_varint(into, base);
	}
	return LANCET_OK;
}

static int
put_transition(struct buf *into, struct slice transition, uint32_t base, struct lancet_error *err)
{
	return copy_fields(into, transition, TRANSITION_PARTITION, put_partition, base, err);
}

static int
move_history(struct draft *draft, uint32_t base, struct lancet_error *err)
{
	struct history history;
	int rc = history_open(&history, draft, err);

	if (rc == LANCET_OK)
		rc = copy_fields(&history.content, history.current.content, CONTENT_TRANSITION,
			put_transition, base, err);
	if (rc == LANCET_OK)
		rc = buf_check(&history.content, "reuse history", err);
	if (rc == LANCET_OK)
		rc = history_check(&history, err);
	if (rc == LANCET_OK) {
		history.like = draft->indices[history.place].message;
		rc = history_put(&history, err);
	}
	history_release(&history);
	return rc;
}

static int
clone_indices(struct draft *draft, uint32_t base, struct lancet_error *err)
{
	size_t reuse, count;

	TRY(draft_indices(draft, err));
	reuse = draft_has_tagged_entry(draft) ? draft_index_named(draft, REUSE_INDEX_NAME)
					      : SIZE_MAX;
	count = draft->index_count;
	if (reuse != SIZE_MAX)
		TRY(move_history(draft, base, err));
	for (size_t i = 0; i < count; i++)
		if (i != reuse)
			TRY(clone_index(draft, i, base, err));
	return LANCET_OK;
}

/* The base of the source: named as its branch is. */
static int
add_base(struct draft *draft, uint32_t *ret_base, struct lancet_error *err)
{
	const Clone *clone = draft->message->clone;
	Lance__Table__BasePath base;

	lance__table__base_path__init(&base);
	if (clone->ref_name_presence_case != 0) {
		base.name_presence_case = LANCE__TABLE__BASE_PATH__NAME_PRESENCE_NAME;
		base.name = clone->ref_name;
	}
	base.is_dataset_root = true;
	base.path = clone->ref_path;
	return draft_base_of_clone(draft, &base, ret_base, err);
}

static void
set_branch(struct draft *draft)
{
	const Clone *clone = draft->message->clone;

	draft->changed |= DRAFT_BRANCH;
	draft->head->branch_presence_case = LANCE__TABLE__MANIFEST__BRANCH_PRESENCE__NOT_SET;
	if (clone->branch_name_presence_case == 0)
		return;
	draft->head->branch_presence_case = LANCE__TABLE__MANIFEST__BRANCH_PRESENCE_BRANCH;
	draft->head->branch = clone->branch_name;
}

int
op_clone_apply(struct draft *draft, struct lancet_error *err)
{
	uint32_t base;

	draft->number = draft->origin->info.number;
	TRY(add_base(draft, &base, err));
	TRY(clone_fragments(draft, base, err));
	TRY(clone_indices(draft, base, err));
	set_branch(draft);
	return LANCET_OK;
}
