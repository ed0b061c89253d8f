/* Fields that the data files of a transaction may have values of. */
#include "fragment_checks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "util/macros.h"

typedef Lance__File__Field Field;

static int
compare_fields(const void *left, const void *right)
{
	const Field *a = *(const Field *const *)left;
	const Field *b = *(const Field *const *)right;

	return (a->id > b->id) - (a->id < b->id);
}

int
fields_by_id(
	Field *const *fields, size_t count, const Field ***ret_sorted, struct lancet_error *err)
{
	const Field **sorted = malloc((count + 1) * sizeof(*sorted));

	if (sorted == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < count; i++)
		sorted[i] = fields[i];
	qsort(sorted, count, sizeof(*sorted), compare_fields);
	*ret_sorted = sorted;
	return LANCET_OK;
}

const Field *
field_with_id(const Field *const *sorted, size_t count, int32_t id)
{
	const Field key = { .id = id }, *at = &key;
	const Field *const *found =
		bsearch(&at, sorted, count, sizeof(const Field *), compare_fields);

	return found == NULL ? NULL : *found;
}

static bool
type_same(const Field *one, const Field *other)
{
	return slice_equal(slice_of(one->logical_type.data, one->logical_type.len),
		slice_of(other->logical_type.data, other->logical_type.len));
}

/* An id that was dropped and given again is another field. */
static int
compare_schemas(const Lance__Table__Manifest *read, const Lance__Table__Manifest *newest,
	struct lancet_error *err)
{
	lancet_autofree const Field **then = NULL, **now = NULL;
	size_t at = 0;

	TRY(fields_by_id(read->fields, read->n_fields, &then, err));
	TRY(fields_by_id(newest->fields, newest->n_fields, &now, err));
	for (size_t i = 0; i < newest->n_fields; i++) {
		while (at < read->n_fields && then[at]->id < now[i]->id)
			at++;
		if (at < read->n_fields && then[at]->id == now[i]->id &&
			!type_same(then[at], now[i]))
			return lancet_fail(err, LANCET_CONFLICT,
				"field %" PRId32 " is of another type than in the version that was "
				"read: compute the change again",
				now[i]->id);
	}
	return LANCET_OK;
}

static void
put_ids(struct numbers *ids, Field *const *fields, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fields[i]->id >= 0)
			numbers_put(ids, (uint64_t)fields[i]->id);
}

int
checks_fields(struct draft *draft, Field *const *fields, size_t count, struct numbers *ret_ids,
	struct lancet_error *err)
{
	const lancet_version *version = draft->rebase == NULL ? draft->newest : draft->rebase->read;
	const Lance__Table__Manifest *read = version == NULL ? draft->head : version->message;

	if (read != draft->head && version != draft->newest)
		TRY(compare_schemas(read, draft->head, err));
	*ret_ids = (struct numbers){ 0 };
	if (!numbers_reserve(
		    ret_ids, read->n_fields + draft->head->n_fields + count, &draft->arena))
		return draft_no_memory(err);
	put_ids(ret_ids, read->fields, read->n_fields);
	put_ids(ret_ids, draft->head->fields, draft->head->n_fields);
	put_ids(ret_ids, fields, count);
	numbers_sort(ret_ids);
	return LANCET_OK;
}

static bool
has_id(const struct numbers *ids, int32_t id)
{
	return id >= 0 && numbers_find(ids, (uint64_t)id) != SIZE_MAX;
}

int
checks_new_fields(const struct draft *draft, Field *const *fields, size_t count, bool kept,
	struct lancet_error *err)
{
	const Lance__Table__Manifest *head = draft->head;
	struct arena arena = { 0 };
	struct numbers known = { 0 };
	int rc = LANCET_OK;

	if (head->max_allocated_field_id_presence_case == 0)
		return LANCET_OK;
	if (!numbers_reserve(&known, head->n_fields, &arena))
		return draft_no_memory(err);
	if (kept)
		put_ids(&known, head->fields, head->n_fields);
	numbers_sort(&known);
	for (size_t i = 0; i < count && rc == LANCET_OK; i++)
		if (fields[i]->id <= head->max_allocated_field_id && !has_id(&known, fields[i]->id))
			rc = lancet_fail(err, LANCET_CONFLICT,
				"field id %" PRId32 " was given before, and ids up to %" PRId32
				" are not given again: compute the change again",
				fields[i]->id, head->max_allocated_field_id);
	arena_release(&arena);
	return rc;
}

void
fields_raise_mark(struct draft *draft)
{
	Lance__Table__Manifest *head = draft->head;

	if (head->max_allocated_field_id_presence_case == 0)
		return;
	for (size_t i = 0; i < head->n_fields; i++)
		if (head->fields[i]->id > head->max_allocated_field_id) {
			head->max_allocated_field_id = head->fields[i]->id;
			draft->changed |= DRAFT_FIELD_MARK;
		}
}
