/* The schema's names sorted by field id: a fragment of a wide table looks thousands of them up. */
#include "fieldnames.h"

#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "version.h"

static int
compare_rows(const void *left, const void *right)
{
	const struct field_name *a = left;
	const struct field_name *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

int
field_names_load(const lancet_version *version, struct field_names *ret_names,
                 struct lancet_error *err)
{
	const Lance__Table__Manifest *message = version->message;
	struct field_name *rows = calloc(message->n_fields + 1, sizeof(*rows));
	size_t kept = 0;

	if (rows == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "names of %zu fields", message->n_fields);
	for (size_t i = 0; i < message->n_fields; i++) {
		const Lance__File__Field *field = message->fields[i];

		rows[i] = (struct field_name){ field->id, i,
			                       slice_of(field->name.data, field->name.len) };
	}
	qsort(rows, message->n_fields, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < message->n_fields; i++)
		if (kept == 0 || rows[i].id != rows[kept - 1].id)
			rows[kept++] = rows[i];
	ret_names->rows = rows;
	ret_names->count = kept;
	return LANCET_OK;
}

void
field_names_release(struct field_names *names)
{
	free(names->rows);
	*names = (struct field_names){ 0 };
}

static int
compare_id(const void *id, const void *row)
{
	const struct field_name *name = row;
	int32_t wanted = *(const int32_t *)id;

	return (wanted > name->id) - (wanted < name->id);
}

const struct field_name *
field_names_find(const struct field_names *names, int32_t id)
{
	if (names->count == 0)
		return NULL;
	return bsearch(&id, names->rows, names->count, sizeof(names->rows[0]), compare_id);
}

void
field_names_put(const struct field_names *names, struct jsonw *w, int32_t id)
{
	const struct field_name *name = field_names_find(names, id);

	if (name != NULL)
		jsonw_slice(w, "name", name->name);
	else if (id == FIELD_ROW_ID)
		jsonw_text(w, "name", "_rowid");
	else if (id == FIELD_CREATED_AT)
		jsonw_text(w, "name", "_row_created_at_version");
	else if (id == FIELD_LAST_UPDATED_AT)
		jsonw_text(w, "name", "_row_last_updated_at_version");
	else
		jsonw_null(w, "name");
}
