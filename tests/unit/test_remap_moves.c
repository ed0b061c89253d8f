/* New addresses of rewritten rows, held against going through all rows one by one. */
#include "unit.h"

#include <lancet/transition.h>

#include "core/remap.h"

#define SOURCES  3u
#define OUTPUTS  3u
#define ROWS_MAX 2000u

/* Fragments of version 6 of the sample that have deleted rows, in no order. */
static const uint64_t ids[SOURCES] = { 1, 2, 0 };

struct moving {
	struct rewrite_source sources[SOURCES];
	struct rewrite_output outputs[OUTPUTS];
	struct rewrite_task task;
	struct lancet_rewrite rewrite;
	size_t rows; /* physical ones of the sources */
	uint64_t before[ROWS_MAX], after[ROWS_MAX];
};

static lancet_fragment *
open_fragment(uint64_t id)
{
	lancet_dataset *dataset;
	lancet_version *version;
	lancet_fragment *fragment;
	uint64_t ordinal;

	ck_assert_int_eq(
		lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &dataset, NULL), 0);
	ck_assert_int_eq(lancet_version_open(dataset, 6, &version, NULL), 0);
	ck_assert_int_eq(lancet_version_find_fragment(version, id, &ordinal, NULL), 0);
	ck_assert_int_eq(lancet_fragment_open(version, ordinal, &fragment, NULL), 0);
	lancet_version_unref(version);
	lancet_dataset_unref(dataset);
	return fragment;
}

/* All rows of the sources, and LANCET_NO_ROW as the address of those that are deleted. */
static void
list_rows(struct moving *m)
{
	for (size_t i = 0; i < SOURCES; i++) {
		const struct lancet_fragment_info *info;

		m->sources[i].fragment = open_fragment(ids[i]);
		info = lancet_fragment_info(m->sources[i].fragment);
		ck_assert_int_eq(rewrite_deletion(&m->sources[i], NULL), LANCET_OK);
		ck_assert_uint_gt(lancet_deletion_count(m->sources[i].deletion), 0);
		for (uint64_t row = 0; row < info->physical_rows; row++) {
			uint8_t deleted;

			lancet_deletion_marks(m->sources[i].deletion, row, 1, &deleted);
			ck_assert_uint_lt(m->rows, ROWS_MAX);
			m->before[m->rows] = info->id << 32 | row;
			m->after[m->rows++] = deleted ? LANCET_NO_ROW : 0;
		}
	}
}

static uint16_t
label_of(size_t row)
{
	return (uint16_t)(row * 7 / 3 % OUTPUTS);
}

static int
read_labels(const struct rewrite_task *task, uint64_t first, size_t count, uint16_t *into,
	struct lancet_error *err)
{
	const struct moving *m = (const struct moving *)(const void *)task->sources;

	(void)err;
	for (size_t i = 0; i < count; i++)
		into[i] = m->after[first + i] == LANCET_NO_ROW ? LANCET_NO_LABEL
							       : label_of((size_t)first + i);
	return LANCET_OK;
}

static const struct rewrite_order by_label = { .labels = read_labels };

/* Cuts after a third and a half of the rows, or goes by the label. */
static void
make_moving(struct moving *m, bool labelled)
{
	size_t live = 0, place = 0;

	*m = (struct moving){ 0 };
	list_rows(m);
	for (size_t i = 0; i < OUTPUTS; i++)
		m->outputs[i].id = 40 + i;
	for (size_t i = 0; i < m->rows; i++)
		live += m->after[i] != LANCET_NO_ROW;
	for (size_t i = 0; i < m->rows; i++) {
		struct rewrite_output *output;

		if (m->after[i] == LANCET_NO_ROW)
			continue;
		output = &m->outputs[labelled           ? label_of(i)
				     : place < live / 3 ? 0
				     : place < live / 2 ? 1
							: 2];
		m->after[i] = output->id << 32 | output->rows++;
		place++;
	}
	m->task = (struct rewrite_task){ .sources = m->sources,
		.source_count = SOURCES,
		.outputs = m->outputs,
		.output_count = OUTPUTS,
		.order = labelled ? &by_label : NULL };
	m->rewrite.tasks = &m->task;
	m->rewrite.task_count = 1;
}

static void
release(struct moving *m)
{
	for (size_t i = 0; i < SOURCES; i++) {
		lancet_deletion_unref(m->sources[i].deletion);
		lancet_fragment_unref(m->sources[i].fragment);
	}
}

/* Addresses are asked for in another order than the rows have, each twice. */
START_TEST(rows_are_where_going_through_all_leads)
{
	static struct moving m;
	static uint64_t addresses[2 * ROWS_MAX];
	struct row_moves *moves;

	make_moving(&m, _i == 1);
	ck_assert_int_eq(row_moves_make(&m.rewrite, &moves, NULL), LANCET_OK);
	for (size_t i = 0; i < 2 * m.rows; i++)
		addresses[i] = m.before[i * 31 % m.rows];
	ck_assert_int_eq(row_moves_apply(moves, addresses, 2 * m.rows, NULL), LANCET_OK);
	for (size_t i = 0; i < 2 * m.rows; i++) {
		size_t row = i * 31 % m.rows;

		ck_assert_uint_eq(
			addresses[i], m.after[row] == LANCET_NO_ROW ? m.before[row] : m.after[row]);
	}
	row_moves_free(moves);
	release(&m);
}
END_TEST

START_TEST(rows_of_other_fragments_stay)
{
	uint64_t others[] = { UINT64_C(3) << 32, UINT64_C(3) << 32 | 5, UINT64_C(40) << 32, 0 };
	static struct moving m;
	struct row_moves *moves;

	make_moving(&m, _i == 1);
	ck_assert_int_eq(row_moves_make(&m.rewrite, &moves, NULL), LANCET_OK);
	others[3] = m.before[0] + UINT32_MAX;
	ck_assert_int_eq(row_moves_apply(moves, others, 3, NULL), LANCET_OK);
	ck_assert_uint_eq(others[0], UINT64_C(3) << 32);
	ck_assert_uint_eq(others[1], UINT64_C(3) << 32 | 5);
	ck_assert_uint_eq(others[2], UINT64_C(40) << 32);
	ck_assert_int_eq(row_moves_apply(moves, others, 4, NULL), LANCET_CORRUPT);
	row_moves_free(moves);
	release(&m);
}
END_TEST

START_TEST(outputs_have_all_rows)
{
	static struct moving m;
	struct row_moves *moves;

	make_moving(&m, false);
	m.outputs[1].rows++;
	ck_assert_int_eq(row_moves_make(&m.rewrite, &moves, NULL), LANCET_INVALID);
	release(&m);
}
END_TEST

static const bool ways[2];

UNIT_MAIN("remap_moves", UNIT_LOOP(rows_are_where_going_through_all_leads, ways),
	UNIT_LOOP(rows_of_other_fragments_stay, ways), UNIT_TEST(outputs_have_all_rows))
