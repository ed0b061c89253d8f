/* Walking a message: values as the protobuf encoding defines them, contents skipped, lies
 * refused. */
#include "unit.h"

#include "util/buf.h"
#include "util/pbscan.h"

/* A source that counts: neither in memory nor a descriptor, so that the window is used. */
struct counting_source {
	struct source base;
	struct slice bytes;
	uint64_t bytes_read;
	unsigned reads;
};

static int
counting_read_at(struct source *src, uint64_t offset, size_t size, void *into,
                 struct lancet_error *err)
{
	struct counting_source *counting = (struct counting_source *)src;

	(void)err;
	counting->bytes_read += size;
	counting->reads++;
	memcpy(into, counting->bytes.data + offset, size);
	return LANCET_OK;
}

static void
counting_release(struct source *src)
{
	(void)src;
}

static const struct source_ops counting_ops = { counting_read_at, counting_release };

static struct counting_source
counting_source(struct slice bytes)
{
	struct counting_source counting = { .bytes = bytes };

	source_init(&counting.base, &counting_ops, bytes.size);
	return counting;
}

/* field 1 = 150, field 2 = "testing", field 3 = fixed32 1, field 4 = fixed64 2, field 20000 = 0 */
static const uint8_t sample[] = {
	0x08, 0x96, 0x01, 0x12, 7, 't', 'e', 's', 't', 'i', 'n', 'g', 0x1d, 1, 0, 0,
	0,    0x21, 2,    0,    0, 0,   0,   0,   0,   0,   0x80, 0xe2, 0x09, 0,
};
static const struct pb_field sample_fields[] = {
	{ 1, PB_VARINT, 150, 0, 3, 3 },        { 2, PB_BYTES, 7, 3, 5, 12 },
	{ 3, PB_FIXED32, 1, 12, 17, 17 },      { 4, PB_FIXED64, 2, 17, 26, 26 },
	{ 20000, PB_VARINT, 0, 26, 30, 30 },
};

static void
check_field(const struct pb_field *got, const struct pb_field *want, uint64_t shift)
{
	ck_assert_uint_eq(got->number, want->number);
	ck_assert_int_eq(got->wire, want->wire);
	ck_assert_uint_eq(got->value, want->value);
	ck_assert_uint_eq(got->start, want->start + shift);
	ck_assert_uint_eq(got->offset, want->offset + shift);
	ck_assert_uint_eq(got->end, want->end + shift);
}

static const size_t windows[] = { 0, 1, 20, 21, 30 };

START_TEST(fields_have_number_value_and_place)
{
	uint8_t shifted[sizeof(sample) + 8] = { 0xff, 0xff, 0xff };
	struct counting_source counting;
	struct slice content = { 0 };
	struct pb_field field;
	struct pbscan scan;
	bool more = true;

	memcpy(shifted + 3, sample, sizeof(sample));
	counting = counting_source(slice_of(shifted, sizeof(shifted)));
	ck_assert_int_eq(pbscan_init(&scan, &counting.base, 3, sizeof(sample), windows[_i], NULL),
	                 LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(sample_fields); i++) {
		ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_OK);
		ck_assert(more);
		check_field(&field, &sample_fields[i], 3);
		if (field.wire != PB_BYTES)
			continue;
		ck_assert_int_eq(pbscan_bytes(&scan, field.offset, 7, &content, NULL), LANCET_OK);
		ck_assert(slice_equal(content, slice_text("testing")));
	}
	ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_OK);
	ck_assert(!more);
	pbscan_release(&scan);
}
END_TEST

START_TEST(memory_is_walked_without_a_window)
{
	struct pbmem mem = { .in = { sample, sizeof(sample) } };
	struct source *src = source_memory_new(mem.in, NULL);
	struct pb_field field;
	struct pbscan scan;
	bool more = true;

	ck_assert_int_eq(pbscan_init(&scan, src, 0, sizeof(sample), 0, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(sample_fields); i++) {
		ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_OK);
		check_field(&field, &sample_fields[i], 0);
		ck_assert_int_eq(pbmem_next(&mem, &field, &more, NULL), LANCET_OK);
		check_field(&field, &sample_fields[i], 0);
	}
	ck_assert_ptr_null(scan.window);
	ck_assert_int_eq(pbmem_next(&mem, &field, &more, NULL), LANCET_OK);
	ck_assert(!more);
	pbscan_release(&scan);
	source_unref(src);
}
END_TEST

