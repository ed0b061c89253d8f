/* Data files, overlays and deletion files that a message names: transaction_sound.h. */
#include "transaction_sound.h"

#include <inttypes.h>
#include <stdlib.h>

#include "deletion.h"
#include "file/datafile.h"
#include "lance/transaction.pb-c.h"
#include "names.h"
#include "util/macros.h"
#include "util/roaringx.h"
#include "version.h"

#define FRAGMENT_ROWS_MAX (UINT64_C(1) << 32)
#define FIELD_UNASSIGNED  (-1)
#define FIELD_LINEAGE_MIN (-5)
#define FIELD_LINEAGE_MAX (-3)

typedef Lance__Table__DataFile stored_file;

/* A base of the message itself, which an Overwrite may bring. */
static const Lance__Table__BasePath *
initial_base(const struct sound *sound, uint32_t id)
{
	const Lance__Table__Transaction *message = sound->message;

	if (message == NULL ||
		message->operation_case != LANCE__TABLE__TRANSACTION__OPERATION_OVERWRITE)
		return NULL;
	for (size_t i = 0; i < message->overwrite->n_initial_bases; i++) {
		if (message->overwrite->initial_bases[i]->id == id)
			return message->overwrite->initial_bases[i];
	}
	return NULL;
}

static int
find_base(const struct sound *sound, bool has_base, uint32_t base_id, const lancet_base **ret_base,
	bool *ret_is_dataset)
{
	const Lance__Table__BasePath *given = has_base ? initial_base(sound, base_id) : NULL;
	const struct lancet_base_path *stored =
		has_base ? version_base_path(sound->read, base_id) : NULL;

	if (given != NULL) {
		*ret_is_dataset = given->is_dataset_root;
		return dataset_base_intern(sound->read->dataset,
			(struct lancet_bytes){ given->path.data, given->path.len }, ret_base,
			sound->err);
	}
	*ret_is_dataset = stored == NULL || stored->is_dataset_root;
	return lancet_version_base(sound->read, has_base, base_id, ret_base, sound->err);
}

int
sound_place(const struct sound *sound, const char *prefix, struct slice path, bool has_base,
	uint32_t base_id, struct store **ret_store, char **ret_key)
{
	const lancet_base *base;
	bool is_dataset;
	size_t size;
	char *key;
	int rc = store_key_check(path, sound->err);

	if (rc != LANCET_OK)
		return lancet_wrap(sound->err, rc, "path of a file");
	TRY(find_base(sound, has_base, base_id, &base, &is_dataset));
	size = is_dataset ? strlen(prefix) : 0;
	key = malloc(size + path.size + 1);
	if (key == NULL)
		return lancet_fail(sound->err, LANCET_NO_MEMORY, "path of a file");
	memcpy(key, prefix, size);
	memcpy(key + size, path.data, path.size);
	key[size + path.size] = '\0';
	*ret_store = base->store;
	*ret_key = key;
	return LANCET_OK;
}

static bool
is_version(const stored_file *file, enum file_version version)
{
	uint32_t major = file->file_major_version, minor = file->file_minor_version;

	switch (version) {
	case FILE_LEGACY:
		return major == 0 && minor <= 2;
	case FILE_2_0:
		return (major == 2 && minor == 0) || (major == 0 && minor == 3);
	default:
		return major == 2 && minor == (uint32_t)version - FILE_2_0;
	}
}

static int
check_column(const struct sound *sound, struct datafile *file, int32_t field, int32_t column,
	uint64_t rows)
{
	const struct file_column *metadata;

	if (field == FIELD_UNASSIGNED)
		return lancet_fail(sound->err, LANCET_CORRUPT, "a field without an id");
	if (column == -1)
		return LANCET_OK; /* a field whose children have the columns */
	if (column < 0 || (uint32_t)column >= datafile_column_count(file))
		return lancet_fail(sound->err, LANCET_CORRUPT,
			"field %" PRId32 " is in column %" PRId32 " of %" PRIu32, field, column,
			datafile_column_count(file));
	TRY(datafile_column(file, (uint32_t)column, &metadata, sound->err));
	if (field >= FIELD_LINEAGE_MIN && field <= FIELD_LINEAGE_MAX && rows != 0 &&
		metadata->length != rows)
		return lancet_fail(sound->err, LANCET_CORRUPT,
			"lineage column %" PRId32 " has %" PRIu64 " rows of %" PRIu64, field,
			metadata->length, rows);
	return LANCET_OK;
}

