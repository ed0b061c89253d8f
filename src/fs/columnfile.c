/* The per-row files of columnfile.h: one reader for each source, one formatter for each form. */
#include "columnfile.h"

#include <stdlib.h>

#include "lines.h"
#include "util/macros.h"
#include "util/text.h"

#define BLOCK_ROWS 4096u
#define LINEAGE    3 /* enum lancet_lineage */

static const char all_header[] = "    offset\t            row_addr\t              _rowid\t"
				 "          created_at\t     last_updated_at\tdeleted\n";
#define ALL_LINE (sizeof(all_header) - 1)

struct column_state {
	lancet_fragment *fragment;
	lancet_column *columns[LINEAGE]; /* NULL: not recorded, or not wanted */
	lancet_deletion *deletion;
	uint64_t row_addr; /* of row offset 0 */
};

static void
state_free(struct column_state *state)
{
	if (state == NULL)
		return;
	for (size_t i = 0; i < LINEAGE; i++)
		lancet_column_free(state->columns[i]);
	lancet_deletion_unref(state->deletion);
	lancet_fragment_unref(state->fragment);
	free(state);
}

static void
release_state(struct records *records)
{
	state_free(records->state);
}

static int
state_new(const struct node_ref *ref, struct column_state **ret_state, struct lancet_error *err)
{
	struct column_state *state = calloc(1, sizeof(*state));
	int rc;

	if (state == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "column: out of memory");
	rc = lancet_fragment_open(ref->version, ref->ordinal, &state->fragment, err);
	if (rc != LANCET_OK) {
		state_free(state);
		return rc;
	}
	state->row_addr = lancet_fragment_info(state->fragment)->id << 32;
	*ret_state = state;
	return LANCET_OK;
}

typedef void (*put_values)(const uint64_t *values, size_t count, struct buf *out);

static void
put_raw(const uint64_t *values, size_t count, struct buf *out)
{
	uint8_t *at = lines_begin(out, count, sizeof(*values));

	for (size_t i = 0; at != NULL && i < count; i++, at += sizeof(*values)) {
		for (unsigned byte = 0; byte < sizeof(*values); byte++)
			at[byte] = (uint8_t)(values[i] >> (8 * byte));
	}
}

static int
render_column(const lancet_column *column, uint64_t first, size_t count, put_values put,
	struct buf *out, struct lancet_error *err)
{
	uint64_t values[BLOCK_ROWS];

	while (count > 0) {
		size_t block = count < BLOCK_ROWS ? count : BLOCK_ROWS;

		TRY(lancet_column_read(column, first, block, values, err));
		put(values, block, out);
		first += block;
		count -= block;
	}
	return LANCET_OK;
}

static int
render_lineage(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct column_state *state = records->state;

	return render_column(state->columns[0], first, count, lines_put_u64, out, err);
}

static int
render_lineage_raw(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct column_state *state = records->state;

	return render_column(state->columns[0], first, count, put_raw, out, err);
}

int
records_lineage(const struct node_ref *ref, enum lancet_lineage which, bool raw,
	struct records *ret_records, struct lancet_error *err)
{
	struct column_state *state = NULL;
	int rc;

	TRY(state_new(ref, &state, err));
	rc = lancet_column_open(state->fragment, which, &state->columns[0], err);
	if (rc != LANCET_OK) {
		state_free(state);
		return rc;
	}
	*ret_records = (struct records){
		.count = lancet_column_rows(state->columns[0]),
		.width = raw ? sizeof(uint64_t) : LINE_64,
		.render = raw ? render_lineage_raw : render_lineage,
		.release = release_state,
		.state = state,
	};
	return LANCET_OK;
}

uint64_t
lineage_all_size(uint64_t rows)
{
	return (rows + 1) * ALL_LINE;
}

/* The values of one block of rows, column by column; values of an absent column are not set. */
struct all_block {
	uint64_t values[LINEAGE][BLOCK_ROWS];
	uint8_t deleted[BLOCK_ROWS];
};

static void
put_all(const struct column_state *state, const struct all_block *block, uint64_t first,
	size_t count, struct buf *out)
{
	uint8_t *line = lines_begin(out, count, ALL_LINE);

	for (size_t i = 0; line != NULL && i < count; i++, line += ALL_LINE) {
		uint8_t *at = line;

		memset(line, ' ', ALL_LINE);
		text_put_u64(at, 10, first + i);
		at[10] = '\t';
		at += 11;
		text_put_u64(at, 20, state->row_addr + first + i);
		at[20] = '\t';
		at += 21;
		for (size_t c = 0; c < LINEAGE; c++, at += 21) {
			if (state->columns[c] != NULL)
				text_put_u64(at, 20, block->values[c][i]);
			else
				at[19] = '-';
			at[20] = '\t';
		}
		at[6] = block->deleted[i] ? '1' : '0';
		at[7] = '\n';
	}
}

