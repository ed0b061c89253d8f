/* Row ids cut into segments: they read back, in no more bytes than one segment takes. */
#include "core/rowids_blocks.h"
#include "core/sequence.h"
#include "core/sequence_write.h"
#include "unit.h"

#include <stdio.h>

#define IDS_MAX 60000u

static uint64_t
scramble(uint64_t n)
{
	n = (n ^ n >> 31) * UINT64_C(0x7fb5d329728ea185);
	return n ^ n >> 27;
}

/* Each fills `ids` with up to IDS_MAX of them. */
static size_t
one_range(uint64_t *ids)
{
	for (size_t i = 0; i < 5000; i++)
		ids[i] = 1000 + i;
	return 5000;
}

static size_t
thinned(uint64_t *ids)
{
	size_t count = 0;

	for (uint64_t id = 0; id < IDS_MAX; id++)
		if (scramble(id) % 10 >= 3)
			ids[count++] = id;
	return count;
}

static size_t
few_holes(uint64_t *ids)
{
	size_t count = 0;

	for (uint64_t id = 0; id < IDS_MAX; id++)
		if (scramble(id) % 1000 != 0)
			ids[count++] = 5 + id;
	return count;
}

static size_t
scarce(uint64_t *ids)
{
	for (size_t i = 0; i < 3000; i++)
		ids[i] = 5000 * i + scramble(i) % 5000;
	return 3000;
}

static size_t
shuffled(uint64_t *ids)
{
	for (size_t i = 0; i < IDS_MAX; i++)
		ids[i] = i;
	for (size_t i = IDS_MAX - 1; i > 0; i--) {
		size_t other = scramble(i) % (i + 1);
		uint64_t id = ids[i];

		ids[i] = ids[other];
		ids[other] = id;
	}
	return IDS_MAX;
}

/* Stretches of each kind, later ones with smaller ids, far apart. */
static size_t
patchwork(uint64_t *ids)
{
	size_t (*const parts[])(uint64_t *) = { one_range, scarce, one_range, few_holes };
	static uint64_t part[IDS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t length = parts[i](part);

		length = length < 10000 ? length : 10000;
		for (size_t k = 0; k < length; k++)
			ids[count++] = part[k] + (UINT64_C(1) << (50 - 6 * i));
	}
	return count;
}

static size_t
to_the_end(uint64_t *ids)
{
	for (size_t i = 0; i < 100; i++)
		ids[i] = UINT64_MAX - 99 + i;
	return 100;
}

static size_t
extremes(uint64_t *ids)
{
	ids[0] = 0;
	ids[1] = UINT64_MAX;
	ids[2] = 1;
	ids[3] = UINT64_MAX - 1;
	ids[4] = 70000;
	return 5;
}

static size_t
falling(uint64_t *ids)
{
	for (size_t i = 0; i < 2000; i++)
		ids[i] = 100000 - i;
	return 2000;
}

static size_t
single(uint64_t *ids)
{
	ids[0] = 12;
	return 1;
}

static const struct {
	const char *label;
	size_t (*fill)(uint64_t *ids);
	double less; /* part of one segment's bytes that is enough */
} lists[] = {
	{ "one range", one_range, 1 },
	{ "thinned", thinned, 1 },
	{ "few holes", few_holes, 1 },
	{ "scarce", scarce, 1 },
	{ "shuffled", shuffled, 1 },
	{ "patchwork", patchwork, 0.2 },
	{ "to the end", to_the_end, 1 },
	{ "extremes", extremes, 1 },
	{ "falling", falling, 1 },
	{ "single", single, 1 },
};

static void
check_read(const struct buf *bytes, const uint64_t *ids, size_t count)
{
	struct source *source = source_memory_new(buf_slice(bytes), NULL);
	static uint64_t got[IDS_MAX];
	struct lancet_error err = { 0 };
	struct sequence *sequence = NULL;

	ck_assert_int_eq(bytes->failed, LANCET_OK);
	ck_assert_msg(sequence_open(&rowids_ops, source, count, &sequence, &err) == LANCET_OK, "%s",
		err.text);
	ck_assert_msg(sequence_read(sequence, 0, count, got, &err) == LANCET_OK, "%s", err.text);
	ck_assert_mem_eq(got, ids, count * sizeof(*ids));
	sequence_free(sequence);
	source_unref(source);
}

static void
encode(struct buf *into, const uint64_t *ids, size_t count, size_t step)
{
	struct rowids_blocks blocks = { .into = into };

	for (size_t at = 0; at < count; at += step)
		rowids_blocks_put(&blocks, ids + at, step < count - at ? step : count - at);
	rowids_blocks_end(&blocks);
}

START_TEST(ids_take_no_more_than_one_segment)
{
	static uint64_t ids[IDS_MAX];
	size_t count = lists[_i].fill(ids);
	struct buf one = { 0 }, bytes = { 0 };

	rowids_put(&one, ids, count);
	encode(&bytes, ids, count, count);
	check_read(&bytes, ids, count);
	ck_assert_msg((double)bytes.size <= lists[_i].less * (double)one.size,
		"%s: %zu bytes, %zu as one segment", lists[_i].label, bytes.size, one.size);
	buf_release(&one);
	buf_release(&bytes);
}
END_TEST

START_TEST(blocks_of_any_length_read_back)
{
	static const size_t steps[] = { 1, 7, 1000, 4096 };
	static uint64_t ids[IDS_MAX];
	size_t count = lists[_i].fill(ids);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct buf bytes = { 0 };

		encode(&bytes, ids, count, steps[i]);
		check_read(&bytes, ids, count);
		buf_release(&bytes);
	}
}
END_TEST

START_TEST(ranges_go_on_in_the_next_block)
{
	static uint64_t ids[IDS_MAX];
	size_t count = one_range(ids);
	struct buf bytes = { 0 }, one = { 0 };

	encode(&bytes, ids, count, 999);
	rowids_put_range(&one, 1000, count);
	ck_assert_uint_eq(bytes.size, one.size);
	ck_assert_mem_eq(bytes.data, one.data, one.size);
	buf_release(&bytes);
	buf_release(&one);
}
END_TEST

/* Lists of runs and gaps of all lengths, now and then backwards. */
START_TEST(random_lists_read_back)
{
	static uint64_t ids[IDS_MAX];
	struct buf one = { 0 }, bytes = { 0 };
	uint64_t seed = (uint64_t)_i * 1000003, next = scramble(seed) >> 30;
	size_t count = 0, wanted = 1 + scramble(seed + 1) % 5000;

	while (count < wanted) {
		uint64_t run = 1 + (scramble(seed + count + 2) >> 8) % (1u << (_i % 9));
		uint64_t gap = (scramble(seed + count + 3) >> 8) % (UINT64_C(1) << (_i % 31));

		for (; run > 0 && count < wanted; run--)
			ids[count++] = next++;
		next += gap;
		if (_i % 4 == 0 && scramble(seed + count) % 16 == 0)
			next = scramble(seed + count) >> 20;
	}
	rowids_put(&one, ids, count);
	encode(&bytes, ids, count, count);
	check_read(&bytes, ids, count);
	ck_assert_uint_le(bytes.size, one.size);
	buf_release(&one);
	buf_release(&bytes);
}
END_TEST

static const char seeds[300];

UNIT_MAIN("rowids_blocks", UNIT_LOOP(ids_take_no_more_than_one_segment, lists),
	UNIT_LOOP(blocks_of_any_length_read_back, lists), UNIT_TEST(ranges_go_on_in_the_next_block),
	UNIT_LOOP(random_lists_read_back, seeds))
