/* Constant pages: nulls alone, or a value that all slots have. Levels, when there are any, lie in
 * two buffers. Format facts: constant layout.
 */
#include "encode_message.h"
#include "page_writer.h"
#include "util/macros.h"

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
	/* 2.1 has raw levels here, mini-blocks are shorter */
	return shred->valid == 0 && (simple || job->version >= FILE_2_2);
}

/* One buffer of levels, raw or in blocks; *ret_encoded tells which. Without levels it is empty. */
static int
put_levels(enum file_version version, const uint16_t *levels, uint64_t count,
	struct level_plan *plan, struct buf *buffer, struct lancet_error *err)
{
	if (levels == NULL)
		return LANCET_OK;
	if (version >= FILE_2_2) {
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
put_all_levels(struct page_job *job, struct buf *message, struct lancet_error *err)
{
	const struct shred *shred = &job->shred;
	struct level_plan rep = { 0 }, def = { 0 };
	struct buf *buffers = &job->out.buffers[job->out.buffer_count];
	int rc;

	job->out.buffer_count += 2;
	rc = put_levels(job->version, shred->rep, shred->entries, &rep, &buffers[0], err);
	if (rc == LANCET_OK)
		rc = put_levels(job->version, shred->def, shred->entries, &def, &buffers[1], err);
	if (rc == LANCET_OK)
		put_level_messages(shred, &rep, &def, message);
	level_plan_release(&rep);
	level_plan_release(&def);
	return rc;
}

static int
put_message(struct page_job *job, const struct buf *value, bool is_inline, bool levels,
	struct lancet_error *err)
{
	struct buf message = { 0 };
	int rc = LANCET_OK;

	page_put_layers(&message, 5, &job->shred.layers);
	if (is_inline)
		message_put_bytes(&message, 6, buf_slice(value));
	if (levels)
		rc = put_all_levels(job, &message, err);
	if (rc == LANCET_OK)
		rc = page_put_layout(job, 2, &message, err);
	buf_release(&message);
	return rc;
}

int
constant_write_nulls(struct page_job *job, struct lancet_error *err)
{
	return put_message(job, NULL, false, job->shred.layers.count > 1, err);
}

int
constant_write_value(struct page_job *job, bool *ret_done, struct lancet_error *err)
{
	struct encode_values values = page_values(job);
	struct buf value = { 0 };
	bool is_inline = false;
	int rc;

	if (job->version < FILE_2_2)
		return LANCET_OK;
	rc = encode_constant(&values, ret_done, &is_inline, &value, err);
	if (rc == LANCET_OK && *ret_done && !is_inline)
		buf_put_slice(&job->out.buffers[job->out.buffer_count++], buf_slice(&value));
	if (rc == LANCET_OK && *ret_done)
		rc = put_message(job, &value, is_inline,
			job->shred.rep != NULL || job->shred.def != NULL, err);
	buf_release(&value);
	return rc;
}
