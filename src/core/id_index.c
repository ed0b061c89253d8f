/* Rows by id from a table: see id_index.h.
 *
 * What the table can't hold, or can't be made of, is left to the search, which then says what is
 * wrong: errors of making it are not told.
 */
#include "id_index.h"

#include <stdlib.h>
#include <string.h>

#include <lancet/column.h>
#include "spilled.h"
#include "util/macros.h"

struct id_index {
	int refs; /* under the slot's lock */
	/* By id: the row's number among all physical ones and 1; 0: no live row has it. */
	uint32_t *rows;
	uint64_t id_count;
	uint64_t *firsts; /* by ordinal: the number of its first row; then of all rows */
	uint64_t *ids;    /* by ordinal: of the fragment */
	size_t fragment_count;
};

static void
index_free(struct id_index *index)
{
	if (index == NULL)
		return;
	free(index->rows);
	free(index->firsts);
	free(index->ids);
	free(index);
}

/* Enters the live ones of the values. False: an id that was never given. */
static bool
enter(struct id_index *index, const uint64_t *values, const uint8_t *deleted, size_t count,
	uint64_t row)
{
	for (size_t i = 0; i < count; i++) {
		if (deleted[i] != 0)
			continue;
		if (values[i] >= index->id_count)
			return false;
		if (index->rows[values[i]] == 0)
			index->rows[values[i]] = (uint32_t)(row + i + 1);
	}
	return true;
}

static int
enter_column(struct id_index *index, const lancet_column *column, const lancet_deletion *deletion,
	uint64_t first_row, struct lancet_error *err)
{
	uint64_t rows = lancet_column_rows(column);
	lancet_autofree uint64_t *values = malloc(SPILLED_BLOCK_ROWS * sizeof(*values));
	uint8_t deleted[SPILLED_BLOCK_ROWS];

	if (values == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "row ids");
	for (uint64_t row = 0; row < rows; row += SPILLED_BLOCK_ROWS) {
		size_t count =
			rows - row < SPILLED_BLOCK_ROWS ? (size_t)(rows - row) : SPILLED_BLOCK_ROWS;

		TRY(lancet_column_read(column, row, count, values, err));
		lancet_deletion_marks(deletion, row, count, deleted);
		if (!enter(index, values, deleted, count, first_row + row))
			return lancet_fail(err, LANCET_CORRUPT, "a row id that was never given");
	}
	return LANCET_OK;
}

/* *row is the number of the first row, and then of the one after the last. */
static int
enter_fragment(struct id_index *index, lancet_version *version, uint64_t ordinal, uint64_t *row,
	struct lancet_error *err)
{
	lancet_fragment *fragment;
	lancet_deletion *deletion = NULL;
	lancet_column *column = NULL;
	uint64_t rows;
	int rc;

	TRY(lancet_fragment_open(version, ordinal, &fragment, err));
	rows = lancet_fragment_info(fragment)->physical_rows;
	index->firsts[ordinal] = *row;
	index->ids[ordinal] = lancet_fragment_info(fragment)->id;
	rc = rows >= UINT32_MAX - *row ? lancet_fail(err, LANCET_LIMIT, "rows") : LANCET_OK;
	if (rc == LANCET_OK)
		rc = lancet_deletion_open(fragment, &deletion, err);
	if (rc == LANCET_OK)
		rc = lancet_column_open(fragment, LANCET_ROW_ID, &column, err);
	if (rc == LANCET_OK)
		rc = enter_column(index, column, deletion, *row, err);
	*row += rows;
	lancet_column_free(column);
	lancet_deletion_unref(deletion);
	lancet_fragment_unref(fragment);
	return rc;
}

/* NULL when the version has something that the table can't hold. */
static struct id_index *
make(lancet_version *version)
{
	const struct lancet_version_info *info = lancet_version_info(version);
	struct id_index *index = calloc(1, sizeof(*index));
	struct lancet_error err;
	uint64_t row = 0;
	int rc = LANCET_OK;

	if (index == NULL)
		return NULL;
	index->refs = 1;
	index->id_count = info->next_row_id;
	index->fragment_count = info->fragment_count;
	index->rows = calloc(index->id_count + 1, sizeof(*index->rows));
	index->firsts = calloc(index->fragment_count + 1, sizeof(*index->firsts));
	index->ids = calloc(index->fragment_count + 1, sizeof(*index->ids));
	if (index->rows == NULL || index->firsts == NULL || index->ids == NULL)
		rc = LANCET_NO_MEMORY;
	for (uint64_t i = 0; rc == LANCET_OK && i < index->fragment_count; i++)
		rc = enter_fragment(index, version, i, &row, &err);
	if (rc == LANCET_OK) {
		index->firsts[index->fragment_count] = row;
		return index;
	}
	index_free(index);
	return NULL;
}

