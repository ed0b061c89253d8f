/* Preconditions decoded and validated, and the version that broke one.
 *
 * A transaction may come from anybody: what is not exactly the message of this build is never
 * taken for a condition that holds.
 */
#include "precondition.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lance/precondition.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "precondition_parts.h"
#include "transaction.h"
#include "util/macros.h"
#include "util/pbunpack.h"
#include "util/roaringx.h"

#define VERSIONS_BACK_MAX 4096u /* that are looked through for the one that broke a condition */

typedef Lance__Table__Precondition__FragmentRows FragmentRows;

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "preconditions: no memory");
}

static int
unknown_shape(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_UNSUPPORTED,
		"in a form that this build does not know; it is never evaluated, so nothing can be "
		"committed with it");
}

static int
decode(ProtobufCBinaryData bytes, struct arena *arena, Lance__Table__Precondition **ret_message,
	struct lancet_error *err)
{
	Lance__Table__Precondition *message = NULL;
	int rc = pb_unpack(&lance__table__precondition__descriptor, slice_of(bytes.data, bytes.len),
		arena, &message, err);

	if (rc == LANCET_CORRUPT)
		return unknown_shape(err);
	TRY(rc);
	if (message->base.n_unknown_fields > 0)
		return unknown_shape(err);
	for (size_t i = 0; i < message->n_rows; i++)
		if (message->rows[i]->base.n_unknown_fields > 0)
			return unknown_shape(err);
	*ret_message = message;
	return LANCET_OK;
}

static int
compare_ids(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;

	return (a > b) - (a < b);
}

static int
fill_fields(struct condition *condition, const Lance__Table__Precondition *message,
	struct lancet_error *err)
{
	/* decoded for this alone, so they may be sorted in place */
	int32_t *fields = message->field_ids;

	if (message->n_field_ids > 1)
		qsort(fields, message->n_field_ids, sizeof(*fields), compare_ids);
	for (size_t i = 0; i < message->n_field_ids; i++) {
		if (fields[i] < 0)
			return lancet_fail(
				err, LANCET_CORRUPT, "field id %" PRId32 " is negative", fields[i]);
		if (i > 0 && fields[i] == fields[i - 1])
			return lancet_fail(
				err, LANCET_CORRUPT, "field %" PRId32 " is named twice", fields[i]);
	}
	condition->fields = fields;
	condition->field_count = message->n_field_ids;
	return LANCET_OK;
}

int
condition_count_rows(
	lancet_version *read, uint64_t id, uint64_t *ret_rows, struct lancet_error *err)
{
	lancet_fragment *fragment;
	uint64_t ordinal;
	int rc = lancet_version_find_fragment(read, id, &ordinal, err);

	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, LANCET_CORRUPT,
			"fragment %" PRIu64 " is not in version %" PRIu64 ", which was read", id,
			read->info.number);
	TRY(rc);
	*ret_rows = read->spans[ordinal].physical_rows;
	if (*ret_rows != 0 && *ret_rows != UINT32_MAX && read->info.has_writer)
		return LANCET_OK;
	TRY(lancet_fragment_open(read, ordinal, &fragment, err));
	*ret_rows = lancet_fragment_info(fragment)->physical_rows;
	lancet_fragment_unref(fragment);
	return LANCET_OK;
}

static int
fill_rows_of(struct condition_rows *rows, const FragmentRows *message, lancet_version *read,
	struct lancet_error *err)
{
	rows->fragment = message->fragment_id;
	TRY(condition_count_rows(read, rows->fragment, &rows->physical_rows, err));
	switch (message->selection_case) {
	case LANCE__TABLE__PRECONDITION__FRAGMENT_ROWS__SELECTION_WHOLE_FRAGMENT:
		if (message->whole_fragment)
			return LANCET_OK;
		break;
	case LANCE__TABLE__PRECONDITION__FRAGMENT_ROWS__SELECTION_OFFSETS:
		return roaringx_load(slice_of(message->offsets.data, message->offsets.len),
			rows->physical_rows, rows->physical_rows, &rows->offsets, err);
	default:
		break;
	}
	return lancet_fail(err, LANCET_CORRUPT, "no rows are named");
}

static int
compare_rows(const void *left, const void *right)
{
	const struct condition_rows *a = left, *b = right;

	return (a->fragment > b->fragment) - (a->fragment < b->fragment);
}

static bool
is_empty(const struct condition_rows *rows)
{
	return rows->offsets != NULL && roaring_bitmap_is_empty(rows->offsets);
}

static int
fill_rows(struct preconditions *conditions, struct condition *condition,
	const Lance__Table__Precondition *message, struct lancet_error *err)
{
	size_t count = message->n_rows;

	condition->rows = arena_zalloc(&conditions->arena, count + 1, sizeof(*condition->rows));
	if (condition->rows == NULL)
		return no_memory(err);
	for (size_t i = 0; i < count; i++) {
		int rc = fill_rows_of(&condition->rows[condition->row_count++], message->rows[i],
			conditions->read, err);

		if (rc != LANCET_OK)
			return lancet_wrap(
				err, rc, "fragment %" PRIu64, message->rows[i]->fragment_id);
	}
	if (count > 1)
		qsort(condition->rows, count, sizeof(*condition->rows), compare_rows);
	for (size_t i = 1; i < count; i++)
		if (condition->rows[i].fragment == condition->rows[i - 1].fragment)
			return lancet_fail(err, LANCET_CORRUPT,
				"fragment %" PRIu64 " is named twice", condition->rows[i].fragment);
	return LANCET_OK;
}

