/* fragments/ and what is in a fragment. SPEC section 3.
 *
 * Fragments have an index (their ordinal), so listing 100,000 of them copies nothing. Sizes of
 * per-row files are arithmetic over what the manifest records. A damaged fragment is listed, and
 * its own files fail.
 */
#include "place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columnfile.h"
#include "render.h"
#include "util/macros.h"
#include "util/text.h"

static int
count_fragments(const struct node_ref *ref, uint64_t *ret_count, struct lancet_error *err)
{
	(void)err;
	*ret_count = lancet_version_info(ref->version)->fragment_count;
	return LANCET_OK;
}

static void
fragment_at(const struct node_ref *ref, uint64_t index, struct node_child *ret_child)
{
	(void)ref;
	*ret_child = (struct node_child){ .kind = NODE_FRAGMENT, .ordinal = index };
}

/* Only a damaged manifest has an id twice: those after the first are told apart by their ordinal.
 */
static int
label_fragment(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	struct lancet_fragment_span span, before = { 0 };

	if (ref->ordinal >= lancet_version_info(ref->version)->fragment_count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such fragment");
	lancet_version_span(ref->version, ref->ordinal, &span);
	if (ref->ordinal > 0)
		lancet_version_span(ref->version, ref->ordinal - 1, &before);
	if (ref->ordinal > 0 && before.id == span.id)
		snprintf(into, NODE_NAME_SIZE, "%" PRIu64 "%%~%" PRIu64, span.id, ref->ordinal);
	else
		snprintf(into, NODE_NAME_SIZE, "%" PRIu64, span.id);
	return LANCET_OK;
}

/* "ID%~ORDINAL" as label_fragment writes it. */
static int
find_repeated(const struct node_ref *ref, const char *name, uint64_t *ret_ordinal,
	struct lancet_error *err)
{
	struct node_ref child = *ref;
	char label[NODE_NAME_SIZE];
	const char *mark = strstr(name, "%~");

	if (mark == NULL || !text_to_u64(slice_text(mark + 2), &child.ordinal) ||
		label_fragment(&child, label, err) != LANCET_OK || strcmp(label, name) != 0)
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such fragment", name);
	*ret_ordinal = child.ordinal;
	return LANCET_OK;
}

static int
find_fragment(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	uint64_t id, ordinal = 0;

	if (text_to_u64(slice_text(name), &id))
		TRY(lancet_version_find_fragment(ref->version, id, &ordinal, err));
	else
		TRY(find_repeated(ref, name, &ordinal, err));
	*ret_child = (struct node_child){ .kind = NODE_FRAGMENT, .ordinal = ordinal };
	return LANCET_OK;
}

static int
open_fragment(const struct node_ref *ref, lancet_fragment **ret_fragment, struct lancet_error *err)
{
	return lancet_fragment_open(ref->version, ref->ordinal, ret_fragment, err);
}

static bool
has_deletion_file(const struct node_ref *ref)
{
	lancet_fragment *fragment = NULL;
	bool has = open_fragment(ref, &fragment, NULL) == LANCET_OK &&
		   lancet_fragment_info(fragment)->has_deletion_file;

	lancet_fragment_unref(fragment);
	return has;
}

static bool
has_versions(const struct node_ref *ref)
{
	return lancet_version_info(ref->version)->stable_row_ids;
}

static int
list_files(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	const struct lancet_fragment_info *info;
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(open_fragment(ref, &fragment, err));
	info = lancet_fragment_info(fragment);
	rc = LANCET_OK;
	for (size_t i = 0; i < info->file_count && rc == LANCET_OK; i++) {
		struct lancet_bytes path = info->files[i].path;
		char name[NODE_NAME_SIZE];
		struct node_child child = { name, NODE_DATA_FILE, ref->ordinal, i };

		(void)text_name_encode(slice_of(path.data, path.size), name);
		rc = sink(context, &child);
	}
	lancet_fragment_unref(fragment);
	return rc;
}

static int
find_data_file(const struct node_ref *ref, lancet_fragment *fragment,
	const struct lancet_data_file **ret_file, struct lancet_error *err)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(fragment);

	if (ref->item >= info->file_count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such data file");
	*ret_file = &info->files[ref->item];
	return LANCET_OK;
}

static int
data_file(const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err)
{
	const struct lancet_data_file *file = NULL;
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(open_fragment(ref, &fragment, err));
	rc = find_data_file(ref, fragment, &file, err);
	if (rc == LANCET_OK)
		rc = lancet_data_file_path(
			ref->version, file, &ret_file->base, &ret_file->path, err);
	lancet_fragment_unref(fragment);
	return rc;
}

static int
measure_data_file(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	const struct lancet_data_file *file = NULL;
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(open_fragment(ref, &fragment, err));
	rc = find_data_file(ref, fragment, &file, err);
	if (rc == LANCET_OK)
		*ret_size = file->size != 0 ? file->size : UINT64_MAX;
	lancet_fragment_unref(fragment);
	return rc;
}

static int
label_data_file(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	const struct lancet_data_file *file = NULL;
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(open_fragment(ref, &fragment, err));
	rc = find_data_file(ref, fragment, &file, err);
	if (rc == LANCET_OK)
		(void)text_name_encode(slice_of(file->path.data, file->path.size), into);
	lancet_fragment_unref(fragment);
	return rc;
}

static int
deletion_file(const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err)
{
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(open_fragment(ref, &fragment, err));
	rc = lancet_deletion_file_path(fragment, &ret_file->base, &ret_file->path, err);
	lancet_fragment_unref(fragment);
	return rc;
}

/* Rows of the fragment by what the manifest records, or by its files where it does not. */
static int
fragment_rows(const struct node_ref *ref, uint64_t *ret_physical, uint64_t *ret_deleted,
	struct lancet_error *err)
{
	lancet_fragment *fragment = NULL;

	TRY(open_fragment(ref, &fragment, err));
	*ret_physical = lancet_fragment_info(fragment)->physical_rows;
	*ret_deleted = lancet_fragment_info(fragment)->deleted_rows;
	lancet_fragment_unref(fragment);
	return LANCET_OK;
}

static int
measure_deleted_rows(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	uint64_t physical, deleted;

	TRY(fragment_rows(ref, &physical, &deleted, err));
	*ret_size = deleted * LINE_32;
	return LANCET_OK;
}

static int
measure_lineage(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	uint64_t rows, deleted;

	TRY(fragment_rows(ref, &rows, &deleted, err));
	switch (ref->kind->id) {
	case NODE_LINEAGE_ALL:
		*ret_size = lineage_all_size(rows);
		break;
	case NODE_ROW_ID_RAW:
	case NODE_CREATED_AT_RAW:
	case NODE_UPDATED_AT_RAW:
		*ret_size = rows * sizeof(uint64_t);
		break;
	default:
		*ret_size = rows * LINE_64;
	}
	return LANCET_OK;
}

static int
records_column(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	switch (ref->kind->id) {
	case NODE_ROW_ID:
		return records_lineage(ref, LANCET_ROW_ID, false, ret_records, err);
	case NODE_CREATED_AT:
		return records_lineage(ref, LANCET_CREATED_AT, false, ret_records, err);
	case NODE_UPDATED_AT:
		return records_lineage(ref, LANCET_LAST_UPDATED_AT, false, ret_records, err);
	case NODE_ROW_ID_RAW:
		return records_lineage(ref, LANCET_ROW_ID, true, ret_records, err);
	case NODE_CREATED_AT_RAW:
		return records_lineage(ref, LANCET_CREATED_AT, true, ret_records, err);
	default:
		return records_lineage(ref, LANCET_LAST_UPDATED_AT, true, ret_records, err);
	}
}

static const uint8_t fragment_rows_ids[] = { NODE_FRAGMENT_INFO, NODE_FILES, NODE_OVERLAYS,
	NODE_DELETION_FILE, NODE_DELETED_ROWS, NODE_LINEAGE, NODE_COLUMNS_TSV, NODE_HEAD,
	NODE_NONE };
static const uint8_t lineage_rows[] = { NODE_ROW_ID, NODE_ROW_ID_RAW, NODE_CREATED_AT,
	NODE_CREATED_AT_RAW, NODE_UPDATED_AT, NODE_UPDATED_AT_RAW, NODE_LINEAGE_ALL, NODE_NONE };

#define LINEAGE_FILE(kind_id, file_name, has)                                                      \
	{                                                                                          \
		.id = (kind_id), .name = (file_name), .shape = SHAPE_RECORDS,                      \
		.parent = NODE_LINEAGE, .needs_version = true, .present = (has),                   \
		.measure = measure_lineage, .records = records_column                              \
	}

const struct node_kind rows_fragment[] = {
	{ .id = NODE_FRAGMENTS,
		.name = "fragments",
		.shape = SHAPE_DIR,
		.parent = NODE_VERSION,
		.needs_version = true,
		.find = find_fragment,
		.count = count_fragments,
		.at = fragment_at },
	{ .id = NODE_FRAGMENT,
		.shape = SHAPE_DIR,
		.parent = NODE_FRAGMENTS,
		.needs_version = true,
		.numbered = true,
		.rows = fragment_rows_ids,
		.label = label_fragment },
	{ .id = NODE_FRAGMENT_INFO,
		.name = "info.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_FRAGMENT,
		.needs_version = true,
		.render = render_fragment_info },
	{ .id = NODE_FILES,
		.name = "files",
		.shape = SHAPE_DIR,
		.parent = NODE_FRAGMENT,
		.needs_version = true,
		.list = list_files },
	{ .id = NODE_DATA_FILE,
		.shape = SHAPE_PASS,
		.parent = NODE_FILES,
		.needs_version = true,
		.label = label_data_file,
		.measure = measure_data_file,
		.file = data_file },
	{ .id = NODE_DELETION_FILE,
		.name = "deletion_file",
		.shape = SHAPE_PASS,
		.parent = NODE_FRAGMENT,
		.needs_version = true,
		.present = has_deletion_file,
		.file = deletion_file },
	{ .id = NODE_DELETED_ROWS,
		.name = "deleted_rows",
		.shape = SHAPE_RECORDS,
		.parent = NODE_FRAGMENT,
		.needs_version = true,
		.measure = measure_deleted_rows,
		.records = records_deleted_rows },
	{ .id = NODE_LINEAGE,
		.name = "lineage",
		.shape = SHAPE_DIR,
		.parent = NODE_FRAGMENT,
		.needs_version = true,
		.rows = lineage_rows },
	LINEAGE_FILE(NODE_ROW_ID, "_rowid", NULL),
	LINEAGE_FILE(NODE_CREATED_AT, "_row_created_at_version", has_versions),
	LINEAGE_FILE(NODE_UPDATED_AT, "_row_last_updated_at_version", has_versions),
	LINEAGE_FILE(NODE_ROW_ID_RAW, "_rowid.u64", NULL),
	LINEAGE_FILE(NODE_CREATED_AT_RAW, "_row_created_at_version.u64", has_versions),
	LINEAGE_FILE(NODE_UPDATED_AT_RAW, "_row_last_updated_at_version.u64", has_versions),
	{ .id = NODE_LINEAGE_ALL,
		.name = "all.tsv",
		.shape = SHAPE_RECORDS,
		.parent = NODE_LINEAGE,
		.needs_version = true,
		.measure = measure_lineage,
		.records = records_lineage_all },
	{ .id = NODE_COLUMNS_TSV,
		.name = "columns.tsv",
		.shape = SHAPE_TEXT,
		.parent = NODE_FRAGMENT,
		.needs_version = true,
		.computed = true,
		.render = render_columns_tsv },
	{ .id = NODE_HEAD,
		.name = "head.jsonl",
		.shape = SHAPE_TEXT,
		.parent = NODE_FRAGMENT,
		.needs_version = true,
		.computed = true,
		.render = render_head },
	{ .id = NODE_NONE },
};