uint64_t
id_index_address(const struct id_index *index, uint64_t id)
{
	size_t low = 0, high = index->fragment_count;
	uint64_t row;

	if (id >= index->id_count || index->rows[id] == 0)
		return UINT64_MAX;
	row = index->rows[id] - 1;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (index->firsts[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return (index->ids[low] << 32) + (row - index->firsts[low]);
}

void
id_index_slot_init(struct id_index_slot *slot)
{
	(void)pthread_mutex_init(&slot->lock, NULL);
}

void
id_index_slot_release(struct id_index_slot *slot)
{
	index_free(slot->index);
	(void)pthread_mutex_destroy(&slot->lock);
}

static bool
is_of(const struct id_index_slot *slot, const lancet_version *version)
{
	const struct lancet_version_info *info = lancet_version_info(version);
	const struct stat *file = &info->manifest_stat;

	return slot->dataset == version->dataset && slot->number == info->number &&
	       slot->file.st_dev == file->st_dev && slot->file.st_ino == file->st_ino &&
	       slot->file.st_size == file->st_size &&
	       slot->file.st_mtim.tv_sec == file->st_mtim.tv_sec &&
	       slot->file.st_mtim.tv_nsec == file->st_mtim.tv_nsec;
}

/* Called with the lock. */
static void
drop(struct id_index_slot *slot)
{
	struct id_index *index = slot->index;

	slot->index = NULL;
	if (index != NULL && --index->refs == 0)
		index_free(index);
}

/* Called with the lock: whether now is the time to make it. */
static bool
is_due(const struct id_index_slot *slot, const lancet_version *version, size_t bytes_max)
{
	const struct lancet_version_info *info = lancet_version_info(version);

	return is_of(slot, version) && slot->index == NULL && !slot->making && !slot->refused &&
	       slot->decoded >= info->physical_rows &&
	       info->next_row_id < bytes_max / sizeof(uint32_t) &&
	       info->fragment_count < bytes_max / sizeof(uint64_t);
}

struct id_index *
id_index_get(struct id_index_slot *slot, lancet_version *version, size_t bytes_max)
{
	struct id_index *index = NULL, *made = NULL;
	bool due;

	(void)pthread_mutex_lock(&slot->lock);
	due = is_due(slot, version, bytes_max);
	if (due) {
		slot->making = true;
		(void)pthread_mutex_unlock(&slot->lock);
		made = make(version);
		(void)pthread_mutex_lock(&slot->lock);
		slot->making = false;
	}
	if (due && is_of(slot, version)) {
		slot->refused = made == NULL;
		slot->index = made;
		made = NULL;
	}
	if (slot->index != NULL && is_of(slot, version)) {
		index = slot->index;
		index->refs++;
	}
	(void)pthread_mutex_unlock(&slot->lock);
	index_free(made);
	return index;
}

void
id_index_put(struct id_index_slot *slot, struct id_index *index)
{
	if (index == NULL)
		return;
	(void)pthread_mutex_lock(&slot->lock);
	if (--index->refs == 0)
		index_free(index);
	(void)pthread_mutex_unlock(&slot->lock);
}

void
id_index_searched(struct id_index_slot *slot, const lancet_version *version, uint64_t decoded)
{
	(void)pthread_mutex_lock(&slot->lock);
	if (!is_of(slot, version) && decoded > 0) {
		drop(slot);
		slot->dataset = version->dataset;
		slot->number = lancet_version_info(version)->number;
		slot->file = lancet_version_info(version)->manifest_stat;
		slot->decoded = 0;
		slot->refused = false;
	}
	if (is_of(slot, version))
		slot->decoded += decoded < UINT64_MAX - slot->decoded ? decoded : 0;
	(void)pthread_mutex_unlock(&slot->lock);
}
