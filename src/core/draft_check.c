/* What must hold of a fragment before others may read it: of every one that is encoded anew.
 *
 * Format facts: data files, overlays, spilled sequences, common build steps.
 */
#include "draft_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"

#define FIELD_TOMBSTONE (-2)

/* The lineage columns, by enum lancet_lineage: what their field id is. */
static const int32_t carried_ids[] = {
	[LANCET_ROW_ID] = -3, [LANCET_CREATED_AT] = -4, [LANCET_LAST_UPDATED_AT] = -5
};

static bool
file_is_dead(const Lance__Table__DataFile *file)
{
	for (size_t i = 0; i < file->n_fields; i++)
		if (file->fields[i] != FIELD_TOMBSTONE)
			return false;
	return file->n_fields > 0;
}

/* The list may belong to the transaction, which keeps it as it is. */
static int
drop_dead_files(Lance__Table__DataFragment *message, struct arena *arena, struct lancet_error *err)
{
	Lance__Table__DataFile **kept;
	size_t count = 0;

	for (size_t i = 0; i < message->n_files; i++)
		count += !file_is_dead(message->files[i]);
	if (count == message->n_files)
		return LANCET_OK;
	kept = arena_zalloc(arena, count + 1, sizeof(Lance__Table__DataFile *));
	if (kept == NULL)
		return draft_no_memory(err);
	count = 0;
	for (size_t i = 0; i < message->n_files; i++)
		if (!file_is_dead(message->files[i]))
			kept[count++] = message->files[i];
	message->files = kept;
	message->n_files = count;
	return LANCET_OK;
}

static int
check_file(const Lance__Table__DataFile *file, struct lancet_error *err)
{
	enum file_version format;
	int length = file->path.len > 100 ? 100 : (int)file->path.len;
	const char *path = (const char *)file->path.data;

	if (!file_version_of(file->file_major_version, file->file_minor_version, &format))
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"data file %.*s: version %" PRIu32 ".%" PRIu32, length, path,
			file->file_major_version, file->file_minor_version);
	if (file->n_fields == 0)
		return lancet_fail(err, LANCET_INVALID, "data file %.*s: no fields", length, path);
	if (format != FILE_LEGACY && file->n_column_indices != 0 &&
		file->n_column_indices != file->n_fields)
		return lancet_fail(err, LANCET_INVALID,
			"data file %.*s: %zu fields, %zu column indices", length, path,
			file->n_fields, file->n_column_indices);
	return LANCET_OK;
}

static int
check_overlays(const Lance__Table__DataFragment *message, struct lancet_error *err)
{
	for (size_t i = 0; i < message->n_overlays; i++) {
		const Lance__Table__DataOverlayFile *overlay = message->overlays[i];

		if (overlay->data_file == NULL)
			return lancet_fail(err, LANCET_INVALID, "overlay %zu: no data file", i);
		TRY(check_file(overlay->data_file, err));
		if (i > 0 &&
			message->overlays[i - 1]->committed_version > overlay->committed_version)
			return lancet_fail(err, LANCET_INVALID,
				"overlay %zu was committed before the one ahead of it", i);
	}
	return LANCET_OK;
}

/* How often a file lists the field as a column that is there. */
static size_t
count_columns(const Lance__Table__DataFile *file, int32_t field)
{
	enum file_version format;
	size_t count = 0;

	if (!file_version_of(file->file_major_version, file->file_minor_version, &format) ||
		format == FILE_LEGACY)
		return 0;
	for (size_t i = 0; i < file->n_fields && i < file->n_column_indices; i++)
		count += file->fields[i] == field && file->column_indices[i] >= 0;
	return count;
}

/* A spilled sequence is in exactly one data file; with any other number no later commit of anybody
 * would pass. */
static int
check_carriers(const Lance__Table__DataFragment *message, struct lancet_error *err)
{
	for (size_t which = 0; which < ARRAY_SIZE(carried_ids); which++) {
		size_t count = 0;

		if (!draft_is_spilled(message, (enum lancet_lineage)which))
			continue;
		for (size_t i = 0; i < message->n_files; i++)
			count += count_columns(message->files[i], carried_ids[which]);
		if (count != 1)
			return lancet_fail(err, LANCET_INVALID,
				"lineage column %" PRId32 " is in %zu data files, not in one",
				carried_ids[which], count);
	}
	return LANCET_OK;
}

static int
compare_fields(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;

	return (a > b) - (a < b);
}

/* A field has one place, or the order of the files would decide what its values are. */
static int
check_fields(const Lance__Table__DataFragment *message, struct lancet_error *err)
{
	lancet_autofree int32_t *fields = NULL;
	size_t count = 0, at = 0;

	for (size_t i = 0; i < message->n_files; i++)
		count += message->files[i]->n_fields;
	fields = calloc(count + 1, sizeof(*fields));
	if (fields == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < message->n_files; i++)
		for (size_t k = 0; k < message->files[i]->n_fields; k++)
			fields[at++] = message->files[i]->fields[k];
	qsort(fields, count, sizeof(*fields), compare_fields);
	for (size_t i = 1; i < count; i++)
		if (fields[i] >= 0 && fields[i] == fields[i - 1])
			return lancet_fail(err, LANCET_INVALID,
				"field %" PRId32 " is in two places of the data files", fields[i]);
	return LANCET_OK;
}

static int
check_counts(const Lance__Table__DataFragment *message, struct lancet_error *err)
{
	if (message->physical_rows == 0 || message->physical_rows > UINT32_MAX)
		return lancet_fail(
			err, LANCET_INVALID, "%" PRIu64 " physical rows", message->physical_rows);
	if (message->deletion_file == NULL)
		return LANCET_OK;
	if (message->deletion_file->num_deleted_rows == 0 ||
		message->deletion_file->num_deleted_rows > message->physical_rows)
		return lancet_fail(err, LANCET_INVALID,
			"deletion file of %" PRIu64 " of %" PRIu64 " rows",
			message->deletion_file->num_deleted_rows, message->physical_rows);
	return LANCET_OK;
}

int
draft_check_fragment(const struct draft *draft, struct Lance__Table__DataFragment *message,
	struct arena *arena, struct lancet_error *err)
{
	TRY(drop_dead_files(message, arena, err));
	for (size_t i = 0; i < message->n_files; i++)
		TRY(check_file(message->files[i], err));
	TRY(check_fields(message, err));
	TRY(check_overlays(message, err));
	TRY(check_carriers(message, err));
	if (draft->stable_row_ids && message->row_id_sequence_case ==
					     LANCE__TABLE__DATA_FRAGMENT__ROW_ID_SEQUENCE__NOT_SET)
		return lancet_fail(
			err, LANCET_INVALID, "no row ids, in a dataset with stable ones");
	return check_counts(message, err);
}
