/* Readers of a fragment's columns; see fragment_data.h. */
#include "fragment_data.h"

#include <stdlib.h>

#include "overlay.h"
#include "util/macros.h"

/* What is kept of a top-level field once it was read. */
struct root_state {
	struct field_reader *reader;
	struct overlay_set *overlays;
	bool is_open;
};

struct fragment_data {
	const struct data_schema *schema;
	struct data_files *files;
	struct root_state *roots;
};

int
fragment_data_open(struct lancet_fragment *fragment, const struct data_schema *schema,
	struct file_pool *pool, struct fragment_data **ret_data, struct lancet_error *err)
{
	struct fragment_data *data = calloc(1, sizeof(*data));
	int rc;

	if (data == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns of a fragment");
	data->schema = schema;
	data->roots = calloc(schema->tree.root_count + 1, sizeof(*data->roots));
	if (data->roots == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "columns of a fragment");
	else
		rc = data_files_open(fragment, schema, pool, &data->files, err);
	if (rc != LANCET_OK) {
		fragment_data_free(data);
		return rc;
	}
	*ret_data = data;
	return LANCET_OK;
}

void
fragment_data_free(struct fragment_data *data)
{
	if (data == NULL)
		return;
	for (size_t i = 0; data->roots != NULL && i < data->schema->tree.root_count; i++) {
		field_reader_free(data->roots[i].reader);
		overlay_set_free(data->roots[i].overlays);
	}
	free(data->roots);
	data_files_free(data->files);
	free(data);
}

static int
open_root(struct fragment_data *data, size_t number, struct lancet_error *err)
{
	const struct field *root = &data->schema->tree.roots[number];
	struct root_state *state = &data->roots[number];

	if (state->is_open)
		return LANCET_OK;
	if (state->reader == NULL)
		TRY(data_files_reader(data->files, root, &state->reader, err));
	TRY(overlay_set_open(data->files, root, &state->overlays, err));
	state->is_open = true;
	return LANCET_OK;
}

int
fragment_data_read(struct fragment_data *data, size_t root, const struct row_range *ranges,
	size_t count, struct array *out, struct lancet_error *err)
{
	const struct field *field = &data->schema->tree.roots[root];
	const struct root_state *state = &data->roots[root];
	int rc = open_root(data, root, err);

	if (rc == LANCET_OK && state->overlays == NULL)
		rc = data_files_wrap(data->files, field,
			field_reader_read(state->reader, ranges, count, out, err), err);
	else if (rc == LANCET_OK)
		rc = overlay_set_read(state->overlays, state->reader, ranges, count, out, err);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "column %.*s",
					 field->name.size < 100 ? (int)field->name.size : 100,
					 (const char *)field->name.data);
}

int
fragment_data_places(struct fragment_data *data, size_t root, struct column_place *places,
	struct lancet_error *err)
{
	return data_files_places(data->files, &data->schema->tree.roots[root], places, err);
}
