/* Row ids and versions of stored fragments on their way into new ones; see lineage_out.h. */
#include "lineage_out.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "util/macros.h"
#include "version.h"

#define BLOCK_ROWS 4096u

struct lineage_source {
	uint64_t rows, fragment;
	lancet_column *columns[LINEAGE_KINDS]; /* NULL: the dataset has no such column */
};

static int
open_columns(struct lineage_source *source, lancet_fragment *fragment, struct lancet_error *err)
{
	unsigned kinds = lineage_kinds(fragment->version);

	for (unsigned i = 0; i < LINEAGE_KINDS; i++)
		if (kinds >> i & 1)
			TRY(lancet_column_open(
				fragment, (enum lancet_lineage)i, &source->columns[i], err));
	return LANCET_OK;
}

int
lineage_source_open(
	lancet_fragment *fragment, struct lineage_source **ret_source, struct lancet_error *err)
{
	struct lineage_source *source = calloc(1, sizeof(*source));
	int rc;

	if (source == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "row lineage");
	source->rows = fragment->info.physical_rows;
	source->fragment = fragment->info.id;
	rc = open_columns(source, fragment, err);
	if (rc != LANCET_OK) {
		lineage_source_free(source);
		return rc;
	}
	*ret_source = source;
	return LANCET_OK;
}

void
lineage_source_free(struct lineage_source *source)
{
	if (source == NULL)
		return;
	for (unsigned i = 0; i < LINEAGE_KINDS; i++)
		lancet_column_free(source->columns[i]);
	free(source);
}

int
lineage_source_read(const struct lineage_source *source, enum lancet_lineage which, uint64_t first,
	size_t count, uint64_t *values, struct lancet_error *err)
{
	static const char *const names[] = { "row ids", "created-at versions",
		"last-updated-at versions" };
	int rc;

	if ((unsigned)which >= LINEAGE_KINDS || source->columns[which] == NULL)
		return lancet_fail(err, LANCET_NOT_FOUND, "needs stable row ids");
	rc = lancet_column_read(source->columns[which], first, count, values, err);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "fragment %" PRIu64 ": %s", source->fragment,
					 names[which]);
}

/* Moves the values of rows that are not marked to the front. */
static size_t
keep_unmarked(uint64_t *values, const uint8_t *marks, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		values[kept] = values[i];
		kept += !marks[i];
	}
	return kept;
}

static int
put_block(struct lineage_out *out, const struct lineage_source *source, uint64_t first,
	size_t count, const uint8_t *marks, struct lancet_error *err)
{
	uint64_t values[BLOCK_ROWS];

	for (unsigned i = 0; i < LINEAGE_KINDS; i++) {
		enum lancet_lineage which = (enum lancet_lineage)i;
		size_t kept = count;

		if (!out->sequences[i].present)
			continue;
		TRY(lineage_source_read(source, which, first, count, values, err));
		if (marks != NULL)
			kept = keep_unmarked(values, marks, count);
		TRY(lineage_out_put(out, which, values, kept, err));
	}
	return LANCET_OK;
}

int
lineage_out_rows(struct lineage_out *out, const struct lineage_source *source, uint64_t first,
	uint64_t count, const lancet_deletion *without, struct lancet_error *err)
{
	uint8_t marks[BLOCK_ROWS];
	bool marked = without != NULL && lancet_deletion_count(without) > 0;

	if (first > source->rows || count > source->rows - first)
		return lancet_fail(err, LANCET_INVALID,
			"rows %" PRIu64 " to %" PRIu64 " of %" PRIu64, first, first + count,
			source->rows);
	while (count > 0) {
		size_t block = count < BLOCK_ROWS ? (size_t)count : BLOCK_ROWS;

		if (marked)
			lancet_deletion_marks(without, first, block, marks);
		TRY(put_block(out, source, first, block, marked ? marks : NULL, err));
		first += block;
		count -= block;
	}
	return LANCET_OK;
}
