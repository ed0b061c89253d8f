/* counts.tsv of a stable partition: its matrix of counts, a line for each block. SPEC section 4.
 *
 * With 65,535 destinations a line is more than a megabyte: lines are made for the bytes that are
 * asked for, from as many counts at a time as one such line has.
 */
#include "reusefile.h"

#include <stdlib.h>

#include "lines.h"
#include "util/macros.h"
#include "util/text.h"

#define COUNTS_AT_ONCE 65536u
#define BLOCK_DIGITS   20u

struct counts_state {
	lancet_version *version; /* counted */
	lancet_row_mapping *mapping;
	size_t destinations;
};

static void
release_counts(struct records *records)
{
	struct counts_state *state = records->state;

	lancet_row_mapping_free(state->mapping);
	lancet_version_unref(state->version);
	free(state);
}

static void
put_header(struct buf *out, size_t destinations)
{
	buf_put_cell(out, BLOCK_DIGITS, slice_text("block"));
	for (size_t i = 0; i < destinations; i++)
		buf_printf(out, "\tdestination_%zu", i);
	buf_put_byte(out, '\n');
}

static void
put_line(struct buf *out, uint64_t block, const uint32_t *counts, size_t destinations)
{
	unsigned width = sizeof("destination_0") - 1;
	size_t next = 10; /* the first destination whose name is longer */

	buf_put_u64(out, BLOCK_DIGITS, block);
	for (size_t i = 0; i < destinations; i++) {
		if (i == next) {
			width++;
			next *= 10;
		}
		buf_put_byte(out, '\t');
		buf_put_u64(out, width, counts[i]);
	}
	buf_put_byte(out, '\n');
}

static int
render_counts(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct counts_state *state = records->state;
	size_t most = COUNTS_AT_ONCE / (state->destinations + 1) + 1;
	lancet_autofree uint32_t *counts =
		calloc(most, (state->destinations + 1) * sizeof(*counts));

	if (counts == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "counts.tsv: out of memory");
	while (count > 0 && out->failed == LANCET_OK) {
		size_t blocks = count < most ? count : most;

		TRY(lancet_row_mapping_counts(state->mapping, first, blocks, counts, err));
		for (size_t i = 0; i < blocks; i++)
			put_line(out, first + i, counts + i * state->destinations,
				state->destinations);
		first += blocks;
		count -= blocks;
	}
	return LANCET_OK;
}

int
records_counts(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;
	lancet_row_mapping *mapping = NULL;
	struct records records = { .render = render_counts, .release = release_counts };
	struct counts_state *state;
	uint32_t block_rows;
	int rc;

	TRY(transition_of(ref, &transition, err));
	TRY(lancet_row_mapping_open(ref->version, (size_t)ref->item, &mapping, err));
	rc = lancet_row_mapping_blocks(mapping, &block_rows, &records.count, err);
	state = malloc(sizeof(*state));
	if (rc == LANCET_OK && state == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "counts.tsv: out of memory");
	if (rc != LANCET_OK) {
		lancet_row_mapping_free(mapping);
		free(state);
		return rc;
	}
	*state = (struct counts_state){ lancet_version_ref(ref->version), mapping,
		transition->destination_count };
	records.state = state;
	put_header(&records.header, state->destinations);
	records.width = records.header.size;
	*ret_records = records;
	return LANCET_OK;
}
