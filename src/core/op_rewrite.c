/* Rewrite: the rows of some fragments are in others now, all of them and nothing else.
 *
 * What index entries say of the old ones depends on what their files hold, and on whether the reuse
 * history records where the rows went. Format facts: Rewrite; rewrites and index bitmaps.
 */
#include "operation.h"

#include <inttypes.h>

#include "draft_index.h"
#include "fragment_checks.h"
#include "fragment_stored.h"
#include "lance/transaction.pb-c.h"
#include "rewrite_parts.h"
#include "sequence.h"
#include "util/macros.h"
#include "util/source.h"

/* The arms of a fragment's oneofs. */
#define IDS(arm)     LANCE__TABLE__DATA_FRAGMENT__ROW_ID_SEQUENCE_##arm
#define MADE(arm)    LANCE__TABLE__DATA_FRAGMENT__CREATED_AT_VERSION_SEQUENCE_##arm
#define CHANGED(arm) LANCE__TABLE__DATA_FRAGMENT__LAST_UPDATED_AT_VERSION_SEQUENCE_##arm

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__Transaction__Rewrite Message;

/* In the old form the message is itself one group. */
static size_t
group_count(const Message *message)
{
	return message->n_groups > 0 ? message->n_groups : 1;
}

static struct rewrite_group
group_at(const Message *message, size_t at)
{
	if (message->n_groups > 0)
		return (struct rewrite_group){ message->groups[at]->old_fragments,
			message->groups[at]->new_fragments, message->groups[at]->n_old_fragments,
			message->groups[at]->n_new_fragments };
	return (struct rewrite_group){ message->old_fragments, message->new_fragments,
		message->n_old_fragments, message->n_new_fragments };
}

/* Ids and versions, which may be long, are not looked at. */
static int
look(struct draft *draft, size_t place, const Fragment **ret_fragment, struct lancet_error *err)
{
	const struct draft_fragment *fragment = &draft->fragments[place];
	Fragment *message = fragment->message;

	if (message == NULL)
		TRY(fragment_stored_bare(
			draft->origin, fragment->stored, &draft->arena, &message, err));
	*ret_fragment = message;
	return LANCET_OK;
}

static int
init_step(struct rewrite *rewrite, struct rewrite_step *step, struct lancet_error *err)
{
	const struct rewrite_group *group = &step->group;

	step->current =
		draft_alloc(rewrite->draft, (group->old_count + 1) * sizeof(*step->current));
	step->new_ids =
		draft_alloc(rewrite->draft, (group->new_count + 1) * sizeof(*step->new_ids));
	if (step->current == NULL || step->new_ids == NULL)
		return draft_no_memory(err);
	if (group->old_count == 0)
		return lancet_fail(err, LANCET_INVALID, "a group without an old fragment");
	for (size_t i = 0; i < group->old_count; i++) {
		size_t place;

		TRY(checks_place(rewrite->draft, group->old_fragments[i]->id, &place, err));
		TRY(look(rewrite->draft, place, &step->current[i], err));
		step->has_overlays |= step->current[i]->n_overlays > 0;
	}
	rewrite->old_count += group->old_count;
	return LANCET_OK;
}

int
rewrite_init(struct rewrite *rewrite, struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->rewrite;

	*rewrite = (struct rewrite){ .draft = draft, .count = group_count(message) };
	rewrite->carries = draft->rebase != NULL && draft->rebase->reuse_entry.size > 0;
	rewrite->steps = draft_alloc(draft, rewrite->count * sizeof(*rewrite->steps));
	if (rewrite->steps == NULL)
		return draft_no_memory(err);
	TRY(draft_indices(draft, err));
	rewrite->tagged = draft_is_tagged(draft) ||
			  (rewrite->carries && draft->rebase->carried.index_version > 0);
	for (size_t i = 0; i < rewrite->count; i++) {
		rewrite->steps[i].group = group_at(message, i);
		TRY(init_step(rewrite, &rewrite->steps[i], err));
	}
	return LANCET_OK;
}

static uint64_t
deleted_rows(const Fragment *fragment)
{
	return fragment->deletion_file == NULL ? 0 : fragment->deletion_file->num_deleted_rows;
}

/* Rows are neither lost nor made, as far as the counts are there. */
static int
check_rows(const struct rewrite_step *step, struct lancet_error *err)
{
	const struct rewrite_group *group = &step->group;
	uint64_t before = 0, after = 0;

	for (size_t i = 0; i < group->old_count; i++) {
		const Fragment *fragment = step->current[i];

		if (fragment->physical_rows == 0 ||
			(fragment->deletion_file != NULL && deleted_rows(fragment) == 0))
			return LANCET_OK;
		before += fragment->physical_rows - deleted_rows(fragment);
	}
	for (size_t i = 0; i < group->new_count; i++)
		after += group->new_fragments[i]->physical_rows -
			 deleted_rows(group->new_fragments[i]);
	if (before == after)
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID,
		"the group of fragment %" PRIu64 " has %" PRIu64 " rows, and %" PRIu64
		" when it is rewritten",
		group->old_fragments[0]->id, before, after);
}

