/* Mini-block pages: values and their levels in chunks of a few KiB.
 *
 *     chunk = counts and sizes, levels, value buffers; each part at a multiple of 8
 *
 * A chunk ends with its last visible slot; entries without one go into the next chunk, or into the
 * last one. It takes as many slots as the encoding of the values likes, and fewer when levels or
 * bytes would be too many. Format facts: mini-block layout, writer rules.
 */
#include <assert.h>

#include "encode_message.h"
#include "page_writer.h"
#include "util/macros.h"

#define LEVELS_MAX      UINT16_MAX          /* of a chunk, and bytes of them */
#define CHUNK_SIZE_MAX  ((size_t)32 * 1024) /* bytes, 2.1 */
#define LARGE_CHUNK_MAX ((size_t)1 << 31)
#define CHUNK_FILL      0xfe
#define SCAN_STEP       512u

struct mini_writer {
	struct page_job *job;
	const struct shred *shred;
	struct mini_plan plan;
	struct level_plan rep, def;
	struct buf *words, *chunks, *dictionary, *index; /* of the page */
	struct buf rep_block, def_block, values[ENCODE_BUFFERS_MAX];
	uint64_t slot, entry; /* written so far */
	unsigned log2;        /* of the slots that the next chunk is tried with */
	bool large;
	struct lancet_error *err;
};

/* Where the entries of the next `slots` slots end. */
static uint64_t
find_end(const struct mini_writer *writer, uint64_t slots)
{
	const struct shred *shred = writer->shred;
	const uint16_t limit = (uint16_t)shred->layers.visible_max;
	uint64_t at = writer->entry;

	if (writer->slot + slots == shred->visible)
		return shred->entries;
	if (shred->entries == shred->visible)
		return at + slots;
	while (slots >= SCAN_STEP) {
		slots -= levels_count_up_to(shred->def + at, SCAN_STEP, limit);
		at += SCAN_STEP;
	}
	for (; slots > 0; at++)
		slots -= shred->def[at] <= limit;
	return at;
}

static int
make_block(const struct mini_writer *writer, const struct level_plan *plan, const uint16_t *levels,
	uint64_t count, struct buf *block, bool *ret_fits)
{
	block->size = 0;
	if (plan->message.size == 0)
		return LANCET_OK;
	TRY(level_plan_block(plan, levels + writer->entry, count, block, writer->err));
	*ret_fits = block->size <= LEVELS_MAX;
	return LANCET_OK;
}

static int
make_values(struct mini_writer *writer, uint64_t slots, bool *ret_fits)
{
	int rc;

	for (unsigned i = 0; i < writer->plan.buffer_count; i++)
		writer->values[i].size = 0;
	rc = mini_plan_chunk(&writer->plan, writer->slot, slots, writer->values, writer->err);
	if (rc != LANCET_LIMIT)
		return rc;
	*ret_fits = false;
	return LANCET_OK;
}

static size_t
padded(size_t size)
{
	return (size + 7) / 8 * 8;
}

static size_t
head_size(const struct mini_writer *writer)
{
	return padded(2 + 2 * (size_t)(writer->rep.message.size > 0) +
		      2 * (size_t)(writer->def.message.size > 0) +
		      writer->plan.buffer_count * (size_t)(writer->large ? 4 : 2));
}

static size_t
chunk_size(const struct mini_writer *writer)
{
	size_t size =
		head_size(writer) + padded(writer->rep_block.size) + padded(writer->def_block.size);

	for (unsigned i = 0; i < writer->plan.buffer_count; i++)
		size += padded(writer->values[i].size);
	return size;
}

static void
put_number(struct buf *out, uint64_t value, size_t width)
{
	buf_put(out, &value, width);
}

static void
put_padded(struct buf *chunks, const struct buf *part)
{
	buf_put_slice(chunks, buf_slice(part));
	buf_fill(chunks, CHUNK_FILL, padded(part->size) - part->size);
}

