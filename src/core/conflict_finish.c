/* What is left for the newest version when all commits are compatible: the one reuse or MemWAL
 * entry, the history that a rewrite carries, bases. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>
#include <stdlib.h>

#include "index_set.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define LEGACY_VERSIONS 1 /* InlineContent */

static bool
named(const struct lancet_index *index, const char *name)
{
	return slice_equal(slice_of(index->name.data, index->name.size), slice_text(name));
}

/* The entries of that name in the newest version. */
static int
find_entries(struct clash *clash, const char *name, const struct lancet_index **ret_index)
{
	const struct lancet_index *indices;
	size_t count;

	*ret_index = NULL;
	TRY(lancet_version_indices(clash->rebase->newest, &indices, &count, clash->err));
	for (size_t i = 0; i < count; i++)
		if (named(&indices[i], name))
			*ret_index = &indices[i];
	return LANCET_OK;
}

static bool
removes(const struct touched *ours, const struct lancet_index_segment *segment)
{
	return segment->uuid_valid &&
	       texts_have(&ours->removed_uuids, slice_of(segment->uuid, sizeof(segment->uuid)));
}

/* There is only one such entry: ours takes the place of those that came meanwhile. */
static int
supersede(struct clash *clash, const char *name)
{
	struct rebase *rebase = clash->rebase;
	const struct lancet_index *index;
	const struct lancet_index_segment **list;

	TRY(find_entries(clash, name, &index));
	if (index == NULL)
		return LANCET_OK;
	list = realloc(rebase->superseded,
		(rebase->superseded_count + index->segment_count) * sizeof(*list));
	if (list == NULL)
		return touched_no_memory(clash->err);
	rebase->superseded = list;
	for (size_t i = 0; i < index->segment_count; i++)
		if (!removes(clash->ours, index->segments[i]))
			list[rebase->superseded_count++] = index->segments[i];
	return LANCET_OK;
}

/* A trim of a legacy history was made from one entry: another one has records that it lacks. */
static int
check_trimmed(struct clash *clash)
{
	const struct lancet_index *index;
	bool same;

	TRY(find_entries(clash, REUSE_INDEX_NAME, &index));
	same = index == NULL
		       ? !clash->ours->removes_reuse
		       : index->segment_count == 1 && removes(clash->ours, index->segments[0]);
	if (same)
		return LANCET_OK;
	return clash_retry(clash, "reuse_history", "the fragment reuse history is another one");
}

/* Transitions that some index needs; 0 without a history. */
static int
count_needed(struct clash *clash, size_t *ret_needed, size_t *ret_count)
{
	struct lancet_reuse_need *needs = NULL;
	struct lancet_error cause = { 0 };
	lancet_reuse *reuse = NULL;
	size_t count = 0;
	int rc = lancet_reuse_needs(clash->rebase->newest, &needs, &count, &cause);

	*ret_needed = *ret_count = 0;
	if (rc == LANCET_NOT_FOUND)
		return LANCET_OK;
	if (rc != LANCET_OK)
		return lancet_fail(clash->err, cause.code, "%s", cause.text);
	for (size_t i = 0; i < count; i++)
		*ret_needed += i == 0 || needs[i].transition != needs[i - 1].transition;
	free(needs);
	TRY(lancet_version_reuse(clash->rebase->newest, &reuse, clash->err));
	*ret_count = reuse->info.transition_count;
	return LANCET_OK;
}

/* A trim of a tagged history is made anew from the one there is: is there anything to do? Nothing
 * of one that is damaged or not understood may go. */
static int
check_trim(struct clash *clash)
{
	size_t needed, count;

	clash->rebase->trims = true;
	TRY(count_needed(clash, &needed, &count));
	if (needed < count)
		return LANCET_OK;
	return clash_retry(clash, CONFLICT_NOTHING_TO_TRIM, "nothing is left to trim");
}

int
finish_index(struct clash *clash)
{
	const struct touched *ours = clash->ours;
	struct rebase *rebase = clash->rebase;
	lancet_reuse *reuse = NULL;

	rebase->superseded_count = 0;
	TRY(rebase_history(rebase, &reuse, clash->err));
	if (rebase_is_tagged(rebase) && (ours->adds_reuse || ours->removes_reuse))
		return check_trim(clash);
	if (ours->adds_reuse) {
		TRY(check_trimmed(clash));
		TRY(supersede(clash, REUSE_INDEX_NAME));
	}
	if (ours->adds_mem_wal) {
		TRY(supersede(clash, MEM_WAL_INDEX_NAME));
		shards_sort(&rebase->progress);
	}
	for (size_t i = 0; i < rebase->index_count && reuse != NULL; i++)
		if (rebase->indices[i].withdrawn != NULL)
			history_add_sources(reuse, rebase->indices[i].withdrawn);
	return LANCET_OK;
}