/* An inline sequence has a value for each row. */
static int
check_sequence(const struct sequence_ops *ops, ProtobufCBinaryData bytes, uint64_t rows,
	const char *what, struct lancet_error *err)
{
	struct sequence *sequence = NULL;
	struct source *source = source_memory_new(slice_of(bytes.data, bytes.len), NULL);
	int rc;

	if (source == NULL)
		return draft_no_memory(err);
	rc = sequence_open(ops, source, rows, &sequence, err);
	source_unref(source);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "%s", what);
	sequence_free(sequence);
	return LANCET_OK;
}

/* Rows keep their ids and versions, which only who rewrote them knows. */
static int
check_lineage(const Fragment *fragment, struct lancet_error *err)
{
	uint64_t rows = fragment->physical_rows;

	if (fragment->row_id_sequence_case == IDS(_NOT_SET))
		return lancet_fail(err, LANCET_INVALID, "no row ids");
	if (fragment->row_id_sequence_case == IDS(INLINE_ROW_IDS))
		TRY(check_sequence(&rowids_ops, fragment->inline_row_ids, rows, "row ids", err));
	if (fragment->created_at_version_sequence_case == MADE(INLINE_CREATED_AT_VERSIONS))
		TRY(check_sequence(&row_versions_ops, fragment->inline_created_at_versions, rows,
			"created-at versions", err));
	if (fragment->last_updated_at_version_sequence_case ==
		CHANGED(INLINE_LAST_UPDATED_AT_VERSIONS))
		TRY(check_sequence(&row_versions_ops, fragment->inline_last_updated_at_versions,
			rows, "last-updated-at versions", err));
	return LANCET_OK;
}

static int
check_step(const struct draft *draft, const struct rewrite_step *step,
	const struct numbers *field_ids, struct lancet_error *err)
{
	for (size_t i = 0; i < step->group.new_count; i++) {
		const Fragment *fragment = step->group.new_fragments[i];
		int rc = checks_new(draft, fragment, field_ids, err);

		if (rc == LANCET_OK && draft->stable_row_ids) {
			rc = check_lineage(fragment, err);
			if (rc != LANCET_OK)
				(void)lancet_wrap(err, rc, "new fragment %" PRIu64, fragment->id);
		}
		TRY(rc);
	}
	return check_rows(step, err);
}

int
op_rewrite_check(struct draft *draft, struct lancet_error *err)
{
	struct rewrite rewrite;
	struct numbers field_ids;

	TRY(rewrite_init(&rewrite, draft, err));
	if (rewrite.carries && draft->stable_row_ids)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"the dataset has stable row ids: fragment reuse is not recorded there");
	TRY(checks_fields(draft, NULL, 0, &field_ids, err));
	for (size_t i = 0; i < rewrite.count; i++)
		TRY(check_step(draft, &rewrite.steps[i], &field_ids, err));
	return rewrite_indices_check(&rewrite, err);
}

static int
apply_step(struct draft *draft, struct rewrite_step *step, struct lancet_error *err)
{
	for (size_t i = 0; i < step->group.old_count; i++) {
		size_t place;

		TRY(checks_place(draft, step->group.old_fragments[i]->id, &place, err));
		draft_remove(draft, place);
	}
	for (size_t i = 0; i < step->group.new_count; i++) {
		Fragment *added;

		TRY(draft_add(draft, step->group.new_fragments[i], &added, err));
		step->new_ids[i] = added->id;
	}
	return LANCET_OK;
}

static int
apply_steps(struct rewrite *rewrite, struct lancet_error *err)
{
	for (size_t i = 0; i < rewrite->count; i++)
		TRY(apply_step(rewrite->draft, &rewrite->steps[i], err));
	return rewrite_indices_apply(rewrite, err);
}

static int
apply_recorded(struct rewrite *rewrite, struct history *history, struct lancet_error *err)
{
	const struct touched *ours = &rewrite->draft->rebase->touched;

	TRY(history_open(history, rewrite->draft, err));
	TRY(history_append(history, ours->groups, ours->group_count, err));
	TRY(history_check(history, err));
	TRY(rewrite_bind(rewrite, history, err));
	TRY(rewrite_check_unrecorded(rewrite, err));
	TRY(apply_steps(rewrite, err));
	return history_put(history, err);
}

int
op_rewrite_apply(struct draft *draft, struct lancet_error *err)
{
	struct history history = { 0 };
	struct rewrite rewrite;
	int rc;

	TRY(rewrite_init(&rewrite, draft, err));
	TRY(draft_index_follow(draft, err));
	if (!rewrite.carries) {
		TRY(rewrite_check_unrecorded(&rewrite, err));
		return apply_steps(&rewrite, err);
	}
	rc = apply_recorded(&rewrite, &history, err);
	history_release(&history);
	return rc;
}