static const struct {
	const char *label;
	size_t size;
	uint8_t bytes[24];
} lies[] = {
	{ "field 0", 2, { 0x00, 1 } },
	{ "group start", 1, { 0x0b } },
	{ "group end", 1, { 0x0c } },
	{ "wire type 6", 2, { 0x0e, 0 } },
	{ "wire type 7", 2, { 0x0f, 0 } },
	{ "tag cut", 1, { 0x80 } },
	{ "tag over 32 bits", 7, { 0x88, 0x80, 0x80, 0x80, 0x80, 0x01, 0 } },
	{ "tag of eleven bytes", 12, { 136, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0, 0 } },
	{ "value missing", 1, { 0x08 } },
	{ "value cut", 2, { 0x08, 0x80 } },
	{ "value over 64 bits", 11, { 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2 } },
	{ "fixed32 cut", 4, { 0x0d, 1, 2, 3 } },
	{ "fixed64 cut", 8, { 0x09, 1, 2, 3, 4, 5, 6, 7 } },
	{ "content past the end", 3, { 0x0a, 2, 1 } },
	{ "length of 2^64 - 1", 11, { 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 } },
};

START_TEST(a_lie_is_corrupt_and_gives_no_field)
{
	struct pbmem mem = { .in = { lies[_i].bytes, lies[_i].size } };
	struct counting_source counting = counting_source(mem.in);
	struct pb_field field = { .number = 77 };
	struct lancet_error err = { 0 };
	struct pbscan scan;
	bool more = false;

	ck_assert_msg(pbmem_next(&mem, &field, &more, &err) == LANCET_CORRUPT, "%s",
	              lies[_i].label);
	ck_assert_str_ne(err.text, "");
	ck_assert_int_eq(pbscan_init(&scan, &counting.base, 0, lies[_i].size, 0, NULL), LANCET_OK);
	ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_CORRUPT);
	ck_assert_uint_eq(field.number, 77);
	ck_assert(!more);
	pbscan_release(&scan);
}
END_TEST

/* `count` times field 2 with `size` bytes of content. */
static void
put_fields(struct buf *b, unsigned count, uint32_t size)
{
	for (unsigned i = 0; i < count; i++) {
		uint32_t left = size;

		buf_put_byte(b, 0x12);
		for (; left >= 0x80; left >>= 7)
			buf_put_byte(b, (uint8_t)(left | 0x80));
		buf_put_byte(b, (uint8_t)left);
		buf_fill(b, 'x', size);
	}
}

static const uint64_t values[] = { 0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1fffff, 0x200000, 0xfffffff,
	UINT64_C(1) << 28, (UINT64_C(1) << 35) - 1, UINT64_C(1) << 35, (UINT64_C(1) << 42) - 1,
	UINT64_C(1) << 62, UINT64_MAX };
static const uint8_t tags[] = { 0x08, 0x78, 0x80 }; /* fields 1 and 15; 16 has one byte more */

static void
put_varint(struct buf *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_put_byte(b, (uint8_t)(value | 0x80));
	buf_put_byte(b, (uint8_t)value);
}

START_TEST(numbers_of_every_length_are_read_with_much_behind_them)
{
	struct counting_source counting;
	struct pb_field field;
	struct buf b = { 0 };
	struct pbscan scan;
	bool more;

	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		buf_put_byte(&b, tags[i]);
		if (tags[i] >= 0x80)
			buf_put_byte(&b, 1);
		put_varint(&b, values[_i]);
	}
	buf_fill(&b, 'x', 64);
	counting = counting_source(buf_slice(&b));
	ck_assert_int_eq(pbscan_init(&scan, &counting.base, 0, b.size, 0, NULL), LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++) {
		ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_OK);
		ck_assert_uint_eq(field.number, ((const uint32_t[]){ 1, 15, 16 })[i]);
		ck_assert_int_eq(field.wire, PB_VARINT);
		ck_assert_uint_eq(field.value, values[_i]);
		ck_assert_uint_eq(field.offset, field.end);
	}
	ck_assert_uint_eq(field.end, b.size - 64);
	pbscan_release(&scan);
	buf_release(&b);
}
END_TEST

