/* codec_row for what comes out as lists and structs; the text is that of pages.h, with a blank
 * between values. */
#ifndef TESTS_NESTED_H
#define TESTS_NESTED_H

#include "codecs.h"
#include "pages.h"

static inline void
check_nested(const struct codec_rig *rig, const struct codec_row *row)
{
	struct buf text = { 0 };

	for (uint64_t i = 0; i < rig->out.length; i++) {
		buf_put_text(&text, i == 0 ? "" : " ");
		render_value(&rig->out, i, &text);
	}
	buf_put_byte(&text, '\0');
	ck_assert_msg(strcmp((const char *)text.data, row->out) == 0, "%s: %s", row->label,
		(const char *)text.data);
	ck_assert_uint_eq(rig->out.length, row->count);
	ck_assert_uint_eq(rig->scratch.decoded, row->count);
	buf_release(&text);
}

static inline void
run_nested_row(const struct codec_row *row)
{
	struct codec_rig rig = { 0 };
	int rc = rig_open(&rig, row->message, row->place, row->version, row->field);

	for (size_t i = 0; i < CODEC_BUFFERS_MAX && row->buffers[i] != NULL; i++)
		rig.buffers[rig.buffer_count++] = exact_hex(row->buffers[i]);
	if (rc == LANCET_OK)
		rc = rig_decode(&rig, row->count);
	ck_assert_msg(rc == (int)row->want, "%s: %d, %s", row->label, rc, rig.err.text);
	if (rc == LANCET_OK)
		check_nested(&rig, row);
	else
		ck_assert_msg(
			strstr(rig.err.text, row->out) != NULL, "%s: %s", row->label, rig.err.text);
	ck_assert_uint_eq(rig.scratch.used, 0);
	rig_release(&rig);
	ck_assert_uint_eq(rig.budget.used, 0);
}

#endif