/* Rows of no fragment, or no field: such an entry declares no cells. */
static bool
declares_cells(const struct condition *condition)
{
	bool rows = false;

	for (size_t i = 0; i < condition->row_count; i++)
		rows = rows || !is_empty(&condition->rows[i]);
	return rows && condition->field_count > 0;
}

static int
add(struct preconditions *conditions, ProtobufCBinaryData bytes, struct lancet_error *err)
{
	struct condition *condition = &conditions->list[conditions->count++];
	Lance__Table__Precondition *message = NULL;

	TRY(decode(bytes, &conditions->arena, &message, err));
	TRY(fill_fields(condition, message, err));
	return fill_rows(conditions, condition, message, err);
}

static int
fill(struct preconditions *conditions, const Lance__Table__Transaction *message,
	struct lancet_error *err)
{
	conditions->list = arena_zalloc(
		&conditions->arena, message->n_preconditions, sizeof(*conditions->list));
	if (conditions->list == NULL)
		return no_memory(err);
	for (size_t i = 0; i < message->n_preconditions; i++) {
		int rc = add(conditions, message->preconditions[i], err);

		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "precondition %zu", i);
	}
	return LANCET_OK;
}

int
preconditions_open(const lancet_transaction *transaction, lancet_version *read,
	struct preconditions **ret_preconditions, struct lancet_error *err)
{
	struct preconditions *conditions;
	bool any = false;
	int rc;

	*ret_preconditions = NULL;
	if (transaction->message->n_preconditions == 0)
		return LANCET_OK;
	conditions = calloc(1, sizeof(*conditions));
	if (conditions == NULL)
		return no_memory(err);
	conditions->read = lancet_version_ref(read);
	rc = fill(conditions, transaction->message, err);
	for (size_t i = 0; i < conditions->count; i++)
		any = any || declares_cells(&conditions->list[i]);
	if (rc != LANCET_OK || !any)
		preconditions_free(conditions);
	else
		*ret_preconditions = conditions;
	return rc;
}

void
preconditions_free(struct preconditions *preconditions)
{
	if (preconditions == NULL)
		return;
	for (size_t i = 0; i < preconditions->count; i++)
		for (size_t k = 0; k < preconditions->list[i].row_count; k++)
			if (preconditions->list[i].rows[k].offsets != NULL)
				roaring_bitmap_free(preconditions->list[i].rows[k].offsets);
	arena_release(&preconditions->arena);
	lancet_version_unref(preconditions->read);
	free(preconditions);
}

static bool
bytes_equal(struct lancet_bytes a, struct lancet_bytes b)
{
	return slice_equal(slice_of(a.data, a.size), slice_of(b.data, b.size));
}

static bool
bases_are_the_same(const lancet_version *read, const lancet_version *current)
{
	for (size_t i = 0; i < read->info.base_path_count; i++) {
		const struct lancet_base_path *was = &read->base_paths[i];
		const struct lancet_base_path *is = version_base_path(current, was->id);

		was = version_base_path(read, was->id);
		if (is == NULL || is->is_dataset_root != was->is_dataset_root ||
			!bytes_equal(is->path, was->path))
			return false;
	}
	return true;
}

static int
check_one(struct condition_check *check)
{
	TRY(condition_check_fields(check));
	for (size_t i = 0; i < check->condition->row_count; i++)
		if (!is_empty(&check->condition->rows[i]))
			TRY(condition_check_rows(check, &check->condition->rows[i]));
	return LANCET_OK;
}

int
preconditions_check(const struct preconditions *preconditions, lancet_version *current,
	struct precondition_failure *ret_failure, struct lancet_error *err)
{
	lancet_version *read = preconditions->read;
	struct condition_check check = {
		.read = read, .current = current, .failure = ret_failure, .err = err
	};

	if (current == read || current->info.number == read->info.number)
		return LANCET_OK;
	check.same_bases = bases_are_the_same(read, current);
	for (size_t i = 0; i < preconditions->count; i++) {
		int rc;

		if (!declares_cells(&preconditions->list[i]))
			continue;
		check.condition = &preconditions->list[i];
		rc = check_one(&check);
		free(check.fields);
		check.fields = NULL;
		check.field_count = 0;
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "precondition %zu", i);
	}
	return LANCET_OK;
}

uint64_t
preconditions_broken_by(const struct preconditions *preconditions, lancet_version *current)
{
	uint64_t first = preconditions->read->info.number + 1, last = current->info.number;

	if (last < first || last - first >= VERSIONS_BACK_MAX)
		return 0;
	for (uint64_t number = first; number <= last; number++) {
		struct precondition_failure failure;
		lancet_version *version;
		int rc;

		if (lancet_version_open(lancet_version_dataset(current), number, &version, NULL) !=
			LANCET_OK)
			return 0;
		rc = preconditions_check(preconditions, version, &failure, NULL);
		lancet_version_unref(version);
		if (rc != LANCET_OK)
			return rc == LANCET_PRECONDITION ? number : 0;
	}
	return 0;
}
