/* counts.tsv, labels.u16 and mapping.tsv of a stable partition against a model that counts row by
 * row, with as many destinations as need names of three lengths.
 */
#include "historyfile.h"
#include "rowmapmade.h"
#include "unit.h"

#include "fs/kind_table.h"
#include "fs/kinds.h"
#include "fs/records.h"
#include "fs/reusefile.h"

#define MAP_ID "3d125fc7-024e-449a-aaf2-c1b769e6a783"

static const struct map_spec spec = { .rows = 1000, .block_rows = 64, .destinations = 101 };

static void
put_digest(struct buf *record, unsigned side, uint64_t id, uint64_t rows, uint64_t deleted)
{
	struct buf digest = { 0 };

	put_number(&digest, 1, id);
	put_number(&digest, 2, rows);
	put_number(&digest, 3, deleted);
	put_message(record, side, &digest);
}

/* "ds" with the row map and a history of that transition alone. */
static void
write_dataset(const struct tree *tree, const struct map_made *made)
{
	const struct lancet_transition *transition = &made->transition;
	struct buf record = { 0 }, mapping = { 0 }, content = { 0 };

	put_digest(&record, 1, made->source.id, spec.rows, spec.rows - transition->live_rows);
	for (size_t i = 0; i < transition->destination_count; i++)
		put_digest(&record, 2, made->destinations[i].id,
			made->destinations[i].physical_rows, 0);
	put_head(&mapping, 1, strlen(MAP_ID));
	buf_put_text(&mapping, MAP_ID);
	put_number(&mapping, 2, transition->map_bytes);
	put_message(&record, 4, &mapping);
	put_message(&content, 2, &record);
	history_write_inline(tree, &content, 1, NULL, 0);
	tree_put(tree, "ds/_fri/" MAP_ID "/stable_partition.lance", made->bytes.data,
		made->bytes.size);
}

static struct buf
counts_text(const struct map_made *made)
{
	uint32_t counters[101] = { 0 };
	struct buf text = { 0 };

	buf_put_text(&text, "               block");
	for (unsigned i = 0; i < spec.destinations; i++)
		buf_printf(&text, "\tdestination_%u", i);
	for (uint64_t row = 0; row < spec.rows; row++) {
		if (made->labels[row] != LANCET_NO_LABEL)
			counters[made->labels[row]]++;
		if ((row + 1) % spec.block_rows != 0 && row + 1 < spec.rows)
			continue;
		buf_printf(&text, "\n%20u", (unsigned)(row / spec.block_rows));
		for (unsigned i = 0; i < spec.destinations; i++)
			buf_printf(&text, "\t%*u", i < 10 ? 13 : i < 100 ? 14 : 15, counters[i]);
	}
	buf_put_byte(&text, '\n');
	return text;
}

static struct buf
labels_bytes(const struct map_made *made)
{
	struct buf bytes = { 0 };

	for (uint64_t row = 0; row < spec.rows; row++)
		put_le(&bytes, made->labels[row], 2);
	return bytes;
}

static struct buf
mapping_text(const struct map_made *made)
{
	struct buf text = { 0 };

	buf_put_text(&text, "source_fragment\tsource_offset\t"
			    "destination_fragment\tdestination_offset\n");
	for (uint64_t row = 0; row < spec.rows; row++) {
		unsigned fragment = (unsigned)(made->row_addrs[row] >> 32);
		unsigned offset = (unsigned)made->row_addrs[row];

		buf_printf(&text, "%15u\t%13u\t", 7u, (unsigned)row);
		if (made->row_addrs[row] == LANCET_NO_ROW)
			buf_put_text(&text, "                   -\t                 -\n");
		else
			buf_printf(&text, "%20u\t%18u\n", fragment, offset);
	}
	return text;
}

static const struct {
	uint8_t kind;
	int (*make)(
		const struct node_ref *ref, struct records *ret_records, struct lancet_error *err);
	struct buf (*model)(const struct map_made *made);
} files[] = {
	{ NODE_COUNTS, records_counts, counts_text },
	{ NODE_LABELS, records_labels, labels_bytes },
	{ NODE_MAPPING, records_mapping, mapping_text },
};

/* The whole, and parts of different lengths. */
static void
check_records(const struct records *records, struct slice want)
{
	uint8_t *got = malloc(want.size + 1);

	ck_assert_uint_eq(records->header.size + records->count * records->width, want.size);
	ck_assert_int_eq(records_read(records, NULL, 0, want.size, got, NULL), LANCET_OK);
	ck_assert(slice_equal(slice_of(got, want.size), want));
	for (size_t at = 0, part = 1; at + part <= want.size; at += part, part = part * 3 % 4099) {
		ck_assert_int_eq(records_read(records, NULL, at, part, got, NULL), LANCET_OK);
		ck_assert_int_eq(memcmp(got, want.data + at, part), 0);
	}
	free(got);
}

START_TEST(rows_of_a_partition_are_as_counted)
{
	struct map_made *made = map_make(&spec);
	struct buf want = files[_i].model(made);
	struct records records = { 0 };
	struct lancet_error err = { 0 };
	struct tree tree = tree_new();
	struct node_ref ref = { 0 };
	lancet_dataset *dataset;
	int rc;

	write_dataset(&tree, made);
	dataset = open_dataset(&tree);
	kinds_check();
	ref.kind = node_kind_of(files[_i].kind);
	ref.version = history_version(dataset);
	rc = files[_i].make(&ref, &records, &err);
	ck_assert_msg(rc == LANCET_OK, "%s", err.text);
	lancet_version_unref(ref.version);
	check_records(&records, buf_slice(&want));
	records_release(&records);
	buf_release(&want);
	map_free(made);
	close_dataset(dataset, &tree);
}
END_TEST

UNIT_MAIN("countsfile", UNIT_LOOP(rows_of_a_partition_are_as_counted, files))
