/* The three lineage columns of a fragment behind one reader, wherever the values are.
 *
 * Without stable row ids _rowid is the row address. With them it is a sequence in the manifest, and
 * the two version columns are sequences or, when absent, 1 for every row. A column that is marked
 * as stored elsewhere is never replaced by a default. Format facts: row ids and row versions,
 * spilled sequences.
 */
#include "column.h"

#include <inttypes.h>
#include <stdlib.h>

#include "data_files.h"
#include "deletion.h"
#include "fragment.h"
#include "lance/table.pb-c.h"
#include "sequence.h"
#include "spilled.h"
#include "util/buf.h"
#include "util/macros.h"
#include "version.h"

#define DEFAULT_VERSION 1u
/* Rows that an address has room for. */
#define OFFSETS_MAX (UINT64_C(1) << 32)

struct lancet_column {
	uint64_t rows;
	enum lancet_placement placement; /* any but NONE */
	uint64_t first_address;
	struct sequence *sequence; /* INLINE */
	struct spilled *spilled;   /* COLUMN */
	char *path;                /* COLUMN: of the data file */
};

static const struct lineage_kind {
	const char *name;
	int32_t field; /* of the hidden column in a data file */
	const struct sequence_ops *ops;
	const char *retired; /* the arm of older drafts */
	unsigned retired_number;
} kinds[FRAGMENT_LINEAGE] = {
	[LANCET_ROW_ID] = { "_rowid", -3, &rowids_ops, "external_row_ids", 6 },
	[LANCET_CREATED_AT] = { "_row_created_at_version", -4, &row_versions_ops,
		"external_created_at_versions", 10 },
	[LANCET_LAST_UPDATED_AT] = { "_row_last_updated_at_version", -5, &row_versions_ops,
		"external_last_updated_at_versions", 8 },
};

static bool
has_retired_arm(const struct lancet_fragment *fragment, enum lancet_lineage which)
{
	const struct Lance__Table__DataFragment *message = fragment->message;

	switch (which) {
	case LANCET_ROW_ID:
		return message->external_row_ids != NULL;
	case LANCET_CREATED_AT:
		return message->external_created_at_versions != NULL;
	case LANCET_LAST_UPDATED_AT:
		return message->external_last_updated_at_versions != NULL;
	}
	return false;
}

/* A data file that claims to hold the hidden column, and the position of the field in its lists. */
struct carrier {
	const struct lancet_data_file *file;
	size_t position;
	size_t count; /* of carriers in the fragment */
};

/* Finds the carriers; their paths go into `names`, for the message that there are several. */
static struct carrier
find_carrier(const struct lancet_fragment_info *info, int32_t field, struct buf *names)
{
	struct carrier found = { .count = 0 };

	for (size_t i = 0; i < info->file_count; i++) {
		const struct lancet_data_file *file = &info->files[i];

		for (size_t j = 0; j < file->field_count; j++) {
			if (file->fields[j] != field)
				continue;
			buf_put_text(names, found.count == 0 ? "" : ", ");
			buf_put(names, file->path.data, file->path.size);
			found = (struct carrier){ file, j, found.count + 1 };
		}
	}
	return found;
}

static int
check_carrier(const struct carrier *carrier, int32_t field, const struct buf *names,
	struct lancet_error *err)
{
	const struct lancet_data_file *file = carrier->file;
	int names_size = names->size < 300 ? (int)names->size : 300;

	if (carrier->count == 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"marked as spilled, but no data file carries field %" PRId32, field);
	if (carrier->count > 1)
		return lancet_fail(err, LANCET_CORRUPT,
			"spilled, and %zu columns carry field %" PRId32 ": %.*s", carrier->count,
			field, names_size, (const char *)names->data);
	if (data_file_is_legacy(file))
		return lancet_fail(err, LANCET_CORRUPT,
			"spilled to %.*s, a legacy data file (%" PRIu32 ".%" PRIu32 ")", names_size,
			(const char *)names->data, file->major, file->minor);
	if (carrier->position >= file->column_index_count)
		return lancet_fail(err, LANCET_CORRUPT,
			"spilled to %.*s, which has %zu column indices for %zu fields", names_size,
			(const char *)names->data, file->column_index_count, file->field_count);
	if (file->column_indices[carrier->position] < 0)
		return lancet_fail(err, LANCET_CORRUPT, "spilled to %.*s, column %" PRId32,
			names_size, (const char *)names->data,
			file->column_indices[carrier->position]);
	return LANCET_OK;
}

