/* Row addresses through a reuse history: each fate, worked out by hand, and damage. */
#include "historyfile.h"
#include "unit.h"

#include "core/dataset.h"
#include "core/store.h"

#include <errno.h>

#define ADDR(fragment, offset) ((uint64_t)(fragment) << 32 | (offset))

static struct rewrite
small_rewrite(const char *labels, uint32_t source, uint32_t rows, uint32_t destination)
{
	struct rewrite rewrite = { .source_count = 1,
		.destination_count = 1,
		.sources = { { source, rows, 0 } },
		.destinations = { { destination, 0, 0 } },
		.rows = strlen(labels) };

	rewrite.labels = malloc((rewrite.rows + 1) * sizeof(uint16_t));
	for (size_t i = 0; i < rewrite.rows; i++)
		rewrite.labels[i] = labels[i] == '-' ? NO_LABEL : (uint16_t)(labels[i] - '0');
	return rewrite;
}

/* Packs it and lets it go. */
static void
add_rewrite(struct buf *content, struct rewrite *rewrite)
{
	rewrite_follow(rewrite);
	put_rewrite(content, rewrite);
	free(rewrite->labels);
	free(rewrite->went);
}

/* Fragments 0 and 1 became 5, that 7; 3 became 8, which is gone; 7 and 9 are live. */
static void
put_small_history(struct buf *content)
{
	struct rewrite first = small_rewrite("0-00-00", 0, 4, 5);
	struct rewrite second = small_rewrite("0-000", 5, 5, 7);
	struct rewrite third = small_rewrite("--0-", 3, 4, 8);

	first.legacy = true;
	first.source_count = 2;
	first.sources[1] = (struct digest){ 1, 3, 0 };
	add_rewrite(content, &first);
	add_rewrite(content, &second);
	add_rewrite(content, &third);
}

static const struct digest small_live[] = { { 7, 4, 0 }, { 9, 3, 0 } };

