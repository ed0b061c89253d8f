/* Project: a schema without some columns, or with another name for one. Format facts: Project,
 * schema.
 *
 * Field ids stay, so data files do. A field that is left without children goes with them, as the
 * reference does it.
 */
#include "change_build.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lance/transaction.pb-c.h"
#include "schema.h"
#include "util/macros.h"
#include "util/text.h"
#include "version.h"

#define NAME_MAX_SIZE ((size_t)4096) /* bytes */

typedef Lance__File__Field stored_field;

/* A Project with the fields that are marked in `kept`; NULL: with all of them. */
static int
set_project(lancet_change *change, stored_field *const *fields, const bool *kept,
	struct lancet_error *err)
{
	size_t count = change->read->message->n_fields;
	Lance__Table__Transaction__Project *project =
		change_alloc(change, 1, sizeof(*project), err);
	stored_field **schema = change_alloc(change, count, sizeof(*schema), err);

	if (project == NULL || schema == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__project__init(project);
	for (size_t i = 0; i < count; i++) {
		if (kept == NULL || kept[i])
			schema[project->n_schema++] = fields[i];
	}
	project->schema = schema;
	project->preserves_nullability = true;
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_PROJECT;
	change->message->project = project;
	return LANCET_OK;
}

/* What lies below a dropped field goes too, and what then has no children left. Parents come before
 * their children. */
static void
spread(const size_t *parents, size_t count, bool *kept, size_t *children)
{
	for (size_t i = 0; i < count; i++) {
		if (parents[i] < count && !kept[parents[i]])
			kept[i] = false;
		if (parents[i] < count)
			children[parents[i]]++;
	}
	for (size_t i = count; i-- > 0;) {
		if (!kept[i] && parents[i] < count && --children[parents[i]] == 0)
			kept[parents[i]] = false;
	}
}

static int
build_drop(lancet_change *change, const char *const *columns, struct lancet_error *err)
{
	const Lance__Table__Manifest *message = change->read->message;
	size_t count = message->n_fields, left = 0;
	lancet_autofree size_t *parents = NULL;
	lancet_autofree size_t *children = calloc(count + 1, sizeof(*children));
	lancet_autofree bool *kept = calloc(count + 1, sizeof(*kept));

	if (children == NULL || kept == NULL)
		return change_no_memory(err);
	TRY(schema_parents(message, &parents, err));
	memset(kept, true, count);
	for (size_t i = 0; columns[i] != NULL; i++) {
		size_t place;

		TRY(change_find_field(change->read, parents, columns[i], &place, err));
		kept[place] = false;
	}
	spread(parents, count, kept, children);
	for (size_t i = 0; i < count; i++)
		left += kept[i];
	if (left == 0)
		return lancet_fail(err, LANCET_INVALID, "all columns can't be dropped");
	return set_project(change, message->fields, kept, err);
}

int
lancet_change_drop_columns(lancet_version *read, const char *const *columns,
	lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change;

	if (columns[0] == NULL)
		return lancet_fail(err, LANCET_INVALID, "no column to drop");
	TRY(change_new(read, &change, err));
	return change_built(change, build_drop(change, columns, err), ret_change);
}

/* Names that queries take for something else. */
static bool
is_reserved(const char *name)
{
	static const char *const reserved[] = { "_rowid", "_rowaddr", "_rowoffset", "_distance",
		"_score", "_row_created_at_version", "_row_last_updated_at_version" };

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		if (strcmp(name, reserved[i]) == 0)
			return true;
	}
	return false;
}

static int
check_name(const char *to, bool top_level, struct lancet_error *err)
{
	if (to[0] == '\0')
		return lancet_fail(err, LANCET_INVALID, "the new name is empty");
	if (strlen(to) > NAME_MAX_SIZE)
		return lancet_fail(err, LANCET_LIMIT, "a name of %zu bytes, at most %zu",
			strlen(to), NAME_MAX_SIZE);
	if (!text_is_utf8(slice_text(to)))
		return lancet_fail(err, LANCET_INVALID, "the new name is not UTF-8");
	if (top_level && strpbrk(to, ".`") != NULL)
		return lancet_fail(err, LANCET_INVALID,
			"\"%.200s\": the name of a top-level column can't have a dot or backtick",
			to);
	if (top_level && is_reserved(to))
		return lancet_fail(err, LANCET_INVALID, "\"%.200s\": a reserved name", to);
	return LANCET_OK;
}

static bool
has_name(const stored_field *field, const char *name)
{
	return slice_equal(slice_of(field->name.data, field->name.len), slice_text(name));
}

static bool
is_struct(const stored_field *field)
{
	return slice_equal(
		slice_of(field->logical_type.data, field->logical_type.len), slice_text("struct"));
}

static int
build_rename(lancet_change *change, const char *column, const char *to, struct lancet_error *err)
{
	const Lance__Table__Manifest *message = change->read->message;
	size_t count = message->n_fields, place;
	stored_field **fields = change_alloc(change, count, sizeof(*fields), err);
	stored_field *renamed = change_alloc(change, 1, sizeof(*renamed), err);
	lancet_autofree size_t *parents = NULL;

	if (fields == NULL || renamed == NULL)
		return LANCET_NO_MEMORY;
	TRY(schema_parents(message, &parents, err));
	TRY(change_find_field(change->read, parents, column, &place, err));
	TRY(check_name(to, parents[place] == count, err));
	if (parents[place] < count && !is_struct(message->fields[parents[place]]))
		return lancet_fail(err, LANCET_INVALID,
			"column \"%.200s\": only columns and members of structs have names",
			column);
	for (size_t i = 0; i < count; i++) {
		fields[i] = message->fields[i];
		if (parents[i] == parents[place] && has_name(fields[i], to))
			return lancet_fail(err, i == place ? LANCET_INVALID : LANCET_EXISTS,
				"column \"%.200s\": %s", to,
				i == place ? "that is its name" : "there is one already");
	}
	*renamed = *message->fields[place];
	TRY(change_text(change, to, &renamed->name, err));
	fields[place] = renamed;
	return set_project(change, fields, NULL, err);
}

int
lancet_change_rename_column(lancet_version *read, const char *column, const char *to,
	lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change;

	TRY(change_new(read, &change, err));
	return change_built(change, build_rename(change, column, to, err), ret_change);
}
