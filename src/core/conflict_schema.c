/* Rules about fields and nullability: g1, g2, g3, i3, u3, f3, and what becomes of an index whose
 * field goes. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__File__Field Field;

struct schema {
	const Field **fields; /* by id */
	size_t count;
};

static int
compare_fields(const void *left, const void *right)
{
	const Field *a = *(const Field *const *)left, *b = *(const Field *const *)right;

	return (a->id > b->id) - (a->id < b->id);
}

/* The caller frees ret_schema->fields. */
static int
sort_schema(Field *const *fields, size_t count, struct schema *ret_schema, struct lancet_error *err)
{
	const Field **sorted = calloc(count + 1, sizeof(*sorted));

	if (sorted == NULL)
		return touched_no_memory(err);
	if (count > 0)
		memcpy(sorted, fields, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_fields);
	*ret_schema = (struct schema){ sorted, count };
	return LANCET_OK;
}

static const Field *
schema_find(const struct schema *schema, uint64_t id)
{
	size_t low = 0, high = schema->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (schema->fields[middle]->id < 0 || (uint64_t)schema->fields[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == schema->count || schema->fields[low]->id < 0 ||
		(uint64_t)schema->fields[low]->id != id)
		return NULL;
	return schema->fields[low];
}

/* A change of the schema that does not promise to leave nullability alone. */
static bool
may_forbid_nulls(const struct touched *touched)
{
	if (touched->kind == OPERATION_PROJECT)
		return !touched->message->project->preserves_nullability;
	if (touched->kind == OPERATION_MERGE)
		return !touched->message->merge->preserves_nullability;
	return false;
}

static bool
writes_values(const struct touched *touched)
{
	return touched->kind == OPERATION_APPEND || touched->kind == OPERATION_UPDATE ||
	       touched->kind == OPERATION_DATA_REPLACEMENT ||
	       touched->kind == OPERATION_DATA_OVERLAY;
}

/* Whether one of them is of the kind and the other an UpdateConfig of schema or field metadata. */
static bool
meets_metadata(const struct clash *clash, enum operation_kind kind)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;

	return (ours->kind == kind && theirs->changes_metadata) ||
	       (theirs->kind == kind && ours->changes_metadata);
}

int
rule_schema_changes(struct clash *clash)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;

	if (theirs->kind == OPERATION_UNKNOWN)
		return LANCET_OK;
	if ((may_forbid_nulls(ours) && writes_values(theirs)) ||
		(may_forbid_nulls(theirs) && writes_values(ours)))
		return clash_retry(
			clash, "nullability", "values were written that the schema may not allow");
	if (meets_metadata(clash, OPERATION_MERGE))
		return clash_retry(
			clash, "metadata", "the schema and its metadata are changed by both");
	if (meets_metadata(clash, OPERATION_RESTORE))
		return clash_refuse(clash, "metadata",
			"metadata of the schema would be lost or survive a restore");
	return LANCET_OK;
}

static bool
same_type(const Field *a, const Field *b)
{
	return slice_equal(slice_of(a->logical_type.data, a->logical_type.len),
		slice_of(b->logical_type.data, b->logical_type.len));
}

/* The first field of the index that is gone or is of another type than when we read; else false. A
 * field that we did not find then is none of this rule's. */
static bool
lost_field(const struct schema *before, const struct schema *after,
	const struct rebase_index *index, int32_t *ret_field)
{
	for (size_t i = 0; i < index->message->n_fields; i++) {
		int32_t id = index->message->fields[i];
		const Field *was = id < 0 ? NULL : schema_find(before, (uint64_t)id);
		const Field *is = id < 0 ? NULL : schema_find(after, (uint64_t)id);

		if (was == NULL || (is != NULL && same_type(was, is)))
			continue;
		*ret_field = id;
		return true;
	}
	return false;
}

static void
refuse_lost(struct clash *clash, int32_t field, bool retry)
{
	const char *text =
		"field %" PRId32 ", of an index that is made, is gone or of another type";

	if (retry)
		(void)clash_retry(clash, "index_field", text, field);
	else
		(void)clash_refuse(clash, "index_field", text, field);
}

/* An index on a field that is not there any more would be an index on nothing. The reference takes
 * it, except for a Merge in a tagged table. */
static int
check_lost(struct clash *clash, Field *const *fields, size_t count, bool retry)
{
	const Lance__Table__Manifest *manifest = clash->rebase->read->message;
	struct schema before = { 0 }, after = { 0 };
	int32_t field;
	int rc = sort_schema(manifest->fields, manifest->n_fields, &before, clash->err);

	if (rc == LANCET_OK)
		rc = sort_schema(fields, count, &after, clash->err);
	for (size_t i = 0; rc == LANCET_OK && i < clash->rebase->index_count; i++)
		if (lost_field(&before, &after, &clash->rebase->indices[i], &field))
			refuse_lost(clash, field, retry);
	free(before.fields);
	free(after.fields);
	return rc;
}

int
rule_index_project(struct clash *clash)
{
	const Lance__Table__Transaction__Project *message = clash->theirs->message->project;

	return check_lost(clash, message->schema, message->n_schema, false);
}

/* i3 */
int
rule_index_merge(struct clash *clash)
{
	const Lance__Table__Transaction__Merge *message = clash->theirs->message->merge;

	if (clash->ours->adds_mem_wal)
		return clash_retry(clash, "mem_wal", "the schema was changed");
	TRY(check_lost(clash, message->schema, message->n_schema, rebase_is_tagged(clash->rebase)));
	return clash_decided(clash) ? LANCET_OK : rebase_withdraw_changed(clash);
}

/* i3 the other way round */
int
rule_merge_index(struct clash *clash)
{
	if (!clash->theirs->adds_mem_wal)
		return LANCET_OK;
	return clash_retry(clash, "mem_wal", "the MemWAL index was made");
}

/* The first of our fields that their schema has no more. */
static int
find_dropped(struct clash *clash, bool *ret_found, uint64_t *ret_field)
{
	const Lance__Table__Transaction__Project *message = clash->theirs->message->project;
	const struct numbers *fields = &clash->ours->fields;
	struct schema schema;

	TRY(sort_schema(message->schema, message->n_schema, &schema, clash->err));
	*ret_found = false;
	for (size_t i = 0; i < fields->count && !*ret_found; i++) {
		*ret_found = schema_find(&schema, fields->values[i]) == NULL;
		*ret_field = fields->values[i];
	}
	free(schema.fields);
	return LANCET_OK;
}

/* u3 */
int
rule_update_project(struct clash *clash)
{
	uint64_t field;
	bool dropped;

	TRY(find_dropped(clash, &dropped, &field));
	if (!dropped)
		return LANCET_OK;
	return clash_retry(
		clash, "schema_field", "field %" PRIu64 ", which we change, was dropped", field);
}

/* f3 */
int
rule_replacement_project(struct clash *clash)
{
	uint64_t field;
	bool dropped;

	TRY(find_dropped(clash, &dropped, &field));
	if (!dropped)
		return LANCET_OK;
	return clash_refuse(
		clash, "schema_field", "field %" PRIu64 ", which we replace, was dropped", field);
}