static void
put_chunk(struct mini_writer *writer, uint64_t slots, uint64_t entries)
{
	struct buf *chunks = writer->chunks;
	bool rep = writer->rep.message.size > 0, def = writer->def.message.size > 0;
	bool last = writer->slot + slots == writer->shred->visible;
	size_t start = chunks->size, size = chunk_size(writer);
	unsigned log2 = last ? 0 : (unsigned)__builtin_ctzll(slots);

	put_number(chunks, rep || def ? entries : 0, 2);
	if (rep)
		put_number(chunks, writer->rep_block.size, 2);
	if (def)
		put_number(chunks, writer->def_block.size, 2);
	for (unsigned i = 0; i < writer->plan.buffer_count; i++)
		put_number(chunks, writer->values[i].size, writer->large ? 4 : 2);
	buf_fill(chunks, CHUNK_FILL, head_size(writer) - (chunks->size - start));
	put_padded(chunks, &writer->rep_block);
	put_padded(chunks, &writer->def_block);
	for (unsigned i = 0; i < writer->plan.buffer_count; i++)
		put_padded(chunks, &writer->values[i]);
	assert(chunks->failed != LANCET_OK || chunks->size - start == size);
	put_number(writer->words, (size / 8 - 1) << 4 | log2, writer->large ? 4 : 2);
}

/* Rows that end in the chunk, and the entries behind the last of these ends. */
static void
put_index(struct mini_writer *writer, uint64_t end)
{
	const struct shred *shred = writer->shred;
	const uint16_t outer = (uint16_t)shred->layers.list_count;
	uint64_t rows = 0, partial = 0;
	bool whole;

	if (shred->rep == NULL)
		return;
	whole = end == shred->entries || shred->rep[end] == outer;
	if (end > writer->entry + 1) {
		uint64_t inside = end - writer->entry - 1;

		rows = inside - levels_count_up_to(shred->rep + writer->entry + 1, inside,
					(uint16_t)(outer - 1));
	}
	if (whole) {
		rows++;
	} else {
		partial = 1;
		while (partial < end - writer->entry && shred->rep[end - partial] != outer)
			partial++;
	}
	put_number(writer->index, rows, 8);
	put_number(writer->index, partial, 8);
}

static int
try_chunk(struct mini_writer *writer, uint64_t slots, bool *ret_fits)
{
	const struct shred *shred = writer->shred;
	uint64_t end = find_end(writer, slots);
	uint64_t entries = end - writer->entry;
	size_t most = writer->large ? LARGE_CHUNK_MAX : CHUNK_SIZE_MAX;

	*ret_fits = (shred->rep == NULL && shred->def == NULL) || entries <= LEVELS_MAX;
	if (*ret_fits)
		TRY(make_block(
			writer, &writer->rep, shred->rep, entries, &writer->rep_block, ret_fits));
	if (*ret_fits)
		TRY(make_block(
			writer, &writer->def, shred->def, entries, &writer->def_block, ret_fits));
	if (*ret_fits)
		TRY(make_values(writer, slots, ret_fits));
	*ret_fits = *ret_fits && chunk_size(writer) <= most;
	if (!*ret_fits)
		return LANCET_OK;
	put_chunk(writer, slots, entries);
	put_index(writer, end);
	writer->slot += slots;
	writer->entry = end;
	return LANCET_OK;
}

/* The next chunk: all slots that are left, or a power of two of them, 2 at least. */
static int
add_chunk(struct mini_writer *writer, bool *ret_fits)
{
	uint64_t left = writer->shred->visible - writer->slot;
	unsigned log2 =
		writer->log2 < writer->plan.chunk_log2 ? writer->log2 + 1 : writer->plan.chunk_log2;

	if (left <= UINT64_C(1) << log2) {
		TRY(try_chunk(writer, left, ret_fits));
		if (*ret_fits)
			return LANCET_OK;
		while (log2 > 0 && UINT64_C(1) << log2 >= left)
			log2--;
	}
	*ret_fits = false;
	for (; log2 > 0 && !*ret_fits; log2 -= !*ret_fits)
		TRY(try_chunk(writer, UINT64_C(1) << log2, ret_fits));
	writer->log2 = log2;
	return LANCET_OK;
}

