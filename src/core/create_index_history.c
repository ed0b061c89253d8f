/* The reuse history cut short: by hand while it is a legacy one, by what indices need when it is
 * tagged. An entry that is dropped too early loses rows without a word. */
#include "create_index.h"

#include <inttypes.h>
#include <stdlib.h>

#include "conflict_rules.h"
#include "index_set.h"
#include "lance/transaction.pb-c.h"
#include "manifest_parts.h"
#include "rewrite_history.h"
#include "util/macros.h"

#define SECTION_ENTRY_TAG 0x0a /* IndexSection.indices */
#define HISTORY_WORK_MAX  ((size_t)1 << 31)

typedef Lance__Table__IndexMetadata Entry;
typedef Lance__Table__Transaction__CreateIndex Message;

static const Entry *
find_new(const Message *message)
{
	for (size_t i = 0; i < message->n_new_indices; i++)
		if (entry_is_named(message->new_indices[i], REUSE_INDEX_NAME))
			return message->new_indices[i];
	return NULL;
}

static bool
touches_history(const Message *message)
{
	for (size_t i = 0; i < message->n_removed_indices; i++)
		if (entry_is_named(message->removed_indices[i], REUSE_INDEX_NAME))
			return true;
	return find_new(message) != NULL;
}

/* Its encoded history, in the arena. */
static int
load_content(struct draft *draft, const Entry *entry, struct arena *arena,
	struct slice *ret_content, struct lancet_error *err)
{
	struct index_set *set = NULL;
	struct buf section = { 0 };
	struct reuse_details details;
	int rc;

	writing_put_field(&section, SECTION_ENTRY_TAG, &entry->base);
	rc = buf_check(&section, "reuse entry", err);
	if (rc == LANCET_OK)
		rc = index_section_parse(buf_slice(&section), &set, err);
	buf_release(&section);
	if (rc == LANCET_OK)
		rc = reuse_details_load(
			draft->origin, set->indices[0].segments[0], arena, &details, err);
	if (rc == LANCET_OK) {
		uint8_t *copy = arena_copy(arena, details.content.data, details.content.size);

		*ret_content = slice_of(copy, details.content.size);
		rc = copy == NULL ? draft_no_memory(err) : LANCET_OK;
	}
	version_indices_free(set);
	return rc;
}

/* Transitions that some index needs, by lineage order; the caller frees it. */
static int
find_needed(
	struct draft *draft, const lancet_reuse *reuse, bool **ret_needed, struct lancet_error *err)
{
	struct lancet_reuse_need *needs = NULL;
	bool *needed = calloc(reuse->info.transition_count + 1, sizeof(*needed));
	size_t count = 0;
	int rc;

	if (needed == NULL)
		return draft_no_memory(err);
	rc = lancet_reuse_needs(draft->origin, &needs, &count, err);
	for (size_t i = 0; rc == LANCET_OK && i < count; i++)
		needed[needs[i].transition] = true;
	free(needs);
	if (rc == LANCET_OK)
		*ret_needed = needed;
	else
		free(needed);
	return rc;
}

static bool
is_needed(const lancet_reuse *reuse, const bool *needed, size_t record)
{
	for (size_t i = 0; i < reuse->info.transition_count; i++)
		if (needed[i] && reuse->transitions[i].info.legacy &&
			reuse->transitions[i].info.record == record)
			return true;
	return false;
}

/* What is left are records that there were, in their order, and all that are needed. */
static int
compare_records(const struct texts *before, const struct texts *after, const lancet_reuse *reuse,
	const bool *needed, struct lancet_error *err)
{
	size_t found = 0;

	if (before->count > 0 && reuse->info.transition_count > HISTORY_WORK_MAX / before->count)
		return lancet_fail(err, LANCET_LIMIT,
			"a reuse history of %zu records and %zu groups", before->count,
			reuse->info.transition_count);
	for (size_t i = 0; i < before->count; i++) {
		if (found < after->count && slice_equal(before->values[i], after->values[found]))
			found++;
		else if (is_needed(reuse, needed, i))
			return lancet_fail(err, LANCET_INVALID,
				"record %zu of the reuse history is dropped, and an index still "
				"needs "
				"it: build the index anew first",
				i);
	}
	if (found == after->count)
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID,
		"the reuse history gets records that it had not: only a rewrite adds some");
}