static int
check_columns(
	const struct sound *sound, const stored_file *stored, struct datafile *file, uint64_t rows)
{
	if (stored->n_fields == 0)
		return lancet_fail(sound->err, LANCET_CORRUPT, "no field is listed");
	if (datafile_version(file) == FILE_LEGACY)
		return LANCET_OK;
	if (stored->n_column_indices != stored->n_fields)
		return lancet_fail(sound->err, LANCET_CORRUPT, "%zu fields, but %zu columns",
			stored->n_fields, stored->n_column_indices);
	for (size_t i = 0; i < stored->n_fields; i++)
		TRY(check_column(sound, file, stored->fields[i], stored->column_indices[i], rows));
	return LANCET_OK;
}

/* `rows` UINT64_MAX or 0: any number. */
static int
check_open_file(const struct sound *sound, const stored_file *stored, struct source *source,
	uint64_t rows, uint64_t *ret_rows)
{
	struct datafile *file;
	uint64_t file_rows = 0;
	int rc;

	if (stored->file_size_bytes != 0 && stored->file_size_bytes != source->size)
		return lancet_fail(sound->err, LANCET_CORRUPT,
			"%" PRIu64 " bytes are recorded, the file has %" PRIu64,
			stored->file_size_bytes, source->size);
	TRY(datafile_open(source, &file, sound->err));
	if (!is_version(stored, datafile_version(file)))
		rc = lancet_fail(sound->err, LANCET_CORRUPT,
			"recorded as version %" PRIu32 ".%" PRIu32 ", the file is %s",
			stored->file_major_version, stored->file_minor_version,
			file_version_name(datafile_version(file)));
	else
		rc = datafile_row_count(file, &file_rows, sound->err);
	if (rc == LANCET_OK && rows != 0 && file_rows != rows)
		rc = lancet_fail(sound->err, LANCET_CORRUPT,
			"%" PRIu64 " rows, where %" PRIu64 " are due", file_rows, rows);
	if (rc == LANCET_OK)
		rc = check_columns(sound, stored, file, rows);
	datafile_unref(file);
	*ret_rows = file_rows;
	return rc;
}

static int
check_file(const struct sound *sound, const stored_file *file, uint64_t rows, uint64_t *ret_rows)
{
	lancet_autofree char *key = NULL;
	struct source *source;
	struct store *store;
	struct stat st;
	int rc;

	TRY(sound_place(sound, "data/", slice_of(file->path.data, file->path.len),
		file->base_id_presence_case != 0, file->base_id, &store, &key));
	rc = store_open_source(store, key, &source, &st, sound->err);
	if (rc == LANCET_OK) {
		rc = check_open_file(sound, file, source, rows, ret_rows);
		source_unref(source);
	}
	if (rc == LANCET_OK)
		rc = sound_keep(sound, store, key);
	return lancet_wrap(sound->err, rc, "%s", key);
}

int
sound_data_file(const struct sound *sound, const stored_file *file, uint64_t rows)
{
	uint64_t file_rows;

	if (rows >= FRAGMENT_ROWS_MAX)
		return lancet_fail(
			sound->err, LANCET_CORRUPT, "%" PRIu64 " rows in a fragment", rows);
	return check_file(sound, file, rows, &file_rows);
}

static int
count_coverage(
	const struct sound *sound, ProtobufCBinaryData bytes, uint64_t rows, uint64_t *ret_most)
{
	uint64_t limit = rows != 0 ? rows : FRAGMENT_ROWS_MAX, count;
	roaring_bitmap_t *bitmap;

	TRY(roaringx_load(slice_of(bytes.data, bytes.len), limit, limit, &bitmap, sound->err));
	count = roaring_bitmap_get_cardinality(bitmap);
	roaring_bitmap_free(bitmap);
	if (count > *ret_most)
		*ret_most = count;
	return LANCET_OK;
}

/* The file has a value for each row that is covered; where fields differ its longest column has
 * most. */