static int
make_plans(struct mini_writer *writer)
{
	const struct shred *shred = writer->shred;
	struct encode_values values = page_values(writer->job);
	enum file_version version = writer->job->version;
	uint64_t chunk;

	TRY(mini_plan_make(&values, &writer->plan, writer->err));
	assert(writer->plan.buffer_count <= ENCODE_BUFFERS_MAX);
	assert(values.array->field->kind != FIELD_DICTIONARY ||
		writer->plan.dictionary_message.size > 0);
	if (writer->job->needs_dictionary && writer->plan.dictionary_message.size == 0)
		return lancet_fail(writer->err, LANCET_LIMIT, "wide values");
	writer->log2 = writer->plan.chunk_log2;
	chunk = (shred->entries << writer->plan.chunk_log2) / shred->visible;
	chunk = chunk < shred->entries ? chunk : shred->entries;
	if (shred->rep != NULL)
		TRY(level_plan_make(
			version, shred->rep, shred->entries, chunk, &writer->rep, writer->err));
	if (shred->def != NULL)
		TRY(level_plan_make(
			version, shred->def, shred->entries, chunk, &writer->def, writer->err));
	return LANCET_OK;
}

static int
put_message(struct mini_writer *writer)
{
	struct buf message = { 0 };
	int rc;

	if (writer->rep.message.size > 0)
		message_put_bytes(&message, 1, buf_slice(&writer->rep.message));
	if (writer->def.message.size > 0)
		message_put_bytes(&message, 2, buf_slice(&writer->def.message));
	message_put_bytes(&message, 3, buf_slice(&writer->plan.message));
	if (writer->plan.dictionary_message.size > 0)
		message_put_bytes(&message, 4, buf_slice(&writer->plan.dictionary_message));
	message_put_number(&message, 5, writer->plan.dictionary_items);
	page_put_layers(&message, 6, &writer->shred->layers);
	message_put_number(&message, 7, writer->plan.buffer_count);
	message_put_number(&message, 8, writer->rep.message.size > 0);
	message_put_number(&message, 9, writer->shred->visible);
	message_put_number(&message, 10, writer->large);
	rc = page_put_layout(writer->job, 1, &message, writer->err);
	buf_release(&message);
	return rc;
}

static void
name_buffers(struct mini_writer *writer)
{
	struct page_out *out = &writer->job->out;
	size_t count = 0;

	writer->words = &out->buffers[count++];
	writer->chunks = &out->buffers[count++];
	if (writer->plan.dictionary_message.size > 0)
		writer->dictionary = &out->buffers[count++];
	if (writer->shred->rep != NULL)
		writer->index = &out->buffers[count++];
	out->buffer_count = count;
}

static int
write_chunks(struct mini_writer *writer, bool *ret_fits)
{
	*ret_fits = true;
	TRY(make_plans(writer));
	name_buffers(writer);
	while (writer->slot < writer->shred->visible) {
		TRY(add_chunk(writer, ret_fits));
		if (!*ret_fits)
			return LANCET_OK;
	}
	if (writer->dictionary != NULL)
		buf_put_slice(writer->dictionary, buf_slice(&writer->plan.dictionary));
	return put_message(writer);
}

static void
writer_release(struct mini_writer *writer)
{
	mini_plan_release(&writer->plan);
	level_plan_release(&writer->rep);
	level_plan_release(&writer->def);
	buf_release(&writer->rep_block);
	buf_release(&writer->def_block);
	for (unsigned i = 0; i < ENCODE_BUFFERS_MAX; i++)
		buf_release(&writer->values[i]);
}

int
miniblock_write(struct page_job *job, bool *ret_fits, struct lancet_error *err)
{
	struct mini_writer writer = {
		.job = job, .shred = &job->shred, .large = job->version >= FILE_2_2, .err = err
	};
	int rc;

	assert(job->shred.visible > 0);
	rc = write_chunks(&writer, ret_fits);
	writer_release(&writer);
	return rc;
}
