/* Files of transitions and texts of the history, as the tree renders them: lines worked out by
 * hand, and histories that are out of the ordinary.
 */
#include "histories.h"
#include "historyfile.h"
#include "jsontext.h"
#include "unit.h"

#include "fs/kind_table.h"
#include "fs/kinds.h"
#include "fs/records.h"
#include "fs/render.h"
#include "fs/reusefile.h"

/* A version on disk, and what a callback sees of it. */
struct shown {
	struct tree tree;
	lancet_dataset *dataset;
	struct node_ref ref;
};

/* Takes the content. */
static struct shown
show(struct buf *content, const struct digest *live, size_t live_count)
{
	struct shown shown = { .tree = tree_new() };

	kinds_check();
	history_write_inline(&shown.tree, content, 1, live, live_count);
	shown.dataset = open_dataset(&shown.tree);
	shown.ref.version = history_version(shown.dataset);
	return shown;
}

static void
hide(struct shown *shown)
{
	lancet_version_unref(shown->ref.version);
	close_dataset(shown->dataset, &shown->tree);
}

typedef int (*records_maker)(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);

static struct records
open_file(struct shown *shown, uint8_t kind, uint64_t transition, records_maker make)
{
	struct records records = { 0 };
	struct lancet_error err = { 0 };
	int rc;

	shown->ref.kind = node_kind_of(kind);
	shown->ref.item = transition;
	rc = make(&shown->ref, &records, &err);
	ck_assert_msg(rc == LANCET_OK, "%s", err.text);
	return records;
}

/* The whole is `want`, and so is each part of it. */
static void
check_file(struct shown *shown, uint8_t kind, records_maker make, const char *want)
{
	struct records records = open_file(shown, kind, 0, make);
	size_t size = strlen(want);
	char *text = calloc(1, size + 1);

	ck_assert_uint_eq(records.header.size + records.count * records.width, size);
	ck_assert_int_eq(records_read(&records, NULL, 0, size, (uint8_t *)text, NULL), LANCET_OK);
	ck_assert_str_eq(text, want);
	for (size_t at = 0; at < size; at += 13) {
		size_t part = size - at < 101 ? size - at : 101;

		ck_assert_int_eq(
			records_read(&records, NULL, at, part, (uint8_t *)text, NULL), LANCET_OK);
		ck_assert_int_eq(memcmp(text, want + at, part), 0);
	}
	free(text);
	records_release(&records);
}

/* Of the sources 9 lost its first row, 7 and 5 had none; of the destinations 20 got none. */
static const char mapping_text[] =
	"source_fragment\tsource_offset\tdestination_fragment\tdestination_offset\n"
	"              4\t            0\t                  30\t                 0\n"
	"              4\t            1\t                  30\t                 1\n"
	"              9\t            0\t                   -\t                 -\n"
	"              9\t            1\t                  31\t                 0\n"
	"             11\t            0\t                  31\t                 1\n";
static const char surviving_text[] = "         17179869184\n"
				     "         17179869185\n"
				     "         38654705665\n"
				     "         47244640256\n";
static const char sources_text[] = "  fragment\tphysical_rows\tdeleted_rows\n"
				   "         4\t            2\t           0\n"
				   "         5\t            0\t           0\n"
				   "         7\t            0\t           0\n"
				   "         9\t            2\t           1\n"
				   "        10\t            0\t           0\n"
				   "        11\t            1\t           0\n";

START_TEST(rows_are_found_in_their_sources)
{
	struct buf content = { 0 };
	struct shown shown;

	history_ordered(&content, "4/2 5/0 7/0 9/2-1 10/0 11/1", "20/0 30/2 31/2");
	shown = show(&content, NULL, 0);
	check_file(&shown, NODE_MAPPING, records_mapping, mapping_text);
	check_file(&shown, NODE_SURVIVING_ROWS, records_surviving_rows, surviving_text);
	check_file(&shown, NODE_SOURCES, records_digests, sources_text);
	check_file(&shown, NODE_DESTINATIONS, records_digests,
		"  fragment\tphysical_rows\tdeleted_rows\n"
		"        20\t            0\t           0\n"
		"        30\t            2\t           0\n"
		"        31\t            2\t           0\n");
	hide(&shown);
}
END_TEST

