/* flatview over any bytes: follows tables and vectors wherever they lead, in a fixed number of
 * steps, and touches every byte that it is given.
 */
#include "fuzz.h"

#include "util/flatview.h"

#define DEPTH        6
#define FIELDS       8u
#define ELEMENTS_MAX 4u

static uint64_t
touch(struct slice bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes.size; i++)
		sum += bytes.data[i];
	return sum;
}

static void
expect_inside(const struct flatview *view, struct slice bytes)
{
	const uint8_t *end = view->in.data + view->in.size;

	fuzz_expect(bytes.size == 0 || (bytes.data >= view->in.data && bytes.data < end &&
	                                bytes.size <= (size_t)(end - bytes.data)));
}

static uint64_t
walk_scalars(const struct flattable *t, unsigned field)
{
	struct slice inline_bytes = flatview_field(t, field, 8);
	uint64_t sum = touch(inline_bytes);

	expect_inside(t->view, inline_bytes);
	sum += flatview_u8(t, field, 1) + (uint64_t)flatview_i8(t, field, 1);
	sum += (uint64_t)flatview_i16(t, field, 1) + (uint64_t)flatview_i32(t, field, 1);
	return sum + (uint64_t)flatview_i64(t, field, 1) + flatview_bool(t, field, true);
}

static uint64_t
walk(const struct flattable *t, int depth)
{
	uint64_t sum = 0;

	for (unsigned field = 0; depth < DEPTH && field < FIELDS; field++) {
		struct flattable inner;
		struct flatvector tables;
		struct slice string;

		/* a field may be read as what it is not: each reading starts from a good view */
		sum += walk_scalars(t, field);
		t->view->bad = false;
		string = flatview_string(t, field);
		expect_inside(t->view, string);
		sum += touch(string);
		t->view->bad = false;
		inner = flatview_table(t, field);
		if (flattable_present(&inner))
			sum += walk(&inner, depth + 2);
		t->view->bad = false;
		tables = flatview_vector(t, field, 4);
		expect_inside(t->view, tables.elements);
		for (uint32_t i = 0; i < tables.count && i < ELEMENTS_MAX; i++) {
			inner = flatvector_table(&tables, i);
			if (flattable_present(&inner))
				sum += walk(&inner, depth + 2);
			t->view->bad = false;
		}
		tables = flatview_vector(t, field, 24);
		if (tables.count > 0)
			sum += touch(flatvector_element(&tables, tables.count - 1));
		t->view->bad = false;
	}
	return sum;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(0);
	struct flatview view = { .in = { data, size } };
	struct flattable root = flatview_root(&view);
	static volatile uint64_t seen; /* so that no read is optimised away */

	if (flattable_present(&root))
		seen = walk(&root, 0);
	(void)seen;
	fuzz_end(&guard);
	return 0;
}
