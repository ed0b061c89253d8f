/* Flatbuffers written front to back, read by flatview: every width, references, absent fields. */
#include "unit.h"

#include "util/flatbuild.h"
#include "util/flatview.h"

static uint64_t
load(struct slice bytes)
{
	uint64_t value;

	ck_assert_uint_eq(bytes.size, sizeof(value));
	memcpy(&value, bytes.data, sizeof(value));
	return value;
}

START_TEST(what_is_written_is_read)
{
	struct flatfield fields[] = { { 0, 1, 200, 0 }, { 2, 8, UINT64_C(1) << 63, 0 },
		{ 3, 2, 0xfffe, 0 }, FLAT_REFERENCE(5), { 6, 4, 0x80000001, 0 }, FLAT_REFERENCE(4),
		{ 9, 1, 1, 0 } };
	uint64_t pairs[] = { 1, 2, 3, UINT64_MAX };
	struct flatfield leaf[] = { FLAT_REFERENCE(0) };
	struct buf out = { 0 };
	size_t vector, table;

	flatbuild_begin(&out);
	flatbuild_refer(&out, 0, flatbuild_table(&out, fields, ARRAY_SIZE(fields)));
	flatbuild_refer(&out, fields[3].at, flatbuild_string(&out, slice_text("caf\xc3\xa9")));
	vector = flatbuild_vector(&out, NULL, 2, 4, 4);
	flatbuild_refer(&out, fields[5].at, vector);
	table = flatbuild_table(&out, leaf, 1);
	flatbuild_refer(&out, flatbuild_element(vector, 0), table);
	flatbuild_refer(&out, leaf[0].at, flatbuild_vector(&out, pairs, 2, 16, 8));
	flatbuild_refer(&out, flatbuild_element(vector, 1), flatbuild_table(&out, NULL, 0));
	ck_assert_int_eq(out.failed, LANCET_OK);

	struct flatview view = { .in = buf_slice(&out) };
	struct flattable root = flatview_root(&view), first, second;
	struct flatvector tables, structs;

	ck_assert_int_eq(flatview_u8(&root, 0, 0), 200);
	ck_assert_int_eq(flatview_u8(&root, 1, 7), 7);
	ck_assert_int_eq(flatview_i64(&root, 2, 0), INT64_MIN);
	ck_assert_int_eq(flatview_i16(&root, 3, 0), -2);
	ck_assert(slice_equal(flatview_string(&root, 5), slice_text("caf\xc3\xa9")));
	ck_assert_int_eq(flatview_i32(&root, 6, 0), INT32_MIN + 1);
	ck_assert(flatview_bool(&root, 9, false));
	tables = flatview_vector(&root, 4, 4);
	ck_assert_uint_eq(tables.count, 2);
	first = flatvector_table(&tables, 0);
	structs = flatview_vector(&first, 0, 16);
	ck_assert_uint_eq(structs.count, 2);
	ck_assert_uint_eq(load(slice_of(flatvector_element(&structs, 1).data + 8, 8)), UINT64_MAX);
	second = flatvector_table(&tables, 1);
	ck_assert(flattable_present(&second));
	ck_assert(!flatview_vector(&second, 0, 4).present);
	ck_assert(!view.bad);
	buf_release(&out);
}
END_TEST

/* Readers that don't copy trust the alignment. */
START_TEST(numbers_are_aligned_to_their_size)
{
	for (unsigned before = 0; before < 16; before++) {
		struct flatfield fields[] = { { 0, 8, 1, 0 }, { 1, 4, 2, 0 }, { 2, 2, 3, 0 } };
		uint64_t number = 5;
		struct buf out = { 0 };

		flatbuild_begin(&out);
		(void)flatbuild_string(&out, slice_of("0123456789abcdef", before));
		(void)flatbuild_table(&out, fields, ARRAY_SIZE(fields));
		ck_assert_uint_eq(fields[0].at % 8, 0);
		ck_assert_uint_eq(fields[1].at % 4, 0);
		ck_assert_uint_eq(fields[2].at % 2, 0);
		ck_assert_uint_eq((flatbuild_vector(&out, &number, 1, 8, 8) + 4) % 8, 0);
		ck_assert_uint_eq(flatbuild_vector(&out, NULL, 1, 4, 4) % 4, 0);
		buf_release(&out);
	}
}
END_TEST

START_TEST(a_full_buffer_fails_and_nothing_is_written_beyond)
{
	for (size_t limit = 1; limit < 120; limit++) {
		struct flatfield fields[] = { { 0, 8, 1, 0 }, FLAT_REFERENCE(1),
			FLAT_REFERENCE(2) };
		struct buf out = { .limit = limit };

		flatbuild_begin(&out);
		flatbuild_refer(&out, 0, flatbuild_table(&out, fields, ARRAY_SIZE(fields)));
		flatbuild_refer(&out, fields[1].at, flatbuild_string(&out, slice_text("text")));
		flatbuild_refer(&out, fields[2].at, flatbuild_vector(&out, NULL, 20, 4, 4));
		ck_assert_int_eq(out.failed, LANCET_LIMIT);
		ck_assert_uint_le(out.size, limit);
		buf_release(&out);
	}
}
END_TEST

UNIT_MAIN("flatbuild", UNIT_TEST(what_is_written_is_read),
	UNIT_TEST(numbers_are_aligned_to_their_size),
	UNIT_TEST(a_full_buffer_fails_and_nothing_is_written_beyond))
