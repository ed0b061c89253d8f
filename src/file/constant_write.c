/* Constant pages: nulls alone, or a value that all slots have. Levels, when there are any, lie in
 * two buffers. Format facts: constant layout.
 */
#include <lance/encodings21.pb-c.h>

#include "encode_message.h"
#include "page_writer.h"
#include "util/macros.h"

#define RAW_LEVELS_SMALL 256u /* bytes, less than what is around them */

static bool
is_empty_struct(const struct field *field)
{
	return field->kind == FIELD_STRUCT && field->child_count == 0;
}

bool
constant_wants_nulls(const struct page_job *job)
{
	const struct shred *shred = &job->shred;
	bool simple = shred->layers.count == 1;

	if (shred->visible == 0 || job->leaf->kind == FIELD_NULL || is_empty_struct(job->leaf))
		return true;
	/* 2.1 has raw levels here, mini-blocks are shorter: but not for keys of nothing */
	return shred->valid == 0 &&
	       (simple || job->version >= FILE_2_2 || job->leaf->kind == FIELD_DICTIONARY);
}

/* One buffer of levels, raw or as a block; without levels it is empty. */
static int
put_levels(enum file_version version, bool raw, const uint16_t *levels, uint64_t count,
	struct level_plan *plan, struct buf *buffer, struct lancet_error *err)
{
	if (levels == NULL)
		return LANCET_OK;
	if (!raw && version >= FILE_2_2) {
		TRY(level_plan_make(version, levels, count, count, plan, err));
		TRY(level_plan_block(plan, levels, count, buffer, err));
		TRY(buf_check(buffer, "levels", err));
		if (buffer->size < count * 2)
			return LANCET_OK;
		level_plan_release(plan);
		*plan = (struct level_plan){ 0 };
		buffer->size = 0;
	}
	buf_put(buffer, levels, (size_t)count * 2);
	return buf_check(buffer, "levels", err);
}

static void
put_level_messages(const struct shred *shred, const struct level_plan *rep,
	const struct level_plan *def, struct buf *message)
{
	if (rep->message.size > 0)
		message_put_bytes(message, 7, buf_slice(&rep->message));
	if (def->message.size > 0)
		message_put_bytes(message, 8, buf_slice(&def->message));
	message_put_number(message, 9, rep->message.size > 0 ? shred->entries : 0);
	message_put_number(message, 10, def->message.size > 0 ? shred->entries : 0);
}

/* The levels as the page's next two buffers, and what the message says of them. */
static int
put_all_levels(struct page_job *job, bool raw, struct buf *message, struct lancet_error *err)
{
	const struct shred *shred = &job->shred;
	struct level_plan rep = { 0 }, def = { 0 };
	struct buf *buffers = &job->out.buffers[job->out.buffer_count];
	int rc;

	job->out.buffer_count += 2;
	rc = put_levels(job->version, raw, shred->rep, shred->entries, &rep, &buffers[0], err);
	if (rc == LANCET_OK)
		rc = put_levels(
			job->version, raw, shred->def, shred->entries, &def, &buffers[1], err);
	if (rc == LANCET_OK)
		put_level_messages(shred, &rep, &def, message);
	level_plan_release(&rep);
	level_plan_release(&def);
	return rc;
}

/* A layout of these levels, with the value in the message, in the page's first buffer, or none. */
static int
put_page(struct page_job *job, const struct buf *inline_value, bool levels, bool raw,
	struct lancet_error *err)
{
	struct buf message = { 0 };
	int rc = LANCET_OK;

	page_put_layers(&message, 5, &job->shred.layers);
	if (inline_value != NULL)
		message_put_bytes(&message, 6, buf_slice(inline_value));
	if (levels)
		rc = put_all_levels(job, raw, &message, err);
	if (rc == LANCET_OK)
		rc = page_put_layout(job, 2, &message, err);
	buf_release(&message);
	return rc;
}

/* What has no fields reads as valid from a page of nulls, so that nulls of it can't be told. */
static int
write_empty_structs(struct page_job *job, struct lancet_error *err)
{
	if (job->shred.def != NULL)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"nulls among structs without fields are not supported");
	job->shred.layers.kinds[0] = LANCE__ENCODINGS21__REP_DEF_LAYER__REPDEF_NULLABLE_ITEM;
	return put_page(job, NULL, false, false, err);
}

int
constant_write_nulls(struct page_job *job, struct lancet_error *err)
{
	if (is_empty_struct(job->leaf))
		return write_empty_structs(job, err);
	return put_page(job, NULL, job->shred.layers.count > 1, false, err);
}

/* Beside a value levels are raw: nobody reads them otherwise. Those of chunks are shorter; they
 * have all the values, but a dictionary may hold them. */
static int
is_shorter(const struct page_job *job, const struct encode_values *values, uint64_t size,
	bool *ret_shorter, struct lancet_error *err)
{
	const struct shred *shred = &job->shred;
	uint64_t levels = shred->entries * 2 * ((shred->rep != NULL) + (shred->def != NULL));
	bool repeats = false;

	*ret_shorter = levels <= RAW_LEVELS_SMALL;
	if (*ret_shorter || !encode_wants_zip(values))
		return LANCET_OK;
	TRY(encode_repeats(values, &repeats, err));
	*ret_shorter = !repeats && levels < shred->valid * size;
	return LANCET_OK;
}

int
constant_write_value(struct page_job *job, bool *ret_done, struct lancet_error *err)
{
	bool levels = job->shred.rep != NULL || job->shred.def != NULL, is_inline = false;
	struct encode_values values = page_values(job);
	struct buf value = { 0 };
	int rc;

	if (job->version < FILE_2_2)
		return LANCET_OK;
	rc = encode_constant(&values, ret_done, &is_inline, &value, err);
	if (rc == LANCET_OK && *ret_done)
		rc = is_shorter(job, &values, value.size, ret_done, err);
	if (rc == LANCET_OK && *ret_done && !is_inline)
		buf_put_slice(&job->out.buffers[job->out.buffer_count++], buf_slice(&value));
	if (rc == LANCET_OK && *ret_done)
		rc = put_page(job, is_inline ? &value : NULL, levels, true, err);
	buf_release(&value);
	return rc;
}