int
sound_overlay(
	const struct sound *sound, const Lance__Table__DataOverlayFile *overlay, uint64_t rows)
{
	const stored_file *file = overlay->data_file;
	uint64_t most = 0, file_rows = 0;

	if (file == NULL)
		return lancet_fail(sound->err, LANCET_CORRUPT, "overlay: no data file");
	if (overlay->coverage_case ==
		LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_SHARED_OFFSET_BITMAP) {
		TRY(count_coverage(sound, overlay->shared_offset_bitmap, rows, &most));
	} else if (overlay->coverage_case ==
		   LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_FIELD_COVERAGE) {
		if (overlay->field_coverage->n_offset_bitmaps != file->n_fields)
			return lancet_fail(sound->err, LANCET_CORRUPT,
				"overlay: %zu fields, but %zu bitmaps", file->n_fields,
				overlay->field_coverage->n_offset_bitmaps);
		for (size_t i = 0; i < file->n_fields; i++)
			TRY(count_coverage(
				sound, overlay->field_coverage->offset_bitmaps[i], rows, &most));
	} else {
		return lancet_fail(sound->err, LANCET_CORRUPT, "overlay: no coverage");
	}
	TRY(check_file(sound, file, 0, &file_rows));
	if (file_rows != most)
		return lancet_fail(sound->err, LANCET_CORRUPT,
			"overlay data/%.*s: %" PRIu64 " rows, %" PRIu64 " are covered",
			file->path.len < 200 ? (int)file->path.len : 200,
			(const char *)file->path.data, file_rows, most);
	return LANCET_OK;
}

int
sound_deletion_load(const struct sound *sound, uint64_t fragment,
	const Lance__Table__DeletionFile *file, uint64_t rows, roaring_bitmap_t **ret_set)
{
	bool is_bitmap = file->file_type == LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__BITMAP;
	lancet_autofree char *key = NULL;
	char path[DELETION_PATH_MAX];
	struct source *source;
	struct store *store;
	struct stat st;
	int rc;

	if (!is_bitmap &&
		file->file_type != LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__ARROW_ARRAY)
		return lancet_fail(
			sound->err, LANCET_CORRUPT, "deletion file: type %d", (int)file->file_type);
	deletion_path_format(fragment, file->read_version, file->id, is_bitmap, path);
	TRY(sound_place(sound, "", slice_text(path), file->base_id_presence_case != 0,
		file->base_id, &store, &key));
	rc = store_open_source(store, key, &source, &st, sound->err);
	if (rc == LANCET_OK) {
		rc = is_bitmap ? deletion_bitmap_parse(source, rows, rows, ret_set, sound->err)
			       : deletion_arrow_parse(source, rows, ret_set, sound->err);
		source_unref(source);
		if (rc == LANCET_OK && (rc = sound_keep(sound, store, key)) != LANCET_OK)
			roaring_bitmap_free(*ret_set);
	}
	return lancet_wrap(sound->err, rc, "%s", path);
}

/* A row that was deleted stays so. */
static int
check_kept(const struct sound *sound, uint64_t fragment, const Lance__Table__DeletionFile *before,
	uint64_t rows, const roaring_bitmap_t *set)
{
	roaring_bitmap_t *old;
	bool kept;

	TRY(sound_deletion_load(sound, fragment, before, rows, &old));
	kept = roaring_bitmap_is_subset(old, set);
	roaring_bitmap_free(old);
	if (!kept)
		return lancet_fail(sound->err, LANCET_CORRUPT,
			"deletion file: rows that were deleted in version %" PRIu64
			" are not in it",
			sound->read->info.number);
	return LANCET_OK;
}

int
sound_deletion(const struct sound *sound, uint64_t fragment, const Lance__Table__DeletionFile *file,
	uint64_t rows, const Lance__Table__DeletionFile *before)
{
	roaring_bitmap_t *set;
	uint64_t count;
	int rc = LANCET_OK;

	if (rows == 0 || rows >= FRAGMENT_ROWS_MAX)
		return lancet_fail(sound->err, LANCET_CORRUPT,
			"a deletion file of a fragment with %" PRIu64 " physical rows", rows);
	TRY(sound_deletion_load(sound, fragment, file, rows, &set));
	count = roaring_bitmap_get_cardinality(set);
	if (file->num_deleted_rows != 0 && file->num_deleted_rows != count)
		rc = lancet_fail(sound->err, LANCET_CORRUPT,
			"deletion file: %" PRIu64 " rows are recorded, it has %" PRIu64,
			file->num_deleted_rows, count);
	if (rc == LANCET_OK && before != NULL)
		rc = check_kept(sound, fragment, before, rows, set);
	roaring_bitmap_free(set);
	return rc;
}