static int
render_all(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct column_state *state = records->state;
	struct all_block *block = malloc(sizeof(*block));
	int rc = LANCET_OK;

	if (block == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "all.tsv: out of memory");
	while (count > 0 && rc == LANCET_OK) {
		size_t rows = count < BLOCK_ROWS ? count : BLOCK_ROWS;

		for (size_t c = 0; c < LINEAGE && rc == LANCET_OK; c++) {
			if (state->columns[c] != NULL)
				rc = lancet_column_read(
					state->columns[c], first, rows, block->values[c], err);
		}
		lancet_deletion_marks(state->deletion, first, rows, block->deleted);
		if (rc == LANCET_OK)
			put_all(state, block, first, rows, out);
		first += rows;
		count -= rows;
	}
	free(block);
	return rc;
}

static int
open_all(struct column_state *state, struct lancet_error *err)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(state->fragment);

	for (size_t i = 0; i < LINEAGE; i++) {
		if (info->lineage[i].placement != LANCET_NONE)
			TRY(lancet_column_open(
				state->fragment, (enum lancet_lineage)i, &state->columns[i], err));
	}
	return lancet_deletion_open(state->fragment, &state->deletion, err);
}

int
records_lineage_all(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	struct column_state *state = NULL;
	struct records records = {
		.width = ALL_LINE, .render = render_all, .release = release_state
	};
	int rc;

	TRY(state_new(ref, &state, err));
	rc = open_all(state, err);
	if (rc != LANCET_OK) {
		state_free(state);
		return rc;
	}
	records.count = lancet_fragment_info(state->fragment)->physical_rows;
	records.state = state;
	buf_put(&records.header, all_header, ALL_LINE);
	*ret_records = records;
	return LANCET_OK;
}

static void
put_short_lines(const uint32_t *values, size_t count, struct buf *out)
{
	uint8_t *line = lines_begin(out, count, LINE_32);

	for (size_t i = 0; line != NULL && i < count; i++, line += LINE_32) {
		text_put_u64(line, LINE_32 - 1, values[i]);
		line[LINE_32 - 1] = '\n';
	}
}

static int
render_offsets(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct column_state *state = records->state;
	uint32_t offsets[BLOCK_ROWS];

	while (count > 0) {
		size_t block = count < BLOCK_ROWS ? count : BLOCK_ROWS;

		TRY(lancet_deletion_select(state->deletion, first, block, offsets, err));
		put_short_lines(offsets, block, out);
		first += block;
		count -= block;
	}
	return LANCET_OK;
}

static struct records
offset_records(struct column_state *state)
{
	return (struct records){
		.count = lancet_deletion_count(state->deletion),
		.width = LINE_32,
		.render = render_offsets,
		.release = release_state,
		.state = state,
	};
}

int
records_deleted_rows(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	struct column_state *state = NULL;
	int rc;

	TRY(state_new(ref, &state, err));
	rc = lancet_deletion_open(state->fragment, &state->deletion, err);
	if (rc != LANCET_OK) {
		state_free(state);
		return rc;
	}
	*ret_records = offset_records(state);
	return LANCET_OK;
}

int
records_coverage(const struct node_ref *ref, size_t overlay, size_t index,
	struct records *ret_records, struct lancet_error *err)
{
	struct column_state *state = NULL;
	int rc;

	TRY(state_new(ref, &state, err));
	rc = lancet_coverage_open(state->fragment, overlay, index, &state->deletion, err);
	if (rc != LANCET_OK) {
		state_free(state);
		return rc;
	}
	*ret_records = offset_records(state);
	return LANCET_OK;
}

static int
render_ids(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	(void)err;
	put_short_lines((const uint32_t *)records->state + first, count, out);
	return LANCET_OK;
}

static void
release_ids(struct records *records)
{
	free(records->state);
}

struct records
records_of_ids(uint32_t *ids, size_t count)
{
	return (struct records){
		.count = count,
		.width = LINE_32,
		.render = render_ids,
		.release = release_ids,
		.state = ids,
	};
}
