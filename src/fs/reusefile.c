/* The per-row files of reusefile.h: one state for all, one formatter for each. */
#include "reusefile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "columnfile.h"
#include "kinds.h"
#include "lines.h"
#include "util/macros.h"
#include "util/text.h"

#define BLOCK_ROWS   4096u
#define BLOCK_LABELS 16384u
#define LABEL_SIZE   sizeof(uint16_t)

static const struct column_spec digest_columns[] = {
	{ "fragment", 10 },
	{ "physical_rows", 10 },
	{ "deleted_rows", 10 },
};

static const struct column_spec mapping_columns[] = {
	{ "source_fragment", 10 },
	{ "source_offset", 10 },
	{ "destination_fragment", 10 },
	{ "destination_offset", 10 },
};

struct reuse_state {
	lancet_version *version; /* counted: the transition belongs to it */
	const struct lancet_transition *transition;
	const struct lancet_fragment_digest *digests; /* of *.tsv with a line for each fragment */
	lancet_row_mapping *mapping;                  /* NULL for those */
	uint64_t *starts; /* mapping.tsv: number of the first row of each source, and of all rows */
};

static void
state_free(struct reuse_state *state)
{
	if (state == NULL)
		return;
	lancet_row_mapping_free(state->mapping);
	free(state->starts);
	lancet_version_unref(state->version);
	free(state);
}

static void
release_state(struct records *records)
{
	state_free(records->state);
}

int
transition_of(const struct node_ref *ref, const struct lancet_transition **ret_transition,
	struct lancet_error *err)
{
	lancet_reuse *reuse = NULL;

	TRY(lancet_version_reuse(ref->version, &reuse, err));
	if (ref->item >= lancet_reuse_info(reuse)->transition_count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such transition");
	*ret_transition = lancet_reuse_transition(reuse, (size_t)ref->item);
	return LANCET_OK;
}

static int
state_new(const struct node_ref *ref, bool mapped, struct reuse_state **ret_state,
	struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;
	struct reuse_state *state;
	int rc = LANCET_OK;

	TRY(transition_of(ref, &transition, err));
	state = calloc(1, sizeof(*state));
	if (state == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "transition: out of memory");
	state->version = lancet_version_ref(ref->version);
	state->transition = transition;
	if (mapped)
		rc = lancet_row_mapping_open(ref->version, (size_t)ref->item, &state->mapping, err);
	if (rc != LANCET_OK) {
		state_free(state);
		return rc;
	}
	*ret_state = state;
	return LANCET_OK;
}

static int
render_digests(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct reuse_state *state = records->state;
	const struct lancet_fragment_digest *digest = state->digests + first;

	(void)err;
	for (size_t i = 0; i < count; i++, digest++) {
		const uint64_t cells[] = { digest->id, digest->physical_rows,
			digest->deleted_rows };

		for (size_t at = 0; at < ARRAY_SIZE(cells); at++)
			line_put_number(
				out, digest_columns, ARRAY_SIZE(digest_columns), at, cells[at]);
	}
	return LANCET_OK;
}

static size_t
digest_count(const struct node_ref *ref, const struct lancet_transition *transition)
{
	return ref->kind->id == NODE_SOURCES ? transition->source_count
					     : transition->destination_count;
}

int
records_digests(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	struct records records = { .render = render_digests, .release = release_state };
	struct reuse_state *state = NULL;

	TRY(state_new(ref, false, &state, err));
	state->digests = ref->kind->id == NODE_SOURCES ? state->transition->sources
						       : state->transition->destinations;
	records.count = digest_count(ref, state->transition);
	records.width = line_size(digest_columns, ARRAY_SIZE(digest_columns));
	records.state = state;
	line_put_header(&records.header, digest_columns, ARRAY_SIZE(digest_columns));
	*ret_records = records;
	return LANCET_OK;
}

int
measure_digests(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;

	TRY(transition_of(ref, &transition, err));
	*ret_size = (digest_count(ref, transition) + UINT64_C(1)) *
		    line_size(digest_columns, ARRAY_SIZE(digest_columns));
	return LANCET_OK;
}

typedef int (*row_renderer)(const struct records *records, uint64_t first, size_t count,
	struct buf *out, struct lancet_error *err);

struct row_file {
	size_t header, width; /* bytes; a width for each row */
	uint64_t rows;
};

static int
row_file_of(const struct node_ref *ref, const struct lancet_transition *transition,
	struct row_file *ret_file, struct lancet_error *err)
{
	struct row_file file = { 0, LABEL_SIZE, transition->source_rows };