/* A transition that can't be followed shows its fragments; a number that no cell holds is "-". */
START_TEST(absurd_numbers_keep_the_width)
{
	struct buf content = { 0 };
	struct shown shown;
	struct records records = { 0 };
	struct lancet_error err = { 0 };
	uint64_t size = 7;

	history_partition(&content, "9999999999/4294967296-10000000000 1/1", "2/2");
	shown = show(&content, NULL, 0);
	check_file(&shown, NODE_SOURCES, records_digests,
		"  fragment\tphysical_rows\tdeleted_rows\n"
		"9999999999\t   4294967296\t           -\n"
		"         1\t            1\t           0\n");
	shown.ref.kind = node_kind_of(NODE_MAPPING);
	ck_assert_int_eq(measure_mapping(&shown.ref, &size, &err), LANCET_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "transitions[0]"));
	ck_assert_uint_eq(size, 7);
	ck_assert_int_eq(records_mapping(&shown.ref, &records, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(records_labels(&shown.ref, &records, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(records_counts(&shown.ref, &records, NULL), LANCET_CORRUPT);
	hide(&shown);
}
END_TEST

static void
check_size(struct shown *shown, uint8_t kind, uint64_t transition, uint64_t want)
{
	uint64_t size = 0;

	shown->ref.kind = node_kind_of(kind);
	shown->ref.item = transition;
	ck_assert_int_eq(shown->ref.kind->measure(&shown->ref, &size, NULL), LANCET_OK);
	ck_assert_uint_eq(size, want);
}

/* The row map of the second transition is nowhere: nobody looks for it. */
START_TEST(sizes_follow_from_the_records)
{
	struct buf content = { 0 };
	struct shown shown;
	struct records records = { 0 };

	history_ordered(&content, "0/10-3 1/5", "2/12");
	history_partition(&content, "2/12-2", "3/4 4/6");
	shown = show(&content, NULL, 0);
	check_size(&shown, NODE_MAPPING, 0, UINT64_C(70) * 16);
	check_size(&shown, NODE_SURVIVING_ROWS, 0, UINT64_C(21) * 12);
	check_size(&shown, NODE_SOURCES, 0, UINT64_C(38) * 3);
	check_size(&shown, NODE_MAPPING, 1, UINT64_C(70) * 13);
	check_size(&shown, NODE_LABELS, 1, UINT64_C(2) * 12);
	check_size(&shown, NODE_DESTINATIONS, 1, UINT64_C(38) * 3);
	check_size(&shown, NODE_ROW_MAP, 1, 100);
	ck_assert_int_eq(records_labels(&shown.ref, &records, NULL), LANCET_IO);
	shown.ref.item = 2;
	ck_assert_int_eq(records_labels(&shown.ref, &records, NULL), LANCET_NOT_FOUND);
	hide(&shown);
}
END_TEST

static const struct {
	const char *name;
	uint64_t item; /* UINT64_MAX: there is none of that name */
} numbers[] = {
	{ "0", 0 },
	{ "1999", 1999 },
	{ "2000", UINT64_MAX },
	{ "007", UINT64_MAX },
	{ "-1", UINT64_MAX },
	{ "18446744073709551616", UINT64_MAX },
	{ "", UINT64_MAX },
};

START_TEST(transitions_are_found_by_number)
{
	struct buf content = { 0 };
	struct node_child child = { 0 };
	struct shown shown;
	uint64_t count = 0;

	for (unsigned i = 0; i < 2000; i++) {
		char source[32], destination[32];

		snprintf(source, sizeof(source), "%u/2-1", i);
		snprintf(destination, sizeof(destination), "%u/1", i + 2000);
		history_ordered(&content, source, destination);
	}
	shown = show(&content, NULL, 0);
	shown.ref.kind = node_kind_of(NODE_TRANSITIONS);
	ck_assert_int_eq(shown.ref.kind->count(&shown.ref, &count, NULL), LANCET_OK);
	ck_assert_uint_eq(count, 2000);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		bool found = shown.ref.kind->find(&shown.ref, numbers[i].name, &child, NULL) ==
			     LANCET_OK;

		ck_assert_msg(found == (numbers[i].item != UINT64_MAX), "%s", numbers[i].name);
		ck_assert(!found || child.item == numbers[i].item);
	}
	hide(&shown);
}
END_TEST

/* The text, NUL-terminated; the caller releases it. */
static struct buf
rendered(const struct shown *shown,
	int (*render)(const struct node_ref *ref, struct buf *out, struct lancet_error *err))
{
	struct lancet_error err = { 0 };
	struct buf out = { 0 };

	ck_assert_msg(render(&shown->ref, &out, &err) == LANCET_OK, "%s", err.text);
	buf_put_byte(&out, '\0');
	ck_assert_int_eq(out.failed, LANCET_OK);
	return out;
}

START_TEST(an_error_lists_a_thousand_faults)
{
	struct buf content = { 0 }, text;
	struct shown shown;
	size_t lines = 0;

	for (unsigned i = 0; i < 1500; i++)
		history_ordered(&content, "0/1", "1/1");
	shown = show(&content, NULL, 0);
	text = rendered(&shown, render_reuse_error);
	for (const char *at = (const char *)text.data; (at = strchr(at, '\n')) != NULL; at++)
		lines++;
	ck_assert_uint_eq(lines, 1003);
	ck_assert_ptr_nonnull(strstr((const char *)text.data, "transitions/999: transitions[999]"));
	ck_assert_ptr_null(strstr((const char *)text.data, "transitions/1000:"));
	ck_assert_ptr_nonnull(strstr((const char *)text.data, "\nand 500 more\n"));
	ck_assert_ptr_null(strstr((const char *)text.data, "other transitions"));
	buf_release(&text);
	hide(&shown);
}
END_TEST

static const char graph_text[] =
	"digraph reuse {\n"
	"\trankdir=LR\n"
	"\tf0 [label=\"0\\n10 rows, 3 deleted\"]\n"
	"\tf1 [label=\"1\\n5 rows\"]\n"
	"\tf2 [label=\"2\\n12 rows, 2 deleted\"]\n"
	"\tf3 [label=\"3\\n10 rows\", style=filled, fillcolor=palegreen]\n"
	"\tf8 [label=\"8\\n1 rows\"]\n"
	"\tf9 [label=\"9\\n2 rows\"]\n"
	"\tt0 [shape=box, label=\"0\\nordered_compaction\\n12 rows kept, 3 deleted\"]\n"
	"\tf0 -> t0\n"
	"\tf1 -> t0\n"
	"\tt0 -> f2\n"
	"\tt1 [shape=box, label=\"1\\nordered_compaction\\ncorrupt\", color=red, fontcolor=red, "
	"tooltip=\"transitions[1]: 1 live rows of its sources became 2\"]\n"
	"\tf8 -> t1\n"
	"\tt1 -> f9\n"
	"\tt2 [shape=box, label=\"2\\nordered_compaction\\n10 rows kept, 2 deleted\"]\n"
	"\tf2 -> t2\n"
	"\tt2 -> f3\n"
	"}\n";

START_TEST(the_graph_has_each_fragment_once)
{
	static const struct digest live[] = { { 3, 10, 0 }, { 77, 5, 0 } };
	struct buf content = { 0 }, text;
	struct buf small = { .limit = 100 };
	struct lancet_error err = { 0 };
	struct shown shown;

	history_ordered(&content, "0/10-3 1/5", "2/12");
	history_ordered(&content, "8/1", "9/2");
	history_ordered(&content, "2/12-2", "3/10");
	shown = show(&content, live, ARRAY_SIZE(live));
	text = rendered(&shown, render_reuse_graph);
	ck_assert_str_eq((const char *)text.data, graph_text);
	ck_assert_int_eq(render_reuse_graph(&shown.ref, &small, &err), LANCET_OK);
	ck_assert_int_eq(small.failed, LANCET_LIMIT);
	buf_release(&small);
	small = (struct buf){ .limit = 50 };
	ck_assert_int_eq(render_reuse_graph(&shown.ref, &small, &err), LANCET_LIMIT);
	ck_assert_ptr_nonnull(strstr(err.text, "graph.dot"));
	buf_release(&text);
	buf_release(&small);
	hide(&shown);
}
END_TEST

UNIT_MAIN("reusefile", UNIT_TEST(rows_are_found_in_their_sources),
	UNIT_TEST(absurd_numbers_keep_the_width), UNIT_TEST(sizes_follow_from_the_records),
	UNIT_TEST(transitions_are_found_by_number), UNIT_TEST(an_error_lists_a_thousand_faults),
	UNIT_TEST(the_graph_has_each_fragment_once))
