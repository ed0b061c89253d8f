/* One row for each thing that an encoding does: a message and buffers in hex, written by hand from
 * the format facts, and what comes out, or why nothing does. */
#ifndef TESTS_CODECS_H
#define TESTS_CODECS_H

#include "encode.h"
#include "file/codec.h"
#include "unit.h"

#define CODEC_BUFFERS_MAX 8

struct codec_row {
	const char *label;
	const char *message; /* CompressiveEncoding */
	enum codec_place place;
	enum file_version version; /* 0 = 2.2 */
	const struct field *field; /* of what comes out */
	uint64_t count;
	const char *buffers[CODEC_BUFFERS_MAX]; /* or values */
	enum lancet_code want;
	const char *out; /* data in hex, "|" behind each text, or a part of the error's text */
};

struct codec_rig {
	struct arena arena;
	struct scratch scratch;
	struct array_budget budget;
	struct array out;
	struct lancet_error err;
	const struct codec *codec;
	struct slice buffers[CODEC_BUFFERS_MAX]; /* of their exact size, for the sanitizer */
	size_t buffer_count;
};

static const struct field codec_bool = { .kind = FIELD_FIXED, .bits = 1, .format = "b" };
static const struct field codec_u8 = { .kind = FIELD_FIXED, .bits = 8, .format = "C" };
static const struct field codec_u16 = { .kind = FIELD_FIXED, .bits = 16, .format = "S" };
static const struct field codec_u32 = { .kind = FIELD_FIXED, .bits = 32, .format = "I" };
static const struct field codec_u64 = { .kind = FIELD_FIXED, .bits = 64, .format = "L" };
static const struct field codec_text = { .kind = FIELD_VARIABLE, .format = "u" };
static const struct field codec_large_text = { .kind = FIELD_VARIABLE, .large = true };

/* Bytes from hex, with blanks for the eye. */
static inline struct slice
exact_hex(const char *hex)
{
	uint8_t *data = malloc(strlen(hex) / 2 + 1);
	size_t size = 0;

	for (; *hex != '\0'; hex += *hex == ' ' ? 1 : 2) {
		const char pair[3] = { hex[0], hex[1], '\0' };

		if (*hex != ' ')
			data[size++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return slice_of(realloc(data, size == 0 ? 1 : size), size);
}

static inline void
rig_release(struct codec_rig *rig)
{
	array_release(&rig->out);
	scratch_release(&rig->scratch);
	arena_release(&rig->arena);
	for (size_t i = 0; i < rig->buffer_count; i++)
		free((void *)(uintptr_t)rig->buffers[i].data);
	*rig = (struct codec_rig){ 0 };
}

static inline int
rig_open(struct codec_rig *rig, const char *message, enum codec_place place,
	enum file_version version, const struct field *field)
{
	struct slice bytes = exact_hex(message);
	int rc;

	rig->budget = (struct array_budget){ .limit = (size_t)16 << 20 };
	ck_assert_int_eq(array_init(&rig->out, field, &rig->budget, NULL), LANCET_OK);
	rc = codec_open(bytes, place, version == 0 ? FILE_2_2 : version, 0, &rig->arena,
		&rig->codec, &rig->err);
	free((void *)(uintptr_t)bytes.data); /* what is kept is in the arena */
	return rc;
}

static inline int
rig_decode(struct codec_rig *rig, uint64_t count)
{
	struct codec_buffers in = { rig->buffers, rig->buffer_count, 0 };
	struct slice block = rig->buffer_count == 0 ? slice_of("", 0) : rig->buffers[0];

	if (rig->codec->place == CODEC_MINI)
		return codec_decode_mini(
			rig->codec, &in, count, &rig->scratch, &rig->out, &rig->err);
	if (rig->codec->place == CODEC_BLOCK)
		return codec_decode_block(
			rig->codec, block, count, &rig->scratch, &rig->out, &rig->err);
	ck_assert_uint_eq(count, rig->buffer_count);
	return codec_decode_values(
		rig->codec, rig->buffers, (size_t)count, &rig->scratch, &rig->out, &rig->err);
}

/* What is in the array, as rows tell it. */
static inline void
rig_print(const struct array *array, struct buf *text)
{
	for (uint64_t i = 0; array->field->kind == FIELD_VARIABLE && i < array->length; i++) {
		buf_put_slice(text, array_bytes(array, i));
		buf_put_byte(text, '|');
	}
	for (size_t i = 0; array->field->kind == FIELD_FIXED && i < array->data.size; i++)
		buf_printf(text, "%02x", array->data.data[i]);
	buf_put_byte(text, '\0');
}

static inline void
rig_check(const struct codec_rig *rig, const struct codec_row *row, int rc)
{
	struct buf text = { 0 };

	ck_assert_msg(rc == (int)row->want, "%s: %d, %s", row->label, rc, rig->err.text);
	if (rc == LANCET_OK) {
		rig_print(&rig->out, &text);
		ck_assert_msg(strcmp((const char *)text.data, row->out) == 0, "%s: %s", row->label,
			(const char *)text.data);
		ck_assert_uint_eq(rig->out.length, row->count);
		ck_assert_uint_eq(rig->out.null_count, 0);
		ck_assert_uint_eq(rig->scratch.decoded, row->count);
	} else {
		ck_assert_msg(strstr(rig->err.text, row->out) != NULL, "%s: %s", row->label,
			rig->err.text);
	}
	ck_assert_uint_eq(rig->scratch.used, 0);
	buf_release(&text);
}

static inline void
run_codec_row(const struct codec_row *row)
{
	struct codec_rig rig = { 0 };
	int rc = rig_open(&rig, row->message, row->place, row->version, row->field);

	for (size_t i = 0; i < CODEC_BUFFERS_MAX && row->buffers[i] != NULL; i++)
		rig.buffers[rig.buffer_count++] = exact_hex(row->buffers[i]);
	if (rc == LANCET_OK)
		rc = rig_decode(&rig, row->count);
	rig_check(&rig, row, rc);
	rig_release(&rig);
}

#endif