static int
compare_histories(struct history *history, const Entry *new, struct lancet_error *err)
{
	struct texts before = { 0 }, after = { 0 };
	struct draft *draft = history->draft;
	bool *needed = NULL;
	struct slice content;
	lancet_reuse *reuse;
	int rc;

	TRY(history_versions(history->current.content, &history->arena, &before, err));
	if (new != NULL) {
		TRY(load_content(draft, new, &history->arena, &content, err));
		TRY(history_versions(content, &history->arena, &after, err));
	}
	TRY(lancet_version_reuse(draft->origin, &reuse, err));
	TRY(find_needed(draft, reuse, &needed, err));
	rc = compare_records(&before, &after, reuse, needed, err);
	free(needed);
	return rc;
}

static int
check_new(const struct draft *draft, const Entry *new, struct lancet_error *err)
{
	if (draft->stable_row_ids)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"the dataset has stable row ids: fragment reuse is not recorded there");
	if (new->index_version_presence_case != 0 && new->index_version != 0)
		return lancet_fail(
			err, LANCET_INVALID, "a tagged reuse history is only begun by a rewrite");
	return LANCET_OK;
}

int
create_index_check_history(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->create_index;
	const Entry *new = find_new(message);
	struct history history;
	int rc;

	if (!touches_history(message))
		return LANCET_OK;
	if (draft->rebase != NULL && draft->rebase->trims) {
		if (message->n_new_indices + message->n_removed_indices <= 2)
			return LANCET_OK;
		return lancet_fail(err, LANCET_INVALID,
			"a tagged reuse history is cut together with other changes");
	}
	if (new != NULL)
		TRY(check_new(draft, new, err));
	rc = history_open(&history, draft, err);
	if (rc == LANCET_OK && history.tagged)
		rc = lancet_fail(err, LANCET_INVALID, "the reuse history is a tagged one");
	if (rc == LANCET_OK && history.place == SIZE_MAX && new != NULL)
		rc = lancet_fail(err, LANCET_INVALID,
			"there is no reuse history to be cut: only a rewrite "
			"begins one");
	if (rc == LANCET_OK && history.place != SIZE_MAX)
		rc = compare_histories(&history, new, err);
	history_release(&history);
	return rc;
}

/* The message says what was done, in place of what it asked for. */
static int
tell(struct draft *draft, size_t old, struct lancet_error *err)
{
	Message *message = draft->message->create_index;
	Entry **removed = draft_alloc(draft, sizeof(*removed));
	Entry **made = draft_alloc(draft, sizeof(*made));

	if (removed == NULL || made == NULL)
		return draft_no_memory(err);
	*removed = draft->indices[old].message;
	message->removed_indices = removed;
	message->n_removed_indices = 1;
	message->n_new_indices = 0;
	if (!draft->indices[draft->index_count - 1].removed &&
		draft->indices[draft->index_count - 1].segment == NULL) {
		*made = draft->indices[draft->index_count - 1].message;
		message->n_new_indices = 1;
	}
	message->new_indices = made;
	return LANCET_OK;
}

static int
trim(struct history *history, struct lancet_error *err)
{
	struct draft *draft = history->draft;
	bool *needed = NULL;
	lancet_reuse *reuse;
	int rc;

	if (history->place == SIZE_MAX)
		return LANCET_OK;
	TRY(lancet_version_reuse(draft->origin, &reuse, err));
	TRY(find_needed(draft, reuse, &needed, err));
	rc = history_keep(history, needed, err);
	free(needed);
	if (rc == LANCET_OK && history->content.size > 0)
		rc = history_check(history, err);
	if (rc == LANCET_OK)
		rc = history_put(history, err);
	return rc == LANCET_OK ? tell(draft, history->place, err) : rc;
}

int
create_index_trim(struct draft *draft, struct lancet_error *err)
{
	struct history history;
	int rc = history_open(&history, draft, err);

	if (rc == LANCET_OK)
		rc = trim(&history, err);
	history_release(&history);
	return rc;
}