static int
get_carrier(const struct lancet_fragment_info *info, int32_t field, struct carrier *ret_carrier,
	struct lancet_error *err)
{
	struct buf names = { .limit = 4096 };
	struct carrier carrier = find_carrier(info, field, &names);
	int rc;

	if (names.failed == LANCET_NO_MEMORY)
		rc = buf_check(&names, "names of data files", err);
	else
		rc = check_carrier(&carrier, field, &names, err);
	buf_release(&names);
	if (rc == LANCET_OK)
		*ret_carrier = carrier;
	return rc;
}

static int
open_datafile(const lancet_base *base, const char *path, const struct lancet_data_file *stored,
	struct datafile **ret_file, struct lancet_error *err)
{
	struct source *source = NULL;
	struct datafile *file = NULL;
	int rc;

	TRY(fragment_file_open(base, path, &source, err));
	rc = datafile_open(source, &file, err);
	source_unref(source);
	if (rc == LANCET_OK)
		rc = data_file_check(stored, file, err);
	if (rc == LANCET_OK)
		*ret_file = file;
	else
		datafile_unref(file);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", path);
}

static int
open_spilled(struct lancet_fragment *fragment, enum lancet_lineage which,
	struct lancet_column *column, struct lancet_error *err)
{
	struct carrier carrier;
	struct datafile *file = NULL;
	const lancet_base *base;
	int rc;

	TRY(get_carrier(&fragment->info, kinds[which].field, &carrier, err));
	TRY(lancet_data_file_path(fragment->version, carrier.file, &base, &column->path, err));
	TRY(open_datafile(base, column->path, carrier.file, &file, err));
	rc = spilled_open(file, (uint32_t)carrier.file->column_indices[carrier.position],
		column->rows, which == LANCET_ROW_ID, &column->spilled, err);
	datafile_unref(file);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", column->path);
}

static int
open_inline(struct lancet_fragment *fragment, enum lancet_lineage which,
	struct lancet_column *column, struct lancet_error *err)
{
	const struct fragment_inline *place = &fragment->lineage[which];
	struct source *slice =
		source_slice_new(fragment->version->file, place->offset, place->size);
	int rc;

	if (slice == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "lineage column");
	rc = sequence_open(kinds[which].ops, slice, column->rows, &column->sequence, err);
	source_unref(slice);
	return rc;
}

static int
open_placed(struct lancet_fragment *fragment, enum lancet_lineage which,
	struct lancet_column *column, struct lancet_error *err)
{
	const struct lineage_kind *kind = &kinds[which];

	switch (column->placement) {
	case LANCET_ADDRESS:
		return column->rows <= OFFSETS_MAX
			       ? LANCET_OK
			       : lancet_fail(err, LANCET_CORRUPT,
					 "%" PRIu64 " rows pass a row address", column->rows);
	case LANCET_INLINE:
		return open_inline(fragment, which, column, err);
	case LANCET_COLUMN:
		return open_spilled(fragment, which, column, err);
	case LANCET_DEFAULT:
	case LANCET_NONE:
		break;
	}
	if (has_retired_arm(fragment, which))
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"stored as %s (field %u), a retired form", kind->retired,
			kind->retired_number);
	if (column->placement == LANCET_DEFAULT)
		return LANCET_OK;
	if (which == LANCET_ROW_ID)
		return lancet_fail(err, LANCET_CORRUPT, "absent, on a dataset with stable row ids");
	return lancet_fail(err, LANCET_NOT_FOUND, "needs stable row ids");
}

