/* Preconditions against a naive model: histories of a small table, and what its cells are.
 *
 * A cell that has another value than in the version read, or is gone, must never pass; and one
 * whose fragment and field nobody touched must pass.
 */
#include "unit.h"

#include "cellcommit.h"
#include "draftparts.h"
#include "storecalls.h"
#include "worldmake.h"

#include <inttypes.h>
#include <stdio.h>

#define HISTORIES 400 /* of each run */

static void
put_model_file(struct buf *into, unsigned field, const struct cell_file *file)
{
	struct buf message = { 0 }, ids = { 0 }, columns = { 0 };
	char path[32];
	int size = snprintf(path, sizeof(path), "%" PRIu32 ".lance", file->name);

	for (size_t i = 0; i < CELL_FIELDS; i++)
		if (file->had[i]) {
			put_varint(&columns, columns.size);
			put_varint(&ids, file->lists[i] ? i : (uint64_t)INT64_C(-2));
		}
	put_head(&message, 1, (uint64_t)size);
	buf_put(&message, path, (size_t)size);
	put_message(&message, 2, &ids);
	put_message(&message, 3, &columns);
	put_number(&message, 4, 2);
	put_number(&message, 5, 1);
	put_message(into, field, &message);
}

static void
put_set(struct buf *into, unsigned field, uint32_t set)
{
	roaring_bitmap_t *rows = roaring_bitmap_create();
	char bytes[128];
	size_t size;

	for (uint32_t i = 0; i < CELL_ROWS; i++)
		if ((set >> i & 1) != 0)
			roaring_bitmap_add(rows, i);
	size = roaring_bitmap_portable_serialize(rows, bytes);
	put_head(into, field, size);
	buf_put(into, bytes, size);
	roaring_bitmap_free(rows);
}

static void
put_model_fragment(struct buf *into, const struct cell_fragment *fragment)
{
	struct buf message = { 0 };

	put_number(&message, 1, fragment->id);
	for (size_t i = 0; i < fragment->file_count; i++)
		put_model_file(&message, 2, &fragment->files[i]);
	if (fragment->deletion != 0) {
		struct buf deletion = { 0 };

		put_number(&deletion, 3, fragment->deletion);
		put_number(&deletion, 4, (uint64_t)__builtin_popcount(fragment->deleted));
		put_message(&message, 3, &deletion);
	}
	put_number(&message, 4, fragment->rows);
	for (size_t i = 0; i < fragment->overlay_count; i++) {
		struct buf overlay = { 0 };

		put_model_file(&overlay, 1, &fragment->overlays[i].file);
		put_set(&overlay, 2, fragment->overlays[i].rows);
		put_number(&overlay, 3, fragment->overlays[i].version);
		put_message(&message, 11, &overlay);
	}
	put_message(into, 2, &message);
}

static int
model_name(const struct cell_table *table, size_t field, char into[32])
{
	static const char *const names[] = { "a", "b", "s", "x" };

	if (field == CELL_STRUCT + 1)
		return snprintf(into, 32, "s%" PRIu32 ".x%" PRIu32, table->names[CELL_STRUCT],
			table->names[field]);
	return snprintf(into, 32, "%s%" PRIu32, names[field], table->names[field]);
}

static void
put_model_field(struct buf *into, const struct cell_table *table, size_t field)
{
	struct buf message = { 0 };
	char path[32];
	const char *name = path;

	(void)model_name(table, field, path);
	if (strchr(path, '.') != NULL)
		name = strchr(path, '.') + 1;
	put_head(&message, 2, strlen(name));
	buf_put_text(&message, name);
	put_number(&message, 3, field);
	put_number(&message, 4, field == CELL_STRUCT + 1 ? CELL_STRUCT : UINT64_MAX);
	put_head(&message, 5, field == CELL_STRUCT ? 6 : 5);
	buf_put_text(&message, field == CELL_STRUCT ? "struct" : "int32");
	put_message(into, 1, &message);
}

/* All versions are of one dataset, which holds nothing of them. */
static lancet_dataset *dataset;

static lancet_version *
model_open(const struct cell_table *table, struct buf *file)
{
	const struct stat st = { 0 };
	struct buf message = { 0 };
	lancet_version *version = NULL;
	struct source *source;

	for (size_t i = 0; i < CELL_FIELDS; i++)
		if (!table->dropped[i])
			put_model_field(&message, table, i);
	for (size_t i = 0; i < table->count; i++)
		put_model_fragment(&message, &table->fragments[i]);
	put_number(&message, 3, table->version);
	put_writer(&message, "lance", "14.0.2");
	maker_frame(file, buf_slice(&message));
	source = source_memory_new(buf_slice(file), NULL);
	OK(version_load(dataset, table->version, source, &st, "1.manifest", &version, &err));
	source_unref(source);
	buf_release(&message);
	return version;
}

/* Cells of some fields in some fragments. */
struct cells {
	bool fields[CELL_FIELDS];
	uint32_t rows[CELL_FRAGMENTS]; /* by place in the table that was read */
};

static bool
choose(const struct cell_table *read, struct cell_random *random, struct cells *cells)
{
	bool any = false, some = false;

	memset(cells, 0, sizeof(*cells));
	for (size_t i = 0; i < CELL_FIELDS; i++) {
		cells->fields[i] = !read->dropped[i] && cell_pick(random, 3) == 0;
		any = any || cells->fields[i];
	}
	for (size_t i = 0; i < read->count; i++) {
		if (cell_pick(random, 3) == 0)
			cells->rows[i] = 1 + cell_pick(random, (1u << read->fragments[i].rows) - 1);
		some = some || cells->rows[i] != 0;
	}
	return any && some;
}

