/* Pages of 2.1 and 2.2 for one leaf: rows become levels and values, and these a layout.
 *
 * A page is as many rows as there are, unless their levels would be too many to be held in memory,
 * or too many for a chunk: then it is cut at a row. Format facts: page layouts, writer rules.
 */
#include "page_writer.h"

#include <assert.h>

#include "encode_message.h"
#include "util/macros.h"

#define ENTRIES_MAX (UINT64_C(1) << 22) /* levels in memory, and 32 bits count them */

struct encode_values
page_values(const struct page_job *job)
{
	return (struct encode_values){ .version = job->version,
		.leaf = job->leaf,
		.array = job->shred.values,
		.first = job->shred.first,
		.count = job->shred.visible };
}

void
page_put_layers(struct buf *message, unsigned field, const struct layers *layers)
{
	message_put_bytes(message, field, slice_of(layers->kinds, layers->count));
}

int
page_put_layout(
	struct page_job *job, unsigned field, const struct buf *layout, struct lancet_error *err)
{
	TRY(buf_check(layout, "page", err));
	message_put_bytes(&job->out.encoding, field, buf_slice(layout));
	return page_out_check(&job->out, err);
}

static int
choose_layout(struct page_job *job, bool last_resort, bool *ret_fits, struct lancet_error *err)
{
	struct encode_values values = page_values(job);
	bool done = false, repeats = false, zip;

	*ret_fits = true;
	if (constant_wants_nulls(job))
		return constant_write_nulls(job, err);
	TRY(constant_write_value(job, &done, err));
	if (done)
		return LANCET_OK;
	zip = encode_wants_zip(&values);
	if (zip)
		TRY(encode_repeats(&values, &repeats, err));
	job->needs_dictionary = zip;
	if (!zip || repeats) {
		int rc = miniblock_write(job, ret_fits, err);

		if (rc != LANCET_LIMIT && (rc != LANCET_OK || *ret_fits || !last_resort))
			return rc;
		*ret_fits = true;
		page_out_reset(&job->out);
	}
	return fullzip_write(job, err);
}

/* One page of these rows; *ret_fits is false when fewer have to be tried. */
static int
write_page(struct page_job *job, const struct array *root, uint64_t first, uint64_t count,
	struct page_sink sink, bool *ret_fits, struct lancet_error *err)
{
	page_out_reset(&job->out);
	TRY(shred_make(&job->shred, root, job->leaf, first, count, err));
	TRY(page_check_values(job, err));
	TRY(choose_layout(job, count == 1, ret_fits, err));
	if (!*ret_fits)
		return LANCET_OK;
	job->out.length = job->shred.rows;
	return sink.put(sink.context, &job->out, err);
}

static int
write_pages(struct page_job *job, const struct array *root, uint64_t first, uint64_t count,
	struct page_sink sink, struct lancet_error *err)
{
	uint64_t most = count;

	while (count > 0) {
		uint64_t rows = most < count ? most : count;
		bool fits;

		rows = shred_rows_within(root, job->leaf, first, rows, ENTRIES_MAX);
		TRY(write_page(job, root, first, rows, sink, &fits, err));
		if (!fits) {
			most = rows / 2;
			continue;
		}
		first += rows;
		count -= rows;
		most = rows > UINT64_MAX / 2 ? rows : rows * 2;
	}
	return LANCET_OK;
}

int
page_write_leaf(enum file_version version, const struct array *root, const struct field *leaf,
	uint64_t first, uint64_t count, struct page_sink sink, struct lancet_error *err)
{
	struct page_job job = { .version = version, .leaf = leaf };
	int rc;

	assert(version == FILE_2_1 || version == FILE_2_2);
	assert(first <= root->length && count <= root->length - first);
	rc = write_pages(&job, root, first, count, sink, err);
	shred_release(&job.shred);
	page_out_release(&job.out);
	return rc;
}