static const struct {
	uint64_t row_addr;
	enum lancet_row_fate fate;
	uint64_t current;
} small_fates[] = {
	{ ADDR(0, 0), LANCET_ROW_CURRENT, ADDR(7, 0) },
	{ ADDR(0, 1), LANCET_ROW_DELETED, LANCET_NO_ROW },
	{ ADDR(0, 2), LANCET_ROW_DELETED, LANCET_NO_ROW }, /* as row 1 of 5 */
	{ ADDR(0, 3), LANCET_ROW_CURRENT, ADDR(7, 1) },
	{ ADDR(0, 4), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ ADDR(0, UINT32_MAX), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ ADDR(1, 0), LANCET_ROW_DELETED, LANCET_NO_ROW },
	{ ADDR(1, 1), LANCET_ROW_CURRENT, ADDR(7, 2) },
	{ ADDR(1, 2), LANCET_ROW_CURRENT, ADDR(7, 3) },
	{ ADDR(1, 3), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ ADDR(2, 0), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ ADDR(3, 0), LANCET_ROW_DELETED, LANCET_NO_ROW },
	{ ADDR(3, 2), LANCET_ROW_UNKNOWN, LANCET_NO_ROW }, /* as row 0 of 8 */
	{ ADDR(5, 0), LANCET_ROW_CURRENT, ADDR(7, 0) },
	{ ADDR(5, 4), LANCET_ROW_CURRENT, ADDR(7, 3) },
	{ ADDR(5, 5), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ ADDR(7, 0), LANCET_ROW_CURRENT, ADDR(7, 0) },
	{ ADDR(7, 3), LANCET_ROW_CURRENT, ADDR(7, 3) },
	{ ADDR(7, 4), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ ADDR(8, 0), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ ADDR(9, 2), LANCET_ROW_CURRENT, ADDR(9, 2) },
	{ ADDR(9, 3), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ UINT64_MAX, LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
	{ ADDR(UINT32_MAX, 0), LANCET_ROW_UNKNOWN, LANCET_NO_ROW },
};

START_TEST(every_fate_of_a_row_is_told)
{
	struct tree tree = tree_new();
	struct buf content = { 0 };
	uint64_t asked[ARRAY_SIZE(small_fates)], current[ARRAY_SIZE(small_fates)], one;
	uint8_t fates[ARRAY_SIZE(small_fates)], fate;
	lancet_dataset *dataset;
	lancet_version *version;

	put_small_history(&content);
	history_write_inline(&tree, &content, 1, small_live, ARRAY_SIZE(small_live));
	dataset = open_dataset(&tree);
	version = history_version(dataset);
	for (size_t i = 0; i < ARRAY_SIZE(small_fates); i++)
		asked[i] = small_fates[i].row_addr;
	ck_assert_int_eq(lancet_translate(version, asked, ARRAY_SIZE(asked), current, fates, NULL),
		LANCET_OK);
	for (size_t i = 0; i < ARRAY_SIZE(small_fates); i++) {
		ck_assert_msg(fates[i] == small_fates[i].fate, "%zu: fate %d", i, fates[i]);
		ck_assert_msg(current[i] == small_fates[i].current, "%zu", i);
		ck_assert_int_eq(
			lancet_translate(version, &asked[i], 1, &one, &fate, NULL), LANCET_OK);
		ck_assert(fate == fates[i] && one == current[i]);
	}
	ck_assert_int_eq(lancet_translate(version, NULL, 0, NULL, NULL, NULL), LANCET_OK);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

/* A batch is cut when it is large; addresses of the second part are those of the first. */
START_TEST(more_addresses_than_a_batch_has_room_for)
{
	size_t count = (1u << 20) + 1000;
	uint64_t *row_addrs = malloc(count * sizeof(*row_addrs)), *current;
	uint8_t *fates = malloc(count);
	struct tree tree = tree_new();
	struct buf content = { 0 };
	lancet_dataset *dataset;
	lancet_version *version;

	current = malloc(count * sizeof(*current));
	put_small_history(&content);
	history_write_inline(&tree, &content, 1, small_live, ARRAY_SIZE(small_live));
	dataset = open_dataset(&tree);
	version = history_version(dataset);
	for (size_t i = 0; i < count; i++)
		row_addrs[i] = small_fates[i * 7 % ARRAY_SIZE(small_fates)].row_addr;
	ck_assert_int_eq(
		lancet_translate(version, row_addrs, count, current, fates, NULL), LANCET_OK);
	for (size_t i = 0; i < count; i++) {
		size_t due = i * 7 % ARRAY_SIZE(small_fates);

		ck_assert(fates[i] == small_fates[due].fate);
		ck_assert(current[i] == small_fates[due].current);
	}
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
	free(row_addrs);
	free(current);
	free(fates);
}
END_TEST

/* ---- what is damaged or not understood ---- */

static void
put_consumed_twice(struct buf *content)
{
	struct rewrite again = small_rewrite("00000", 5, 5, 12);

	put_small_history(content);
	add_rewrite(content, &again);
}

/* A row map that is not there: 9 is live, and came from 2. */
static void
put_lost_map(struct buf *content)
{
	struct rewrite partition = small_rewrite("000", 2, 3, 9);

	put_small_history(content);
	partition.map_id = "01234567-89ab-cdef-0123-456789abcdef";
	partition.map_bytes = 1000;
	partition.destinations[0].id = 10;
	add_rewrite(content, &partition);
}

/* A transition with a mapping of a later day consumes 2. */
static void
put_unknown_mapping(struct buf *content)
{
	const struct digest source = { 2, 3, 0 }, destination = { 10, 3, 0 };
	struct buf record = { 0 };

	put_small_history(content);
	put_digests(&record, 1, &source, 1);
	put_digests(&record, 2, &destination, 1);
	put_head(&record, 9, 0);
	put_message(content, 2, &record);
}

static const struct {
	const char *label;
	void (*put)(struct buf *content);
	uint64_t row_addr;
	int code;
	enum lancet_row_fate fate;
	const char *text[2]; /* in the message */
} damages[] = {
	{ "consumed twice", put_consumed_twice, ADDR(0, 0), LANCET_CORRUPT, LANCET_ROW_FAILED,
		{ "transitions[0]", "transitions[2]" } },
	{ "consumed twice, from it on", put_consumed_twice, ADDR(5, 3), LANCET_CORRUPT,
		LANCET_ROW_FAILED, { "transitions[0]", "transitions[2]" } },
	{ "lost map", put_lost_map, ADDR(2, 1), LANCET_IO, LANCET_ROW_FAILED,
		{ "transitions[2]", "_fri/01234567-89ab-cdef-0123-456789abcdef/" } },
	{ "lost map, beyond its rows", put_lost_map, ADDR(2, 3), LANCET_OK, LANCET_ROW_UNKNOWN,
		{ NULL } },
	{ "unknown mapping", put_unknown_mapping, ADDR(2, 1), LANCET_OK, LANCET_ROW_UNKNOWN,
		{ NULL } },
};

START_TEST(damage_is_felt_where_it_is)
{
	const uint64_t asked[] = { ADDR(3, 0), damages[_i].row_addr, ADDR(9, 1), ADDR(3, 2) };
	uint64_t current[4];
	uint8_t fates[4];
	struct tree tree = tree_new();
	struct buf content = { 0 };
	struct lancet_error err = { 0 };
	lancet_dataset *dataset;
	lancet_version *version;
	int rc;

	damages[_i].put(&content);
	history_write_inline(&tree, &content, 1, small_live, ARRAY_SIZE(small_live));
	dataset = open_dataset(&tree);
	version = history_version(dataset);
	rc = lancet_translate(version, asked, 4, current, fates, &err);
	ck_assert_msg(rc == damages[_i].code, "%s: %d: %s", damages[_i].label, rc, err.text);
	ck_assert_int_eq(fates[0], LANCET_ROW_DELETED);
	ck_assert_int_eq(fates[1], damages[_i].fate);
	ck_assert_uint_eq(current[1], LANCET_NO_ROW);
	ck_assert_int_eq(fates[2], LANCET_ROW_CURRENT);
	ck_assert_uint_eq(current[2], asked[2]);
	ck_assert_int_eq(fates[3], LANCET_ROW_UNKNOWN);
	for (size_t i = 0; i < 2 && damages[_i].text[i] != NULL; i++)
		ck_assert_msg(strstr(err.text, damages[_i].text[i]) != NULL, "%s", err.text);
	ck_assert_int_eq(rc == LANCET_IO ? err.os_errno : 0, rc == LANCET_IO ? EIO : 0);
	ck_assert_int_eq(lancet_translate(version, asked, 4, current, fates, NULL), rc);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

/* details of the entry, and what becomes of an address in no live fragment */
static const struct {
	const char *label;
	bool has_entry;
	const char *details;
	uint64_t index_version;
	int code;
	enum lancet_row_fate fate;
} histories[] = {
	{ "none", false, "", 0, LANCET_OK, LANCET_ROW_UNKNOWN },
	{ "empty", true, "\x0a", 1, LANCET_OK, LANCET_ROW_UNKNOWN },
	{ "garbage", true, "\xff\xff", 1, LANCET_CORRUPT, LANCET_ROW_FAILED },
	{ "of a later day", true, "\x0a", 2, LANCET_UNSUPPORTED, LANCET_ROW_FAILED },
};

START_TEST(live_addresses_need_no_history)
{
	const uint64_t asked[] = { ADDR(7, 1), ADDR(9, 2), ADDR(0, 1) };
	uint64_t current[3];
	uint8_t fates[3];
	struct tree tree = tree_new();
	struct store_counts before, counts = { 0 };
	struct buf details = { 0 };
	lancet_dataset *dataset;
	lancet_version *version;

	buf_put(&details, histories[_i].details, strlen(histories[_i].details));
	if (details.size == 1)
		buf_put_byte(&details, 0); /* an InlineContent of no bytes */
	history_write(&tree, histories[_i].has_entry ? &details : NULL, histories[_i].index_version,
		small_live, ARRAY_SIZE(small_live));
	dataset = open_traced(&tree, &counts);
	version = history_version(dataset);
	before = counts;
	ck_assert_int_eq(lancet_translate(version, asked, 2, current, fates, NULL), LANCET_OK);
	ck_assert_int_eq(memcmp(&before, &counts, sizeof(counts)), 0);
	ck_assert_int_eq(
		lancet_translate(version, asked, 3, current, fates, NULL), histories[_i].code);
	ck_assert(fates[0] == LANCET_ROW_CURRENT && fates[1] == LANCET_ROW_CURRENT);
	ck_assert(current[0] == asked[0] && current[1] == asked[1]);
	ck_assert_int_eq(fates[2], histories[_i].fate);
	ck_assert_uint_eq(current[2], LANCET_NO_ROW);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
	if (!histories[_i].has_entry)
		buf_release(&details);
}
END_TEST

#define CHAIN 10000u
#define ROWS  4200u
#define WIDE  150000u

/* Fragment `source` becomes the next one, row by row. */
static void
put_link(struct buf *content, uint32_t source)
{
	const struct digest from = { source, ROWS, 0 }, into = { source + 1, ROWS, 0 };
	struct buf record = { 0 }, mapping = { 0 }, treemap = { 0 };

	put_u32(&treemap, 1);
	put_u32(&treemap, 0);
	put_u32(&treemap, source);
	buf_put(&treemap, "\x3b\x30\0\0\1", 5); /* one container, of runs */
	put_u32(&treemap, (ROWS - 1) << 16);    /* its key and rows */
	put_u32(&treemap, 1);                   /* one run from 0 on */
	buf_put_byte(&treemap, (ROWS - 1) & 0xff);
	buf_put_byte(&treemap, (ROWS - 1) >> 8);
	put_message(&mapping, 1, &treemap);
	put_digests(&record, 1, &from, 1);
	put_digests(&record, 2, &into, 1);
	put_message(&record, 3, &mapping);
	put_message(content, 2, &record);
}

/* The end of a chain and very many others become one, by a row map that is not there. */
static void
put_wide(struct buf *content)
{
	const struct digest end = { CHAIN, ROWS, 0 }, into = { 2 * WIDE, WIDE + ROWS, 0 };
	struct buf record = { 0 }, mapping = { 0 };

	for (uint32_t i = 0; i < WIDE; i++)
		put_digests(&record, 1, &(struct digest){ WIDE + i, 1, 0 }, 1);
	put_digests(&record, 1, &end, 1);
	put_digests(&record, 2, &into, 1);
	put_named(&mapping, 1, "01234567-89ab-cdef-0123-456789abcdef");
	put_number(&mapping, 2, 1000);
	put_message(&record, 4, &mapping);
	put_message(content, 2, &record);
}

/* While addresses come up a long chain, one waits for them. Looking at all sources of the
 * transition where it waits would take minutes. */
START_TEST(waiting_costs_nothing)
{
	static uint64_t asked[ROWS + 1], current[ROWS + 1];
	static uint8_t fates[ROWS + 1];
	struct tree tree = tree_new();
	struct buf content = { 0 };
	lancet_dataset *dataset;
	lancet_version *version;

	for (uint32_t i = 0; i < CHAIN; i++)
		put_link(&content, i);
	put_wide(&content);
	history_write_inline(&tree, &content, 1, small_live, ARRAY_SIZE(small_live));
	dataset = open_dataset(&tree);
	version = history_version(dataset);
	for (uint32_t i = 0; i < ROWS; i++)
		asked[i] = ADDR(10, i);
	asked[ROWS] = ADDR(WIDE, 0);
	ck_assert_int_eq(
		lancet_translate(version, asked, ROWS + 1, current, fates, NULL), LANCET_IO);
	for (uint32_t i = 0; i <= ROWS; i++)
		ck_assert_int_eq(fates[i], LANCET_ROW_FAILED);
	lancet_version_unref(version);
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("translate", UNIT_TEST(every_fate_of_a_row_is_told),
	UNIT_TEST(more_addresses_than_a_batch_has_room_for),
	UNIT_LOOP(damage_is_felt_where_it_is, damages),
	UNIT_LOOP(live_addresses_need_no_history, histories), UNIT_TEST(waiting_costs_nothing))
