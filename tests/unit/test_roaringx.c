/* Roaring bitmaps: what CRoaring writes is read back equal, every contradiction is refused. */
#include "unit.h"

#include "util/buf.h"
#include "util/roaringx.h"

#define ANY_VALUE (UINT64_C(1) << 32)

/* Cardinalities and shapes that give each kind and number of containers. */
static roaring_bitmap_t *
make_empty(void)
{
	return roaring_bitmap_create();
}

static roaring_bitmap_t *
make_array(void)
{
	return roaring_bitmap_of(5, 0, 1, 65535, 65536, 4294967295u);
}

static roaring_bitmap_t *
make_bitset(void)
{
	return roaring_bitmap_from_range(7, 20000, 2);
}

static roaring_bitmap_t *
make_runs(void)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_from_range(10, 200000, 1);

	roaring_bitmap_remove(bitmap, 70000);
	roaring_bitmap_run_optimize(bitmap);
	return bitmap;
}

static roaring_bitmap_t *
make_few_runs(void)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_from_range(3, 9, 1);

	roaring_bitmap_run_optimize(bitmap);
	return bitmap;
}

static roaring_bitmap_t *
make_mixed(void)
{
	roaring_bitmap_t *bitmap = roaring_bitmap_from_range(0, 65536, 1);

	for (uint32_t key = 1; key < 12; key++) {
		roaring_bitmap_add(bitmap, key << 16 | key * 100);
		if (key % 3 == 0)
			roaring_bitmap_add_range(bitmap, key << 16, (key << 16) + 9000);
		for (uint32_t low = 0; key % 4 == 0 && low < 10000; low += 2)
			roaring_bitmap_add(bitmap, key << 16 | low);
	}
	roaring_bitmap_run_optimize(bitmap);
	return bitmap;
}

static roaring_bitmap_t *(*const makers[])(void) = {
	make_empty, make_array, make_bitset, make_runs, make_few_runs, make_mixed,
};

static void
serialize(roaring_bitmap_t *bitmap, struct buf *b)
{
	size_t size = roaring_bitmap_portable_size_in_bytes(bitmap);

	ck_assert(buf_reserve(b, size));
	b->size += roaring_bitmap_portable_serialize(bitmap, (char *)b->data + b->size);
}

START_TEST(what_croaring_writes_is_read_back)
{
	roaring_bitmap_t *bitmap = makers[_i]();
	roaring_bitmap_t *loaded = NULL;
	uint64_t cardinality = 0;
	struct buf b = { 0 };
	size_t size = 0;

	serialize(bitmap, &b);
	ck_assert_int_eq(roaringx_load(buf_slice(&b), ANY_VALUE, ANY_VALUE, &loaded, NULL),
	                 LANCET_OK);
	ck_assert(roaring_bitmap_equals(loaded, bitmap));
	buf_fill(&b, 0xee, 5);
	ck_assert_int_eq(roaringx_measure(buf_slice(&b), &size, &cardinality, NULL), LANCET_OK);
	ck_assert_uint_eq(size, b.size - 5);
	ck_assert_uint_eq(cardinality, roaring_bitmap_get_cardinality(bitmap));
	roaring_bitmap_free(loaded);
	roaring_bitmap_free(bitmap);
	buf_release(&b);
}
END_TEST

START_TEST(every_cut_and_every_extra_byte_is_refused)
{
	roaring_bitmap_t *bitmap = makers[_i]();
	roaring_bitmap_t *loaded = NULL;
	struct lancet_error err = { 0 };
	struct buf b = { 0 };

	serialize(bitmap, &b);
	for (size_t size = 0; size < b.size; size += 1 + size / 50) {
		uint8_t *exact = malloc(size == 0 ? 1 : size); /* a sanitizer sees overruns */

		memcpy(exact, b.data, size);
		ck_assert_int_eq(roaringx_load(slice_of(exact, size), ANY_VALUE, ANY_VALUE, &loaded,
		                               &err),
		                 LANCET_CORRUPT);
		free(exact);
	}
	buf_put_byte(&b, 0);
	ck_assert_int_eq(roaringx_load(buf_slice(&b), ANY_VALUE, ANY_VALUE, &loaded, &err),
	                 LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "roaring bitmap: 1 bytes behind its end");
	ck_assert_ptr_null(loaded);
	roaring_bitmap_free(bitmap);
	buf_release(&b);
}
END_TEST

