/* Full-zip pages: each entry is a control word with its levels, then the bytes of its value.
 *
 *     control word = repetition level << bits of definition | definition level
 *
 * An index tells where rows begin when entries differ in size. Format facts: full-zip layout.
 */
#include "encode_message.h"
#include "page_writer.h"
#include "util/macros.h"

struct zip_writer {
	struct page_job *job;
	const struct shred *shred;
	struct zip_plan plan;
	unsigned bits_rep, bits_def;
	unsigned control; /* bytes of a control word */
	struct buf *data;
	struct buf places; /* uint64_t: where each row begins */
	uint64_t slot;
	struct lancet_error *err;
};

/* Bits that the largest of the levels needs. */
static unsigned
bits_of(const uint16_t *levels, uint64_t count)
{
	unsigned all = 0, bits = 0;

	for (uint64_t i = 0; levels != NULL && i < count; i++)
		all |= levels[i];
	while (all >> bits != 0)
		bits++;
	return bits;
}

static void
find_control(struct zip_writer *writer)
{
	const struct shred *shred = writer->shred;
	unsigned bits;

	writer->bits_rep = bits_of(shred->rep, shred->entries);
	writer->bits_def = bits_of(shred->def, shred->entries);
	/* Without levels pylance (14.0.2) takes no notice of layers that can be null. */
	if (shred->def != NULL && writer->bits_def == 0)
		writer->bits_def = 1;
	bits = writer->bits_rep + writer->bits_def;
	writer->control = bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

static int
put_value(struct zip_writer *writer, bool valid)
{
	struct buf *data = writer->data;
	size_t at = data->size, width = writer->plan.variable ? (size_t)writer->plan.bits / 8 : 0;
	uint64_t size;

	if (writer->plan.variable && !valid)
		return LANCET_OK;
	buf_fill(data, 0, width);
	TRY(zip_plan_value(&writer->plan, writer->slot, data, writer->err));
	TRY(buf_check(data, "page", writer->err));
	size = data->size - at - width;
	if (width == 4 && size > UINT32_MAX)
		return lancet_fail(writer->err, LANCET_UNSUPPORTED,
			"a value of more bytes than 32 bits can tell");
	memcpy(data->data + at, &size, width);
	return LANCET_OK;
}

static int
put_entry(struct zip_writer *writer, uint64_t index)
{
	const struct shred *shred = writer->shred;
	uint32_t rep = shred->rep == NULL ? 0 : shred->rep[index];
	uint32_t def = shred->def == NULL ? 0 : shred->def[index];
	uint32_t word = rep << writer->bits_def | def;
	uint64_t place = writer->data->size;

	if (shred->rep == NULL || rep == shred->layers.list_count)
		buf_put(&writer->places, &place, sizeof(place));
	buf_put(writer->data, &word, writer->control);
	if (def > shred->layers.visible_max)
		return LANCET_OK;
	TRY(put_value(writer, def == 0));
	writer->slot++;
	return LANCET_OK;
}

/* The places in as few bytes as they need. */
static void
put_index(struct zip_writer *writer, struct buf *index)
{
	const uint64_t *places = (const uint64_t *)(const void *)writer->places.data;
	size_t count = writer->places.size / sizeof(*places);
	uint64_t end = writer->data->size;
	size_t width = end <= UINT16_MAX ? 2 : end <= UINT32_MAX ? 4 : 8;

	for (size_t i = 0; i < count; i++)
		buf_put(index, &places[i], width);
	buf_put(index, &end, width);
}

static int
put_message(struct zip_writer *writer)
{
	const struct shred *shred = writer->shred;
	struct buf message = { 0 };
	int rc;

	message_put_number(&message, 1, writer->bits_rep);
	message_put_number(&message, 2, writer->bits_def);
	message_put_number(&message, writer->plan.variable ? 4 : 3, writer->plan.bits);
	message_put_number(&message, 5, shred->entries);
	message_put_number(&message, 6, shred->visible);
	message_put_bytes(&message, 7, buf_slice(&writer->plan.message));
	page_put_layers(&message, 8, &shred->layers);
	rc = page_put_layout(writer->job, 3, &message, writer->err);
	buf_release(&message);
	return rc;
}

static int
write_entries(struct zip_writer *writer)
{
	const struct shred *shred = writer->shred;
	struct encode_values values = page_values(writer->job);
	struct page_out *out = &writer->job->out;

	if (shred->entries > UINT32_MAX)
		return lancet_fail(writer->err, LANCET_LIMIT, "too many values for a page");
	TRY(zip_plan_make(&values, &writer->plan, writer->err));
	find_control(writer);
	writer->data = &out->buffers[0];
	out->buffer_count = 1;
	for (uint64_t i = 0; i < shred->entries; i++)
		TRY(put_entry(writer, i));
	if (writer->plan.variable || shred->rep != NULL) {
		TRY(buf_check(&writer->places, "page", writer->err));
		put_index(writer, &out->buffers[out->buffer_count++]);
	}
	return put_message(writer);
}

int
fullzip_write(struct page_job *job, struct lancet_error *err)
{
	struct zip_writer writer = { .job = job, .shred = &job->shred, .err = err };
	int rc = write_entries(&writer);

	zip_plan_release(&writer.plan);
	buf_release(&writer.places);
	return rc;
}
