/* Pages of 2.1 and 2.2: what is written of a field is read back, whatever its nesting. */
#include "pagerandom.h"
#include "pagewrite.h"
#include "unit.h"

#include <inttypes.h>

#define SEEDS 40 /* of each row */

static const struct {
	enum file_version version;
	uint64_t first_seed, rows;
} random_rows[] = {
	{ FILE_2_1, 0, 1 },
	{ FILE_2_2, 1000, 1 },
	{ FILE_2_1, 100, 2 },
	{ FILE_2_2, 1100, 2 },
	{ FILE_2_1, 200, 7 },
	{ FILE_2_2, 1200, 7 },
	{ FILE_2_1, 300, 64 },
	{ FILE_2_2, 1300, 64 },
	{ FILE_2_1, 400, 500 },
	{ FILE_2_2, 1400, 500 },
	{ FILE_2_1, 500, 1023 },
	{ FILE_2_2, 1500, 1023 },
	{ FILE_2_1, 600, 1024 },
	{ FILE_2_2, 1600, 1024 },
	{ FILE_2_1, 700, 1025 },
	{ FILE_2_2, 1700, 1025 },
	{ FILE_2_1, 800, 4097 },
	{ FILE_2_2, 1800, 4097 },
};

static void
check_read(struct page_written *written, const struct random_tree *tree, const struct array *all,
	uint64_t seed, const struct row_range *ranges, size_t count)
{
	struct array_budget budget = { .limit = 1 << 28 };
	struct lancet_error err = { 0 };
	struct array out;
	uint64_t at = 0;

	ck_assert_int_eq(array_init(&out, &tree->fields[0], &budget, NULL), LANCET_OK);
	ck_assert_msg(page_written_read(written, tree->version, &tree->fields[0], all->length,
			      ranges, count, &out, &err) == LANCET_OK,
		"seed %" PRIu64 ": %s", seed, err.text);
	for (size_t i = 0; i < count; i++)
		for (uint64_t row = ranges[i].first; row < ranges[i].first + ranges[i].count; row++)
			if (!same_value(all, row, &out, at++))
				ck_abort_msg("seed %" PRIu64 ": row %" PRIu64, seed, row);
	array_release(&out);
}

static void
round_trip(enum file_version version, uint64_t seed, uint64_t rows)
{
	static struct random_tree tree;
	struct array_budget budget = { .limit = SIZE_MAX };
	struct page_written written = { 0 };
	struct lancet_error err = { 0 };
	struct array all;
	uint64_t first, third = rows / 3;
	struct row_range whole = { 0, rows };
	struct row_range parts[2] = { { third, third }, { 2 * third + 1, 1 } };

	random_tree_init(&tree, version, true, seed);
	ck_assert_int_eq(array_init(&all, &tree.fields[0], &budget, NULL), LANCET_OK);
	random_fill(&tree, &all, rows);
	first = random_draw(&tree, 2) == 0 ? 0 : rows / 2;
	for (int part = first == 0 ? 1 : 0; part < 2; part++) {
		written.columns = 0;
		ck_assert_msg(page_written_add(&written, version, &all, &tree.fields[0],
				      part == 0 ? 0 : first, part == 0 ? first : rows - first,
				      &err) == LANCET_OK,
			"seed %" PRIu64 ": %s", seed, err.text);
	}
	check_read(&written, &tree, &all, seed, &whole, 1);
	if (third > 0)
		check_read(&written, &tree, &all, seed, parts, 2);
	page_written_release(&written);
	array_release(&all);
	ck_assert_uint_eq(budget.used, 0);
}

START_TEST(random_fields_come_back)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++)
		round_trip(random_rows[_i].version, random_rows[_i].first_seed + seed,
			random_rows[_i].rows);
}
END_TEST

UNIT_MAIN("page_writer", UNIT_LOOP(random_fields_come_back, random_rows))
