/* Soundness of fragment messages. */
#include "fragment_checks.h"

#include <inttypes.h>

#include "lance/table.pb-c.h"
#include "store.h"
#include "util/macros.h"

typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__DataFile DataFile;
typedef Lance__Table__DeletionFile DeletionFile;

static bool
bytes_same(ProtobufCBinaryData one, ProtobufCBinaryData other)
{
	return slice_equal(slice_of(one.data, one.len), slice_of(other.data, other.len));
}

static bool
base_same(int one_case, uint32_t one, int other_case, uint32_t other)
{
	return (one_case != 0) == (other_case != 0) && (one_case == 0 || one == other);
}

static bool
numbers_same(const int32_t *one, size_t one_count, const int32_t *other, size_t other_count)
{
	return one_count == other_count &&
	       (one_count == 0 || memcmp(one, other, one_count * sizeof(*one)) == 0);
}

bool
data_file_same(const DataFile *one, const DataFile *other)
{
	return bytes_same(one->path, other->path) &&
	       numbers_same(one->fields, one->n_fields, other->fields, other->n_fields) &&
	       numbers_same(one->column_indices, one->n_column_indices, other->column_indices,
		       other->n_column_indices) &&
	       one->file_major_version == other->file_major_version &&
	       one->file_minor_version == other->file_minor_version &&
	       base_same(one->base_id_presence_case, one->base_id, other->base_id_presence_case,
		       other->base_id);
}

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
	return check_base(draft, (int)deletion->base_id_presence_case, deletion->base_id, err);
}

int
checks_new(const struct draft *draft, const Fragment *fragment, const struct numbers *field_ids,
	struct lancet_error *err)
{
	int rc = check_new(draft, fragment, field_ids, err);

	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "new fragment %" PRIu64, fragment->id);
}

static bool
has_file(const Fragment *fragment, const DataFile *file)
{
	for (size_t i = 0; i < fragment->n_files; i++)
		if (bytes_same(fragment->files[i]->path, file->path))
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
	       base_same((int)one->base_id_presence_case, one->base_id,
		       (int)other->base_id_presence_case, other->base_id);
}

int
checks_deletion(
	const Fragment *image, const Fragment *current, bool *ret_whole, struct lancet_error *err)
{
	const DeletionFile *wanted = image->deletion_file;
	const DeletionFile *there = current->deletion_file;
	uint64_t rows = current->physical_rows;

	*ret_whole = false;
	if (wanted == NULL && there == NULL)
		return LANCET_OK;
	if (wanted != NULL && there != NULL && vector_same(wanted, there))
		return LANCET_OK;
	if (wanted == NULL || (there != NULL && wanted->num_deleted_rows < there->num_deleted_rows))
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 ": rows that are deleted would come back", image->id);
	if (wanted->num_deleted_rows == 0)
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 ": the deletion file does not say how many it deletes",
			image->id);
	if (rows != 0 && wanted->num_deleted_rows > rows)
		return lancet_fail(err, LANCET_CORRUPT,
			"fragment %" PRIu64 ": %" PRIu64 " of %" PRIu64 " rows deleted", image->id,
			wanted->num_deleted_rows, rows);
	*ret_whole = wanted->num_deleted_rows == rows;
	return LANCET_OK;
}