START_TEST(lies_with_much_behind_them_are_told_too)
{
	static const struct {
		uint8_t size, bytes[12];
	} heads[] = {
		{ 2, { 0x00, 1 } },
		{ 2, { 0x0b, 1 } },
		{ 2, { 0x0f, 1 } },
		{ 2, { 0x0a, 65 } },
		{ 6, { 0x0a, 0x80, 0x80, 0x80, 0x80, 1 } },
		{ 11, { 10, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1 } },
		{ 11, { 8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(heads); i++) {
		struct pb_field field = { .number = 77 };
		struct counting_source counting;
		struct buf b = { 0 };
		struct pbscan scan;
		bool more = false;

		put_fields(&b, 1, 20);
		buf_put(&b, heads[i].bytes, heads[i].size);
		buf_fill(&b, 1, 64);
		counting = counting_source(buf_slice(&b));
		ck_assert_int_eq(pbscan_init(&scan, &counting.base, 0, b.size, 0, NULL), LANCET_OK);
		ck_assert_int_eq(
			pbscan_next_inside(&scan, 21, &field, &more, NULL), LANCET_CORRUPT);
		scan.at = 22;
		field.number = 77;
		more = false;
		ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_CORRUPT);
		ck_assert_uint_eq(field.number, 77);
		ck_assert(!more);
		pbscan_release(&scan);
		buf_release(&b);
	}
}
END_TEST

START_TEST(content_may_not_leave_the_message_though_the_source_goes_on)
{
	struct counting_source counting = counting_source(slice_of(sample, sizeof(sample)));
	struct pb_field field;
	struct slice content;
	struct pbscan scan;
	bool more;

	ck_assert_int_eq(pbscan_init(&scan, &counting.base, 0, 11, 0, NULL), LANCET_OK);
	ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_OK);
	ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(pbscan_bytes(&scan, 5, 7, &content, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(pbscan_bytes(&scan, UINT64_MAX, 1, &content, NULL), LANCET_CORRUPT);
	pbscan_release(&scan);
	ck_assert_int_eq(pbscan_init(&scan, &counting.base, 1, sizeof(sample), 0, NULL),
	                 LANCET_CORRUPT);
	ck_assert_int_eq(pbscan_init(&scan, &counting.base, UINT64_MAX, 1, 0, NULL),
	                 LANCET_CORRUPT);
}
END_TEST

static const struct {
	unsigned count;
	uint32_t size;
	uint64_t bytes_read_max;
	unsigned reads_max;
} walks[] = {
	{ 10, 3000000, 11 * 4096, 11 },     /* long contents are jumped over */
	{ 50000, 100, 50000 * 102 + 1, 30 }, /* small ones are read in growing strides */
	{ 0, 0, 0, 0 },
};

START_TEST(reads_are_few_and_long_contents_are_not_read)
{
	struct counting_source counting;
	struct buf b = { 0 };
	struct pb_field field;
	struct pbscan scan;
	unsigned fields = 0;
	bool more = true;

	put_fields(&b, walks[_i].count, walks[_i].size);
	counting = counting_source(buf_slice(&b));
	ck_assert_int_eq(pbscan_init(&scan, &counting.base, 0, b.size, 0, NULL), LANCET_OK);
	for (;; fields++) {
		ck_assert_int_eq(pbscan_next(&scan, &field, &more, NULL), LANCET_OK);
		if (!more)
			break;
		ck_assert_uint_eq(field.value, walks[_i].size);
	}
	ck_assert_uint_eq(fields, walks[_i].count);
	ck_assert_uint_le(counting.bytes_read, walks[_i].bytes_read_max + 30 * 20);
	ck_assert_uint_le(counting.reads, walks[_i].reads_max);
	pbscan_release(&scan);
	buf_release(&b);
}
END_TEST

START_TEST(bytes_larger_than_the_window_are_refused)
{
	struct counting_source counting;
	struct buf b = { 0 };
	struct slice content = { 0 };
	struct pbscan scan;

	put_fields(&b, 1, 1000);
	counting = counting_source(buf_slice(&b));
	ck_assert_int_eq(pbscan_init(&scan, &counting.base, 0, b.size, 500, NULL), LANCET_OK);
	ck_assert_int_eq(pbscan_bytes(&scan, 3, 501, &content, NULL), LANCET_INVALID);
	ck_assert_int_eq(pbscan_bytes(&scan, 503, 500, &content, NULL), LANCET_OK);
	ck_assert_uint_eq(content.size, 500);
	ck_assert_int_eq(pbscan_bytes(&scan, 3, 500, &content, NULL), LANCET_OK);
	ck_assert_uint_eq(content.data[499], 'x');
	pbscan_release(&scan);
	buf_release(&b);
}
END_TEST

UNIT_MAIN("pbscan", UNIT_LOOP(fields_have_number_value_and_place, windows),
          UNIT_TEST(memory_is_walked_without_a_window),
          UNIT_LOOP(a_lie_is_corrupt_and_gives_no_field, lies),
          UNIT_LOOP(numbers_of_every_length_are_read_with_much_behind_them, values),
          UNIT_TEST(lies_with_much_behind_them_are_told_too),
          UNIT_TEST(content_may_not_leave_the_message_though_the_source_goes_on),
          UNIT_LOOP(reads_are_few_and_long_contents_are_not_read, walks),
          UNIT_TEST(bytes_larger_than_the_window_are_refused))