START_TEST(limits_hold_for_values_and_for_their_number)
{
	roaring_bitmap_t *bitmap = makers[_i]();
	uint64_t count = roaring_bitmap_get_cardinality(bitmap);
	uint64_t end = count == 0 ? 0 : (uint64_t)roaring_bitmap_maximum(bitmap) + 1;
	roaring_bitmap_t *loaded = NULL;
	struct buf b = { 0 };

	serialize(bitmap, &b);
	ck_assert_int_eq(roaringx_load(buf_slice(&b), end, count, &loaded, NULL), LANCET_OK);
	roaring_bitmap_free(loaded);
	loaded = NULL;
	if (count > 0) {
		ck_assert_int_eq(roaringx_load(buf_slice(&b), end - 1, count, &loaded, NULL),
		                 LANCET_CORRUPT);
		ck_assert_int_eq(roaringx_load(buf_slice(&b), end, count - 1, &loaded, NULL),
		                 LANCET_LIMIT);
	}
	ck_assert_ptr_null(loaded);
	roaring_bitmap_free(bitmap);
	buf_release(&b);
}
END_TEST

#define BYTES(literal) (const uint8_t *)literal, sizeof(literal) - 1
#define PLAIN(n)       "\x3a\x30\0\0" n "\0\0\0"
#define RUNS(n, flags) "\x3b\x30" n "\0" flags
static const struct {
	const char *label;
	const uint8_t *bytes;
	size_t size;
	int want;
} shapes[] = {
	{ "empty set", BYTES(PLAIN("\0")), LANCET_OK },
	{ "one value", BYTES(PLAIN("\1") "\0\0\0\0" "\x10\0\0\0" "\7\0"), LANCET_OK },
	{ "ten values in a run", BYTES(RUNS("\0", "\1") "\0\0\x09\0" "\1\0" "\0\0\x09\0"),
	  LANCET_OK },
	{ "two runs that touch", BYTES(RUNS("\0", "\1") "\0\0\3\0" "\2\0" "\0\0\1\0" "\2\0\1\0"),
	  LANCET_OK },
	{ "run up to 65535", BYTES(RUNS("\0", "\1") "\0\0\0\0" "\1\0" "\xff\xff\0\0"), LANCET_OK },
	{ "run past 65535", BYTES(RUNS("\0", "\1") "\0\0\1\0" "\1\0" "\xff\xff\1\0"),
	  LANCET_CORRUPT },
	{ "runs overlap", BYTES(RUNS("\0", "\1") "\0\0\3\0" "\2\0" "\0\0\1\0" "\1\0\1\0"),
	  LANCET_CORRUPT },
	{ "runs descend", BYTES(RUNS("\0", "\1") "\0\0\3\0" "\2\0" "\4\0\1\0" "\0\0\1\0"),
	  LANCET_CORRUPT },
	{ "run count too small", BYTES(RUNS("\0", "\1") "\0\0\x08\0" "\1\0" "\0\0\x09\0"),
	  LANCET_CORRUPT },
	{ "no runs in a run container", BYTES(RUNS("\0", "\1") "\0\0\0\0" "\0\0"), LANCET_CORRUPT },
	{ "array in a bitmap with runs", BYTES(RUNS("\0", "\0") "\0\0\0\0" "\7\0"), LANCET_OK },
	{ "offsets where there are none",
	  BYTES(RUNS("\0", "\1") "\0\0\0\0" "\x0d\0\0\0" "\1\0" "\7\0\0\0"),
	  LANCET_CORRUPT },
	{ "wrong offset", BYTES(PLAIN("\1") "\0\0\0\0" "\x11\0\0\0" "\7\0"), LANCET_CORRUPT },
	{ "values descend", BYTES(PLAIN("\1") "\0\0\2\0" "\x10\0\0\0" "\3\0\2\0\1\0"),
	  LANCET_CORRUPT },
	{ "value twice", BYTES(PLAIN("\1") "\0\0\1\0" "\x10\0\0\0" "\3\0\3\0"), LANCET_CORRUPT },
	{ "keys descend",
	  BYTES(PLAIN("\2") "\1\0\0\0" "\0\0\0\0" "\x18\0\0\0" "\x1a\0\0\0" "\1\0" "\1\0"),
	  LANCET_CORRUPT },
	{ "key twice",
	  BYTES(PLAIN("\2") "\1\0\0\0" "\1\0\0\0" "\x18\0\0\0" "\x1a\0\0\0" "\1\0" "\2\0"),
	  LANCET_CORRUPT },
	{ "65537 containers", BYTES("\x3a\x30\0\0" "\1\0\1\0"), LANCET_CORRUPT },
	{ "2^32 - 1 containers", BYTES("\x3a\x30\0\0" "\xff\xff\xff\xff"), LANCET_CORRUPT },
	{ "other cookie", BYTES("\x39\x30\0\0" "\0\0\0\0"), LANCET_CORRUPT },
	{ "plain cookie with a high half", BYTES("\x3a\x30\1\0" "\0\0\0\0"), LANCET_CORRUPT },
	{ "65536 run containers in 6 bytes", BYTES("\x3b\x30\xff\xff" "\xff\xff"), LANCET_CORRUPT },
	{ "nothing", NULL, 0, LANCET_CORRUPT },
};