static void
write_text(const struct cell_table *read, const struct cells *cells, struct buf *into)
{
	char name[32];
	size_t before = into->size;

	for (size_t i = 0; i < CELL_FIELDS; i++)
		if (cells->fields[i]) {
			(void)model_name(read, i, name);
			buf_printf(into, "%s%s", into->size > before ? "," : "", name);
		}
	for (size_t i = 0, count = 0; i < read->count; i++) {
		const char *comma = "";

		if (cells->rows[i] == 0)
			continue;
		buf_printf(into, "%c%" PRIu32 ":", count++ == 0 ? '@' : ';', read->fragments[i].id);
		if (cells->rows[i] == (1u << read->fragments[i].rows) - 1) {
			buf_put_text(into, "*");
			continue;
		}
		for (uint32_t row = 0; row < CELL_ROWS; row++)
			if ((cells->rows[i] >> row & 1) != 0) {
				buf_printf(into, "%s%" PRIu32, comma, row);
				comma = ",";
			}
	}
	buf_put_byte(into, '\0');
}

static bool
values_changed(
	const struct cell_table *read, const struct cell_table *now, const struct cells *cells)
{
	bool changed = false;

	for (uint32_t field = 0; field < CELL_FIELDS; field++)
		for (size_t i = 0; cells->fields[field] && i < read->count; i++)
			for (uint32_t row = 0; row < CELL_ROWS; row++)
				changed = changed ||
					  ((cells->rows[i] >> row & 1) != 0 &&
						  (now->dropped[field] ||
							  cell_value(read, read->fragments[i].id,
								  field, row) !=
								  cell_value(now,
									  read->fragments[i].id,
									  field, row)));
	return changed;
}

static bool
nobody_touched(
	const struct cell_table *read, const struct cell_table *now, const struct cells *cells)
{
	for (size_t i = 0; i < CELL_FIELDS; i++)
		if (cells->fields[i] && now->dropped[i])
			return false;
	for (size_t i = 0; i < read->count; i++) {
		const struct cell_fragment *is = cell_fragment(now, read->fragments[i].id);

		if (cells->rows[i] != 0 &&
			(is == NULL || memcmp(is, &read->fragments[i], sizeof(*is)) != 0))
			return false;
	}
	return true;
}

struct tally {
	unsigned held, broken, over; /* `over`: refused though no value had changed */
};

static void
hold_against(const struct cell_table *read, const struct cell_table *now, const struct cells *cells,
	struct tally *tally)
{
	struct buf was = { 0 }, is = { 0 }, text = { 0 };
	lancet_version *before = model_open(read, &was), *after = model_open(now, &is);
	struct preconditions *conditions = NULL;
	struct precondition_failure failure;
	struct lancet_error why = { 0 };
	struct arena arena = { 0 };
	lancet_transaction *transaction;
	struct slice *list;
	size_t count;
	int rc;

	write_text(read, cells, &text);
	OK(preconditions_encode(before, (const char *)text.data, &arena, &list, &count, &err));
	transaction = world_transaction(list, count);
	OK(preconditions_open(transaction, before, &conditions, &err));
	rc = preconditions_check(conditions, after, &failure, &why);
	ck_assert_msg(rc == LANCET_OK || rc == LANCET_PRECONDITION, "%s", why.text);
	if (values_changed(read, now, cells))
		ck_assert_msg(rc == LANCET_PRECONDITION, "%s passed", text.data);
	else if (nobody_touched(read, now, cells))
		ck_assert_msg(rc == LANCET_OK, "%s: %s", text.data, why.text);
	tally->held += rc == LANCET_OK;
	tally->broken += rc != LANCET_OK;
	tally->over += rc != LANCET_OK && !values_changed(read, now, cells);
	preconditions_free(conditions);
	lancet_transaction_free(transaction);
	arena_release(&arena);
	lancet_version_unref(before);
	lancet_version_unref(after);
	buf_release(&text);
	buf_release(&was);
	buf_release(&is);
}

/* Some commits, the version that is read, and some more. */
static void
run_history(uint64_t seed, struct tally *tally)
{
	static struct cell_table table, read, old;
	struct cell_random random = { .state = seed };
	uint32_t before, after;
	struct cells cells;

	memset(&table, 0, sizeof(table));
	table.version = 1;
	for (size_t i = 0; i < 3; i++)
		cell_append(&table, &random);
	old = table;
	before = cell_pick(&random, 5);
	after = 1 + cell_pick(&random, 4);
	for (uint32_t i = 0; i < before; i++)
		cell_commit(&table, &random, &old);
	read = table;
	for (uint32_t i = 0; i < after; i++)
		cell_commit(&table, &random, cell_pick(&random, 2) == 0 ? &old : &read);
	if (choose(&read, &random, &cells))
		hold_against(&read, &table, &cells, tally);
	else
		run_history(seed + 1000003, tally);
}

static const uint64_t seeds[] = { 1, 100000, 200000, 300000, 400000, 500000 };

START_TEST(no_changed_cell_passes)
{
	struct tally tally = { 0 };

	dataset = maker_dataset();
	for (uint64_t i = 0; i < HISTORIES; i++)
		run_history(seeds[_i] + i, &tally);
	lancet_dataset_unref(dataset);
	ck_assert_uint_eq(tally.held + tally.broken, HISTORIES);
	/* enough of both, and not many for nothing */
	ck_assert_uint_gt(tally.held, HISTORIES / 5);
	ck_assert_uint_gt(tally.broken, HISTORIES / 5);
	ck_assert_uint_lt(tally.over, HISTORIES / 4);
}
END_TEST

UNIT_MAIN("precondition_model", UNIT_LOOP(no_changed_cell_passes, seeds))
