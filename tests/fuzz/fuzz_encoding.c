/* One compressive encoding over any bytes: built once for each case of the message, FUZZ_CASE.
 *
 * The input says where the encoding is, of what type its values are and how many, brings the
 * encoding's message and the buffers: the target is the same for all of them. What comes out has to
 * be an array whose parts agree.
 */
#include "fuzz.h"

#include <lance/encodings21.pb-c.h>

#include "file/codec.h"
#include "util/cursor.h"
#include "util/macros.h"

#define CASE_OF(name) LANCE__ENCODINGS21__COMPRESSIVE_ENCODING__COMPRESSION_##name
#define CASE(name)    CASE_OF(name)

#define BUDGET      ((size_t)1 << 20)
#define MEMORY_MAX  ((size_t)24 << 20)
#define BUFFERS_MAX 16u

#define FIXED(width, arrow)                                                                        \
	{                                                                                          \
		.kind = FIELD_FIXED, .bits = width, .format = arrow                                \
	}
#define TEXT(is_large, arrow)                                                                      \
	{                                                                                          \
		.kind = FIELD_VARIABLE, .large = is_large, .format = arrow                         \
	}
#define PARENT(what, parts, arrow)                                                                 \
	{                                                                                          \
		.kind = what, .dimension = 3, .format = arrow, .children = parts,                  \
		.child_count = ARRAY_SIZE(parts)                                                   \
	}

static struct field byte_item[] = { FIXED(8, "C") };
static struct field bit_item[] = { FIXED(1, "b") };
static struct field list_item[] = { PARENT(FIELD_FIXED_LIST, byte_item, "+w:3") };
static struct field fixed_parts[] = { FIXED(8, "C"), FIXED(16, "S") };
static struct field mixed_parts[] = {
	FIXED(32, "I"),
	TEXT(false, "u"),
	PARENT(FIELD_FIXED_LIST, byte_item, "+w:3"),
	TEXT(true, "U"),
};

/* What values may be said to be. */
static const struct field fields[] = {
	FIXED(1, "b"),
	FIXED(8, "C"),
	FIXED(16, "S"),
	FIXED(32, "I"),
	FIXED(64, "L"),
	FIXED(128, "d:38,0"),
	FIXED(320, "w:40"),
	TEXT(false, "u"),
	TEXT(true, "U"),
	PARENT(FIELD_FIXED_LIST, byte_item, "+w:3"),
	PARENT(FIELD_FIXED_LIST, bit_item, "+w:3"),
	PARENT(FIELD_FIXED_LIST, list_item, "+w:3"),
	PARENT(FIELD_STRUCT, fixed_parts, "+s"),
	PARENT(FIELD_STRUCT, mixed_parts, "+s"),
};

static const enum codec_place places[] = { CODEC_MINI, CODEC_BLOCK, CODEC_FIXED, CODEC_VARIABLE };
static const enum file_version versions[] = { FILE_2_1, FILE_2_2, FILE_2_3 };

struct input {
	enum codec_place place;
	enum file_version version;
	const struct field *field;
	bool is_run;   /* of numbers */
	unsigned bits; /* of these */
	uint64_t count;
	struct slice message;
	struct slice buffers[BUFFERS_MAX];
	size_t buffer_count;
};

/* u8: place, version or "a run of numbers", "count is of terabytes"; u8: field; u16: count; u16 and
 * bytes: message; the rest are buffers in the same form, the last one of which may be cut. */
static bool
read_input(struct slice bytes, struct input *input)
{
	struct cursor c = { .in = bytes };
	uint8_t where = cursor_u8(&c);
	uint8_t what = cursor_u8(&c);

	input->is_run = (where >> 2 & 3) == 3 || CASE(FUZZ_CASE) == CASE(RANGE) ||
			CASE(FUZZ_CASE) == CASE(DELTA) || CASE(FUZZ_CASE) == CASE(DICTIONARY);
	input->place = places[where & 3];
	input->version = versions[(where >> 2 & 3) % ARRAY_SIZE(versions)];
	input->field = &fields[what % ARRAY_SIZE(fields)];
	input->bits = input->field->bits == 64 ? 64 : 32;
	input->count = cursor_u16(&c);
	if (where & 0x80)
		input->count <<= 40;
	input->message = cursor_take(&c, cursor_u16(&c));
	while (!c.bad && cursor_left(&c) >= 2 && input->buffer_count < BUFFERS_MAX) {
		uint64_t size = cursor_u16(&c);

		size = size < cursor_left(&c) ? size : cursor_left(&c);
		input->buffers[input->buffer_count++] = cursor_take(&c, size);
	}
	return !c.bad;
}

