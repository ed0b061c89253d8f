/* Soundness of fragment messages. */
#include "fragment_checks.h"

#include <inttypes.h>

#include "lance/table.pb-c.h"
#include "pbsame.h"
#include "store.h"
#include "util/macros.h"

#define FIELD_TOMBSTONE (-2)

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__DataFile DataFile;
typedef Lance__Table__DeletionFile DeletionFile;

static int
check_base(const struct draft *draft, int presence, uint32_t id, struct lancet_error *err)
{
	if (presence == 0)
		return LANCET_OK;
	for (size_t i = 0; i < draft->head->n_base_paths; i++)
		if (draft->head->base_paths[i]->id == id)
			return LANCET_OK;
	return lancet_fail(
		err, LANCET_INVALID, "base %" PRIu32 " is no base path of the dataset", id);
}

static int
check_ids(const DataFile *file, const struct numbers *field_ids, struct lancet_error *err)
{
	for (size_t i = 0; i < file->n_fields; i++)
		if (file->fields[i] >= 0 &&
			numbers_find(field_ids, (uint64_t)file->fields[i]) == SIZE_MAX)
			return lancet_fail(err, LANCET_INVALID,
				"field %" PRId32 " is not in the schema", file->fields[i]);
	return LANCET_OK;
}

int
checks_file(const struct draft *draft, const DataFile *file, const struct numbers *field_ids,
	struct lancet_error *err)
{
	int rc = store_key_check(slice_of(file->path.data, file->path.len), err);
	int shown = file->path.len < 120 ? (int)file->path.len : 120;

	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "data file path");
	rc = check_base(draft, (int)file->base_id_presence_case, file->base_id, err);
	if (rc == LANCET_OK)
		rc = check_ids(file, field_ids, err);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "data file %.*s", shown,
					 (const char *)file->path.data);
}

int
checks_place(const struct draft *draft, uint64_t id, size_t *ret_place, struct lancet_error *err)
{
	size_t place = draft_find(draft, id);

	if (place == SIZE_MAX)
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 " is not there, or named twice", id);
	*ret_place = place;
	return LANCET_OK;
}

/* What every reader must make of it. */
static int
check_vector(const struct draft *draft, const DeletionFile *deletion, struct lancet_error *err)
{
	if (deletion->file_type != LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__ARROW_ARRAY &&
		deletion->file_type != LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__BITMAP)
		return lancet_fail(err, LANCET_UNSUPPORTED, "deletion file of type %d",
			(int)deletion->file_type);
	return check_base(draft, (int)deletion->base_id_presence_case, deletion->base_id, err);
}

static int
check_new(const struct draft *draft, const Fragment *fragment, const struct numbers *field_ids,
	struct lancet_error *err)
{
	const DeletionFile *deletion = fragment->deletion_file;

	if (fragment->physical_rows == 0 || fragment->physical_rows > UINT32_MAX)
		return lancet_fail(err, LANCET_INVALID, "%" PRIu64 " rows: 1 to %" PRIu32 " can be",
			fragment->physical_rows, UINT32_MAX);
	if (fragment->n_overlays > 0)
		return lancet_fail(err, LANCET_INVALID, "a new fragment has overlays");
	if (fragment->external_row_ids != NULL || fragment->external_created_at_versions != NULL ||
		fragment->external_last_updated_at_versions != NULL)
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "lineage in a retired form (fields 6, 8 or 10)");
	for (size_t i = 0; i < fragment->n_files; i++)
		TRY(checks_file(draft, fragment->files[i], field_ids, err));
	if (deletion == NULL)
		return LANCET_OK;
	if (deletion->num_deleted_rows == fragment->physical_rows)
		return lancet_fail(err, LANCET_INVALID, "no row of a new fragment is left");
	return check_vector(draft, deletion, err);
}

int
checks_new(const struct draft *draft, const Fragment *fragment, const struct numbers *field_ids,
	struct lancet_error *err)
{
	int rc = check_new(draft, fragment, field_ids, err);

	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "new fragment %" PRIu64, fragment->id);
}