int
lancet_column_open(lancet_fragment *fragment, enum lancet_lineage which, lancet_column **ret_column,
	struct lancet_error *err)
{
	const struct lancet_fragment_info *info = &fragment->info;
	struct lancet_column *column;
	int rc;

	if ((unsigned)which >= FRAGMENT_LINEAGE)
		return lancet_fail(err, LANCET_INVALID, "lineage column %d", (int)which);
	column = calloc(1, sizeof(*column));
	if (column == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "lineage column");
	column->rows = info->physical_rows;
	column->placement = info->lineage[which].placement;
	column->first_address = info->id << 32;
	rc = open_placed(fragment, which, column, err);
	if (rc == LANCET_OK) {
		*ret_column = column;
		return rc;
	}
	lancet_column_free(column);
	return lancet_wrap(err, rc, "fragment %" PRIu64 ": %s", info->id, kinds[which].name);
}

void
lancet_column_free(lancet_column *column)
{
	if (column == NULL)
		return;
	sequence_free(column->sequence);
	spilled_free(column->spilled);
	free(column->path);
	free(column);
}

uint64_t
lancet_column_rows(const lancet_column *column)
{
	return column->rows;
}

static int
read_spilled(const lancet_column *column, const struct row_range *ranges, size_t count,
	uint64_t *values, bool *ret_ascend, struct lancet_error *err)
{
	int rc = spilled_read(column->spilled, ranges, count, values, ret_ascend, err);

	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", column->path);
}

int
lancet_column_read(const lancet_column *column, uint64_t first, size_t count, uint64_t *values,
	struct lancet_error *err)
{
	if (column->sequence != NULL)
		return sequence_read(column->sequence, first, count, values, err);
	if (first > column->rows || count > column->rows - first)
		return lancet_fail(err, LANCET_INVALID,
			"rows %" PRIu64 " to %" PRIu64 " of %" PRIu64, first, first + count,
			column->rows);
	if (column->spilled != NULL)
		return read_spilled(
			column, &(struct row_range){ first, count }, 1, values, NULL, err);
	for (size_t i = 0; i < count; i++)
		values[i] = column->placement == LANCET_ADDRESS ? column->first_address + first + i
								: DEFAULT_VERSION;
	return LANCET_OK;
}

int
column_read_ranges(const lancet_column *column, const struct row_range *ranges, size_t count,
	uint64_t *values, struct lancet_error *err)
{
	if (column->spilled != NULL)
		return read_spilled(column, ranges, count, values, NULL, err);
	for (size_t i = 0; i < count; i++) {
		TRY(lancet_column_read(
			column, ranges[i].first, (size_t)ranges[i].count, values, err));
		values += ranges[i].count;
	}
	return LANCET_OK;
}

int
column_find(const lancet_column *column, const uint64_t *wanted, size_t count,
	column_found_fn found, void *user, struct lancet_error *err)
{
	struct sequence_search search = { wanted, count, found, user };
	uint64_t *values;
	int rc = LANCET_OK;

	if (column->sequence != NULL)
		return sequence_find(column->sequence, &search, err);
	values = malloc(SPILLED_BLOCK_ROWS * sizeof(*values));
	if (values == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "search of values");
	for (uint64_t row = 0; rc == LANCET_OK && row < column->rows; row += SPILLED_BLOCK_ROWS) {
		uint64_t left = column->rows - row;
		size_t block = left < SPILLED_BLOCK_ROWS ? (size_t)left : SPILLED_BLOCK_ROWS;
		bool ascend = false;

		rc = column->spilled == NULL
			     ? lancet_column_read(column, row, block, values, err)
			     : read_spilled(column, &(struct row_range){ row, block }, 1, values,
				       &ascend, err);
		if (rc == LANCET_OK)
			rc = sequence_search_values(&search, row, values, block, ascend, err);
	}
	free(values);
	return rc;
}

uint64_t
column_decoded(const lancet_column *column)
{
	if (column->sequence != NULL)
		return sequence_decoded(column->sequence);
	return column->spilled != NULL ? spilled_decoded(column->spilled) : 0;
}
