/* Whether the fields of a condition are what they were: name apart.
 *
 * A cell is a value of its field and of all that is below it, and it is null where a field above it
 * is; so these are watched, too.
 */
#include "precondition.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "precondition_parts.h"
#include "util/macros.h"
#include "util/slice.h"

#define NAME_SIZE 160u

/* The fields of one version that are watched, and for whom. */
struct view {
	const struct lancet_field *fields; /* stored order: parents first */
	size_t count;
	size_t *by_id;   /* places, by id; of equal ids the first one first */
	int32_t *named;  /* by place: the condition's field, or -1 */
	size_t *watched; /* places of those, by id, each once */
	size_t watched_count;
};

static void
view_release(struct view *view)
{
	free(view->by_id);
	free(view->named);
	free(view->watched);
}

struct ranked {
	int32_t id;
	size_t place;
};

static int
compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static int
sort_by_id(struct view *view, struct lancet_error *err)
{
	lancet_autofree struct ranked *ranked = calloc(view->count + 1, sizeof(*ranked));

	view->by_id = calloc(view->count + 1, sizeof(*view->by_id));
	view->named = calloc(view->count + 1, sizeof(*view->named));
	view->watched = calloc(view->count + 1, sizeof(*view->watched));
	if (ranked == NULL || view->by_id == NULL || view->named == NULL || view->watched == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu fields", view->count);
	for (size_t i = 0; i < view->count; i++) {
		ranked[i] = (struct ranked){ view->fields[i].id, i };
		view->named[i] = -1;
	}
	qsort(ranked, view->count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < view->count; i++)
		view->by_id[i] = ranked[i].place;
	return LANCET_OK;
}

/* The place of the first field with the id; SIZE_MAX. */
static size_t
view_find(const struct view *view, int32_t id)
{
	size_t low = 0, high = view->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (view->fields[view->by_id[middle]].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == view->count || view->fields[view->by_id[low]].id != id)
		return SIZE_MAX;
	return view->by_id[low];
}

static bool
is_named(const struct condition *condition, int32_t id)
{
	size_t low = 0, high = condition->field_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (condition->fields[middle] < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < condition->field_count && condition->fields[low] == id;
}

/* The named fields and what is below: a parent comes before its children. Then those above. */
static void
mark(struct view *view, const struct condition *condition)
{
	for (size_t i = 0; i < view->count; i++) {
		size_t parent = view->fields[i].parent_id < 0
					? SIZE_MAX
					: view_find(view, view->fields[i].parent_id);

		if (is_named(condition, view->fields[i].id))
			view->named[i] = view->fields[i].id;
		else if (parent < i && view->named[parent] >= 0)
			view->named[i] = view->named[parent];
	}
	for (size_t i = view->count; i-- > 0;) {
		size_t parent;

		if (view->named[i] < 0 || view->fields[i].parent_id < 0)
			continue;
		parent = view_find(view, view->fields[i].parent_id);
		if (parent < i && view->named[parent] < 0)
			view->named[parent] = view->named[i];
	}
	for (size_t i = 0; i < view->count; i++)
		if (view->named[view->by_id[i]] >= 0)
			view->watched[view->watched_count++] = view->by_id[i];
}

static int
view_init(struct view *view, lancet_version *version, const struct condition *condition,
	struct lancet_error *err)
{
	TRY(lancet_version_fields(version, &view->fields, &view->count, err));
	TRY(sort_by_id(view, err));
	mark(view, condition);
	return LANCET_OK;
}

static bool
is_same(const struct lancet_field *was, const struct lancet_field *is)
{
	return was->id == is->id && was->parent_id == is->parent_id &&
	       was->nullable == is->nullable &&
	       slice_equal(slice_of(was->logical_type.data, was->logical_type.size),
		       slice_of(is->logical_type.data, is->logical_type.size));
}

/* The first of the watched fields in which the two differ. */
static int
compare_views(struct condition_check *check, const struct view *was, const struct view *is)
{
	for (size_t i = 0; i < was->watched_count || i < is->watched_count; i++) {
		size_t before = i < was->watched_count ? was->watched[i] : SIZE_MAX;
		size_t after = i < is->watched_count ? is->watched[i] : SIZE_MAX;

		if (before == SIZE_MAX ||
			(after != SIZE_MAX && is->fields[after].id < was->fields[before].id))
			return condition_broken(check, is->named[after], UINT64_MAX, "extended");
		if (view_find(is, was->fields[before].id) == SIZE_MAX)
			return condition_broken(check, was->named[before], UINT64_MAX, "dropped");
		if (after == SIZE_MAX || !is_same(&was->fields[before], &is->fields[after]))
			return condition_broken(check, was->named[before], UINT64_MAX, "retyped");
	}
	return LANCET_OK;
}

static int
fill_watched(struct condition_check *check, const struct view *view)
{
	check->fields = calloc(view->watched_count + 1, sizeof(*check->fields));
	if (check->fields == NULL)
		return lancet_fail(check->err, LANCET_NO_MEMORY, "%zu fields", view->watched_count);
	for (size_t i = 0; i < view->watched_count; i++) {
		size_t place = view->watched[i];
		int32_t id = view->fields[place].id;

		if (i > 0 && check->fields[check->field_count - 1].id == id)
			continue;
		check->fields[check->field_count++] =
			(struct watched_field){ id, view->named[place] };
	}
	return LANCET_OK;
}

static int
check_views(struct condition_check *check, struct view *was, struct view *is)
{
	const struct condition *condition = check->condition;

	TRY(view_init(was, check->read, condition, check->err));
	for (size_t i = 0; i < condition->field_count; i++)
		if (view_find(was, condition->fields[i]) == SIZE_MAX)
			return lancet_fail(check->err, LANCET_CORRUPT,
				"field %" PRId32 " is not in version %" PRIu64 ", which was read",
				condition->fields[i], check->read->info.number);
	TRY(view_init(is, check->current, condition, check->err));
	for (size_t i = 0; i < condition->field_count; i++)
		if (view_find(is, condition->fields[i]) == SIZE_MAX)
			return condition_broken(check, condition->fields[i], UINT64_MAX, "dropped");
	TRY(compare_views(check, was, is));
	return fill_watched(check, was);
}

int
condition_check_fields(struct condition_check *check)
{
	struct view was = { 0 }, is = { 0 };
	int rc = check_views(check, &was, &is);

	view_release(&was);
	view_release(&is);
	return rc;
}

const struct watched_field *
condition_watched(const struct condition_check *check, int32_t id)
{
	size_t low = 0, high = check->field_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (check->fields[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == check->field_count || check->fields[low].id != id)
		return NULL;
	return &check->fields[low];
}

const struct lancet_field *
condition_field(const struct lancet_field *fields, size_t count, int32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (fields[i].id == id)
			return &fields[i];
	return NULL;
}

/* The dotted path of a field, the end of it when it is long. */
static void
put_path(lancet_version *version, int32_t id, char into[NAME_SIZE])
{
	const struct lancet_field *fields = NULL, *field;
	char text[NAME_SIZE] = "";
	size_t count = 0;

	if (lancet_version_fields(version, &fields, &count, NULL) != LANCET_OK)
		count = 0;
	for (field = condition_field(fields, count, id); field != NULL;
		field = field->parent_id < 0 ? NULL
					     : condition_field(fields, (size_t)(field - fields),
						       field->parent_id)) {
		int size = field->name.size > NAME_SIZE ? (int)NAME_SIZE : (int)field->name.size;

		(void)snprintf(into, NAME_SIZE, "%.*s%s%s", size, (const char *)field->name.data,
			*text == '\0' ? "" : ".", text);
		memcpy(text, into, NAME_SIZE);
	}
	memcpy(into, text, NAME_SIZE);
}

int
condition_broken(
	struct condition_check *check, int32_t field, uint64_t fragment, const char *reason)
{
	struct precondition_failure *failure = check->failure;
	char name[NAME_SIZE];

	put_path(check->read, field, name);
	failure->field = field;
	failure->fragment = fragment;
	failure->reason = reason;
	if (fragment == UINT64_MAX)
		(void)snprintf(failure->text, sizeof(failure->text),
			"field \"%s\" was %s since version %" PRIu64, name, reason,
			check->read->info.number);
	else
		(void)snprintf(failure->text, sizeof(failure->text),
			"field \"%s\", fragment %" PRIu64 ": %s since version %" PRIu64, name,
			fragment, reason, check->read->info.number);
	return lancet_fail(check->err, LANCET_PRECONDITION, "%s", failure->text);
}