/* The same file, but that some of its columns may count no more. */
static bool
is_left_of(const DataFile *file, const DataFile *before)
{
	if (!pbsame_bytes(file->path, before->path) || file->n_fields != before->n_fields ||
		!pbsame_numbers(file->column_indices, file->n_column_indices,
			before->column_indices, before->n_column_indices) ||
		file->file_major_version != before->file_major_version ||
		file->file_minor_version != before->file_minor_version ||
		!pbsame_base(file->base_id_presence_case != 0, file->base_id,
			before->base_id_presence_case != 0, before->base_id))
		return false;
	for (size_t i = 0; i < file->n_fields; i++)
		if (file->fields[i] != before->fields[i] && file->fields[i] != FIELD_TOMBSTONE)
			return false;
	return true;
}

static bool
has_file(const Fragment *fragment, const DataFile *file)
{
	for (size_t i = 0; i < fragment->n_files; i++)
		if (is_left_of(file, fragment->files[i]))
			return true;
	return false;
}

int
checks_image(const struct draft *draft, const Fragment *image, const Fragment *current,
	const struct numbers *field_ids, struct lancet_error *err)
{
	int rc = LANCET_OK;

	if (current->physical_rows != 0 && image->physical_rows != current->physical_rows)
		rc = lancet_fail(err, LANCET_INVALID,
			"%" PRIu64 " rows, not the %" PRIu64 " it has", image->physical_rows,
			current->physical_rows);
	for (size_t i = 0; i < image->n_files && rc == LANCET_OK; i++)
		if (!has_file(current, image->files[i]))
			rc = checks_file(draft, image->files[i], field_ids, err);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "fragment %" PRIu64, image->id);
}

static bool
vector_same(const DeletionFile *one, const DeletionFile *other)
{
	return one->file_type == other->file_type && one->read_version == other->read_version &&
	       one->id == other->id &&
	       pbsame_base(one->base_id_presence_case != 0, one->base_id,
		       other->base_id_presence_case != 0, other->base_id);
}

/* `rows` 0: nobody has counted them. */
static int
check_count(const DeletionFile *wanted, const DeletionFile *there, uint64_t rows,
	struct lancet_error *err)
{
	uint64_t before = there == NULL ? 0 : there->num_deleted_rows;

	if (wanted->num_deleted_rows == 0)
		return lancet_fail(
			err, LANCET_INVALID, "the deletion file does not say how many it deletes");
	if (rows != 0 && wanted->num_deleted_rows > rows)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " of %" PRIu64 " rows deleted",
			wanted->num_deleted_rows, rows);
	if (wanted->num_deleted_rows < before)
		return lancet_fail(err, LANCET_INVALID, "rows that are deleted would come back");
	if (before != 0 && wanted->num_deleted_rows != before && vector_same(wanted, there))
		return lancet_fail(err, LANCET_CORRUPT,
			"one deletion file of %" PRIu64 " and of %" PRIu64 " rows", before,
			wanted->num_deleted_rows);
	return LANCET_OK;
}

int
checks_deletion(const struct draft *draft, const Fragment *image, const Fragment *current,
	bool *ret_whole, struct lancet_error *err)
{
	const DeletionFile *wanted = image->deletion_file;
	const DeletionFile *there = current->deletion_file;
	int rc = LANCET_OK;

	*ret_whole = false;
	if (wanted == NULL && there == NULL)
		return LANCET_OK;
	if (wanted == NULL)
		rc = lancet_fail(err, LANCET_INVALID, "rows that are deleted would come back");
	if (rc == LANCET_OK)
		rc = check_vector(draft, wanted, err);
	if (rc == LANCET_OK)
		rc = check_count(wanted, there, current->physical_rows, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "fragment %" PRIu64, image->id);
	*ret_whole = wanted->num_deleted_rows == current->physical_rows;
	return LANCET_OK;
}