int
history_versions(struct slice content, struct arena *arena, struct texts *ret_versions,
	struct lancet_error *err)
{
	struct pbmem scan = { .in = content }, again = scan;
	struct pb_field field;
	size_t count = 0;
	bool more = true;

	while (more) {
		TRY(pbmem_next(&scan, &field, &more, err));
		count += more && field.number == LEGACY_VERSIONS;
	}
	if (!texts_reserve(ret_versions, count, arena))
		return touched_no_memory(err);
	for (more = true; more;) {
		TRY(pbmem_next(&again, &field, &more, err));
		if (!more || field.number != LEGACY_VERSIONS)
			continue;
		if (field.wire != PB_BYTES)
			return lancet_fail(err, LANCET_CORRUPT, "legacy version: wire type %d",
				(int)field.wire);
		texts_put(ret_versions, content.data + field.offset, (size_t)field.value);
	}
	return LANCET_OK;
}

/* All of `part` comes in `whole`, in that order. */
static bool
is_subsequence(const struct texts *part, const struct texts *whole)
{
	size_t found = 0;

	for (size_t i = 0; i < whole->count && found < part->count; i++)
		found += slice_equal(whole->values[i], part->values[found]);
	return found == part->count;
}

static int
load_versions(struct clash *clash, const struct lancet_index_segment *entry, struct arena *arena,
	struct texts *ret_versions)
{
	struct reuse_details details;

	TRY(reuse_details_load(clash->rebase->newest, entry, arena, &details, clash->err));
	return history_versions(details.content, arena, ret_versions, clash->err);
}

static int
compare_histories(struct clash *clash, const struct lancet_index *index, struct arena *arena)
{
	struct texts base = { 0 }, current = { 0 };

	TRY(load_versions(clash, &clash->rebase->carried, arena, &base));
	if (base.count == 0)
		return lancet_fail(clash->err, LANCET_INVALID,
			"the reuse entry carried has no record of ours");
	base.count--; /* the last one is ours */
	if (index == NULL && base.count == 0)
		return LANCET_OK;
	if (index != NULL && index->segment_count == 1)
		TRY(load_versions(clash, index->segments[0], arena, &current));
	if (index != NULL && index->segment_count == 1 && is_subsequence(&current, &base))
		return LANCET_OK;
	return clash_retry(clash, "reuse_history",
		index == NULL ? "the fragment reuse history is gone"
			      : "the fragment reuse history has got other records");
}

/* Without a record ours was fine where it was built. In a table that was tagged meanwhile indices
 * find rows by records alone. */
static int
finish_unrecorded(struct clash *clash)
{
	const struct rebase *rebase = clash->rebase;
	const struct lancet_index *indices;
	size_t count;

	if (!rebase_is_tagged(rebase) || history_is_tagged(rebase->read))
		return LANCET_OK;
	TRY(lancet_version_indices(rebase->newest, &indices, &count, clash->err));
	for (size_t i = 0; i < count; i++)
		if (!named(&indices[i], REUSE_INDEX_NAME) &&
			!named(&indices[i], MEM_WAL_INDEX_NAME))
			return clash_retry(clash, "reuse_history",
				"the fragment reuse history has become a tagged one");
	return LANCET_OK;
}

/* A legacy history that a rewrite carries goes on from what it was built on, trimmed or not. In a
 * table that was tagged meanwhile its record becomes a transition. */
int
finish_rewrite(struct clash *clash)
{
	struct rebase *rebase = clash->rebase;
	const struct lancet_index *index;
	struct arena arena = { 0 };
	int rc;

	if (rebase->reuse_entry.size == 0)
		return finish_unrecorded(clash);
	if (rebase->carried.index_version > 0)
		return LANCET_OK;
	if (rebase_is_tagged(rebase))
		return LANCET_OK;
	TRY(find_entries(clash, REUSE_INDEX_NAME, &index));
	rc = compare_histories(clash, index, &arena);
	arena_release(&arena);
	return rc;
}
