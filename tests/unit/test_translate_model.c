/* Row addresses through random histories, against a model that follows one row at a time. */
#include "historyfile.h"
#include "historymodel.h"
#include "unit.h"

static uint64_t random_state;

static uint32_t
below(uint32_t limit)
{
	return (uint32_t)(next_random(&random_state) % limit);
}

/* What is left of the rows is cut anywhere; ids need not ascend. */
static void
cut_destinations(struct history *history, struct rewrite *rewrite, uint32_t kept)
{
	uint32_t count = 1 + below(REWRITE_FRAGMENTS), falls = below(2);

	rewrite->destination_count = count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t rows = i + 1 == count ? kept : below(4) == 0 ? 0 : below(kept + 1);
		uint32_t id = history->fragments + (falls ? count - 1 - i : i);

		kept -= rows;
		rewrite->destinations[i] = (struct digest){ id, rows, 0 };
		history->rows[id] = rows;
		history->live[history->live_count++] = rewrite->destinations[i];
	}
	history->fragments += count;
}

/* Some live fragments, in any order, become others. */
static void
random_rewrite(struct history *history, bool legacy)
{
	struct rewrite *rewrite = &history->rewrites[history->rewrite_count++];
	uint32_t kept = 0, chance = below(5), sources = 1 + below(REWRITE_FRAGMENTS);

	*rewrite = (struct rewrite){ .legacy = legacy };
	while (rewrite->source_count < sources && history->live_count > 0) {
		size_t at = below((uint32_t)history->live_count);
		struct digest taken = history->live[at];

		history->live[at] = history->live[--history->live_count];
		rewrite->sources[rewrite->source_count++] = taken;
		rewrite->rows += taken.rows;
	}
	rewrite->labels = malloc((rewrite->rows + 1) * sizeof(uint16_t));
	for (uint64_t i = 0; i < rewrite->rows; i++) {
		rewrite->labels[i] = below(10) < chance ? NO_LABEL : 0;
		kept += rewrite->labels[i] == 0;
	}
	cut_destinations(history, rewrite, kept);
	rewrite_follow(rewrite);
}

static struct history *
random_history(uint64_t seed, size_t rewrites, uint32_t fragments, uint32_t rows_max)
{
	struct history *history = calloc(1, sizeof(*history));

	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	for (uint32_t i = 0; i < fragments; i++) {
		history->rows[i] = 1 + below(rows_max);
		history->live[history->live_count++] = (struct digest){ i, history->rows[i], 0 };
	}
	history->fragments = fragments;
	for (size_t i = 0; i < rewrites; i++)
		random_rewrite(history, i < rewrites / 3);
	qsort(history->live, history->live_count, sizeof(history->live[0]), compare_digests);
	return history;
}

static void
free_history(struct history *history)
{
	for (size_t i = 0; i < history->rewrite_count; i++) {
		free(history->rewrites[i].labels);
		free(history->rewrites[i].went);
	}
	free(history);
}

static uint64_t *
random_addrs(const struct history *history, size_t count)
{
	uint64_t *row_addrs = malloc(count * sizeof(*row_addrs));

	for (size_t i = 0; i < count; i++) {
		uint32_t fragment = below(history->fragments + 2);
		uint32_t rows = fragment < history->fragments ? history->rows[fragment] : 9;

		row_addrs[i] = ADDR(fragment, below(rows + 2));
		if (i > 0 && below(16) == 0)
			row_addrs[i] = row_addrs[below((uint32_t)i)];
	}
	return row_addrs;
}

static int
compare_addrs(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static const struct {
	size_t rewrites;
	uint32_t fragments, rows_max;
	size_t count;
} random_histories[] = {
	{ 1, 3, 10, 100 },
	{ 4, 6, 50, 1000 },
	{ 12, 20, 3000, 20000 },
	{ 30, 40, 300, 20000 }, /* of all ages, and so many that some must wait */
	{ 190, 200, 5, 9000 },  /* many short runs */
	{ 100, 1, 2000, 8000 },
	{ 5, 8, 20, 8 },
};

START_TEST(batches_equal_the_model)
{
	struct history *history = random_history((uint64_t)_i + 1, random_histories[_i].rewrites,
		random_histories[_i].fragments, random_histories[_i].rows_max);
	size_t count = random_histories[_i].count;
	uint64_t *row_addrs = random_addrs(history, count);
	struct tree tree = tree_new();
	struct buf content = { 0 };
	lancet_dataset *dataset;
	lancet_version *version;

	for (size_t i = 0; i < history->rewrite_count; i++)
		put_rewrite(&content, &history->rewrites[i]);
	history_write_inline(&tree, &content, 1, history->live, history->live_count);
	dataset = open_dataset(&tree);
	version = history_version(dataset);
	check_batch(version, history, row_addrs, count);
	for (size_t i = 0; i < count && i < 300; i++)
		check_batch(
			version, history, &row_addrs[i], 1 + i % 40 < count - i ? 1 + i % 40 : 1);
	qsort(row_addrs, count, sizeof(*row_addrs), compare_addrs);
	check_batch(version, history, row_addrs, count);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
	free(row_addrs);
	free_history(history);
}
END_TEST

UNIT_MAIN("translate_model", UNIT_LOOP(batches_equal_the_model, random_histories))