START_TEST(shapes_are_right_or_refused_with_a_reason)
{
	roaring_bitmap_t *loaded = NULL;
	struct lancet_error err = { 0 };
	struct slice bytes = { shapes[_i].bytes, shapes[_i].size };

	ck_assert_msg(roaringx_load(bytes, ANY_VALUE, ANY_VALUE, &loaded, &err) == shapes[_i].want,
	              "%s: %s", shapes[_i].label, err.text);
	ck_assert((loaded != NULL) == (shapes[_i].want == LANCET_OK));
	ck_assert((err.text[0] == '\0') == (shapes[_i].want == LANCET_OK));
	if (loaded != NULL) /* CRoaring's free does not take NULL */
		roaring_bitmap_free(loaded);
}
END_TEST

START_TEST(a_bitset_with_a_wrong_cardinality_is_refused)
{
	roaring_bitmap_t *bitmap = make_bitset();
	roaring_bitmap_t *loaded = NULL;
	struct buf b = { 0 };

	serialize(bitmap, &b);
	b.data[b.size - 1] ^= 0x40;
	ck_assert_int_eq(roaringx_load(buf_slice(&b), ANY_VALUE, ANY_VALUE, &loaded, NULL),
	                 LANCET_CORRUPT);
	ck_assert_ptr_null(loaded);
	roaring_bitmap_free(bitmap);
	buf_release(&b);
}
END_TEST

START_TEST(four_containers_with_runs_have_offsets)
{
	roaring_bitmap_t *loaded = NULL;
	struct buf b = { 0 };

	/* key i holds the one run [i, i]; written by hand from the format */
	buf_put(&b, "\x3b\x30\3\0\x0f", 5);
	for (uint8_t i = 0; i < 4; i++)
		buf_put(&b, (uint8_t[]){ i, 0, 0, 0 }, 4);
	for (uint8_t i = 0; i < 4; i++)
		buf_put(&b, (uint8_t[]){ (uint8_t)(37 + 6 * i), 0, 0, 0 }, 4);
	for (uint8_t i = 0; i < 4; i++)
		buf_put(&b, (uint8_t[]){ 1, 0, i, 0, 0, 0 }, 6);
	ck_assert_int_eq(roaringx_load(buf_slice(&b), 0x30004, 4, &loaded, NULL), LANCET_OK);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert(roaring_bitmap_contains(loaded, i << 16 | i));
	roaring_bitmap_free(loaded);
	buf_release(&b);
}
END_TEST

UNIT_MAIN("roaringx", UNIT_LOOP(what_croaring_writes_is_read_back, makers),
          UNIT_LOOP(every_cut_and_every_extra_byte_is_refused, makers),
          UNIT_LOOP(limits_hold_for_values_and_for_their_number, makers),
          UNIT_LOOP(shapes_are_right_or_refused_with_a_reason, shapes),
          UNIT_TEST(a_bitset_with_a_wrong_cardinality_is_refused),
          UNIT_TEST(four_containers_with_runs_have_offsets))