/* CompressiveEncoding around the message. */
static bool
wrap_message(const struct input *input, struct buf *message)
{
	size_t size = input->message.size;

	buf_put_byte(message, (uint8_t)(CASE(FUZZ_CASE) << 3 | 2));
	for (; size >= 0x80; size >>= 7)
		buf_put_byte(message, (uint8_t)(size | 0x80));
	buf_put_byte(message, (uint8_t)size);
	buf_put_slice(message, input->message);
	return message->failed == LANCET_OK;
}

static int
decode(const struct codec *codec, const struct input *input, struct scratch *scratch,
	struct array *out, struct lancet_error *err)
{
	struct codec_buffers buffers = { input->buffers, input->buffer_count, 0 };
	struct slice block = input->buffer_count == 0 ? slice_of("", 0) : input->buffers[0];

	if (input->place == CODEC_MINI)
		return codec_decode_mini(codec, &buffers, input->count, scratch, out, err);
	if (input->place == CODEC_BLOCK)
		return codec_decode_block(codec, block, input->count, scratch, out, err);
	return codec_decode_values(codec, input->buffers, input->buffer_count, scratch, out, err);
}

static int
run_codec(const struct input *input, struct slice message, struct arena *arena,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	const struct codec *codec;
	struct buf words = { 0 };

	TRY(codec_open(message, input->place, input->version, 0, arena, &codec, err));
	codec_describe(codec, &words);
	buf_release(&words);
	return decode(codec, input, scratch, out, err);
}

static int
run_numbers(const struct input *input, struct slice message, struct arena *arena,
	struct scratch *scratch, struct array *out, struct lancet_error *err)
{
	const struct number_run *run;
	bool has_buffer;
	uint64_t start, step;

	TRY(number_run_open(message, input->bits, arena, &run, &has_buffer, err));
	(void)number_run_progression(run, &start, &step);
	return number_run_decode(run, input->count,
		has_buffer && input->buffer_count > 0 ? input->buffers[0] : slice_of("", 0),
		scratch, out, err);
}

static void
expect_sound(const struct array *array, uint64_t length)
{
	const struct field *field = array->field;

	fuzz_expect(array->length == length && array->null_count <= length);
	fuzz_expect(array->validity.size == 0 || array->validity.size >= (length + 7) / 8);
	if (field->kind == FIELD_FIXED)
		fuzz_expect(array->data.size == (length * field->bits + 7) / 8);
	for (uint64_t i = 0; field->kind == FIELD_VARIABLE && i < length; i++)
		fuzz_expect(array_offset(array, i) <= array_offset(array, i + 1) &&
			    array_offset(array, i + 1) <= array->data.size);
	for (size_t i = 0; i < array->child_count; i++)
		expect_sound(&array->children[i],
			field->kind == FIELD_FIXED_LIST ? length * field->dimension : length);
}

static void
expect_reason(int rc, const struct lancet_error *err)
{
	fuzz_expect(rc == LANCET_CORRUPT || rc == LANCET_UNSUPPORTED || rc == LANCET_LIMIT ||
		    rc == LANCET_NO_MEMORY);
	fuzz_expect(err->text[0] != '\0');
}

static void
run(struct input *input, struct slice message, const struct fuzz_guard *guard)
{
	bool values = input->place == CODEC_FIXED || input->place == CODEC_VARIABLE;
	struct array_budget budget = { .limit = BUDGET };
	struct lancet_error err = { 0 };
	struct scratch scratch = { 0 };
	struct arena arena = { 0 };
	struct array out;
	int rc;

	if (array_init(&out, input->is_run ? field_unsigned(64) : input->field, &budget, &err) !=
		LANCET_OK)
		return;
	if (input->is_run)
		rc = run_numbers(input, message, &arena, &scratch, &out, &err);
	else
		rc = run_codec(input, message, &arena, &scratch, &out, &err);
	fuzz_check(guard);
	if (rc == LANCET_OK)
		expect_sound(&out, values && !input->is_run ? input->buffer_count : input->count);
	else
		expect_reason(rc, &err);
	fuzz_expect(scratch.used == 0);
	array_release(&out);
	scratch_release(&scratch);
	arena_release(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(MEMORY_MAX + 64 * size);
	struct input input = { 0 };
	struct buf message = { 0 };

	if (!read_input(slice_of(data, size), &input))
		return 0;
	if (wrap_message(&input, &message))
		run(&input, buf_slice(&message), &guard);
	buf_release(&message);
	fuzz_end(&guard);
	return 0;
}