	if (ref->kind->id == NODE_MAPPING) {
		file.width = line_size(mapping_columns, ARRAY_SIZE(mapping_columns));
		file.header = file.width;
	} else if (ref->kind->id == NODE_SURVIVING_ROWS) {
		file.width = LINE_64;
		file.rows = transition->live_rows;
	}
	if (file.rows > (INT64_MAX - file.header) / file.width)
		return lancet_fail(
			err, LANCET_LIMIT, "%" PRIu64 " rows: no file is that long", file.rows);
	*ret_file = file;
	return LANCET_OK;
}

int
measure_mapping(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;
	struct row_file file = { 0 };

	TRY(transition_of(ref, &transition, err));
	if (transition->fault != LANCET_OK)
		return lancet_fail(err, transition->fault, "%s", transition->fault_text);
	TRY(row_file_of(ref, transition, &file, err));
	*ret_size = file.header + file.rows * file.width;
	return LANCET_OK;
}

/* All of a file of rows but its header. */
static int
open_rows(const struct node_ref *ref, row_renderer render, struct records *ret_records,
	struct lancet_error *err)
{
	struct reuse_state *state = NULL;
	struct row_file file = { 0 };
	int rc;

	TRY(state_new(ref, true, &state, err));
	rc = row_file_of(ref, state->transition, &file, err);
	if (rc != LANCET_OK) {
		state_free(state);
		return rc;
	}
	*ret_records = (struct records){
		.count = file.rows,
		.width = file.width,
		.render = render,
		.release = release_state,
		.state = state,
	};
	return LANCET_OK;
}

/* The source that a row lies in; empty ones are stepped over. */
static size_t
source_of(const struct reuse_state *state, uint64_t row)
{
	size_t low = 0, high = state->transition->source_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (state->starts[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint8_t *
put_cell(uint8_t *at, size_t column, bool absent, uint64_t value)
{
	unsigned width = column_width(&mapping_columns[column]);

	if (absent) {
		memset(at, ' ', width);
		at[width - 1] = '-';
	} else {
		text_put_u64(at, width, value);
	}
	at[width] = column + 1 < ARRAY_SIZE(mapping_columns) ? '\t' : '\n';
	return at + width + 1;
}

static void
put_mapping(const struct reuse_state *state, const uint64_t *row_addrs, uint64_t first,
	size_t count, struct buf *out)
{
	size_t line = line_size(mapping_columns, ARRAY_SIZE(mapping_columns));
	uint8_t *at = lines_begin(out, count, line);
	size_t source = source_of(state, first);

	for (size_t i = 0; at != NULL && i < count; i++) {
		bool deleted = row_addrs[i] == LANCET_NO_ROW;

		if (first + i >= state->starts[source + 1])
			source = source_of(state, first + i);
		at = put_cell(at, 0, false, state->transition->sources[source].id);
		at = put_cell(at, 1, false, first + i - state->starts[source]);
		at = put_cell(at, 2, deleted, row_addrs[i] >> 32);
		at = put_cell(at, 3, deleted, (uint32_t)row_addrs[i]);
	}
}

static int
render_mapping(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct reuse_state *state = records->state;
	uint64_t row_addrs[BLOCK_ROWS];

	while (count > 0) {
		size_t block = count < BLOCK_ROWS ? count : BLOCK_ROWS;

		TRY(lancet_row_mapping_read(state->mapping, first, block, row_addrs, err));
		put_mapping(state, row_addrs, first, block, out);
		first += block;
		count -= block;
	}
	return LANCET_OK;
}

static int
find_starts(struct reuse_state *state, struct lancet_error *err)
{
	const struct lancet_transition *transition = state->transition;

	state->starts = calloc(transition->source_count + 1, sizeof(*state->starts));
	if (state->starts == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "mapping.tsv: out of memory");
	for (size_t i = 0; i < transition->source_count; i++)
		state->starts[i + 1] = state->starts[i] + transition->sources[i].physical_rows;
	return LANCET_OK;
}

int
records_mapping(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	struct records records = { 0 };
	int rc;

	TRY(open_rows(ref, render_mapping, &records, err));
	rc = find_starts(records.state, err);
	if (rc != LANCET_OK) {
		state_free(records.state);
		return rc;
	}
	line_put_header(&records.header, mapping_columns, ARRAY_SIZE(mapping_columns));
	*ret_records = records;
	return LANCET_OK;
}

static int
render_surviving(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct reuse_state *state = records->state;
	uint64_t row_addrs[BLOCK_ROWS];

	while (count > 0) {
		size_t block = count < BLOCK_ROWS ? count : BLOCK_ROWS;

		TRY(lancet_row_mapping_survivors(state->mapping, first, block, row_addrs, err));
		lines_put_u64(row_addrs, block, out);
		first += block;
		count -= block;
	}
	return LANCET_OK;
}

int
records_surviving_rows(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	return open_rows(ref, render_surviving, ret_records, err);
}

static int
render_labels(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct reuse_state *state = records->state;
	uint16_t labels[BLOCK_LABELS];

	while (count > 0) {
		size_t block = count < BLOCK_LABELS ? count : BLOCK_LABELS;
		uint8_t *at = lines_begin(out, block, LABEL_SIZE);

		TRY(lancet_row_mapping_labels(state->mapping, first, block, labels, err));
		for (size_t i = 0; at != NULL && i < block; i++) {
			*at++ = (uint8_t)labels[i];
			*at++ = (uint8_t)(labels[i] >> 8);
		}
		first += block;
		count -= block;
	}
	return LANCET_OK;
}

int
records_labels(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	return open_rows(ref, render_labels, ret_records, err);
}
